"""Judges for retries of requests that were refused for good, and for retries that are sent too
soon.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

from hosting_emulator.conduct.exchange_view import A_RETRY_MS, ConnectionUse, ExchangeView
from hosting_emulator.conduct.findings import Finding
from hosting_emulator.conduct.judge import ConductJudge
from hosting_emulator.conduct.judges.workers import MOST_WORKERS, Workers
from hosting_emulator.conduct.recent import Recent
from hosting_emulator.contract.calls import REDEEM_TICKET

#: A read that is repeated after this many milliseconds is a new read, not a retry.
_NEW_READ_MS = 60_000
_KEY_LIMIT = 128
#: Up to this many refused mutations, each with its own key, may be separate intended changes.
_SEPARATE_INTENTS = 2
#: Up to this many identical mutations, each with its own key, may come from separate workers.
_SEPARATE_WORKERS = 8
#: A connection pool rarely serves more than this many workers per connection.
_WORKERS_PER_CONNECTION = 2
#: The methods of requests that libraries and browsers send automatically.
_AUTOMATIC_METHODS = frozenset({"HEAD", "OPTIONS"})
#: This many failed attempts within _STORM_MS are a retry storm, if no response said how long to
#: wait.
_STORM = 10
_STORM_MS = 2000
#: If there are several workers, this many attempts per worker within _STORM_MS are a retry storm.
_ATTEMPTS_EACH = 5
_MOST_ATTEMPTS = _ATTEMPTS_EACH * MOST_WORKERS


class NotRetryable(ConductJudge):
    """Detects a request that is sent again with the same credentials after it was refused for good.

    A read counts as a retry only if the refused request was the client's previous request. A
    mutation also counts as a retry if other requests came in between. After another mutation has
    succeeded or an operation has ended, a repeated mutation is not a retry, because it may now
    succeed.
    """

    def __init__(self) -> None:
        #: The most recent request from each client, by credentials.
        self._last: Recent[bytes, ExchangeView] = Recent()
        #: The most recent refusal of each mutation.
        self._refused: Recent[Hashable, ExchangeView] = Recent()
        self._workers = Workers(notices_crossing=True)
        #: How many times in a row each request has been refused for good.
        self._repeats: Recent[Hashable, int] = Recent()

    def observe(self, exchange: ExchangeView) -> Iterable[Finding]:
        workers = self._workers.count(exchange)
        repeat_key = (exchange.credentials, exchange.request_identity)
        earlier = self._note(exchange)
        if earlier is None or not _is_retry_in_vain(earlier, exchange):
            self._repeats.keep(repeat_key, 1)
            return
        repeats = self._repeats.get(repeat_key, 1) + 1
        self._repeats.keep(repeat_key, repeats)
        # The finding is certain only if this client received the earlier response.
        is_sure = exchange.knows_response(earlier) == "surely"
        # If there are more requests than workers, at least one request was a retry.
        is_proven = exchange.has_key_of(earlier) or repeats > workers > 1
        is_sure = is_sure and (workers == 1 or is_proven)
        is_other_connection = exchange.connection_use is not earlier.connection_use
        if exchange.key != earlier.key and is_other_connection:
            # Two programs may each have sent this request once, with different keys. If there are
            # more repeats than separate programs could explain, a single client repeated the
            # request.
            is_sure = is_sure and repeats > _SEPARATE_INTENTS
        group = (*repeat_key, exchange.entry.code, is_proven)
        finding = Finding("retried-not-retryable", earlier, exchange, sure=is_sure, group=group)
        if not is_proven:
            finding = self._workers.doubt(exchange, finding)
        yield finding

    def _note(self, exchange: ExchangeView) -> ExchangeView | None:
        """Remember a request, and return an earlier request that it may repeat, or None."""
        refusal_key = (exchange.credentials, exchange.request_identity)
        is_mutation = exchange.spec is not None and exchange.spec.method != "GET"
        earlier = self._last.get(exchange.credentials)
        if is_mutation:
            earlier = self._refused.get(refusal_key)
        last = exchange
        if (
            earlier is not None
            and earlier.request_identity == exchange.request_identity
            and exchange.crossed(earlier)
            and earlier.entry.code == exchange.entry.code
        ):
            # If several requests overlapped, keep the first one and compare the others with it.
            last = earlier
        self._last.keep(exchange.credentials, exchange if is_mutation else last)
        if is_mutation and exchange.status >= 400:
            self._refused.keep(refusal_key, last)
        elif is_mutation or (exchange.call == "get_operation" and exchange.shows_end):
            self._refused.clear()
        return earlier


def _is_retry_in_vain(earlier: ExchangeView, exchange: ExchangeView) -> bool:
    """Return whether a request repeats an earlier request whose refusal said that it was not
    retryable.
    """
    code = exchange.entry.code
    if code is None or earlier.entry.code != code or not earlier.is_received:
        return False
    if exchange.call == REDEEM_TICKET or exchange.entry.method in _AUTOMATIC_METHODS:
        return False
    problem = earlier.response_body
    if not isinstance(problem, dict) or problem.get("retryable") is not False:
        return False
    if earlier.request_identity != exchange.request_identity:
        return False
    if exchange.knows_response(earlier) == "no":
        return False
    if earlier.key != exchange.key and _is_about_key(earlier, code):
        return False  # a request with a different key may be accepted
    is_read = exchange.spec is not None and exchange.spec.method == "GET"
    if is_read:
        return not exchange.waited(earlier, _NEW_READ_MS)
    return not exchange.waited(earlier, A_RETRY_MS)


def _exceeds_workers(repeats: int, workers: int) -> bool:
    """Return whether a pool sent so many identical requests that some worker must have sent its
    request twice.

    A pool may serve more workers than it has connections.
    """
    return workers > 1 and repeats > _WORKERS_PER_CONNECTION * workers


def _is_about_key(refused: ExchangeView, code: str) -> bool:
    """Return whether a request was refused because of its Idempotency-Key."""
    if code == "idempotency_key_reused":
        return True
    if code != "invalid_request":
        return False
    names = [name.lower() for name, _ in refused.entry.raw_headers]
    has_one_key = names.count(b"idempotency-key") == 1
    has_valid_length = 1 <= len(refused.key or "") <= _KEY_LIMIT
    return not has_one_key or not has_valid_length


@dataclass(frozen=True, slots=True)
class _Wait:
    """A response that told the client to wait, and how long to wait, in seconds."""

    response: ExchangeView
    seconds: int

    def is_over(self, exchange: ExchangeView) -> bool:
        """Return whether a request was sent after the wait was over."""
        return exchange.waited(self.response, self.seconds * 1000)


class RetriedTooSoon(ConductJudge):
    """Detects retries that ignore Retry-After (429 and 503), and many retries without a pause.

    Only the worker that received the response knows that it has to wait. Therefore a request counts
    as a retry only if the response to an earlier, identical request told the client to wait. The
    first request from a different worker is not a retry.
    """

    def __init__(self) -> None:
        #: The most recent response that required a wait, by credentials, request and connection. If
        #: the connection is None, the wait applies to all connections.
        self._waits: Recent[tuple[bytes, Hashable, ConnectionUse | None], _Wait] = Recent()
        #: The number of requests that were sent too soon, by credentials and request.
        self._repeats: Recent[Hashable, int] = Recent()
        #: The wait that a rate limit imposed on each client, and how many other requests have been
        #: refused since then.
        self._limits: Recent[bytes, tuple[_Wait, int]] = Recent()
        #: The most recent failed attempts at each request, oldest first.
        self._failures: Recent[tuple[bytes, Hashable], deque[ExchangeView]] = Recent()
        self._workers = Workers()

    def observe(self, exchange: ExchangeView) -> Iterable[Finding]:
        if exchange.user is None:
            return
        workers = self._workers.count(exchange)
        yield from self._find_repeat(exchange, workers)
        self._note_wait(exchange)
        yield from self._find_ignored_limit(exchange, workers)
        yield from self._find_storm(exchange, workers)

    def _wait_for(self, exchange: ExchangeView) -> _Wait | None:
        """Return a wait that is not over and that the client may know about, or None if there is
        none.
        """
        for use in (exchange.connection_use, None):
            wait_key = (exchange.credentials, exchange.request_identity, use)
            wait = self._waits.get(wait_key)
            if wait is None:
                continue
            if wait.is_over(exchange):
                del self._waits[wait_key]
            elif exchange.knows_response(wait.response) != "no":
                return wait
        return None

    def _find_repeat(self, exchange: ExchangeView, workers: int) -> Iterator[Finding]:
        repeat_key = (exchange.credentials, exchange.request_identity)
        wait = None
        if self._waits:
            wait = self._wait_for(exchange)
        if wait is None:
            self._repeats.pop(repeat_key, None)
            return
        repeats = self._repeats.get(repeat_key, 1)
        if exchange.retry_after_s is not None:
            # Count only responses that require another wait. After a response that requires no
            # wait, the client may retry immediately.
            repeats += 1
        self._repeats.keep(repeat_key, repeats)
        is_proven = exchange.has_key_of(wait.response) or _exceeds_workers(repeats, workers)
        # Two jobs may share a token, and each job receives only its own responses.
        is_known = exchange.knows_response(wait.response) == "surely"
        is_other_connection = exchange.connection_use is not wait.response.connection_use
        if exchange.key != wait.response.key:
            # A different key stands for a different change. Several workers may each send this
            # mutation once, with their own key and connection, and so may the tests of a suite on one
            # connection. Only a client that goes on shows that it retries with new keys.
            most = _SEPARATE_WORKERS if is_other_connection else _SEPARATE_INTENTS
            is_known = is_known and repeats > most
        finding = Finding(
            "retried-too-soon",
            wait.response,
            exchange,
            seconds=wait.seconds,
            group=(*repeat_key, is_proven),
            sure=is_known and (workers == 1 or is_proven),
        )
        if not is_proven:
            finding = self._workers.doubt(exchange, finding)
        yield finding

    def _note_wait(self, exchange: ExchangeView) -> None:
        wait_s = exchange.retry_after_s
        is_limited = exchange.entry.code == "rate_limited" or exchange.status in (429, 503)
        if not exchange.is_received or wait_s is None or not is_limited:
            return
        for use in (exchange.connection_use, None):
            wait_key = (exchange.credentials, exchange.request_identity, use)
            wait = self._waits.get(wait_key)
            if wait is None or not exchange.crossed(wait.response):
                self._waits.keep(wait_key, _Wait(exchange, wait_s))

    def _find_ignored_limit(self, exchange: ExchangeView, workers: int) -> Iterator[Finding]:
        """Yield a finding if a client continues to send other requests although it knows that it is
        rate limited.
        """
        credentials = exchange.credentials
        wait, count = self._limits.get(credentials, (None, 0))
        if wait is not None and wait.is_over(exchange):
            wait = None
        wait_s = exchange.retry_after_s
        is_limited = exchange.entry.code == "rate_limited" or exchange.status == 429
        if not is_limited or wait_s is None or not exchange.is_received:
            if wait is None:
                self._limits.pop(credentials, None)
            return
        if wait is None:
            self._limits.keep(credentials, (_Wait(exchange, wait_s), 0))
            return
        first = wait.response
        if not exchange.may_react_to(first) or exchange.crossed(first):
            return
        count += 1
        self._limits.keep(credentials, (wait, count))
        if count != max(_STORM, _ATTEMPTS_EACH * workers):
            return
        refusal = f"{first.name} got {first.status} with Retry-After: {wait.seconds} (#{first.n})"
        shown_wait = exchange.shown_wait(first)
        message = f"{refusal}, and {count} more requests were refused within {shown_wait}."
        group = (credentials, "limit", first.n)
        # A pool may have queued these requests before it received the response.
        is_sure = workers == 1
        yield Finding(
            "retried-too-soon", first, exchange, message=message, group=group, sure=is_sure
        )

    def _find_storm(self, exchange: ExchangeView, workers: int) -> Iterator[Finding]:
        """Yield a finding for many attempts in a short time, if no response said how long to wait."""
        has_failed = exchange.is_uncertain or exchange.status == 429
        is_failure = has_failed and exchange.retry_after_s is None
        if not is_failure and not self._failures:
            return
        request_key = (exchange.credentials, exchange.request_identity)
        if not is_failure:
            self._failures.pop(request_key, None)
            return
        failures = self._failures.get(request_key)
        if failures is None:
            failures = self._failures.keep(request_key, deque(maxlen=_MOST_ATTEMPTS))
        failures.append(exchange)
        most = max(_STORM, _ATTEMPTS_EACH * workers)
        if len(failures) < most or exchange.waited(failures[-most], _STORM_MS):
            return
        attempts = [*failures][-most:]
        first = attempts[0]
        failure = f"{exchange.name} failed (#{first.n}: {first.status or 'no response'})"
        repetition = f"{most} times within {exchange.shown_wait(first)} (up to #{exchange.n})"
        message = f"{failure}, and was sent {repetition}."
        shown_attempts = (*attempts[: _STORM - 1], exchange)
        group = (*request_key, "storm")
        yield Finding("retried-too-soon", *shown_attempts, message=message, group=group)
