"""Deciding which armed faults act on a request, in the order they were armed.

Every fault that matches counts the request as seen. Of those whose time has come, latencies add up
and let the others act; the first other effect ends the search.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from msgspec.structs import replace

from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.faults.viewing import faults_in_order
from hosting_emulator.world.fault_records import (
    LONGEST_DELAY_MS,
    Effect,
    Fault,
    Latency,
    Phase,
    RateLimit,
)
from hosting_emulator.world.streams import draw
from hosting_emulator.world.tables import FAULTS
from hosting_emulator.world.value import Change


@dataclass(frozen=True, slots=True)
class Subject:
    """What a fault can match: one request, once it is known who asks what."""

    call: str
    project: str | None
    principal: str
    method: str
    path: str
    headers: Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to happen: a delay in real milliseconds, and at most one other effect.

    `acted` are the faults behind it, in order.
    """

    delay_ms: int = 0
    effect: Effect | None = None
    retry_after_seconds: int | None = None
    acted: tuple[Fault, ...] = ()


NOTHING = Decision()


def decide(change: Change, subject: Subject, phase: Phase) -> Decision:
    """Count the request and return what the faults of one phase do to it."""
    delay_ms = 0
    acted: tuple[Fault, ...] = ()
    for fault in faults_in_order(change.world):
        if fault.phase != phase or not _matches(fault, subject):
            continue
        fault = replace(fault, seen=fault.seen + 1)
        acts = _time_has_come(change, fault)
        retry_after: int | None = None
        if acts and isinstance(fault.effect, RateLimit):
            fault, retry_after = _counted(change, fault, fault.effect)
            acts = retry_after is not None
        if acts:
            fault = replace(fault, hits=fault.hits + 1)
        change.put(FAULTS, fault.id, fault)
        if not acts:
            continue
        acted = (*acted, fault)
        if isinstance(fault.effect, Latency):
            delay_ms = min(LONGEST_DELAY_MS, delay_ms + _delay(change, fault.effect))
            continue
        return Decision(delay_ms, fault.effect, retry_after, acted)
    return Decision(delay_ms, acted=acted) if acted else NOTHING


def _matches(fault: Fault, subject: Subject) -> bool:
    return (
        fault.call in (None, subject.call)
        and fault.project in (None, subject.project)
        and fault.principal in (None, subject.principal)
        and fault.method in (None, subject.method)
        and (fault.path is None or fnmatchcase(subject.path, fault.path))
        and all(
            any(fnmatchcase(value, pattern) for value in subject.headers(name))
            for name, pattern in (fault.header or {}).items()
        )
    )


def _time_has_come(change: Change, fault: Fault) -> bool:
    now_ms = change.now_ms
    if fault.from_ms is not None and now_ms < fault.from_ms:
        return False
    if fault.until_ms is not None and now_ms >= fault.until_ms:
        return False
    if fault.times is not None and fault.hits >= fault.times:
        return False
    number = fault.seen - fault.skip_first
    if number <= 0 or (number - 1) % fault.every:
        return False
    return fault.probability >= 1 or _chance(change) < fault.probability


def _chance(change: Change) -> float:
    """Draw from [0, 1). The stream is the faults' own, so drawing shifts no id and no secret."""
    return int.from_bytes(draw(change, "faults", 7), "big") / 2**56


def _delay(change: Change, effect: Latency) -> int:
    if not effect.jitter_ms:
        return effect.delay_ms
    chance = _chance(change)
    if effect.distribution == "uniform":
        shift = (2 * chance - 1) * effect.jitter_ms
    elif effect.distribution == "exponential":
        shift = -math.log(1 - chance) * effect.jitter_ms
    else:  # normal, by Box and Muller
        shift = math.sqrt(-2 * math.log(1 - chance)) * math.cos(math.tau * _chance(change))
        shift *= effect.jitter_ms
    return max(0, min(LONGEST_DELAY_MS, round(effect.delay_ms + shift)))


def _counted(change: Change, fault: Fault, limit: RateLimit) -> tuple[Fault, int | None]:
    """Count a request in its window; the seconds to wait when it is one too many."""
    now_ms, window_ms = change.now_ms, parse_duration_ms(limit.window)
    began_ms, count = fault.window_began_ms, fault.window_count
    if count == 0 or now_ms >= began_ms + window_ms:
        began_ms, count = now_ms, 0
    if limit.limit == 0 or count >= limit.limit:
        left_ms = began_ms + window_ms - now_ms
        return fault, max(1, -(-left_ms // 1000))
    return replace(fault, window_began_ms=began_ms, window_count=count + 1), None
