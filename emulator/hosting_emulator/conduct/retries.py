"""Trying and polling again: with a key at all and the right one, whether it can help, and how soon."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field

from hosting_emulator.conduct.rules import (
    A_RETRY_MS,
    ConductJudge,
    ExchangeView,
    Finding,
    Recent,
    finding,
)
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.engine.pipeline import REDEEM_TICKET

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
                over = _forgotten(before, now) or now.waited(before, A_RETRY_MS)
                if not over and (before.uncertain or now.entry.real_ms < before.left_ms):
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


def _forgotten(before: ExchangeView, now: ExchangeView) -> bool:
    """Tell whether the key of an earlier attempt was forgotten by the time of another."""
    retention_ms = parse_duration_ms(now.world.assumptions.idempotency_retention)
    return now.entry.came_ms - before.at_ms >= retention_ms


class KeyReused(ConductJudge):
    """One key for two different requests of one person."""

    def __init__(self) -> None:
        #: The first use of a key, and whether it was refused: the key may be free still.
        self._uses: Recent[tuple[str | None, str, str], tuple[ExchangeView, bool]] = Recent()

    def see(self, now: ExchangeView) -> Iterator[Finding]:
        key = now.mutation_key
        if key is None:
            return
        scoped = now.world.assumptions.idempotency_scope == "principal_and_call"
        place = (now.who, key, str(now.call) if scoped else "")
        first, free = self._uses.get(place, (now, True))
        refused = 400 <= now.status < 500
        if first is now or _forgotten(first, now):
            self._uses.keep(place, (now, refused))
        elif first.request != now.request:
            differs = "another body" if first.path == now.path else "something else"
            unsaid = "and whether its key is free again the contract does not say"
            yield finding(
                "key-reused-for-another-request",
                f"The key {now.key!r} of {first.name} (#{first.n}) was sent with {differs} "
                f"({now.name}, #{now.n}){f'; the first was refused, {unsaid}' if free else ''}.",
                *(first, now),
                group=(now.who, now.key),
                severity="note" if free else None,
            )
            if free:
                self._uses.keep(place, (now, refused))
        elif free and not refused:
            self._uses.keep(place, (now, False))


#: Another request this soon after a 429 may have been on its way before that was heard.
_ON_ITS_WAY_MS = 50
#: A read after so long looks anew.
_A_READ_AGAIN_MS = 60_000
#: Who asks again so soon after the end did not see it.
_AT_ONCE_MS = 1000
_KEY_LIMIT = 128
#: What libraries and browsers ask by themselves.
_NO_CALL = frozenset({"HEAD", "OPTIONS"})
#: An operation, as one client sees it.
_Place = tuple[bytes, str]


class NotRetryable(ConductJudge):
    """The same request again, with the same credentials, after it was refused for good.

    A read is taken for a retry only right after it. A mutation is one also after reads in between,
    until something was done, or an operation heard to end, that may have made it possible.
    """

    def __init__(self) -> None:
        self._last: Recent[bytes, ExchangeView] = Recent()
        #: The last refusal of each mutation.
        self._refused: Recent[tuple[bytes, Hashable], ExchangeView] = Recent()

    def see(self, now: ExchangeView) -> Iterable[Finding]:
        place = (now.credentials, now.request)
        mutation = now.spec is not None and now.spec.method != "GET"
        before = self._refused.get(place) if mutation else self._last.get(now.credentials)
        self._last.keep(now.credentials, now)
        if mutation and now.status >= 400:
            self._refused.keep(place, now)
        elif mutation or (now.call == "get_operation" and now.shows_end):
            self._refused.clear()
        if before is not None and _in_vain(before, now):
            code = now.entry.code
            yield finding(
                "retried-not-retryable",
                f"{now.name} was refused with {now.status} {code}, retryable false "
                f"(#{before.n}), was sent again unchanged (#{now.n}), and refused again.",
                *(before, now),
                group=(*place, code),
            )


def _in_vain(before: ExchangeView, now: ExchangeView) -> bool:
    code, problem = now.entry.code, before.problem
    if code is None or before.entry.code != code or not before.heard or now.call == REDEEM_TICKET:
        return False
    if problem is None or problem.get("retryable") is not False:
        return False
    if now.entry.method in _NO_CALL or before.request != now.request:
        return False
    if before.key != now.key:  # another key makes another request where the refusal was about it
        keys = [value for name, value in before.entry.headers if name.lower() == b"idempotency-key"]
        bad = len(keys) != 1 or not 1 <= len(before.key or "") <= _KEY_LIMIT
        if code == "idempotency_key_reused" or (code == "invalid_request" and bad):
            return False
    is_read = now.spec is not None and now.spec.method == "GET"
    return not now.waited(before, _A_READ_AGAIN_MS if is_read else A_RETRY_MS)


class TooSoon(ConductJudge):
    """What the service said of waiting: Retry-After of 429 and 503, and when to poll again.

    `rate_limited` is about whoever asks: any call of the same credentials has to wait. Polls are not
    judged in a world whose clock skips: there a poll moves time itself.
    """

    def __init__(self) -> None:
        #: What was said, and for how many seconds, by whom it concerns and what.
        self._told: Recent[tuple[bytes, str], tuple[ExchangeView, int]] = Recent()

    def see(self, now: ExchangeView) -> Iterable[Finding]:
        if now.who is not None:
            yield from self._repeat(now)
            yield from self._poll(now)

    def _order(
        self, place: tuple[bytes, str], now: ExchangeView
    ) -> tuple[ExchangeView, int] | None:
        """Return what was said of a place, if it still holds."""
        told = self._told.get(place)
        if told is not None and now.waited(told[0], told[1] * 1000):
            del self._told[place]
            return None
        return told

    def _repeat(self, now: ExchangeView) -> Iterator[Finding]:
        # A limit is on who asks, other trouble is with what is asked.
        limited, unwell = "", f"{now.entry.method} {now.path}?{now.entry.query}"
        for about in (limited, unwell):
            told = self._order((now.credentials, about), now)
            if told is None:
                continue
            before, seconds = told
            same = before.entry.method == now.entry.method and before.path == now.path
            if same or max(now.waits_ms(before)) >= _ON_ITS_WAY_MS:
                again = before.request[:3] == now.request[:3]
                what = "was asked again" if again else f"{now.name} was asked"
                yield finding(
                    "retried-before-retry-after",
                    f"{before.name} was answered {before.status} with Retry-After: {seconds} "
                    f"(#{before.n}), and {what} after {now.shown_wait(before)} (#{now.n}).",
                    *(before, now),
                    group=(now.credentials, about),
                )
        by_limit, wait_s = now.entry.code == "rate_limited", now.retry_after_s
        if now.heard and wait_s is not None and (by_limit or now.status in (429, 503)):
            self._told.keep((now.credentials, limited if by_limit else unwell), (now, wait_s))

    def _poll(self, now: ExchangeView) -> Iterator[Finding]:
        if now.call == "get_operation" and now.world.clock.mode != "skip":
            place = (now.credentials, str(now.entry.operation))
            told = self._order(place, now)
            if told is not None:
                before, seconds = told
                yield finding(
                    "polled-too-early",
                    f"Operation {now.entry.operation} was to be polled after {seconds} s "
                    f"(#{before.n}), and was polled after {now.shown_wait(before)} (#{now.n}).",
                    *(before, now),
                    group=place,
                )
        if now.operation is None:
            return
        place = (now.credentials, now.operation["id"])
        if now.entry.replayed and place in self._told:  # it says what was said before
            return
        progress = now.operation.get("progress")
        wait_s = progress.get("next_poll_after_seconds") if isinstance(progress, dict) else None
        if isinstance(wait_s, int) and not isinstance(wait_s, bool):
            self._told.keep(place, (now, wait_s))
        else:
            self._told.pop(place, None)


@dataclass(slots=True)
class _End:
    """An end that was heard of: first, and last; and how often it was asked for since."""

    first: ExchangeView
    last: ExchangeView
    again: int = 0
    #: An earlier answer came again, as to a client that begins anew: it has to look once more.
    anew: bool = False
    begun_anew: bool = False


class AfterEnd(ConductJudge):
    """A poll after the client heard how the operation ended.

    Once, and not at once, it may be another program that looks: a note. More of it is a loop.
    """

    def __init__(self) -> None:
        self._ended: Recent[_Place, _End] = Recent()

    def see(self, now: ExchangeView) -> Iterable[Finding]:
        if now.who is None:
            return
        if now.call == "get_operation":
            place = (now.credentials, str(now.entry.operation))
            end = self._ended.get(place)
            if end is not None and end.anew:
                end.anew = False
            elif end is not None:
                end.again += 1
                loop = end.again > 1 or not now.waited(end.last, _AT_ONCE_MS)
                yield finding(
                    "polled-after-end",
                    f"Operation {now.entry.operation} had ended (#{end.first.n}), and was polled "
                    f"again (#{now.n}).",
                    *(end.first, now),
                    group=place,
                    severity=None if loop else "note",
                )
        if now.operation is None:
            return
        place = (now.credentials, now.operation["id"])
        end = self._ended.get(place)
        if now.shows_end and end is None:
            self._ended.keep(place, _End(now, now))
        elif end is not None and now.shows_end:
            end.last = now
        elif end is not None:
            end.anew, end.begun_anew = not end.begun_anew, True
