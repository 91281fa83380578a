"""Trying again: whether it can help at all, and whether it waits as long as it was told."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from hosting_emulator.conduct.rule import CONTRACT, Finding, Judge, Recent, Rule, found
from hosting_emulator.conduct.seen import (
    A_RETRY_MS,
    ENDED,
    Seen,
    named,
    shown_wait,
    waited,
    waits_ms,
)
from hosting_emulator.engine.redeeming import REDEEM_TICKET

#: Another request this soon after a 429 may have been on its way before that was heard.
_ON_ITS_WAY_MS = 50
#: A read after so long looks anew.
_A_READ_AGAIN_MS = 60_000
_KEY_LIMIT = 128

NOT_RETRYABLE = Rule(
    id="retried-not-retryable",
    severity="warning",
    title="Tried again unchanged what cannot be retried",
    because="All failures return application/problem+json (RFC 9457 Problem Details extended with "
    "recovery fields)",
    place=f"{CONTRACT}, Errors: retryable is one of those fields",
    matters="The answer stays the same: the retries only cost time, and count towards a rate limit.",
    instead="Read `retryable`. Where it is false, change the request as `suggested_action` says, or "
    "give up and tell somebody.",
)
RETRY_AFTER = Rule(
    id="retried-before-retry-after",
    severity="warning",
    title="Tried again before Retry-After was over",
    because='Servers send the "Retry-After" header field to indicate how long the user agent ought '
    "to wait before making a follow-up request.",
    place="RFC 9110, 10.2.3; for 429 RFC 6585, 4",
    matters="A service that is short of breath is asked more than it can answer; clients that do so "
    "are shut out for longer.",
    instead="Wait as many seconds as Retry-After (or `retry_after_seconds`) says before the next "
    "attempt.",
)


class NotRetryable(Judge):
    """The same request again, with the same credentials, after it was refused for good.

    A read is taken for a retry only right after it. A mutation is one also after reads in between,
    until something was done, or an operation heard to end, that may have made it possible.
    """

    rules = (NOT_RETRYABLE,)

    def __init__(self) -> None:
        self._last: Recent[bytes, Seen] = Recent()
        #: The last refusal of each mutation.
        self._refused: Recent[tuple[bytes, Hashable], Seen] = Recent()

    def see(self, seen: Seen) -> Iterable[Finding]:
        """Compare each refusal with what the same credentials were refused before."""
        credentials = seen.credentials
        mutation = seen.spec is not None and seen.spec.method != "GET"
        known = self._refused.get((credentials, seen.request))
        before = known if mutation else self._last.get(credentials)
        self._last.keep(credentials, seen)
        if mutation and seen.status >= 400:
            self._refused.keep((credentials, seen.request), seen)
        elif mutation or _has_ended(seen):
            self._refused.clear()
        if before is not None and _in_vain(before, seen):
            code = seen.entry.code
            yield found(
                NOT_RETRYABLE,
                [before, seen],
                f"{named(seen)} was refused with {seen.status} {code}, retryable false "
                f"(#{before.n}), was sent again unchanged (#{seen.n}), and refused again.",
                group=(credentials, seen.request, code),
            )


def _has_ended(seen: Seen) -> bool:
    operation = seen.operation() if seen.call == "get_operation" else None
    return operation is not None and operation.get("state") in ENDED


def _in_vain(before: Seen, seen: Seen) -> bool:
    code = seen.entry.code
    if code is None or before.entry.code != code or not before.heard or seen.call == REDEEM_TICKET:
        return False
    if seen.entry.method in _NO_CALL:
        return False
    problem = before.problem
    if problem is None or problem.get("retryable") is not False or before.request != seen.request:
        return False
    if before.key != seen.key and (code == "idempotency_key_reused" or _bad_key(code, before)):
        return False
    is_read = seen.spec is not None and seen.spec.method == "GET"
    return not waited(before, seen, _A_READ_AGAIN_MS if is_read else A_RETRY_MS)


#: What libraries and browsers ask by themselves.
_NO_CALL = frozenset({"HEAD", "OPTIONS"})


def _bad_key(code: str, before: Seen) -> bool:
    """Tell whether a refusal was about its key, so that another one makes another request."""
    keys = [value for name, value in before.entry.headers if name.lower() == b"idempotency-key"]
    right = len(keys) == 1 and 1 <= len(before.key or "") <= _KEY_LIMIT
    return code == "invalid_request" and not right


class RetryAfter(Judge):
    """429 and 503 say how long to wait, and the client does not.

    `rate_limited` is about whoever asks: any call of the same credentials has to wait.
    """

    rules = (RETRY_AFTER,)

    def __init__(self) -> None:
        self._told: Recent[tuple[bytes, ...], tuple[Seen, int]] = Recent()

    def see(self, seen: Seen) -> Iterable[Finding]:
        """Hold each request against what was last said of asking it again."""
        if seen.who is None:
            return
        tells = seen.status in (429, 503) or seen.entry.code == _LIMITED
        if not self._told and not tells:
            return
        limited, unwell = _places(seen)
        for place in (limited, unwell):
            told = self._told.pop(place, None)
            if told is None or waited(told[0], seen, told[1] * 1000):
                continue
            self._told.keep(place, told)
            if _heard_before(told[0], seen):
                yield _too_soon(*told, seen, place)
        if tells and seen.heard:
            seconds = seen.retry_after_s()
            if seconds is not None:
                place = limited if seen.entry.code == _LIMITED else unwell
                self._told.keep(place, (seen, seconds))


_LIMITED = "rate_limited"


def _places(seen: Seen) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    """Return what is told to wait by a limit on who asks, and by trouble with what is asked."""
    asked = f"{seen.entry.method} {seen.path}?{seen.entry.query}"
    return (seen.credentials,), (seen.credentials, asked.encode("utf-8", "backslashreplace"))


def _heard_before(told: Seen, seen: Seen) -> bool:
    same = told.entry.method == seen.entry.method and told.path == seen.path
    return same or max(waits_ms(told, seen)) >= _ON_ITS_WAY_MS


def _too_soon(before: Seen, seconds: int, seen: Seen, place: tuple[bytes, ...]) -> Finding:
    same = before.request[:3] == seen.request[:3]
    what = "was asked again" if same else f"{named(seen)} was asked"
    return found(
        RETRY_AFTER,
        [before, seen],
        f"{named(before)} was answered {before.status} with Retry-After: {seconds} "
        f"(#{before.n}), and {what} after {shown_wait(before, seen)} (#{seen.n}).",
        group=place,
    )
