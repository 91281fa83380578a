"""Trying and polling again: whether it can help at all, and whether it waits as long as it was told."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

from hosting_emulator.conduct.exchange import A_RETRY_MS, ExchangeView
from hosting_emulator.conduct.rules import ConductJudge, Finding, Recent, finding
from hosting_emulator.engine.pipeline import REDEEM_TICKET

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
                yield _again(end, now, place)
        self._learn(now)

    def _learn(self, now: ExchangeView) -> None:
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


def _again(end: _End, now: ExchangeView, place: _Place) -> Finding:
    end.again += 1
    loop = end.again > 1 or not now.waited(end.last, _AT_ONCE_MS)
    return finding(
        "polled-after-end",
        f"Operation {now.entry.operation} had ended (#{end.first.n}), and was polled again "
        f"(#{now.n}).",
        *(end.first, now),
        group=place,
        severity=None if loop else "note",
    )
