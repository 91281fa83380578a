"""The control API's client handle, for the CLI, the pytest plugin and anybody's own tools.

Stands beside the house: it knows addresses and JSON only. It imports nothing else of the emulator
and nothing beyond the standard library, so that a command or a test run pays nothing for it.
"""

from hosting_emulator.client.answers import (
    Advanced,
    Assumption,
    Clock,
    ClockRequest,
    Difference,
    EffectKind,
    Exchange,
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
    World,
    WorldCounts,
)
from hosting_emulator.client.control import ControlClient
from hosting_emulator.client.errors import (
    ControlError,
    ControlRefused,
    EmulatorUnreachable,
    UnexpectedAnswer,
)

__all__ = [
    "Advanced",
    "Assumption",
    "Clock",
    "ClockRequest",
    "ControlClient",
    "ControlError",
    "ControlRefused",
    "Difference",
    "EffectKind",
    "EmulatorUnreachable",
    "Exchange",
    "Fault",
    "FaultKinds",
    "Health",
    "Info",
    "InterventionKind",
    "JsonObject",
    "Organization",
    "Person",
    "Project",
    "Report",
    "Said",
    "Scenario",
    "ScenarioEntry",
    "StepReport",
    "Token",
    "UnexpectedAnswer",
    "World",
    "WorldCounts",
]
