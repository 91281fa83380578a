"""Shrinking finds the points that matter, and never asks more often than it may."""

import pytest

from hosting_emulator_cli.shrinking import shrink

POINTS = tuple(f"p{number}" for number in range(34))


@pytest.mark.parametrize(
    "guilty", [("p0",), ("p17",), ("p33",), ("p3", "p30"), ("p1", "p9", "p20")]
)
def test_the_guilty_are_found(guilty):
    found = shrink(POINTS, lambda points: {*guilty} <= {*points}, 200)

    assert (found.points, found.finished) == (guilty, True)


def test_one_point_alone_is_found_in_few_runs():
    for guilty in POINTS:

        def fails(points, guilty=guilty):
            return guilty in points

        assert shrink(POINTS, fails, 200).runs <= 20


def test_a_single_point_needs_no_run():
    assert shrink(("p0",), lambda _: False, 5).runs == 0


def test_it_stops_when_its_runs_are_spent_with_the_least_that_failed():
    asked = []

    def fails(points):
        asked.append(points)
        return {"p2", "p25", "p31"} <= {*points}

    found = shrink(POINTS, fails, 10)

    assert (len(asked), found.runs, found.finished) == (10, 10, False)
    assert {"p2", "p25", "p31"} <= {*found.points}
    assert len({*asked}) == 10
