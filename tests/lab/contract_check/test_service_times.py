"""The contract check compares the service's timestamps, and tolerates clocks that differ a little."""

from __future__ import annotations

import pytest

from hosting_emulator_lab.contract_check.evidence import Evidence
from hosting_emulator_lab.contract_check.service_times import (
    ServiceTime,
    ServiceTimes,
    happened_between,
)

#: The tolerances of the check, in milliseconds.
_STALE_MS = 300_000
_SLACK_MS = 5_000
_AT_MS = 10_000_000


def both(at_ms: int) -> ServiceTime:
    return ServiceTime(at_ms, at_ms)


@pytest.mark.parametrize(
    ("before", "after", "at_ms", "expected"),
    [
        (both(100), both(200), None, None),
        (both(100), both(200), 100 - _SLACK_MS, True),
        (both(100), both(200), 200 + _SLACK_MS, True),
        (both(100), both(200), 100 - _SLACK_MS - 1, False),
        (both(100), both(200), 200 + _SLACK_MS + 1, False),
        # One of the two clocks is enough.
        (ServiceTime(100, 90_000), ServiceTime(200, 90_000), 90_000, True),
        (ServiceTime(90_000, 100), ServiceTime(90_000, 200), 90_000, True),
        # A Date header refutes nothing.
        (ServiceTime(None, 100), ServiceTime(None, 200), 150, True),
        (ServiceTime(None, 100), ServiceTime(None, 200), 90_000, None),
        (ServiceTime(100, 100), ServiceTime(None, 200), 90_000, None),
        (ServiceTime(None, 100), ServiceTime(200, 200), 90_000, None),
        (ServiceTime(100, None), ServiceTime(200, None), 90_000, False),
    ],
)
def test_a_moment_lies_between_two_times_by_either_clock(
    before: ServiceTime, after: ServiceTime, at_ms: int | None, expected: bool | None
) -> None:
    assert happened_between(at_ms, before, after) is expected


def test_without_tolerance_a_moment_must_lie_exactly_between_two_times() -> None:
    moments_ms = (99, 100, 200, 201)

    results = [happened_between(at_ms, both(100), both(200), 0) for at_ms in moments_ms]

    assert results == [False, True, True, False]


def test_an_observation_may_be_five_minutes_older_than_the_latest_event() -> None:
    times = ServiceTimes(Evidence())
    assert times.record_observation(0)
    times.record_event(_AT_MS)
    times.record_event(_AT_MS - 1)  # an earlier event does not matter

    assert times.record_observation(_AT_MS - _STALE_MS)
    assert not times.record_observation(_AT_MS - _STALE_MS - 1)


@pytest.mark.parametrize(
    ("at_ms", "expected", "faults"),
    [
        (None, True, []),
        (_AT_MS - _STALE_MS, True, []),
        (_AT_MS - _STALE_MS - 1, False, ["created_at is earlier than events before the request"]),
    ],
)
def test_a_new_record_may_be_five_minutes_older_than_the_latest_event(
    at_ms: int | None, expected: bool, faults: list[str]
) -> None:
    evidence = Evidence()
    times = ServiceTimes(evidence)
    times.record_event(_AT_MS)

    assert times.judge_new_record("it", at_ms, "operation.times") is expected
    assert [difference.fault for difference in evidence.differences] == faults
    assert {key for difference in evidence.differences for key in difference.keys} <= {
        "operation.times"
    }


def test_an_observation_may_be_five_minutes_later_than_a_record_that_follows_it() -> None:
    evidence = Evidence()
    times = ServiceTimes(evidence)
    times.record_observation(_AT_MS)
    times.record_observation(_AT_MS - 1)  # an earlier observation does not matter

    times.judge_new_record("on time", _AT_MS - _STALE_MS, "operation.times")
    assert evidence.differences == []

    assert times.judge_new_record("late", _AT_MS - _STALE_MS - 1, "operation.times")
    (difference,) = evidence.differences
    assert difference.keys == ("compute.observed_at",)
    assert str(difference) == "late: an earlier observed_at is later than this created_at"


def test_time_has_certainly_advanced_after_more_than_five_seconds() -> None:
    times = ServiceTimes(Evidence())
    times.record_event(_AT_MS)

    moments_ms = (None, _AT_MS, _AT_MS - 5_000, _AT_MS - 5_001)
    assert [times.has_advanced_beyond(at_ms) for at_ms in moments_ms] == [False, False, False, True]
