"""The Python SDK, which controls a world from tests and scripts.

    from hosting_emulator.sdk import HostingEmulator

    with HostingEmulator.fresh("http://127.0.0.1:4620") as emulator:
        ...

`ControlClient` is a client for the emulator as a whole. The pytest plugin also provides the SDK,
but the SDK does not need pytest. Each module is loaded when one of its names is first used, so that
a program imports only the modules that it uses.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hosting_emulator.messages import ChapterReport as ChapterReport
    from hosting_emulator.messages import ClockMode as ClockMode
    from hosting_emulator.messages import ClockMove as ClockMove
    from hosting_emulator.messages import ClockRequest as ClockRequest
    from hosting_emulator.messages import ClockState as ClockState
    from hosting_emulator.messages import CommitEntry as CommitEntry
    from hosting_emulator.messages import ConductFinding as ConductFinding
    from hosting_emulator.messages import ConductReport as ConductReport
    from hosting_emulator.messages import ConductRuleRow as ConductRuleRow
    from hosting_emulator.messages import Exchange as Exchange
    from hosting_emulator.messages import ExchangeSummary as ExchangeSummary
    from hosting_emulator.messages import FaultState as FaultState
    from hosting_emulator.messages import Info as Info
    from hosting_emulator.messages import JsonObject as JsonObject
    from hosting_emulator.messages import Message as Message
    from hosting_emulator.messages import NewWorldSummary as NewWorldSummary
    from hosting_emulator.messages import ObservationReport as ObservationReport
    from hosting_emulator.messages import OperationState as OperationState
    from hosting_emulator.messages import OutcomeState as OutcomeState
    from hosting_emulator.messages import Trigger as Trigger
    from hosting_emulator.messages import WholeExchange as WholeExchange
    from hosting_emulator.messages import Why as Why
    from hosting_emulator.messages import WorldEvent as WorldEvent
    from hosting_emulator.messages import WorldMember as WorldMember
    from hosting_emulator.messages import WorldSummary as WorldSummary
    from hosting_emulator.sdk.clock import WorldClock as WorldClock
    from hosting_emulator.sdk.emulator import AssumptionWarning as AssumptionWarning
    from hosting_emulator.sdk.emulator import ControlClient as ControlClient
    from hosting_emulator.sdk.emulator import HostingEmulator as HostingEmulator
    from hosting_emulator.sdk.emulator import VariableWarning as VariableWarning
    from hosting_emulator.sdk.errors import ControlError as ControlError
    from hosting_emulator.sdk.errors import ControlRefused as ControlRefused
    from hosting_emulator.sdk.errors import EmulatorNotFound as EmulatorNotFound
    from hosting_emulator.sdk.errors import EmulatorUnreachable as EmulatorUnreachable
    from hosting_emulator.sdk.errors import UnexpectedResponse as UnexpectedResponse
    from hosting_emulator.sdk.errors import UnreadableMessage as UnreadableMessage
    from hosting_emulator.sdk.faults import ArmedFault as ArmedFault
    from hosting_emulator.sdk.names import Aliases as Aliases
    from hosting_emulator.sdk.names import NoSuchName as NoSuchName
    from hosting_emulator.sdk.new_worlds import ScenarioChoice as ScenarioChoice
    from hosting_emulator.sdk.new_worlds import ScenarioLike as ScenarioLike
    from hosting_emulator.sdk.new_worlds import WorldOptions as WorldOptions
    from hosting_emulator.sdk.new_worlds import clock_request as clock_request
    from hosting_emulator.sdk.new_worlds import find_file as find_file
    from hosting_emulator.sdk.new_worlds import is_file_name as is_file_name
    from hosting_emulator.sdk.observation import WorldsObservation as WorldsObservation
    from hosting_emulator.sdk.recorded_requests import RecordedRequest as RecordedRequest
    from hosting_emulator.sdk.request_filters import Filters as Filters
    from hosting_emulator.sdk.request_matching import known_call as known_call
    from hosting_emulator.sdk.requests import Requests as Requests
    from hosting_emulator.sdk.snapshots import WorldSnapshot as WorldSnapshot

#: The names that each module exports. Type checkers use the imports above instead, and a test
#: checks that both list the same names.
_MODULES = {
    "hosting_emulator.messages": (
        "ChapterReport",
        "ClockMode",
        "ClockMove",
        "ClockRequest",
        "ClockState",
        "CommitEntry",
        "ConductFinding",
        "ConductReport",
        "ConductRuleRow",
        "Exchange",
        "ExchangeSummary",
        "FaultState",
        "Info",
        "JsonObject",
        "Message",
        "NewWorldSummary",
        "ObservationReport",
        "OperationState",
        "OutcomeState",
        "Trigger",
        "WholeExchange",
        "Why",
        "WorldEvent",
        "WorldMember",
        "WorldSummary",
    ),
    "hosting_emulator.sdk.clock": ("WorldClock",),
    "hosting_emulator.sdk.emulator": (
        "AssumptionWarning",
        "ControlClient",
        "HostingEmulator",
        "VariableWarning",
    ),
    "hosting_emulator.sdk.errors": (
        "ControlError",
        "ControlRefused",
        "EmulatorNotFound",
        "EmulatorUnreachable",
        "UnexpectedResponse",
        "UnreadableMessage",
    ),
    "hosting_emulator.sdk.faults": ("ArmedFault",),
    "hosting_emulator.sdk.names": (
        "Aliases",
        "NoSuchName",
    ),
    "hosting_emulator.sdk.new_worlds": (
        "ScenarioChoice",
        "ScenarioLike",
        "WorldOptions",
        "clock_request",
        "find_file",
        "is_file_name",
    ),
    "hosting_emulator.sdk.observation": ("WorldsObservation",),
    "hosting_emulator.sdk.recorded_requests": ("RecordedRequest",),
    "hosting_emulator.sdk.request_filters": ("Filters",),
    "hosting_emulator.sdk.request_matching": ("known_call",),
    "hosting_emulator.sdk.requests": ("Requests",),
    "hosting_emulator.sdk.snapshots": ("WorldSnapshot",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}
__all__ = list(_MODULE_OF)


def __getattr__(name: str) -> object:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
