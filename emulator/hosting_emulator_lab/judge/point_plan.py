"""The plan of an exploration: the points to run, in order, and the points that get no run.

Points that cannot look different to a client are merged, with the reason. If the number of runs is
limited, the runs are spread over all requests. Equal requests get equal plans.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import NamedTuple

from hosting_emulator_lab.judge.client_requests import NumberedRequest
from hosting_emulator_lab.judge.fault_points import (
    FaultPoint,
    faults_for,
    points_of,
)
from hosting_emulator_lab.judge.lasting_effects import lasting_effect

READ = "a read changes nothing, so both phases look the same"
SLOW = "the change is made in both phases, with the same response"
LIMIT = "a limit refuses the request before anything is done"
SAME_LIMIT = "rate_limit gives the same refusal, with the same Retry-After"
REPEATED = "the same read repeated, neither the first nor the last time"
#: The reasons why some faults look the same in both phases, by the fault's word. All other faults
#: need a run in each phase.
_ALIKE_IN_BOTH_PHASES = {
    "slow_response": SLOW,
    "stalled_response": SLOW,
    "rate_limit": LIMIT,
    "abort:rate_limited": LIMIT,
}
#: The faults that a quick plan prefers, most revealing first.
_MOST_REVEALING = (
    "fail",
    "value_lost",
    "connection_reset",
    "outage",
    "abort:forbidden",
    "stick",
    "abort:service_unavailable",
    "database_null",
    "no_zone",
)
#: A quick plan contains one tenth of the points, but at least six.
_QUICK_SHARE = 10
_MIN_QUICK_RUNS = 6


class MergedPoint(NamedTuple):
    """A point that gets no run, because the run at the point `into` shows the same."""

    point: FaultPoint
    into: FaultPoint
    reason: str


class PointPlan(NamedTuple):
    """The points to run, in order, and the points that get no run.

    `requests` are the requests to which the points belong. `left_out_by` is the reason why the
    points in `left_out` get no run.
    """

    requests: tuple[NumberedRequest, ...]
    points: tuple[FaultPoint, ...]
    merged: tuple[MergedPoint, ...]
    left_out: tuple[FaultPoint, ...]
    left_out_by: str = ""


def plan_points(
    requests: Sequence[NumberedRequest],
    *,
    faults: Iterable[str],
    calls: Iterable[str] = (),
    max_runs: int | None = None,
    quick: bool = False,
) -> PointPlan:
    """Plan the runs with these faults at the requests of a clean run.

    If `calls` is empty, the plan contains the requests to all calls. With `quick`, the plan contains
    the most revealing tenth of the points, but at least six.
    """
    fault_words = tuple(faults)
    chosen_calls = set(calls)
    chosen_requests = tuple(
        request for request in requests if not chosen_calls or request.call in chosen_calls
    )
    first_numbers = _first_numbers_of_repeated_reads(chosen_requests)
    merged: list[MergedPoint] = []
    points_by_request: list[list[FaultPoint]] = []
    for request in chosen_requests:
        points, merged_phases = _merge_phases(request, faults_for(request.call, fault_words))
        merged += merged_phases
        first_number = first_numbers.get(request.name)
        if first_number is None:
            points_by_request.append(points)
            continue
        for point in points:
            merged.append(MergedPoint(point, replace(point, number=first_number), REPEATED))
    ordered_points = _take_turns(points_by_request)
    limit = len(ordered_points)
    left_out_by = "the limit on runs"
    if max_runs is not None:
        limit = max_runs
    if quick:
        is_read = {request.name: request.is_read for request in chosen_requests}
        ordered_points.sort(key=lambda point: (_quick_rank(point), is_read[point.request]))
        quick_limit = max(_MIN_QUICK_RUNS, -(-len(ordered_points) // _QUICK_SHARE))
        if quick_limit < limit:
            limit = quick_limit
            left_out_by = "quick"
    return PointPlan(
        chosen_requests,
        tuple(ordered_points[:limit]),
        tuple(merged),
        tuple(ordered_points[limit:]),
        left_out_by,
    )


def _first_numbers_of_repeated_reads(requests: Iterable[NumberedRequest]) -> Mapping[str, int]:
    """Return the equal reads between the first and the last of them.

    The result maps the name of each such read to the number of the first equal read.
    """
    equal_reads: dict[tuple[object, ...], list[NumberedRequest]] = {}
    for request in requests:
        if request.is_read:
            exchange = request.exchange
            key = (exchange.call, exchange.path, exchange.query, exchange.status)
            equal_reads.setdefault(key, []).append(request)
    return {
        request.name: reads[0].number for reads in equal_reads.values() for request in reads[1:-1]
    }


def _merge_phases(
    request: NumberedRequest, faults: Sequence[str]
) -> tuple[list[FaultPoint], list[MergedPoint]]:
    """Return the points of a request that need a run, and the points that are merged into others."""
    points: list[FaultPoint] = []
    merged: list[MergedPoint] = []
    for fault in faults:
        effect = lasting_effect(fault)
        if effect is not None:
            if effect.suits(request):
                points += points_of(request, fault)
            continue
        # Plan no second wire fault for a request at which the command injects one. It would take the
        # place of the command's fault, and the command would not do what it was written to do.
        if request.meets_own_fault:
            continue
        before, after = points_of(request, fault)
        if fault == "abort:rate_limited" and "rate_limit" in faults:
            same = points_of(request, "rate_limit")[0]
            merged.append(MergedPoint(before, same, SAME_LIMIT))
            if request.succeeded:
                merged.append(MergedPoint(after, same, SAME_LIMIT))
            continue
        reason = _ALIKE_IN_BOTH_PHASES.get(fault)
        if request.is_read:
            reason = READ
        # Leave out the second phase, because a refused request has no commit after which a fault
        # could act.
        if not request.succeeded:
            points.append(before)
        elif reason is None:
            points += [after, before]
        else:
            points.append(before)
            merged.append(MergedPoint(after, before, reason))
    return points, merged


def _take_turns(points_by_request: Iterable[Sequence[FaultPoint]]) -> list[FaultPoint]:
    """Return the first point of each request, then the second point of each, and so on."""
    rounds = zip_longest(*points_by_request)
    return [point for points in rounds for point in points if point is not None]


def _quick_rank(point: FaultPoint) -> int:
    """Return a point's rank in a quick plan. Lower ranks come first."""
    # Rank this point last, because every client that retries survives a connection that was reset
    # before the commit.
    is_harmless = point.fault == "connection_reset" and point.phase == "before_commit"
    if is_harmless or point.fault not in _MOST_REVEALING:
        return len(_MOST_REVEALING)
    return _MOST_REVEALING.index(point.fault)
