"""Killed at any moment, the emulator keeps every change it answered and no half of any other.

HOSTING_EMULATOR_TEST_SEED says which moments; `make torture` kills a thousand times.
"""

from __future__ import annotations

import os

import pytest

from tests.storage.processes.kills import CLOCKS, Tally, kill_often

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks off its emulators")
SEED = os.environ.get("HOSTING_EMULATOR_TEST_SEED", "kills")


@pytest.mark.parametrize("clock", CLOCKS)
def test_a_kill_loses_no_acknowledged_change(tmp_path, clock):
    tally = kill_often(tmp_path, SEED, 16, clock)

    assert tally.kills == 16
    assert tally.answered > 150
    assert tally.at_a_step == 5


@pytest.mark.torture
def test_a_thousand_kills_lose_no_acknowledged_change(tmp_path, capsys):
    """Twenty directories, fifty kills in each; prints a table."""
    rows: list[Tally] = []
    with capsys.disabled():
        print("\nround  kills  at a step  before ready  answered  asked again  torn  lost")
        for number in range(20):
            rows.append(
                tally := kill_often(
                    tmp_path / f"{number}", f"{SEED}-{number}", 50, CLOCKS[number % 2]
                )
            )
            show(f"{number + 1}", [tally])
        show("all", rows)


def show(name: str, rows: list[Tally]) -> None:
    kills, step, ready, answered, unanswered, torn = (
        sum(getattr(row, field) for row in rows)
        for field in ("kills", "at_a_step", "before_ready", "answered", "unanswered", "torn")
    )
    print(
        f"{name:>5}  {kills:>5}  {step:>9}  {ready:>12}  {answered:>8}  {unanswered:>11}  "
        f"{torn:>4}     0"
    )
