"""The SDK: a world in a user's hands, for tests and scripts in Python; the pytest plugin gives it too.

    from hosting_emulator.sdk import HostingEmulator

    with HostingEmulator.fresh("http://127.0.0.1:4620") as emulator:
        ...

`ControlClient` is the control API beneath it, which the CLI uses as well. It imports nothing else of
the emulator and nothing beyond the standard library, and needs no pytest.
"""

from hosting_emulator.sdk.addresses import read_address, read_control_token
from hosting_emulator.sdk.answers import (
    Advanced,
    Assumption,
    Clock,
    ClockMode,
    ClockRequest,
    Difference,
    EffectKind,
    Fault,
    FaultKinds,
    Health,
    Info,
    InterventionKind,
    JsonObject,
    Organization,
    Person,
    Project,
    Report,
    Said,
    Scenario,
    ScenarioEntry,
    StepReport,
    Token,
    Variation,
    VariationPoint,
    World,
    WorldCounts,
)
from hosting_emulator.sdk.calls import CallName, EffectName, Phase, known_call
from hosting_emulator.sdk.clock import Duration, OperationLike, WorldClock
from hosting_emulator.sdk.conduct import Finding, Severity, WorldConduct, of_severity, worst
from hosting_emulator.sdk.conduct_text import (
    conduct_text,
    finding_lines,
    headline,
    quotes,
    request_numbers,
    rule_lines,
    summary,
)
from hosting_emulator.sdk.control import ControlClient
from hosting_emulator.sdk.emulator import HostingEmulator
from hosting_emulator.sdk.errors import (
    ControlError,
    ControlRefused,
    EmulatorUnreachable,
    UnexpectedAnswer,
)
from hosting_emulator.sdk.explanation import Explanation, NextStep
from hosting_emulator.sdk.faults import RULE, ArmedFault
from hosting_emulator.sdk.filters import Filters
from hosting_emulator.sdk.listening import Listening
from hosting_emulator.sdk.made import Headers, RecordedRequest
from hosting_emulator.sdk.names import Aliases, NoSuchName
from hosting_emulator.sdk.observed import (
    Commit,
    ConductFinding,
    ConductReport,
    ConductRule,
    Exchange,
    ExchangePage,
    Message,
    ReportedExchange,
    RequestFilters,
    SnapshotEntry,
    TrailStep,
    UnfinishedOperation,
    WholeExchange,
    Why,
    WorldEvent,
    WorldReport,
)
from hosting_emulator.sdk.report import report_text
from hosting_emulator.sdk.requests import Requests
from hosting_emulator.sdk.snapshots import Snapshot
from hosting_emulator.sdk.varying import VaryLike, variation_lines
from hosting_emulator.sdk.wire import world_path

__all__ = [
    "RULE",
    "Advanced",
    "Aliases",
    "ArmedFault",
    "Assumption",
    "CallName",
    "Clock",
    "ClockMode",
    "ClockRequest",
    "Commit",
    "ConductFinding",
    "ConductReport",
    "ConductRule",
    "ControlClient",
    "ControlError",
    "ControlRefused",
    "Difference",
    "Duration",
    "EffectKind",
    "EffectName",
    "EmulatorUnreachable",
    "Exchange",
    "ExchangePage",
    "Explanation",
    "Fault",
    "FaultKinds",
    "Filters",
    "Finding",
    "Headers",
    "Health",
    "HostingEmulator",
    "Info",
    "InterventionKind",
    "JsonObject",
    "Listening",
    "Message",
    "NextStep",
    "NoSuchName",
    "OperationLike",
    "Organization",
    "Person",
    "Phase",
    "Project",
    "RecordedRequest",
    "Report",
    "ReportedExchange",
    "RequestFilters",
    "Requests",
    "Said",
    "Scenario",
    "ScenarioEntry",
    "Severity",
    "Snapshot",
    "SnapshotEntry",
    "StepReport",
    "Token",
    "TrailStep",
    "UnexpectedAnswer",
    "UnfinishedOperation",
    "Variation",
    "VariationPoint",
    "VaryLike",
    "WholeExchange",
    "Why",
    "World",
    "WorldClock",
    "WorldConduct",
    "WorldCounts",
    "WorldEvent",
    "WorldReport",
    "conduct_text",
    "finding_lines",
    "headline",
    "known_call",
    "of_severity",
    "quotes",
    "read_address",
    "read_control_token",
    "report_text",
    "request_numbers",
    "rule_lines",
    "summary",
    "variation_lines",
    "world_path",
    "worst",
]
