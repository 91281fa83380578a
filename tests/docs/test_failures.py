"""The guide to failures tells the truth: its commands run in order, and it leaves nothing out."""

from __future__ import annotations

from pathlib import Path

from hosting_emulator.faults.kinds import fault_kinds
from hosting_emulator.interventions import INTERVENTIONS
from tests.docs.terminal import Terminals

REPOSITORY = Path(__file__).parents[2]
GUIDE = (REPOSITORY / "docs" / "failures.md").read_text(encoding="utf-8")


def test_every_command_runs_and_prints_what_is_shown(tmp_path: Path):
    with Terminals(tmp_path) as terminals:
        terminals.follow(GUIDE)


def test_every_kind_of_fault_has_an_example():
    missing = [kind for kind in fault_kinds() if f"`fault add {kind}" not in GUIDE]

    assert missing == []


def test_every_intervention_has_an_example_that_runs():
    commands = [
        line for line in GUIDE.splitlines() if line.startswith("$ hosting-emulator intervene")
    ]

    assert {line.split()[3] for line in commands} == set(INTERVENTIONS)
