"""The clock of a world: pure arithmetic between machine time and world time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hosting_emulator.contract.timestamps import LATEST_MS
from hosting_emulator.world import clock as clocks
from hosting_emulator.world.clock import FIXED_START_MS, HIGHEST_RATE, ClockRefused
from hosting_emulator.world.records import ClockRecord

MOMENTS = st.integers(0, LATEST_MS)
RATES = st.floats(1e-6, HIGHEST_RATE)
CLOCKS = st.one_of(
    st.builds(ClockRecord, st.sampled_from(["real", "frozen", "skip"]), MOMENTS, MOMENTS),
    st.builds(ClockRecord, st.just("scaled"), MOMENTS, MOMENTS, RATES),
)


@given(clock=CLOCKS, first_ms=MOMENTS, second_ms=MOMENTS)
def test_world_time_never_goes_back_while_machine_time_does_not(clock, first_ms, second_ms):
    earlier, later = sorted((first_ms, second_ms))

    assert clocks.read(clock, earlier) <= clocks.read(clock, later) <= LATEST_MS


@given(clock=CLOCKS, machine_ms=MOMENTS)
def test_world_time_never_falls_behind_its_anchor(clock, machine_ms):
    assert clocks.read(clock, machine_ms) >= min(clock.world_ms, LATEST_MS)


@pytest.mark.parametrize(
    ("mode", "rate", "passed"),
    [("real", 1.0, 1_000), ("scaled", 60.0, 60_000), ("frozen", 1.0, 0), ("skip", 1.0, 0)],
)
def test_each_clock_mode_follows_machine_time_at_its_rate(mode, rate, passed):
    clock = ClockRecord(mode, world_ms=5_000, machine_ms=100_000, rate=rate)

    assert clocks.read(clock, 101_000) == 5_000 + passed


def test_a_slow_scaled_clock_loses_no_time_to_rounding():
    clock = ClockRecord("scaled", world_ms=0, machine_ms=0, rate=0.001)

    assert [clocks.read(clock, ms) for ms in (999, 1_000, 10_000)] == [0, 1, 10]


@given(clock=CLOCKS, machine_ms=MOMENTS, mode=st.sampled_from(clocks.MODES))
def test_a_change_of_mode_leaves_world_time_unchanged(clock, machine_ms, mode):
    now_ms = clocks.read(clock, machine_ms)

    changed = clocks.change(
        clock, now_ms, machine_ms, mode=mode, rate=2.0 if mode == "scaled" else None
    )

    assert changed.mode == mode
    assert clocks.read(changed, machine_ms) == now_ms


def test_a_rate_makes_the_clock_scaled_and_later_moves_keep_it():
    frozen = ClockRecord("frozen", world_ms=1, machine_ms=1)

    scaled = clocks.change(frozen, 1, 1, rate=5.0)
    later = clocks.change(scaled, 1, 1, at_ms=100)

    assert (scaled.mode, scaled.rate) == ("scaled", 5.0)
    assert (later.mode, later.rate, later.world_ms) == ("scaled", 5.0, 100)


def test_the_clock_refuses_to_go_back_and_says_what_to_do():
    clock = ClockRecord("frozen", world_ms=10_000, machine_ms=0)

    with pytest.raises(ClockRefused, match=r"cannot go back .* reset the world, or fork"):
        clocks.change(clock, 10_000, 0, at_ms=9_999)


NEEDS_RATE = "a scaled clock needs a rate above 0 and up to 1000000 (world seconds per real second)"


@pytest.mark.parametrize(
    ("mode", "rate", "why"),
    [
        ("warp", None, "'warp' is not a clock mode: use one of real, frozen, scaled, skip"),
        ("frozen", 2.0, "only a scaled clock has a rate; a frozen clock has none"),
        ("scaled", None, NEEDS_RATE),
        ("scaled", 0.0, NEEDS_RATE),
        ("scaled", -1.0, NEEDS_RATE),
        ("scaled", float("nan"), NEEDS_RATE),
        ("scaled", float("inf"), NEEDS_RATE),
        ("scaled", HIGHEST_RATE * 1.01, NEEDS_RATE),
    ],
)
def test_a_clock_with_an_invalid_mode_or_rate_is_refused(mode, rate, why):
    with pytest.raises(ClockRefused) as refused:
        clocks.start(mode, rate, None, 0)

    assert str(refused.value) == why


def test_a_clock_may_have_the_highest_rate():
    assert clocks.start("scaled", HIGHEST_RATE, None, 0).rate == HIGHEST_RATE


@pytest.mark.parametrize("mode", ["warp", ""])
def test_a_change_to_an_invalid_clock_mode_is_refused(mode):
    clock = clocks.start("frozen", None, None, 0)

    with pytest.raises(ClockRefused, match="not a clock mode"):
        clocks.change(clock, 10_000, 0, mode=mode)


@pytest.mark.parametrize("at_ms", [-1, LATEST_MS + 1])
def test_a_moment_that_no_timestamp_can_write_is_refused(at_ms):
    with pytest.raises(ClockRefused, match="1970 and 9999"):
        clocks.start("frozen", None, at_ms, 0)


@pytest.mark.parametrize("mode", ["frozen", "skip"])
def test_a_clock_that_stands_still_starts_at_the_fixed_moment(mode):
    assert clocks.start(mode, None, None, 123).world_ms == FIXED_START_MS


def test_a_running_clock_starts_at_machine_time():
    assert clocks.start("real", None, None, 123).world_ms == 123
    assert clocks.start("scaled", 2.0, None, 123).world_ms == 123
