"""Scenario files that are recorded from a world in this process, and shrunk."""

from __future__ import annotations

from dataclasses import dataclass

from hosting_emulator.scenario.reading import read_scenario
from hosting_emulator.scenario.recording.recorder import record_session
from hosting_emulator.scenario.recording.sessions import session_of
from hosting_emulator_lab.scenario_shrinking import shrink_scenario
from tests.support.in_process import InProcess


@dataclass(frozen=True)
class PastEvent:
    """A request or a manual change of a world's past."""

    title: str
    #: How a span of the past is limited by the commit of this event.
    commit: str
    #: How a span of the past is limited by the number of this request; None for a manual change.
    request: str | None
    #: Whether the request changed nothing and what it counted for faults or limits was rewound.
    is_uncounted: bool


@dataclass(frozen=True)
class Recording:
    """A recorded scenario file, and what of the past it leaves out: a title and the reason."""

    text: str
    left_out: list[str]


@dataclass(frozen=True)
class ShrunkScenario:
    """A shrunk scenario file, its number of steps, and that of the whole scenario."""

    text: str
    step_count: int
    original_step_count: int


class SessionPast:
    """What happened in a world until now, except what was rewound."""

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
        """Record the past, or a span of it, as a scenario.

        `first` and `last` are the number of a request, or `commit:40`. Raises ValueError if no
        scenario can express the span.
        """
        recorded = record_session(self._past, name, first, last)
        return Recording(recorded.text, recorded.left_out)


def shrink(text: str, step: str) -> ShrunkScenario:
    """Shrink a scenario to what a step needs to keep its expected response."""
    smallest = shrink_scenario(read_scenario(text, "recorded.yaml"), step)
    return ShrunkScenario(smallest.text, smallest.steps, smallest.of)
