"""Plans the trials of a client: the failures and variations to try, most informative first."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from hosting_emulator.contract.calls import ALL_CALLS
from hosting_emulator_lab.judge.client_requests import NumberedRequest
from hosting_emulator_lab.judge.fault_points import (
    KEY_REUSED,
    KINDS,
    OUTCOMES,
    WAITING_KINDS,
    WAITING_OUTCOMES,
    FaultPoint,
    kind_of,
)
from hosting_emulator_lab.judge.lasting_effects import LASTING_EFFECTS
from hosting_emulator_lab.judge.point_plan import plan_points
from hosting_emulator_lab.judge.trials import FaultTrial, VariedTrial

#: The faults that are tried only once at each call, because a client that handles them at the first
#: request to a call also handles them at later requests. Lasting effects that apply to every
#: request belong here, and so do responses that never arrive, because each of them makes a client
#: wait for its whole time limit.
_ONCE_FOR_EACH_CALL = (
    "outage",
    "token_expired",
    "timeout",
    "stick",
    "nested_state",
    "queued",
    "fail_retryable",
    "never_suspends",
    "default_suspend",
    KEY_REUSED,
)
#: The faults that are tried once at a call that reads, and once at a call that changes something. A client
#: has few places where it reads the body of a response, and each such trial takes a whole time limit.
_ONCE_FOR_READS_AND_CHANGES = ("stalled_response",)
#: The faults that are tried once, at the first request that can meet them. A client has one place where
#: it reads Retry-After, and such a trial takes as long as the wait.
_ONCE = ("long_limit",)
#: Statuses from here on are refusals.
_FIRST_REFUSAL = 400
#: The most informative faults, in order. Effects for which a patient client waits come early, so
#: that the waiting overlaps with other runs.
_FIRST = (
    "timeout",
    "stalled_response",
    "stick",
    "long_limit",
    "token_expired",
    "value_lost",
    "connection_reset",
    "fail",
    "blocked",
    "outage",
    "abort:service_unavailable",
    "abort:forbidden",
    "rate_limit",
    "gateway_error",
    "database_null",
    "no_zone",
    "empty_list",
    "another_page",
    "cancel",
    "fail_retryable",
    KEY_REUSED,
)


@dataclass(frozen=True, slots=True)
class TrialPlan:
    """The trials of a client.

    `varied` are the trials with varied responses. `required` are the fault trials without which
    nothing is proven: the first trial of each kind at each call, and one trial with an expired
    token. `others` are the remaining fault trials. All trials are in the order in which they should
    be made.
    """

    varied: tuple[VariedTrial, ...]
    required: tuple[FaultTrial, ...]
    others: tuple[FaultTrial, ...]

    @property
    def trial_count(self) -> int:
        """The number of planned trials."""
        return len(self.varied) + len(self.required) + len(self.others)


def plan_trials(requests: Sequence[NumberedRequest], seeds: Iterable[str]) -> TrialPlan:
    """Plan the trials of a client that sends these requests in its clean run.

    Each of `seeds` is the seed of a trial with varied responses. The same requests get the same plan.
    """
    planned = plan_points(requests, faults=(*KINDS, *WAITING_KINDS, *OUTCOMES, *WAITING_OUTCOMES))
    refused = {request.name for request in requests if request.exchange.status >= _FIRST_REFUSAL}
    points = sorted(_without_repetitions(planned.points, refused), key=_rank)
    required: list[FaultTrial] = []
    others: list[FaultTrial] = []
    tried_kinds: set[tuple[str, str]] = set()
    for point in points:
        kind = (point.call, _kind_at_call(point))
        if kind in tried_kinds:
            others.append(FaultTrial(point))
        else:
            tried_kinds.add(kind)
            required.append(FaultTrial(point))
    varied = tuple(VariedTrial(seed) for seed in seeds)
    return TrialPlan(varied, tuple(required), tuple(others))


def _without_repetitions(
    points: Iterable[FaultPoint], refused: Collection[str]
) -> list[FaultPoint]:
    """Leave out all but the first of the points that one trial represents.

    Requests that are `refused` even in the clean run get no point with a lasting effect.
    """
    remaining: list[FaultPoint] = []
    tried: set[tuple[str, str]] = set()
    for point in points:
        if point.request in refused and point.lasting is not None:
            continue
        repeated = _repeated_trial(point)
        if repeated in tried:
            continue
        if repeated is not None:
            tried.add(repeated)
        remaining.append(point)
    return remaining


def _repeated_trial(point: FaultPoint) -> tuple[str, str] | None:
    """Return what all points have in common that one trial represents, or None for other points."""
    if point.fault in _ONCE:
        return "all", point.fault
    if point.fault in _ONCE_FOR_EACH_CALL:
        return point.call, point.fault
    if point.fault in _ONCE_FOR_READS_AND_CHANGES:
        is_read = ALL_CALLS[point.call].method == "GET"
        return "reads" if is_read else "changes", point.fault
    return None


def _kind_at_call(point: FaultPoint) -> str:
    """Return the kind of a point.

    A kind has been tried at a call if one of its points has been tried there.

    A fault before the commit and a fault after the commit are different kinds, because only the
    second leaves a change behind. All lasting refusals are one kind.
    """
    if point.lasting is None:
        return f"{kind_of(point.fault)}/{point.phase}"
    if point.fault in LASTING_EFFECTS:
        return point.fault
    return "refused"


def _rank(point: FaultPoint) -> int:
    """Return the rank of a point's fault in `_FIRST`. All other faults share the rank after these."""
    if point.fault in _FIRST:
        return _FIRST.index(point.fault)
    return len(_FIRST)
