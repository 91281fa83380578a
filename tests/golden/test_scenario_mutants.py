"""A story of the library fails if one thing of its scenario is missing or weaker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.golden.scenario_mutants import Mutant, mutants_of
from tests.support.scenario_files import document_passes, library_files, read_file

FILES = library_files()
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


def mutants_of_file(path: Path) -> list[Mutant]:
    return list(mutants_of(read_file(path).document))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_story_fails_for_every_mutant_of_its_scenario(path: Path) -> None:
    equivalent = {name for scenario, name in EQUIVALENT if scenario == path.stem}

    survivors = {
        mutant.name for mutant in mutants_of_file(path) if document_passes(mutant.document)
    }

    assert survivors == equivalent


def test_at_most_2_percent_of_the_mutants_are_equivalent_and_all_of_those_exist() -> None:
    names = {(path.stem, mutant.name) for path in FILES for mutant in mutants_of_file(path)}

    assert EQUIVALENT.keys() <= names
    assert len(EQUIVALENT) <= len(names) * 0.02


def test_mutants_of_a_weak_story_survive() -> None:
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

    survivors = [mutant.name for mutant in mutants_of(document) if document_passes(mutant.document)]

    assert survivors == ["without faults[0].call", "without story[1]", "without story[2]"]
