"""Shrinking finds the points that matter, and never asks more often than it may."""

import pytest

from hosting_emulator_lab.delta_debugging import smallest

POINTS = tuple(f"p{number}" for number in range(34))


@pytest.mark.parametrize(
    "guilty",
    [("p0",), ("p17",), ("p33",), ("p3", "p30"), ("p1", "p9", "p20"), POINTS[::7], POINTS],
)
def test_shrinking_finds_exactly_the_failing_points(guilty):
    found = smallest(POINTS, lambda points: {*guilty} <= {*points}, 200)

    assert (found.items, found.finished) == (guilty, True)


def test_a_single_failing_point_is_isolated_in_few_runs():
    for guilty in POINTS:

        def fails(points, guilty=guilty):
            return guilty in points

        assert smallest(POINTS, fails, 200).tries <= 20


def test_a_single_point_needs_no_run():
    assert smallest(("p0",), lambda _: False, 5).tries == 0


def test_shrinking_without_runs_left_returns_the_smallest_failure():
    asked = []

    def fails(points):
        asked.append(points)
        return {"p2", "p25", "p31"} <= {*points}

    found = smallest(POINTS, fails, 10)

    assert (len(asked), found.tries, found.finished) == (10, 10, False)
    assert {"p2", "p25", "p31"} <= {*found.items}
    assert len({*asked}) == 10
