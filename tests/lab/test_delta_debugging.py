"""Shrinking finds the points that matter within its limit of runs."""

import pytest

from hosting_emulator_lab.delta_debugging import smallest

POINTS = tuple(f"p{number}" for number in range(34))


@pytest.mark.parametrize(
    "guilty",
    [("p0",), ("p17",), ("p33",), ("p3", "p30"), ("p1", "p9", "p20"), POINTS[::7], POINTS],
)
def test_shrinking_finds_exactly_the_failing_points(guilty):
    smallest_set = smallest(POINTS, lambda points: {*guilty} <= {*points}, 200)

    assert (smallest_set.items, smallest_set.finished) == (guilty, True)


def test_a_single_failing_point_is_isolated_in_few_runs():
    for guilty in POINTS:

        def fails(points, guilty=guilty):
            return guilty in points

        assert smallest(POINTS, fails, 200).tries <= 20


def test_two_points_that_only_go_together_are_removed_together():
    def fails(points):
        return {"p1", "p9", "p17"} <= {*points} and ("p3" in points) == ("p20" in points)

    one_by_one = smallest(POINTS[:21], fails, 500)
    in_pairs = smallest(POINTS[:21], fails, 500, try_pairs=True)

    assert one_by_one.items == ("p1", "p3", "p9", "p17", "p20")
    assert (in_pairs.items, in_pairs.finished) == (("p1", "p9", "p17"), True)


def test_a_point_that_was_needed_only_by_a_removed_pair_is_removed():
    failing_sets = [POINTS[:6], ("p1", "p3", "p4", "p5"), ("p1", "p3", "p4")]

    result = smallest(POINTS[:6], failing_sets.__contains__, 500, try_pairs=True)

    assert (result.items, result.finished) == (("p1", "p3", "p4"), True)


def test_a_single_point_needs_no_run():
    assert smallest(("p0",), lambda _: False, 5).tries == 0


def test_shrinking_without_runs_left_returns_the_smallest_failure():
    tried_sets = []

    def fails(points):
        tried_sets.append(points)
        return {"p2", "p25", "p31"} <= {*points}

    smallest_set = smallest(POINTS, fails, 10)

    assert (len(tried_sets), smallest_set.tries, smallest_set.finished) == (10, 10, False)
    assert {"p2", "p25", "p31"} <= {*smallest_set.items}
    assert len({*tried_sets}) == 10
