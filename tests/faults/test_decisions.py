"""Which faults act on a request: matches, counters, times, and several faults together."""

from datetime import UTC, datetime
from statistics import mean, stdev
from typing import Any

import pytest

from hosting_emulator.faults.decisions import NO_EFFECT, Decision
from hosting_emulator.faults.kinds import kind_of
from hosting_emulator.faults.kinds.connection_reset import ConnectionReset
from hosting_emulator.faults.kinds.latency import LONGEST_DELAY_MS
from hosting_emulator.faults.kinds.rate_limit import RateLimit
from hosting_emulator.faults.kinds.timeout import Timeout
from tests.faults.conftest import Desk
from tests.support.in_process import NOON_MS, InProcess


def test_a_fault_without_matches_acts_on_every_request(desk: Desk):
    desk.arm(timeout={})

    assert desk.acts()
    assert desk.acts(
        call="get_operation", project=None, user="outsider", method="GET", path="/v1/x"
    )


@pytest.mark.parametrize(
    ("rule", "hit", "miss"),
    [
        ({"call": "list_deployments"}, {}, {"call": "read_database_compute"}),
        ({"project": "shop"}, {}, {"project": "blog"}),
        ({"project": "shop"}, {}, {"project": None}),
        ({"principal": "owner"}, {}, {"user": "reader"}),
        ({"method": "PUT"}, {"method": "PUT"}, {"method": "GET"}),
        ({"path": "/v1/projects/*/domains"}, {"path": "/v1/projects/1/domains"}, {"path": "/v1/x"}),
        ({"path": "/v1/operations/x"}, {"path": "/v1/operations/x"}, {"path": "/v1/operations/xy"}),
        ({"path": "/v1/*"}, {"path": "/v1/a/b/c"}, {"path": "/v2/a"}),
        ({"path": "*/A/domains"}, {"path": "/v1/A/domains"}, {"path": "/v1/a/domains"}),
    ],
)
def test_each_match_alone_decides_whether_a_fault_acts(
    desk: Desk, rule: dict[str, Any], hit: dict[str, Any], miss: dict[str, Any]
):
    fault = desk.arm(timeout={}, **rule)

    assert desk.acts(**hit)
    assert not desk.acts(**miss)
    assert (desk.fault(fault).seen, desk.fault(fault).hits) == (1, 1)


@pytest.mark.parametrize(
    ("pattern", "headers", "matches"),
    [
        ("1", {"X-Try": ["1"]}, True),
        ("1", {"X-Try": ["12"]}, False),
        ("curl/*", {"X-Try": ["curl/8.0"]}, True),
        ("*", {"X-Try": [""]}, True),
        ("a?[b]", {"X-Try": ["a?[b]"]}, True),
        ("a?[b]", {"X-Try": ["axb"]}, False),
        ("*", {}, False),
        ("b", {"X-Try": ["a", "b"]}, True),
        ("b", {"Other": ["b"]}, False),
    ],
)
def test_a_header_matches_by_any_of_its_values(
    desk: Desk, pattern: str, headers: dict[str, list[str]], matches: bool
):
    desk.arm(timeout={}, header={"X-Try": pattern})

    assert desk.acts(headers=headers) is matches


def test_a_fault_acts_only_if_all_its_matches_hold(desk: Desk):
    desk.arm(timeout={}, call="list_deployments", project="shop", header={"A": "1", "B": "2"})

    assert desk.acts(headers={"A": ["1"], "B": ["2"]})
    assert not desk.acts(headers={"A": ["1"], "B": ["3"]})
    assert not desk.acts(headers={"A": ["1"]})
    assert not desk.acts(headers={"A": ["1"], "B": ["2"]}, project="blog")


def test_a_match_can_name_project_and_principal_by_id(desk: Desk):
    desk.arm(timeout={}, project=desk.project_id("blog"), principal=desk.user_id("reader"))

    assert desk.acts(project="blog", user="reader")
    assert not desk.acts(project="blog", user="owner")


def test_a_fault_acts_only_in_its_phase(desk: Desk):
    before = desk.arm(connection_reset={})
    after = desk.arm(timeout={}, after_commit=True)

    assert [fault.id for fault in desk.ask(phase="before_commit").acted] == [before]
    assert [fault.id for fault in desk.ask(phase="after_commit").acted] == [after]
    assert (desk.fault(before).seen, desk.fault(after).seen) == (1, 1)


NOON = datetime.fromtimestamp(NOON_MS / 1000, UTC)
MINUTE_MS = 60_000


def test_times_limits_how_often_a_fault_acts(desk: Desk):
    fault = desk.arm(timeout={}, times=2)

    assert desk.pattern(5) == "xx..."
    assert (desk.fault(fault).seen, desk.fault(fault).hits) == (5, 2)


def test_skip_first_lets_the_first_matching_requests_pass(desk: Desk):
    desk.arm(timeout={}, skip_first=2, call="list_deployments")

    assert not desk.acts(call="get_dns_authorization")  # does not match and is not counted
    assert desk.pattern(4) == "..xx"


def test_every_3_acts_on_the_third_the_sixth_and_the_ninth_request(desk: Desk):
    desk.arm(timeout={}, every=3)

    assert desk.pattern(9) == "..x..x..x"


def test_skip_first_every_and_times_work_together(desk: Desk):
    desk.arm(timeout={}, skip_first=1, every=2, times=2)

    assert desk.pattern(8) == "..x.x..."


def test_the_probability_of_a_fault_is_drawn_from_the_seed():
    first = Desk("a")
    second = Desk("a")
    third = Desk("b")
    for desk in (first, second, third):
        desk.arm(timeout={}, probability=0.3)

    patterns = [desk.pattern(400) for desk in (first, second, third)]

    assert patterns[0] == patterns[1] != patterns[2]
    assert all(80 <= pattern.count("x") <= 160 for pattern in patterns)


def test_a_fault_with_probability_1_always_acts(desk: Desk):
    desk.arm(timeout={}, probability=1)

    assert desk.pattern(20) == "x" * 20


def test_faults_with_the_same_probability_act_independently(desk: Desk):
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
def test_from_and_until_are_moments_of_world_time(desk: Desk, as_timestamp: bool):
    moments = ("2026-03-01T12:01:00Z", "2026-03-01T12:02:00Z") if as_timestamp else ("1m", "PT2M")
    desk.arm(timeout={}, from_=moments[0], until=moments[1])

    marks = []
    for minute_tenths in range(25):
        desk.now_ms = NOON_MS + minute_tenths * MINUTE_MS // 10
        marks.append("x" if desk.acts() else ".")

    assert "".join(marks) == "." * 10 + "x" * 10 + "." * 5
    assert NOON.isoformat() == "2026-03-01T12:00:00+00:00"


def test_a_duration_in_until_counts_from_the_arming(desk: Desk):
    desk.now_ms += 5 * MINUTE_MS
    desk.arm(timeout={}, until="1m")

    desk.now_ms += MINUTE_MS - 1
    assert desk.acts()
    desk.now_ms += 1
    assert not desk.acts()


def test_requests_before_from_count_for_skip_first(desk: Desk):
    fault = desk.arm(timeout={}, from_="1m", skip_first=2)

    assert desk.pattern(2) == ".."
    desk.now_ms += MINUTE_MS
    assert desk.pattern(2) == "xx"
    assert desk.fault(fault).seen == 4


def test_a_fault_is_spent_by_its_times_or_by_its_end(desk: Desk):
    by_times = desk.arm(latency={"delay_ms": 1}, times=1)
    by_time = desk.arm(latency={"delay_ms": 1}, until="1m")

    assert not desk.view(by_times)["spent"]
    desk.ask()
    assert (desk.view(by_times)["spent"], desk.view(by_time)["spent"]) == (True, False)
    desk.now_ms += MINUTE_MS  # without a request, the world itself has not changed
    assert desk.view(by_time)["spent"]


def waits(decision: Decision) -> int | None:
    assert decision.problem is not None
    return decision.problem.retry_after_seconds


def test_a_request_without_faults_leaves_the_world_unchanged(desk: Desk):
    before = desk.world

    assert desk.ask() is NO_EFFECT
    assert desk.world is before


def test_the_fault_armed_first_acts_and_the_next_is_not_counted(desk: Desk):
    first = desk.arm(timeout={})
    second = desk.arm(connection_reset={})

    decision = desk.ask()

    assert (decision.effect, [f.id for f in decision.acted]) == (Timeout(), [first])
    assert desk.fault(second).seen == 0


def test_the_next_fault_acts_once_the_first_is_spent(desk: Desk):
    desk.arm(timeout={}, times=1)
    desk.arm(connection_reset={}, times=1)

    assert [desk.ask().effect for _ in range(3)] == [Timeout(), ConnectionReset(), None]


def test_more_than_ten_faults_act_in_the_order_of_arming(desk: Desk):
    ids = [desk.arm(latency={"delay_ms": 1}) for _ in range(12)]

    assert [fault.id for fault in desk.ask().acted] == ids
    assert ids[-1] == "fault-12"


def test_latencies_add_up_and_let_the_next_fault_act(desk: Desk):
    ids = [desk.arm(latency={"delay_ms": 20}), desk.arm(latency={"delay_ms": 30})]
    ids.append(desk.arm(connection_reset={}))

    decision = desk.ask()

    assert (decision.delay_ms, decision.effect) == (50, ConnectionReset())
    assert [fault.id for fault in decision.acted] == ids


def test_latencies_together_never_exceed_the_longest_delay(desk: Desk):
    desk.arm(latency={"delay_ms": LONGEST_DELAY_MS})
    desk.arm(latency={"delay_ms": LONGEST_DELAY_MS})

    assert desk.ask().delay_ms == LONGEST_DELAY_MS


@pytest.mark.parametrize(
    ("distribution", "low", "high", "average", "spread"),
    [
        ("uniform", 90, 110, 100, 5.8),
        ("normal", 40, 160, 100, 10),
        ("exponential", 100, 300, 110, 10),
    ],
)
def test_jitter_follows_its_distribution(
    desk: Desk, distribution: str, low: int, high: int, average: float, spread: float
):
    desk.arm(latency={"delay_ms": 100, "jitter_ms": 10, "distribution": distribution})

    delays = [desk.ask().delay_ms for _ in range(1000)]

    assert low <= min(delays) <= max(delays) <= high
    assert mean(delays) == pytest.approx(average, abs=1.5)
    assert stdev(delays) == pytest.approx(spread, rel=0.2)


def test_jitter_is_drawn_from_the_seed_and_never_negative():
    desks = [Desk("a"), Desk("a")]
    for desk in desks:
        desk.arm(latency={"delay_ms": 0, "jitter_ms": 50, "distribution": "normal"})

    first, second = ([desk.ask().delay_ms for _ in range(50)] for desk in desks)

    assert first == second
    assert min(first) == 0 < max(first)


def test_a_rate_limit_lets_its_limit_pass_in_each_window(desk: Desk):
    fault = desk.arm(rate_limit={"limit": 2, "window": "60s"})

    assert desk.pattern(4) == "..xx"
    desk.now_ms += 20_500
    decision = desk.ask()
    assert decision.effect == RateLimit(2, "60s")
    assert waits(decision) == 40
    desk.now_ms += 39_500
    assert desk.pattern(3) == "..x"
    assert (desk.fault(fault).seen, desk.fault(fault).hits) == (8, 4)


def test_a_rate_limit_of_zero_refuses_every_request(desk: Desk):
    desk.arm(rate_limit={"limit": 0, "window": "10s"})

    assert [waits(desk.ask()) for _ in range(2)] == [10, 10]


def test_a_rate_limit_below_its_limit_lets_the_next_fault_act(desk: Desk):
    desk.arm(rate_limit={"limit": 1})
    desk.arm(connection_reset={})

    assert [type(desk.ask().effect) for _ in range(2)] == [ConnectionReset, RateLimit]


def test_the_times_of_a_rate_limit_count_refusals(desk: Desk):
    desk.arm(rate_limit={"limit": 1}, times=2)

    assert desk.pattern(6) == ".xx..."


def test_the_chance_of_a_fault_changes_no_id_and_no_secret_drawn_later():
    with_fault = InProcess()
    without_fault = InProcess()
    with_fault.add_fault(latency={"delay_ms": 5, "jitter_ms": 5}, probability=0.5)
    for _ in range(25):
        with_fault.dns()
        without_fault.dns()

    assert with_fault.ticket().body == without_fault.ticket().body


@pytest.mark.parametrize(
    ("options", "retry_after_seconds"),
    [
        ({"code": "rate_limited"}, 1),
        ({"code": "rate_limited", "retry_after_seconds": 7}, 7),
        ({"code": "forbidden"}, None),
        ({"code": "forbidden", "retry_after_seconds": 1}, 1),
    ],
)
def test_only_a_rate_limit_tells_clients_to_retry_by_default(
    desk: Desk, options: dict[str, Any], retry_after_seconds: int | None
):
    fault = desk.fault(desk.arm(abort=options))

    problem = kind_of(fault).problem(fault, desk.now_ms)

    assert problem is not None
    assert problem.retry_after_seconds == retry_after_seconds


@pytest.mark.parametrize(
    ("passed_ms", "retry_after_seconds"),
    [(0, 3600), (1, 3600), (1_000, 3599), (3_599_999, 1), (3_600_000, 3600)],
)
def test_a_rate_limit_tells_clients_to_retry_after_the_rest_of_its_window(
    desk: Desk, passed_ms: int, retry_after_seconds: int
):
    fault_id = desk.arm(rate_limit={"limit": 1, "window": "1h"})
    desk.ask()
    fault = desk.fault(fault_id)

    problem = kind_of(fault).problem(fault, desk.now_ms + passed_ms)

    assert problem is not None
    assert str(problem.detail) == "More than 1 request in 1h."
    assert problem.retry_after_seconds == retry_after_seconds
