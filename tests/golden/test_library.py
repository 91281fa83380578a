"""Every story of the library holds, and holds again: the shipped scenarios are their own tests."""

from __future__ import annotations

import re

import msgspec
import pytest

from hosting_emulator.bootstrap import visit_page
from hosting_emulator.scenario.build import build_world
from hosting_emulator.scenario.document import ScenarioLibrary, read_scenario
from hosting_emulator.scenario.story import check_text
from hosting_emulator_scenarios import FOLDER
from tests.support.in_process import NOON_MS, InProcess
from tests.support.stories import schema_check

FILES = sorted(FOLDER.glob("*.yaml"))
MODELINE = "# yaml-language-server: $schema=scenario.schema.json\n"
every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


@every_file
def test_a_story_holds_and_told_twice_gives_the_same_report(path):
    text = path.read_text("utf-8")
    scenario = read_scenario(text, path.name)
    read = msgspec.json.encode(scenario.part)

    report = check_text(text, path.name, visit_page)

    assert report["passed"], report["steps"][-1]
    assert len(report["steps"]) >= 4  # a story, not an example
    assert check_text(text, path.name, visit_page) == report
    # A text is read once: a second reader gets the same value, and finds it as its file says it.
    assert ScenarioLibrary(FOLDER).find(path.stem) is scenario
    assert msgspec.json.encode(scenario.part) == read


@every_file
def test_a_file_says_what_it_is_and_looks_at_what_is_answered(path):
    text = path.read_text("utf-8")
    scenario = read_scenario(text, path.name)

    assert scenario.part.name == path.stem
    assert len(scenario.part.description) >= 40
    assert text.startswith(MODELINE)
    assert text.count("expect:") >= 3
    schema_check().validate(scenario.source.data)


#: Those that begin with the usual world: what they tell of needs time, or is there already.
STORIES = {
    *("database-states", "flag-needed-by-free-domain", "no-organization", "ticket-used"),
    *("stale-source-generation", "two-initializations-one-generation", "two-mutations-one-claim"),
}


def test_what_a_scenario_is_named_after_happens_in_its_world():
    kinds = {path.stem: read_scenario(path.read_text("utf-8"), path.name).kind for path in FILES}

    assert {name for name, kind in kinds.items() if kind == "story"} == STORIES


@pytest.mark.parametrize(
    ("name", "call", "state"),
    [
        ("failed-operation", "apply_domains", "failed"),
        ("failed-deployment", "initialize", "failed"),
        ("cancelled-operation", "initialize", "cancelled"),
        ("reconciliation-exhausted", "initialize", "failed"),
    ],
)
def test_a_client_meets_what_the_scenario_is_named_after(name: str, call: str, state: str):
    scenario = read_scenario((FOLDER / f"{name}.yaml").read_text("utf-8"), name)
    api = InProcess(build_world(scenario, "default", NOON_MS, "seed"))

    operation = getattr(api, call)().json
    api.engine.move_by(2 * 3_600_000)

    assert api.poll(operation["id"]).json["state"] == state


def test_names_are_distinct_and_plain():
    assert len(FILES) >= 30
    assert all(re.fullmatch("[a-z][a-z0-9-]{0,40}", path.stem) for path in FILES)
