"""What armed faults come to together: their order, latencies that add up, limits that count."""

from statistics import mean, stdev

import pytest

from hosting_emulator.faults.decisions import NOTHING, Decision
from hosting_emulator.faults.kinds.connection_reset import ConnectionReset
from hosting_emulator.faults.kinds.latency import LONGEST_DELAY_MS
from hosting_emulator.faults.kinds.rate_limit import RateLimit
from hosting_emulator.faults.kinds.timeout import Timeout
from tests.unit.faults.conftest import Desk


def waits(decision: Decision) -> int | None:
    assert decision.problem is not None
    return decision.problem.retry_after_seconds


def test_without_faults_nothing_is_decided(desk: Desk):
    before = desk.world

    assert desk.ask() is NOTHING
    assert desk.world is before


def test_first_armed_acts_and_the_next_is_not_asked(desk: Desk):
    first, second = desk.arm(timeout={}), desk.arm(connection_reset={})

    decision = desk.ask()

    assert (decision.effect, [f.id for f in decision.acted]) == (Timeout(), [first])
    assert desk.fault(second).seen == 0


def test_next_acts_once_the_first_is_spent(desk: Desk):
    desk.arm(timeout={}, times=1)
    desk.arm(connection_reset={}, times=1)

    assert [desk.ask().effect for _ in range(3)] == [Timeout(), ConnectionReset(), None]


def test_order_is_that_of_arming_past_ten(desk: Desk):
    ids = [desk.arm(latency={"delay_ms": 1}) for _ in range(12)]

    assert [fault.id for fault in desk.ask().acted] == ids
    assert ids[-1] == "fault-12"


def test_latencies_add_up_and_let_the_next_act(desk: Desk):
    ids = [desk.arm(latency={"delay_ms": 20}), desk.arm(latency={"delay_ms": 30})]
    ids.append(desk.arm(connection_reset={}))

    decision = desk.ask()

    assert (decision.delay_ms, decision.effect) == (50, ConnectionReset())
    assert [fault.id for fault in decision.acted] == ids


def test_latencies_never_exceed_the_longest(desk: Desk):
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
def test_jitter_spreads_as_it_says(
    desk: Desk, distribution: str, low: int, high: int, average: float, spread: float
):
    desk.arm(latency={"delay_ms": 100, "jitter_ms": 10, "distribution": distribution})

    delays = [desk.ask().delay_ms for _ in range(1000)]

    assert low <= min(delays) <= max(delays) <= high
    assert mean(delays) == pytest.approx(average, abs=1.5)
    assert stdev(delays) == pytest.approx(spread, rel=0.2)


def test_jitter_is_seeded_and_never_negative():
    desks = [Desk("a"), Desk("a")]
    for desk in desks:
        desk.arm(latency={"delay_ms": 0, "jitter_ms": 50, "distribution": "normal"})

    one, same = ([desk.ask().delay_ms for _ in range(50)] for desk in desks)

    assert one == same
    assert min(one) == 0 < max(one)


def test_rate_limit_lets_so_many_pass_in_each_window(desk: Desk):
    fault = desk.arm(rate_limit={"limit": 2, "window": "60s"})

    assert desk.pattern(4) == "..xx"
    desk.now_ms += 20_500
    decision = desk.ask()
    assert decision.effect == RateLimit(2, "60s")
    assert waits(decision) == 40
    desk.now_ms += 39_500
    assert desk.pattern(3) == "..x"
    assert (desk.fault(fault).seen, desk.fault(fault).hits) == (8, 4)


def test_rate_limit_of_zero_refuses_all(desk: Desk):
    desk.arm(rate_limit={"limit": 0, "window": "10s"})

    assert [waits(desk.ask()) for _ in range(2)] == [10, 10]


def test_rate_limit_that_lets_pass_lets_the_next_fault_act(desk: Desk):
    desk.arm(rate_limit={"limit": 1})
    desk.arm(connection_reset={})

    assert [type(desk.ask().effect) for _ in range(2)] == [ConnectionReset, RateLimit]


def test_times_of_a_rate_limit_counts_refusals(desk: Desk):
    desk.arm(rate_limit={"limit": 1}, times=2)

    assert desk.pattern(6) == ".xx..."


def test_chance_draws_from_a_stream_of_its_own(desk: Desk):
    from hosting_emulator.world.streams import new_id, new_secret
    from hosting_emulator.world.value import Change

    quiet = Desk()
    desk.arm(latency={"delay_ms": 5, "jitter_ms": 5}, probability=0.5)
    desk.pattern(25)

    drawn = [
        (new_id(change), new_secret(change, "tickets"))
        for change in (Change(d.world, d.now_ms) for d in (desk, quiet))
    ]

    assert drawn[0] == drawn[1]
