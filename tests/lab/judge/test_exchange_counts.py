"""What the exchanges of a run show: API keys, refusals in a row, fast attempts, and URLs without a name."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator_lab.judge.client_requests import ObservedExchange
from hosting_emulator_lab.judge.exchange_counts import (
    FastAttempts,
    KeyCounts,
    count_keys,
    count_refusals,
    excess_attempts,
    fast_attempts,
    longest_world_time,
    null_urls,
)
from tests.lab.judge.samples import exchange

CREATE_KEY = "create_user_api_key"
READING = "list_deployments"
GAVE_UP = "the client closed its side before the whole response had been sent"


def test_a_key_counts_once_however_often_it_is_requested():
    exchanges = [
        exchange(CREATE_KEY, 503, idempotency_key="a"),
        exchange(CREATE_KEY, 201, idempotency_key="a"),
        exchange(CREATE_KEY, 200, idempotency_key="b"),
        exchange(READING, 200, idempotency_key="c"),
    ]

    assert count_keys(exchanges) == KeyCounts(requested=2, values=2, lost=0)


def test_a_replay_shows_that_the_value_of_a_key_is_lost():
    exchanges = [
        exchange(CREATE_KEY, 201, idempotency_key="a", lost="connection_reset"),
        exchange(CREATE_KEY, 201, idempotency_key="a", replayed=True),
    ]

    assert count_keys(exchanges) == KeyCounts(requested=1, values=0, lost=1)


def test_a_client_that_gave_up_in_the_middle_of_a_response_did_not_receive_the_value():
    exchanges = [
        exchange(CREATE_KEY, 201, idempotency_key="a", why=(GAVE_UP,)),
        exchange(CREATE_KEY, 201, idempotency_key="a", replayed=True),
    ]

    assert count_keys(exchanges) == KeyCounts(requested=1, values=0, lost=1)


def test_a_value_that_one_of_two_requests_received_is_not_lost():
    exchanges = [
        exchange(CREATE_KEY, 201, idempotency_key="a"),
        exchange(CREATE_KEY, 201, idempotency_key="a", replayed=True),
    ]

    assert count_keys(exchanges) == KeyCounts(requested=1, values=1, lost=0)


def test_the_client_does_not_know_of_a_loss_if_the_replay_is_lost_too():
    exchanges = [
        exchange(CREATE_KEY, 201, idempotency_key="a", lost="connection_reset"),
        exchange(CREATE_KEY, 201, idempotency_key="a", replayed=True, lost="timeout"),
    ]

    assert count_keys(exchanges) == KeyCounts(requested=1, values=0, lost=0)


def test_a_refused_key_is_neither_received_nor_lost():
    exchanges = [exchange(CREATE_KEY, 409, idempotency_key="a")]

    assert count_keys(exchanges) == KeyCounts(requested=1, values=0, lost=0)


def test_refusals_are_counted_since_the_latest_success():
    exchanges = [
        exchange(READING, 503),
        exchange(READING, 200),
        exchange(READING, 503),
        exchange(CREATE_KEY, 503),
        exchange(READING, 403),
    ]

    assert count_refusals(exchanges, READING) == (2, False)


@pytest.mark.parametrize(("status", "lost"), [(200, "timeout"), (0, None), (400, None)])
def test_a_request_without_a_successful_response_counts_as_refused(status: int, lost: str | None):
    assert count_refusals([exchange(READING, status, lost=lost)], READING) == (1, True)


def test_a_request_that_was_granted_before_is_not_in_vain():
    granted = exchange(READING, 200, path="/a")

    assert count_refusals([granted, exchange(READING, 503, path="/a")], READING) == (1, False)
    assert count_refusals([granted, exchange(READING, 503, path="/b")], READING) == (1, True)


def test_refusals_in_different_worlds_are_not_in_a_row():
    """The tests of a suite may retry at the same time, each in a world of its own."""
    exchanges = [
        exchange(READING, 503, chapter=1),
        exchange(READING, 503, chapter=2),
        exchange(READING, 503, chapter=1),
        exchange(READING, 503, chapter=2),
        exchange(READING, 503, chapter=2),
        exchange(READING, 200, chapter=1),
    ]

    assert count_refusals(exchanges, READING) == (3, False)
    assert count_refusals(exchanges[:-1], READING) == (3, True)


def test_a_request_that_is_granted_in_one_world_may_be_in_vain_in_another():
    exchanges = [exchange(READING, 200, chapter=1), exchange(READING, 403, chapter=2)]

    assert count_refusals(exchanges, READING) == (1, True)


@pytest.mark.parametrize(("pause", "count"), [("00:09:59", 2), ("00:10:00", 1)])
def test_a_request_after_ten_minutes_is_not_a_retry(pause: str, count: int):
    exchanges = [
        exchange(READING, 403, at="2026-01-01T00:00:00.000Z"),
        exchange(READING, 403, at=f"2026-01-01T{pause}.000Z"),
    ]

    assert count_refusals(exchanges, READING).in_a_row == count


@pytest.mark.parametrize(
    ("path", "query", "is_null"),
    [
        ("/v1/projects/null/domains", "", True),
        ("/v1/projects/undefined", "", True),
        ("/v1/projects", "environment=None", True),
        ("/v1/projects/nullable", "", False),
        ("/v1/projects/shop", "name=annul", False),
    ],
)
def test_a_word_for_no_value_in_a_url_must_be_a_whole_part(path: str, query: str, is_null: bool):
    urls = null_urls([exchange(READING, path=path, query=query)])

    expected = f"{path}?{query}" if query else path
    assert urls == (frozenset({expected}) if is_null else frozenset())


def test_the_world_time_of_a_run_lies_between_its_first_and_its_last_request():
    times = ("00:00:01.000", "00:00:02.000", "00:01:01.500")
    exchanges = [exchange(READING, at=f"2026-01-01T{time}Z") for time in times]

    assert longest_world_time(exchanges) == 60.5
    assert longest_world_time(exchanges[:1]) == 0
    assert longest_world_time([]) == 0


def test_the_world_that_took_longest_determines_the_world_time_of_a_run():
    exchanges = [
        exchange(READING, at=f"2026-01-01T00:00:{second:02}.000Z", chapter=chapter)
        for second, chapter in [(1, 1), (30, 2), (3, 1), (35, 2), (7, 1)]
    ]

    assert longest_world_time(exchanges) == 6


def test_time_that_a_skip_clock_moves_is_no_time_that_a_client_waited():
    moved = "the skip clock moved to 2026-01-01T00:00:09.000Z, the end of the wait"
    exchanges = [
        exchange(READING, at="2026-01-01T00:00:01.000Z"),
        exchange(READING, at="2026-01-01T00:00:09.000Z", why=("any", moved)),
        exchange(READING, at="2026-01-01T00:00:11.000Z", why=("any",)),
    ]

    assert longest_world_time(exchanges) == 2


def attempt(milliseconds: int, key: str = "a", **overrides: Any) -> ObservedExchange:
    """Return an attempt to create a key, so many milliseconds after midnight."""
    at = f"2026-01-01T00:00:00.{milliseconds:03}Z"
    return exchange(CREATE_KEY, 503, path="/keys", idempotency_key=key, at=at, **overrides)


@pytest.mark.parametrize(
    ("exchanges", "count"),
    [
        ([attempt(0)], 1),
        ([attempt(0), attempt(50), attempt(100)], 3),
        ([attempt(0), attempt(51)], 1),
        ([attempt(0), attempt(40), attempt(100), attempt(140), attempt(180)], 3),
        ([attempt(0), attempt(0)], 1),
    ],
    ids=[
        "one",
        "without pauses",
        "with a pause",
        "the longest series",
        "a clock that stands still",
    ],
)
def test_attempts_without_a_pause_are_counted(exchanges: list[ObservedExchange], count: int):
    assert fast_attempts(exchanges) == (FastAttempts("POST", "/keys", count),)


@pytest.mark.parametrize(
    "difference",
    [{"key": "b"}, {"query": "a=b"}, {"method": "PUT"}],
    ids=lambda fields: next(iter(fields)),
)
def test_attempts_at_different_requests_are_counted_separately(difference: dict[str, Any]):
    attempts = fast_attempts([attempt(0), attempt(10, **difference)])

    assert [request.count for request in attempts] == [1, 1]


def test_attempts_that_the_clean_run_makes_as_well_do_not_count():
    attempts = fast_attempts([attempt(0), attempt(10), attempt(20)])
    clean_run = [exchange(CREATE_KEY, path="/keys"), exchange(CREATE_KEY, path="/keys")]
    other_request = exchange(CREATE_KEY, path="/keys/other")

    assert excess_attempts(attempts, clean_run) == 2
    assert excess_attempts(attempts, [other_request] * 3) == 3
