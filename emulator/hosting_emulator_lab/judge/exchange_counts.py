"""Counts in the exchanges of a run: API keys, refusals in a row, fast attempts, and URLs without a name."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from hosting_emulator.messages import SKIP_NOTE
from hosting_emulator_lab.judge.client_requests import ObservedExchange

_CREATE_KEY = "create_user_api_key"
#: After such a pause, a request is not a retry but the next run of a job that runs regularly.
_LONGEST_RETRY_PAUSE = timedelta(minutes=10)
#: The longest pause between two attempts that counts as no pause.
_HARDLY_A_PAUSE = timedelta(milliseconds=50)
#: Matches a word such as `null` as a whole segment of a path or as the value of a query parameter.
_NULL_IN_URL = re.compile(r"[/=](?:null|None|nil|undefined|NaN)(?=$|[/?&])")


class KeyCounts(NamedTuple):
    """The numbers of API keys that a client requested, received with their value, and lost."""

    requested: int
    values: int
    lost: int


class Refusals(NamedTuple):
    """The refusals by a call in one chapter since its last success, and whether the last request of a
    chapter never succeeded.
    """

    in_a_row: int
    is_last_refused: bool


@dataclass(frozen=True, slots=True)
class FastAttempts:
    """The number of attempts at one request with hardly a pause between them."""

    method: str
    path: str
    count: int


class _Attempted(NamedTuple):
    """What all attempts at one request have in common."""

    method: str
    path: str
    query: str
    idempotency_key: str | None


def count_keys(exchanges: Iterable[ObservedExchange]) -> KeyCounts:
    """Count the API keys that a client requested. Requests for the same key share an Idempotency-Key."""
    requested: set[str | None] = set()
    received: set[str | None] = set()
    received_replays: set[str | None] = set()
    for exchange in exchanges:
        if exchange.call != _CREATE_KEY:
            continue
        key = exchange.idempotency_key
        requested.add(key)
        if exchange.status not in (200, 201):
            continue
        is_received = exchange.is_received
        if is_received and exchange.replayed:
            received_replays.add(key)
        elif is_received:
            received.add(key)
    return KeyCounts(len(requested), len(received), len(received_replays - received))


def count_refusals(exchanges: Iterable[ObservedExchange], call: str) -> Refusals:
    """Count the refused requests to a call since the last request to it that succeeded.

    A lost response counts as a refusal. After a pause of ten minutes of world time, the count starts
    over. Chapters are counted separately, because the tests of a suite may retry at the same time in
    different worlds. The largest count is returned.
    """
    counts: Counter[int] = Counter()
    last_chapter = 0
    last_request = ""
    granted_requests: set[str] = set()
    last_times: dict[int, datetime] = {}
    for exchange in exchanges:
        if exchange.call != call:
            continue
        time = datetime.fromisoformat(exchange.at)
        last_request = (
            f"{exchange.chapter} {exchange.path}?{exchange.query} {exchange.idempotency_key}"
        )
        is_granted = exchange.is_received and 0 < exchange.status < 400
        last_chapter = exchange.chapter
        last_time = last_times.get(last_chapter)
        is_retry = last_time is None or time - last_time < _LONGEST_RETRY_PAUSE
        last_times[last_chapter] = time
        if is_granted:
            counts[last_chapter] = 0
            granted_requests.add(last_request)
        elif is_retry:
            counts[last_chapter] += 1
        else:
            counts[last_chapter] = 1
    is_last_refused = counts[last_chapter] > 0 and last_request not in granted_requests
    return Refusals(max(counts.values(), default=0), is_last_refused)


def fast_attempts(exchanges: Iterable[ObservedExchange]) -> tuple[FastAttempts, ...]:
    """Return how often each request was sent with hardly a pause of world time between the attempts.

    Attempts at the same request share the method, the URL and the Idempotency-Key. The count is the
    length of the longest series of attempts.
    """
    last_times: dict[_Attempted, datetime] = {}
    lengths: Counter[_Attempted] = Counter()
    longest: Counter[_Attempted] = Counter()
    for exchange in exchanges:
        time = datetime.fromisoformat(exchange.at)
        request = _Attempted(
            exchange.method, exchange.path, exchange.query, exchange.idempotency_key
        )
        last_time = last_times.get(request)
        last_times[request] = time
        # Skip equal times, because a clock that stands still, as in tests, shows no pauses.
        if last_time is None or time == last_time or time - last_time > _HARDLY_A_PAUSE:
            lengths[request] = 0
        lengths[request] += 1
        longest[request] = max(longest[request], lengths[request])
    return tuple(
        FastAttempts(request.method, request.path, count) for request, count in longest.items()
    )


def excess_attempts(
    attempts: Iterable[FastAttempts], usual_exchanges: Iterable[ObservedExchange]
) -> int:
    """Return the largest number of attempts at one request with hardly a pause between them.

    Requests that the clean run sends as well do not count, because several workers may send the same.
    `usual_exchanges` are the exchanges of the clean run.
    """
    usual_counts = Counter((exchange.method, exchange.path) for exchange in usual_exchanges)
    largest = 0
    for attempt in attempts:
        usual_count = usual_counts[attempt.method, attempt.path] or 1
        largest = max(largest, attempt.count - usual_count + 1)
    return largest


def null_urls(exchanges: Iterable[ObservedExchange]) -> frozenset[str]:
    """Return the URLs in which a word such as `null` stands for a name or an id."""
    urls = [
        f"{exchange.path}?{exchange.query}" if exchange.query else exchange.path
        for exchange in exchanges
    ]
    return frozenset(url for url in urls if _NULL_IN_URL.search(url))


def longest_world_time(exchanges: Iterable[ObservedExchange]) -> float:
    """Return the world time between the first and the last exchange of a chapter, in seconds.

    If there are several chapters, the longest time is returned. The time by which a skip clock moves
    by itself is left out, because the client did not wait for it.
    """
    last_times: dict[int, datetime] = {}
    durations_s: defaultdict[int, float] = defaultdict(float)
    for exchange in exchanges:
        chapter = exchange.chapter
        time = datetime.fromisoformat(exchange.at)
        last_time = last_times.get(chapter, time)
        last_times[chapter] = time
        is_skipped = any(text.startswith(SKIP_NOTE) for text in exchange.why)
        if time > last_time and not is_skipped:
            durations_s[chapter] += (time - last_time).total_seconds()
    return max(durations_s.values(), default=0.0)
