"""A world in a user's hands, for tests and scripts in Python; the pytest plugin gives the same.

    from hosting_emulator.handle import HostingEmulator

    with HostingEmulator.fresh("http://127.0.0.1:4620") as emulator:
        ...

Stands beside the house, on the control API's client: it imports nothing else of the emulator and
nothing beyond the standard library, and needs no pytest.
"""

from hosting_emulator.client import ControlError, ControlRefused, EmulatorUnreachable
from hosting_emulator.handle.calls import CallName, EffectName, Phase
from hosting_emulator.handle.clock import Duration, OperationLike, WorldClock
from hosting_emulator.handle.conduct import Finding, Severity, WorldConduct
from hosting_emulator.handle.emulator import HostingEmulator
from hosting_emulator.handle.explanation import Explanation, NextStep
from hosting_emulator.handle.faults import ArmedFault
from hosting_emulator.handle.filters import Filters
from hosting_emulator.handle.made import Headers, MadeRequest
from hosting_emulator.handle.names import Aliases, NoSuchName
from hosting_emulator.handle.report import report_text
from hosting_emulator.handle.requests import Requests
from hosting_emulator.handle.snapshots import Snapshot

__all__ = [
    "Aliases",
    "ArmedFault",
    "CallName",
    "ControlError",
    "ControlRefused",
    "Duration",
    "EffectName",
    "EmulatorUnreachable",
    "Explanation",
    "Filters",
    "Finding",
    "Headers",
    "HostingEmulator",
    "MadeRequest",
    "NextStep",
    "NoSuchName",
    "OperationLike",
    "Phase",
    "Requests",
    "Severity",
    "Snapshot",
    "WorldClock",
    "WorldConduct",
    "report_text",
]
