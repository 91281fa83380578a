"""A trial: one run of the client under one condition that the contract allows.

As text, a trial reads `clean`, `clean/scaled`, `clean/base-path`, `phases`, a fault point such as
`create_user_api_key#1/timeout/after_commit`, or `vary/SEED`. The last form may end with a slash and
the variation points to which the trial is limited, such as `vary/3/unknown-phase,extra-fields`.
`alteration_trials.py` describes the trials that read `alter/…`, and `accepted_requests.py` those that
read `accept/…`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from hosting_emulator_lab.judge.accepted_requests import AcceptedTrial
from hosting_emulator_lab.judge.alteration_trials import AlteredTrial
from hosting_emulator_lab.judge.fault_points import FaultPoint
from hosting_emulator_lab.judge.variation_causes import JUDGED_POINTS
from hosting_emulator_lab.run_conditions import (
    ALL_PHASES,
    ONE_POLL,
    USUAL_CONDITIONS,
    RunConditions,
)

#: World seconds per real second in a run whose clock runs. World time passes as fast as real time,
#: which shows whether a client waits as long as a response says.
SCALED_RATE = 1.0
#: A plan in which an operation stays queued long enough for early polls, and then ends soon. A client that
#: opens a connection for each poll must be seen to poll early three times.
_QUEUED_FOR_LONG = "timed 4s 1s"
#: The fault under which an operation never ends. A client that waits as long as a response says
#: would sleep for a minute between its polls, and show nothing. Therefore responses ask such a
#: client to poll sooner.
_NEVER_ENDS = "stick"
_STUCK_POLL_S = 1
#: The faults for which the pauses between attempts are measured, so the clock must run.
_SHOWS_PAUSES = ("outage",)
#: The effect under which an operation waits for another one, which must not end before the client begins
#: its own.
_WAITS_FOR_ANOTHER = "queued"
_LASTS_A_MINUTE = "timed 1m 0s"
#: The faults for which an operation is polled in each of its phases.
_SHOWS_PHASES = ("nested_state",)
CleanKind: TypeAlias = Literal["skip", "scaled", "base-path"]


@dataclass(frozen=True, slots=True)
class CleanTrial:
    """A run without any failure.

    `kind` is `skip` if polling moves the time, `scaled` if the clock runs, and `base-path` if
    the base URL has a path.
    """

    kind: CleanKind = "skip"

    def __str__(self) -> str:
        return "clean" if self.kind == "skip" else f"clean/{self.kind}"

    @property
    def conditions(self) -> RunConditions:
        """The conditions of the run."""
        if self.kind == "scaled":
            return RunConditions(
                clock="scaled", rate=SCALED_RATE, operation_profile=_QUEUED_FOR_LONG
            )
        return RunConditions(
            clock="skip",
            operation_profile=ONE_POLL,
            has_base_path=self.kind == "base-path",
        )


@dataclass(frozen=True, slots=True)
class PhasesTrial:
    """A run without any failure in which operations are polled in each of their phases.

    In the clean run, an operation ends at its first poll. Operations last as long as in the trials
    with varied responses, so this run shows which failures there have another reason.
    """

    def __str__(self) -> str:
        return "phases"

    @property
    def conditions(self) -> RunConditions:
        """The conditions of the run."""
        return RunConditions(clock="skip", operation_profile=ALL_PHASES)


@dataclass(frozen=True, slots=True)
class FaultTrial:
    """A run in which one request meets one fault."""

    point: FaultPoint

    def __str__(self) -> str:
        return str(self.point)

    @property
    def conditions(self) -> RunConditions:
        """The conditions of the run."""
        if self.point.fault == _NEVER_ENDS:
            return RunConditions(
                clock="skip", operation_profile=ONE_POLL, next_poll_s=_STUCK_POLL_S
            )
        if self.point.fault == _WAITS_FOR_ANOTHER:
            return RunConditions(
                clock="skip", operation_profile=_LASTS_A_MINUTE, next_poll_s=_STUCK_POLL_S
            )
        if self.point.fault in _SHOWS_PHASES:
            return RunConditions(clock="skip", operation_profile=ALL_PHASES)
        if self.point.fault in _SHOWS_PAUSES:
            return RunConditions(clock="scaled", rate=SCALED_RATE, operation_profile=ONE_POLL)
        return USUAL_CONDITIONS


@dataclass(frozen=True, slots=True)
class VariedTrial:
    """A run in which responses vary at the variation points `points`.

    If `points` is empty, responses vary at all points that a judge tries.
    """

    seed: str
    points: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        if not self.points:
            return f"vary/{self.seed}"
        return f"vary/{self.seed}/{','.join(self.points)}"

    @property
    def conditions(self) -> RunConditions:
        """The conditions of the run."""
        return RunConditions(
            clock="skip",
            operation_profile=ALL_PHASES,
            vary=self.seed,
            vary_only=self.points or JUDGED_POINTS,
        )


Trial: TypeAlias = (
    CleanTrial | PhasesTrial | FaultTrial | VariedTrial | AlteredTrial | AcceptedTrial
)


def read_trial(text: str) -> Trial:
    """Parse a trial. Raises ValueError with a message that describes the valid forms."""
    first, _, rest = text.partition("/")
    if first == "clean":
        return _read_clean(text, rest)
    if text == "phases":
        return PhasesTrial()
    if first == "vary":
        return _read_varied(text, rest)
    if first == "alter":
        return AlteredTrial.read(text)
    if first == "accept":
        return AcceptedTrial.read(text)
    if "#" not in first:
        raise ValueError(
            f"{text!r} is not a trial: write clean, clean/scaled, clean/base-path, phases, vary/SEED, "
            "vary/SEED/POINT,..., alter/CALL/CLASS/CHANGE:PART, accept/CALL#N or CALL#N/FAULT/PHASE"
        )
    return FaultTrial(FaultPoint.read(text))


def _read_clean(text: str, kind: str) -> CleanTrial:
    if not kind:
        return CleanTrial()
    if kind == "scaled":
        return CleanTrial("scaled")
    if kind == "base-path":
        return CleanTrial("base-path")
    raise ValueError(f"{text!r} is not a trial: write clean, clean/scaled or clean/base-path")


def _read_varied(text: str, rest: str) -> VariedTrial:
    seed, _, points = rest.partition("/")
    if not seed:
        raise ValueError(f"{text!r} has no seed: write vary/SEED, such as vary/1")
    names = tuple(name for name in points.split(",") if name)
    return VariedTrial(seed, names)
