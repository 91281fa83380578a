"""A temporary world that begins like the world of a recording."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from hosting_emulator.sdk import ClockRequest, ControlClient, HostingEmulator
from hosting_emulator_lab.replay.recording import Recording

#: The seed of worlds that continue a recorded state, which contains none. With a constant seed,
#: every such world generates the same values.
_SEED = "replay"


@dataclass(frozen=True)
class Beginning:
    """The ways in which the start of a temporary world must differ from the recording.

    `scenario` names a scenario, and `seed` a seed for other ids and secrets. `assumptions` are added
    to those of the recording.
    """

    scenario: str | None = None
    seed: str | None = None
    assumptions: Mapping[str, Any] = field(default_factory=dict)


@contextmanager
def temporary_world(
    control: ControlClient, record: Recording, beginning: Beginning
) -> Iterator[HostingEmulator]:
    """Create a world that begins like the recorded world, and delete it at the end.

    The world begins with the recorded state. If there is no recorded state, or if `beginning` sets
    a scenario or a seed, the world begins only with the recorded assumptions and time. Its clock is
    frozen. Raises ControlError.
    """
    is_changed = beginning.scenario is not None or beginning.seed is not None
    if record.state is not None and not is_changed:
        world = HostingEmulator.fresh(control, state=record.state, seed=_SEED)
        with world as emulator:
            if beginning.assumptions:
                emulator.set_assumptions(beginning.assumptions)
            yield emulator
        return
    with _fresh_world(control, record, beginning) as emulator:
        yield emulator


def _fresh_world(
    control: ControlClient, record: Recording, beginning: Beginning
) -> HostingEmulator:
    clock: ClockRequest = {"mode": "frozen"}
    assumptions = dict(beginning.assumptions)
    # Set these only without a scenario, because a scenario has its own assumptions and its own
    # time.
    if beginning.scenario is None:
        assumptions = {**record.world.assumptions, **assumptions}
        begins_at = record.world.began_at or record.world.at
        if begins_at is not None:
            clock["at"] = begins_at
    return HostingEmulator.fresh(
        control,
        scenario=beginning.scenario,
        seed=beginning.seed,
        clock=clock,
        assumptions=assumptions or None,
    )
