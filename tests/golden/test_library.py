"""The shipped scenarios: each is described and checked, and its story passes and can be repeated."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.in_process import NOON_MS, InProcess
from tests.support.scenario_files import check_scenario, library_files, read_file, read_from_library
from tests.support.stories import schema_check

FILES = library_files()
MODELINE = "# yaml-language-server: $schema=scenario.schema.json\n"
each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


@each_file
def test_a_story_of_the_library_passes_and_a_second_run_has_the_same_report(path: Path) -> None:
    text = path.read_text("utf-8")

    report = check_scenario(text, path.name)

    assert report["passed"], report["steps"][-1]
    assert len(report["steps"]) >= 4  # a story, not an example
    assert check_scenario(text, path.name) == report


@each_file
def test_running_a_story_does_not_change_the_scenario_that_later_readers_receive(
    path: Path,
) -> None:
    scenario = read_file(path)
    content = scenario.content()

    check_scenario(path.read_text("utf-8"), path.name)

    assert read_from_library(path.stem).shares_value_with(scenario)
    assert scenario.content() == content


@each_file
def test_a_scenario_of_the_library_is_named_described_and_checks_responses(path: Path) -> None:
    text = path.read_text("utf-8")
    scenario = read_file(path)

    assert scenario.name == path.stem
    assert len(scenario.description) >= 40
    assert text.startswith(MODELINE)
    assert text.count("expect:") >= 3
    schema_check().validate(scenario.document)


#: Scenarios that begin with the usual world: what they show needs time, or exists there already.
STORIES = {
    "altered-responses",
    "deployments-change-while-paging",
    "database-states",
    "flag-needed-by-free-domain",
    "no-organization",
    "ticket-used",
    "stale-source-generation",
    "two-initializations-one-generation",
    "two-mutations-one-claim",
}


def test_the_world_of_a_scenario_has_what_the_scenario_is_named_after() -> None:
    kinds = {path.stem: read_file(path).kind for path in FILES}

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
def test_an_operation_ends_as_the_loaded_scenario_is_named(
    name: str, call: str, state: str
) -> None:
    api = InProcess(read_from_library(name).world(NOON_MS, "seed"))

    operation = getattr(api, call)().json
    api.advance("2h")

    assert api.poll(operation["id"]).json["state"] == state


def test_the_library_has_at_least_30_scenarios_with_plain_names() -> None:
    assert len(FILES) >= 30
    assert all(re.fullmatch("[a-z][a-z0-9-]{0,40}", path.stem) for path in FILES)
