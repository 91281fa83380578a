"""When a fault acts: how often, which ones, by chance, and from when to when."""

from datetime import UTC, datetime

import pytest

from tests.in_process import NOON_MS
from tests.unit.faults.conftest import Desk

NOON = datetime.fromtimestamp(NOON_MS / 1000, UTC)
MINUTE_MS = 60_000


def test_times_is_how_often_it_acts(desk: Desk):
    fault = desk.arm(timeout={}, times=2)

    assert desk.pattern(5) == "xx..."
    assert (desk.fault(fault).seen, desk.fault(fault).hits) == (5, 2)


def test_skip_first_lets_matching_requests_pass(desk: Desk):
    desk.arm(timeout={}, skip_first=2, call="list_deployments")

    assert not desk.acts(call="get_dns_authorization")  # does not match, and is not counted
    assert desk.pattern(4) == "..xx"


def test_every_acts_on_the_first_and_each_nth_after_it(desk: Desk):
    desk.arm(timeout={}, every=3)

    assert desk.pattern(8) == "x..x..x."


def test_counters_work_together(desk: Desk):
    desk.arm(timeout={}, skip_first=1, every=2, times=2)

    assert desk.pattern(8) == ".x.x...."


def test_probability_is_seeded():
    one, same, other = Desk("a"), Desk("a"), Desk("b")
    for desk in (one, same, other):
        desk.arm(timeout={}, probability=0.3)

    patterns = [desk.pattern(400) for desk in (one, same, other)]

    assert patterns[0] == patterns[1] != patterns[2]
    assert all(80 <= pattern.count("x") <= 160 for pattern in patterns)


def test_probability_of_one_draws_nothing(desk: Desk):
    desk.arm(timeout={}, probability=1)

    assert desk.pattern(20) == "x" * 20


def test_two_faults_of_one_chance_are_independent(desk: Desk):
    first = desk.arm(latency={"delay_ms": 1}, probability=0.5)
    second = desk.arm(latency={"delay_ms": 2}, probability=0.5)

    acted = [{fault.id for fault in desk.ask().acted} for _ in range(200)]

    assert {frozenset(ids) for ids in acted} == {
        frozenset(),
        frozenset({first}),
        frozenset({second}),
        frozenset({first, second}),
    }


@pytest.mark.parametrize("as_timestamp", [True, False])
def test_from_and_until_are_world_time(desk: Desk, as_timestamp: bool):
    moments = ("2026-03-01T12:01:00Z", "2026-03-01T12:02:00Z") if as_timestamp else ("1m", "PT2M")
    desk.arm(timeout={}, from_=moments[0], until=moments[1])

    seen = []
    for minute_tenths in range(25):
        desk.now_ms = NOON_MS + minute_tenths * MINUTE_MS // 10
        seen.append("x" if desk.acts() else ".")

    assert "".join(seen) == "." * 10 + "x" * 10 + "." * 5
    assert NOON.isoformat() == "2026-03-01T12:00:00+00:00"


def test_ttl_counts_from_when_it_was_armed(desk: Desk):
    desk.now_ms += 5 * MINUTE_MS
    desk.arm(timeout={}, ttl="1m")

    desk.now_ms += MINUTE_MS - 1
    assert desk.acts()
    desk.now_ms += 1
    assert not desk.acts()


def test_until_and_ttl_the_earlier_ends_it(desk: Desk):
    fault = desk.arm(timeout={}, until="10m", ttl="1m")

    assert desk.fault(fault).rule.until_ms == NOON_MS + MINUTE_MS


def test_requests_outside_its_time_are_seen_and_count_for_skip_first(desk: Desk):
    fault = desk.arm(timeout={}, from_="1m", skip_first=2)

    assert desk.pattern(2) == ".."
    desk.now_ms += MINUTE_MS
    assert desk.pattern(2) == "xx"
    assert desk.fault(fault).seen == 4


def test_spent_is_told_by_times_and_by_time(desk: Desk):
    by_times = desk.arm(latency={"delay_ms": 1}, times=1)
    by_time = desk.arm(latency={"delay_ms": 1}, ttl="1m")

    assert not desk.view(by_times)["spent"]
    desk.ask()
    assert (desk.view(by_times)["spent"], desk.view(by_time)["spent"]) == (True, False)
    desk.now_ms += MINUTE_MS  # nobody asks: the world itself has not moved
    assert desk.view(by_time)["spent"]
