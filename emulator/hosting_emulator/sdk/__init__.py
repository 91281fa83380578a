"""The SDK: a world in a user's hands, for tests and scripts in Python; the pytest plugin gives it too.

    from hosting_emulator.sdk import HostingEmulator

    with HostingEmulator.fresh("http://127.0.0.1:4620") as emulator:
        ...

`ControlClient` is the control API beneath it, which the CLI uses as well. Importing this loads
nothing beyond the standard library, and needs no pytest.
"""

from hosting_emulator.sdk.clock import Duration, OperationLike, WorldClock
from hosting_emulator.sdk.conduct import (
    WorldConduct,
    conduct_text,
    finding_lines,
    headline,
    of_severity,
    quotes,
    request_numbers,
    rule_lines,
    summary,
)
from hosting_emulator.sdk.connection import (
    ControlError,
    ControlRefused,
    EmulatorUnreachable,
    EventStream,
    UnexpectedAnswer,
)
from hosting_emulator.sdk.control import ControlClient, world_path
from hosting_emulator.sdk.emulator import ArmedFault, HostingEmulator, Phase, WorldSnapshot
from hosting_emulator.sdk.fresh import (
    ClockLike,
    ScenarioLike,
    VaryLike,
    clock_request,
    find_file,
    is_file_name,
)
from hosting_emulator.sdk.records import (
    ClockMode,
    ClockRequest,
    ClockState,
    CommitEntry,
    ConductFinding,
    ConductReport,
    Exchange,
    FaultState,
    Headers,
    Info,
    JsonObject,
    Message,
    Named,
    Record,
    RequestFilters,
    Severity,
    WholeExchange,
    Why,
    WorldEvent,
    WorldSummary,
)
from hosting_emulator.sdk.report import report_text, variation_lines
from hosting_emulator.sdk.requests import Filters, RecordedRequest, Requests, known_call
from hosting_emulator.sdk.text import Aliases, ExchangeCells, NoSuchName, exchange_cells

__all__ = [
    "Aliases",
    "ArmedFault",
    "ClockLike",
    "ClockMode",
    "ClockRequest",
    "ClockState",
    "CommitEntry",
    "ConductFinding",
    "ConductReport",
    "ControlClient",
    "ControlError",
    "ControlRefused",
    "Duration",
    "EmulatorUnreachable",
    "EventStream",
    "Exchange",
    "ExchangeCells",
    "FaultState",
    "Filters",
    "Headers",
    "HostingEmulator",
    "Info",
    "JsonObject",
    "Message",
    "Named",
    "NoSuchName",
    "OperationLike",
    "Phase",
    "Record",
    "RecordedRequest",
    "RequestFilters",
    "Requests",
    "ScenarioLike",
    "Severity",
    "UnexpectedAnswer",
    "VaryLike",
    "WholeExchange",
    "Why",
    "WorldClock",
    "WorldConduct",
    "WorldEvent",
    "WorldSnapshot",
    "WorldSummary",
    "clock_request",
    "conduct_text",
    "exchange_cells",
    "find_file",
    "finding_lines",
    "headline",
    "is_file_name",
    "known_call",
    "of_severity",
    "quotes",
    "report_text",
    "request_numbers",
    "rule_lines",
    "summary",
    "variation_lines",
    "world_path",
]
