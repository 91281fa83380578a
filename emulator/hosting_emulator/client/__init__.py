"""The control API's client handle, for the CLI, the pytest plugin and anybody's own tools.

Stands beside the house: it knows addresses and JSON only. It imports nothing else of the emulator
and nothing beyond the standard library, so that a command or a test run pays nothing for it.
"""

from hosting_emulator.client.answers import (
    Advanced,
    Assumption,
    Clock,
    ClockRequest,
    Exchange,
    Health,
    Info,
    JsonObject,
    Organization,
    Person,
    Project,
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
    "EmulatorUnreachable",
    "Exchange",
    "Health",
    "Info",
    "JsonObject",
    "Organization",
    "Person",
    "Project",
    "Token",
    "UnexpectedAnswer",
    "World",
    "WorldCounts",
]
