"""The guide to failures shows an example of every fault and every intervention."""

from __future__ import annotations

from pathlib import Path

from tests.support.http_world import HttpWorld

GUIDE = (Path(__file__).parents[2] / "docs" / "failures.md").read_text(encoding="utf-8")


def test_the_failure_guide_has_an_example_of_every_fault_kind(api: HttpWorld):
    effects = api.emulator.control.contract("fault-kinds")["effects"]

    assert len(effects) > 10
    assert [
        effect["kind"] for effect in effects if f"`fault add {effect['kind']}" not in GUIDE
    ] == [], "describe the kind in docs/failures.md, with an example of `fault add`"


def test_the_failure_guide_has_an_example_of_every_intervention(api: HttpWorld):
    commands = [
        line for line in GUIDE.splitlines() if line.startswith("$ hosting-emulator intervene")
    ]

    interventions = api.emulator.control.contract("interventions")
    assert {line.split()[3] for line in commands} == {row["name"] for row in interventions}, (
        "show the intervention in docs/failures.md with a command"
    )
