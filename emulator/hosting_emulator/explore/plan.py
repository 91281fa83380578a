"""The plan: from the requests of the clean run to the points that are worth a run each.

Points that cannot look different to a client are merged into one, with the reason. Where the runs
are bounded, every request gets its share. The same requests give the same plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from hosting_emulator.explore.points import (
    FaultPoint,
    NumberedRequest,
    effect_of,
    faults_for,
    kind_of,
)
from hosting_emulator.sdk import JsonObject

READ = "a read changes nothing, so that both phases look alike"
SLOW = "the change is made in both phases, and the answer is the same"
LIMIT = "a limit refuses before anything is done"
SAME_LIMIT = "rate_limit answers the same refusal, with the same Retry-After"
REPEATED = "the same read again, neither its first time nor its last"


@dataclass(frozen=True, slots=True)
class MergedPoint:
    """A point that gets no run of its own: `into` stands for it, because of `why`."""

    point: FaultPoint
    into: FaultPoint
    why: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be run, in order; what was merged; and what the bound leaves out."""

    requests: tuple[NumberedRequest, ...]
    points: tuple[FaultPoint, ...]
    merged: tuple[MergedPoint, ...]
    left_out: tuple[FaultPoint, ...]


def plan(
    requests: Sequence[NumberedRequest],
    *,
    faults: Iterable[str],
    calls: Iterable[str] = (),
    max_runs: int | None = None,
) -> Plan:
    """Plan the runs. Without `calls` all are meant; `max_runs` None does not bound."""
    words, only = tuple(faults), set(calls)
    chosen = tuple(r for r in requests if not only or r.call in only)
    stands_for = _repeated(chosen)
    merged: list[MergedPoint] = []
    of_request: list[list[FaultPoint]] = []
    for request in chosen:
        points, more = _points(request, faults_for(request.call, words))
        merged += more
        first = stands_for.get(request.name)
        if first is None:
            of_request.append(points)
        else:
            merged += [
                MergedPoint(p, FaultPoint(p.call, first, p.fault, p.phase), REPEATED)
                for p in points
            ]
    ordered = [p for turn in zip_longest(*of_request) for p in turn if p is not None]
    bound = len(ordered) if max_runs is None else max_runs
    return Plan(chosen, tuple(ordered[:bound]), tuple(merged), tuple(ordered[bound:]))


def fault_at(point: FaultPoint, request: NumberedRequest) -> JsonObject:
    """Return the fault that makes a point, to be armed in a world that has answered nothing yet.

    `request` is the point's in the clean run. After the commit only successes are counted.
    """
    passed = request.n_done if point.phase == "after_commit" else request.n
    return {
        **effect_of(point.fault, request.answer_bytes),
        "call": point.call,
        "phase": point.phase,
        "skip_first": max(0, passed - 1),
        "times": 1,
    }


def _points(
    request: NumberedRequest, faults: Sequence[str]
) -> tuple[list[FaultPoint], list[MergedPoint]]:
    points: list[FaultPoint] = []
    merged: list[MergedPoint] = []
    for fault in faults:
        before, after = request.points(fault)
        # Of what was refused there is no commit that a fault could follow.
        possible = [after, before] if request.succeeded else [before]
        why = _why_alike(request, fault)
        if fault == "abort:rate_limited" and "rate_limit" in faults:
            same = request.points("rate_limit")[0]
            merged += [MergedPoint(point, same, SAME_LIMIT) for point in possible[::-1]]
        elif why is not None:
            points.append(before)
            merged += [MergedPoint(after, before, why)] if request.succeeded else []
        else:
            points += possible
    return points, merged


def _why_alike(request: NumberedRequest, fault: str) -> str | None:
    """Return why the two phases of a fault need one run only; None: they need two."""
    if request.is_read:
        return READ
    if fault == "abort:rate_limited" or kind_of(fault) == "rate_limit":
        return LIMIT
    return SLOW if kind_of(fault) == "slow_response" else None


def _repeated(requests: Sequence[NumberedRequest]) -> dict[str, int]:
    """Return which reads are neither the first nor the last of their like: name -> the first's n."""
    alike: dict[tuple[object, ...], list[NumberedRequest]] = {}
    for request in requests:
        if request.is_read:
            same = tuple(request.exchange[name] for name in ("call", "path", "query", "status"))
            alike.setdefault(same, []).append(request)
    return {again.name: found[0].n for found in alike.values() for again in found[1:-1]}
