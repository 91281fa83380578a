"""Twelve hard scenarios of the library: the same on each seed, and whatever the contract leaves free.

They expect what the contract says and no more, so that they hold also where answers vary.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from hosting_emulator.bootstrap import visit_page
from hosting_emulator.scenario.build import build_world
from hosting_emulator.scenario.document import read_scenario
from hosting_emulator.scenario.story import run_apart
from hosting_emulator.variation.worlds import read_variation, varied_world
from hosting_emulator_scenarios import FOLDER

#: How many seeds the ordinary run tries, and how many `make torture`.
seeds = pytest.mark.parametrize("seeds", [6, pytest.param(60, marks=pytest.mark.torture)])
HARD = (
    "race-during-outage",
    "plan-drops-under-a-domain",
    "key-uncertain-then-revealed-once",
    "token-expires-inside-a-poll",
    "ticket-raced-by-two-tabs",
    "two-processes-one-key",
    "maintainer-leaves-mid-operation",
    "dns-expires-behind-a-claim",
    "two-initializations-one-generation",
    "refresh-token-lost",
    "ten-at-once-over-the-limit",
    "everything-stuck-at-once",
)
ULID = re.compile("[0-9A-HJKMNP-TV-Z]{26}")


def report(name: str, seed: int, *, varied: bool) -> dict[str, Any]:
    scenario = read_scenario((FOLDER / f"{name}.yaml").read_text("utf-8"), f"{name}.yaml")
    world = build_world(scenario, "default", 0, f"seed {seed}")
    if varied:
        world = varied_world(world, read_variation(str(seed)))
    return run_apart(scenario, world, visit_page)


@seeds
@pytest.mark.parametrize("name", HARD)
def test_it_goes_the_same_on_each_seed(name: str, seeds: int):
    told = set()
    for seed in range(seeds):
        found = report(name, seed, varied=False)
        assert found["passed"], (seed, found["steps"][-1])
        told.add(
            tuple(ULID.sub("ID", f"{step['title']}: {step['said']}") for step in found["steps"])
        )

    assert len(told) == 1


@seeds
@pytest.mark.parametrize("name", [*HARD, "retries-through-a-flaky-network"])
def test_it_passes_however_answers_vary(name: str, seeds: int):
    failed = {
        seed: found["steps"][-1]
        for seed in range(seeds)
        if not (found := report(name, seed, varied=True))["passed"]
    }

    assert failed == {}
