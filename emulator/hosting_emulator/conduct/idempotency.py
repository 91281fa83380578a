"""Idempotency-Keys: whether each mutation has one, and the right one when it is tried again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from hosting_emulator.conduct.exchange import A_RETRY_MS, ExchangeView
from hosting_emulator.conduct.rules import ConductJudge, Finding, Recent, finding
from hosting_emulator.contract.durations import parse_duration_ms

_Request = tuple[str, str, str, bytes]
_MOST_ACCUSED = 100
_FLAG = "set_project_powered_by_flag"


class MissingKey(ConductJudge):
    """Calls 1 to 4 without the header they require."""

    def see(self, now: ExchangeView) -> Iterable[Finding]:
        if now.spec is not None and now.spec.idempotent and not now.key:
            says = f"{now.name} came without an Idempotency-Key."
            yield finding("missing-idempotency-key", says, now, group=(now.call, now.entry.path))


@dataclass(slots=True)
class _Attempts:
    """What is known of one thing that was to be done: the last attempt under each key."""

    unsure: dict[str, ExchangeView] = field(default_factory=dict)
    #: The last of all attempts, whatever became of it.
    last: ExchangeView | None = None
    #: What was found of attempts that were not asked for again, by their keys.
    accused: dict[str, Finding] = field(default_factory=dict)


class KeyChanged(ConductJudge):
    """The same mutation under another key, while an attempt under the first ended uncertain.

    Two workers may each have a wish of their own: whoever asks again under the first key after all
    is accused no longer.
    """

    def __init__(self) -> None:
        self._of: Recent[tuple[str | None, _Request], _Attempts] = Recent()
        #: Flags whose switching ended uncertain, by person and address.
        self._flags: Recent[tuple[str | None, str], dict[_Request, _Attempts]] = Recent()

    def see(self, now: ExchangeView) -> Iterable[Finding]:
        key = now.mutation_key
        if key is None:
            return
        known = self._of.get((now.who, now.request))
        if known is None:
            known = _Attempts()
            self._of.keep((now.who, now.request), known)
        if key in known.accused:
            known.accused.pop(key).withdrawn = True
        for other, before in list(known.unsure.items()):
            if other != key:
                if _given_up(before, now):
                    yield _accuse(before, now, known)
                del known.unsure[other]  # said once, or over
        last = known.last
        came_between = last is not None and now.entry.real_ms < last.entry.real_ms < now.left_ms
        if now.entry.late_ms and last is not None and came_between and last.key != key:
            # A delayed request stands in the log after the one that came while it was held up.
            yield _accuse(now, last, known)
        self._learn(now, key, known)

    def _learn(self, now: ExchangeView, key: str, known: _Attempts) -> None:
        known.last = now
        place = (now.who, now.path)
        if now.uncertain or now.entry.late_ms:
            known.unsure[key] = now
            if now.call == _FLAG:
                self._flags.keep(place, {**self._flags.get(place, {}), now.request: known})
        elif now.status not in (401, 408, 429):
            known.unsure.pop(key, None)  # now it is known what became of it
        if now.call == _FLAG and now.succeeded:
            # A flag that was switched since is not the one that was uncertain.
            for request, attempts in self._flags.pop(place, {}).items():
                if request != now.request:
                    attempts.unsure.clear()


def _accuse(first: ExchangeView, second: ExchangeView, known: _Attempts) -> Finding:
    told = first.says_uncertain and not first.entry.lost
    how = str(first.status) if told else "no whole answer"
    accusation = finding(
        "new-key-after-uncertainty",
        f"{first.name} got {how} under the key {first.key!r} (#{first.n}), and was sent again "
        f"under the key {second.key!r} (#{second.n}).",
        *(first, second),
    )
    if len(known.accused) < _MOST_ACCUSED:
        known.accused[str(first.key)] = accusation
    return accusation


def _given_up(before: ExchangeView, now: ExchangeView) -> bool:
    """Tell whether an attempt was still uncertain when the next came."""
    if _forgotten(before, now) or now.waited(before, A_RETRY_MS):
        return False
    return before.uncertain or now.entry.real_ms < before.left_ms


def _forgotten(before: ExchangeView, now: ExchangeView) -> bool:
    """Tell whether the key of an earlier attempt was forgotten by the time of another."""
    retention_ms = parse_duration_ms(now.world.assumptions.idempotency_retention)
    return now.entry.came_ms - before.at_ms >= retention_ms


class _Use(NamedTuple):
    """The first use of a key. It was `refused`: the key may be free still."""

    first: ExchangeView
    refused: bool


class KeyReused(ConductJudge):
    """One key for two different requests of one person."""

    def __init__(self) -> None:
        self._uses: Recent[tuple[str | None, str, str], _Use] = Recent()

    def see(self, now: ExchangeView) -> Iterator[Finding]:
        key = now.mutation_key
        if key is None:
            return
        scoped = now.world.assumptions.idempotency_scope == "principal_and_call"
        place = (now.who, key, str(now.call) if scoped else "")
        use = self._uses.get(place)
        refused = 400 <= now.status < 500
        if use is None or _forgotten(use.first, now):
            self._uses.keep(place, _Use(now, refused))
        elif use.first.request != now.request:
            yield _reused(use, now)
            if use.refused:
                self._uses.keep(place, _Use(now, refused))
        elif use.refused and not refused:
            self._uses.keep(place, _Use(now, False))


def _reused(use: _Use, now: ExchangeView) -> Finding:
    first = use.first
    differs = "another body" if first.path == now.path else "something else"
    free = "; the first was refused, and whether its key is free again the contract does not say"
    return finding(
        "key-reused-for-another-request",
        f"The key {now.key!r} of {first.name} (#{first.n}) was sent with {differs} "
        f"({now.name}, #{now.n}){free if use.refused else ''}.",
        *(first, now),
        group=(now.who, now.key),
        severity="note" if use.refused else None,
    )
