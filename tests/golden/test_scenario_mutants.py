"""The library proves what it says: a story fails if one thing of its scenario is missing or weaker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hosting_emulator.bootstrap import visit_page
from hosting_emulator.scenario.build import build_world
from hosting_emulator.scenario.document import read_scenario, scenario_of
from hosting_emulator.scenario.source import ScenarioError, Source
from hosting_emulator.scenario.story import run_apart
from hosting_emulator_scenarios import FOLDER
from tests.golden.scenario_mutants import Mutant, mutants_of

FILES = sorted(FOLDER.glob("*.yaml"))
#: Mutants for which the story still passes, with the reason why they mean the same.
_PAGE = "the step only looks at a page, and the request log contains no pages"
_HIDDEN = "no response shows a plan, or a domain while the plan is paid"
EQUIVALENT: dict[tuple[str, str], str] = {
    ("plan-drops-under-a-domain", "timeline[0].after_calls is 2"): _HIDDEN,
    ("plan-drops-under-a-domain", "timeline[1].after_calls is 2"): _HIDDEN,
    ("refresh-token-lost", "without story[3]"): _PAGE,
    ("refresh-token-lost", "without story[10]"): _PAGE,
    ("ticket-raced-by-two-tabs", "without story[6]"): _PAGE,
    ("ticket-raced-by-two-tabs", "without story[8]"): _PAGE,
}


def passes(document: dict[str, Any]) -> bool:
    """Tell whether a scenario can be read and its story passes."""
    try:
        scenario = scenario_of(Source("mutant.yaml", document, {}, {}))
        world = build_world(scenario, "default", 0)
        return bool(run_apart(scenario, world, visit_page)["passed"])
    except ScenarioError:
        return False


def mutants_of_file(path: Path) -> list[Mutant]:
    document = read_scenario(path.read_text("utf-8"), path.name).source.data
    return list(mutants_of(document))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_story_fails_for_every_mutant_of_its_scenario(path: Path) -> None:
    equivalent = {name for scenario, name in EQUIVALENT if scenario == path.stem}

    survivors = {mutant.name for mutant in mutants_of_file(path) if passes(mutant.document)}

    assert survivors == equivalent


def test_the_equivalent_mutants_are_few_and_exist() -> None:
    names = {(path.stem, mutant.name) for path in FILES for mutant in mutants_of_file(path)}

    assert EQUIVALENT.keys() <= names
    assert len(EQUIVALENT) <= len(names) * 0.02


def test_a_weak_story_is_found() -> None:
    document: dict[str, Any] = {
        "name": "weak",
        "description": "A story that does not show that its fault belongs to one call.",
        "faults": [{"abort": {"code": "forbidden"}, "call": "list_deployments", "times": 1}],
        "story": [
            {"call": "list_deployments", "expect": {"code": "forbidden", "status": 403}},
            {"call": "get_dns_authorization", "expect": {"status": 200}},
            {"call": "list_deployments", "expect": {"status": 200}},
        ],
    }

    alive = [mutant.name for mutant in mutants_of(document) if passes(mutant.document)]

    assert alive == ["without faults[0].call", "without story[1]", "without story[2]"]
