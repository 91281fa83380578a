"""Records scenario files from a world in this process, and shrinks them."""

from __future__ import annotations

from dataclasses import dataclass

from hosting_emulator.scenario.reading import read_scenario
from hosting_emulator.scenario.recording.recorder import record_session
from hosting_emulator.scenario.recording.sessions import session_of
from hosting_emulator_lab.scenario_shrinking import shrink_scenario
from tests.support.in_process import InProcess


@dataclass(frozen=True)
class PastEvent:
    """A request to a world, or a manual change of the world."""

    title: str
    #: The commit of this event, in the form that limits a recording.
    commit: str
    #: The number of this request, in the form that limits a recording. None for a manual change.
    request: str | None
    #: Whether the request changed nothing, and a rewind undid its effect on the counts of faults or limits.
    is_uncounted: bool


@dataclass(frozen=True)
class Recording:
    """A recorded scenario file, and sentences about the events that it leaves out."""

    text: str
    left_out: list[str]


@dataclass(frozen=True)
class ShrunkScenario:
    """A shrunk scenario file, its number of steps, and the number of steps before shrinking."""

    text: str
    step_count: int
    original_step_count: int


class SessionPast:
    """The events in a world until now, without events that a rewind undid."""

    def __init__(self, api: InProcess) -> None:
        self._past = session_of(api.engine)
        self.events = [
            PastEvent(
                title=event.title,
                commit=f"commit:{event.last_commit}",
                request=None if event.request_number is None else str(event.request_number),
                is_uncounted=event.is_uncounted,
            )
            for event in self._past.events
        ]

    def record(
        self, name: str = "recorded", first: str | None = None, last: str | None = None
    ) -> Recording:
        """Record all events, or the events from `first` to `last`, as a scenario.

        `first` and `last` are the number of a request, or a commit such as `commit:40`. Raises
        ValueError if no scenario can express these events.
        """
        recorded = record_session(self._past, name, first, last)
        return Recording(recorded.text, recorded.left_out)


def shrink(text: str, step: str) -> ShrunkScenario:
    """Shrink a scenario, as long as one step still gets its expected response."""
    smallest = shrink_scenario(read_scenario(text, "recorded.yaml"), step)
    return ShrunkScenario(smallest.text, smallest.steps, smallest.original_steps)
