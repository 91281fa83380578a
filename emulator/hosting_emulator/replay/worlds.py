"""The worlds that a record is sent to: one that is there, or throw-away ones like the recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from hosting_emulator.replay.record import Record
from hosting_emulator.sdk import ClockRequest, ControlClient, HostingEmulator, WorldSummary


@dataclass(frozen=True)
class Beginning:
    """How a throw-away world begins, where it is not to be as the record has it.

    `scenario` is one of the library, or a YAML file; `assumptions` are laid over.
    """

    scenario: str | None = None
    seed: str | None = None
    assumptions: Mapping[str, Any] = field(default_factory=dict)


@contextmanager
def like_recorded(
    control: ControlClient, record: Record, beginning: Beginning
) -> Iterator[HostingEmulator]:
    """Make a world as the first recorded request found it, standing still, and delete it after.

    That is the state in the record; else a default world of its seed and assumptions.
    """
    from_state = record.state is not None and beginning.scenario is None and beginning.seed is None
    if from_state:
        made = HostingEmulator.fresh(control, state=record.state)
    else:
        made = _begun(control, record, beginning)
    with made as emulator:
        if from_state and beginning.assumptions:
            control.set_assumptions(beginning.assumptions, emulator.name)
        yield emulator


def _begun(control: ControlClient, record: Record, beginning: Beginning) -> HostingEmulator:
    scenario, origin = beginning.scenario, record.origin
    clock: ClockRequest = {"mode": "frozen"}
    begins_at = origin.began_at or origin.at
    if begins_at is not None and scenario is None:  # a scenario says itself when it begins
        clock["at"] = begins_at
    assumptions = {**({} if scenario else origin.assumptions), **beginning.assumptions}
    return HostingEmulator.fresh(
        control,
        scenario=scenario,
        clock=clock,
        seed=beginning.seed or origin.seed,
        assumptions=assumptions or None,
    )


def ids_of(world: WorldSummary) -> dict[str, dict[str, str]]:
    """Return a world's ids by alias, for each of the tables that a record has too."""
    return {
        "organizations": {found["alias"]: found["id"] for found in world["organizations"]},
        "people": {found["alias"]: found["id"] for found in world["people"]},
        "projects": {found["alias"]: found["id"] for found in world["projects"]},
    }
