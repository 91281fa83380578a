"""A kill at any moment loses no acknowledged change and leaves no half of any other change.

EMULATOR_TEST_SEED chooses the moments; `make torture` kills a thousand times.
"""

from __future__ import annotations

import os

import pytest

from tests.storage.processes.kills import CLOCKS, Tally, kill_often

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="starts its emulators by fork")
SEED = os.environ.get("EMULATOR_TEST_SEED", "kills")


@pytest.mark.parametrize("clock", CLOCKS)
def test_a_kill_loses_no_acknowledged_change(tmp_path, clock):
    tally = kill_often(tmp_path, SEED, 16, clock)

    assert tally.kills == 16
    assert tally.answered > 150
    assert tally.at_a_step == 5


@pytest.mark.torture
def test_a_thousand_kills_lose_no_acknowledged_change(tmp_path, capsys):
    """Kill fifty times in each of twenty directories, and print a table."""
    rows: list[Tally] = []
    with capsys.disabled():
        print("\nround  kills  at a step  before ready  answered      retried  torn  lost")
        for number in range(20):
            folder = tmp_path / f"{number}"
            tally = kill_often(folder, f"{SEED}-{number}", 50, CLOCKS[number % 2])
            rows.append(tally)
            print_row(f"{number + 1}", [tally])
        print_row("all", rows)


def print_row(name: str, rows: list[Tally]) -> None:
    print(
        f"{name:>5}  {sum(row.kills for row in rows):>5}  {sum(row.at_a_step for row in rows):>9}  "
        f"{sum(row.before_ready for row in rows):>12}  {sum(row.answered for row in rows):>8}  "
        f"{sum(row.unanswered for row in rows):>11}  {sum(row.torn for row in rows):>4}     0"
    )
