"""Every story of the library holds, and holds again: the shipped scenarios are their own tests."""

from __future__ import annotations

import re

import jsonschema  # type: ignore[import-untyped]
import pytest

from hosting_emulator.bootstrap.stories import check_story
from hosting_emulator.scenario.document import read_scenario
from hosting_emulator.scenario.schema import scenario_schema
from hosting_emulator_scenarios import FOLDER

FILES = sorted(FOLDER.glob("*.yaml"))
MODELINE = "# yaml-language-server: $schema=scenario.schema.json\n"
every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


@every_file
def test_a_story_holds_and_told_twice_gives_the_same_report(path):
    text = path.read_text("utf-8")

    report = check_story(text, path.name)

    assert report["passed"], report["steps"][-1]
    assert len(report["steps"]) >= 4  # a story, not an example
    assert check_story(text, path.name) == report


@every_file
def test_a_file_says_what_it_is_and_looks_at_what_is_answered(path):
    text = path.read_text("utf-8")
    scenario = read_scenario(text, path.name)

    assert scenario.part.name == path.stem
    assert len(scenario.part.description) >= 40
    assert text.startswith(MODELINE)
    assert text.count("expect:") >= 3
    jsonschema.Draft202012Validator(scenario_schema()).validate(scenario.source.data)


def test_names_are_distinct_and_plain():
    assert len(FILES) >= 30
    assert all(re.fullmatch("[a-z][a-z0-9-]{0,40}", path.stem) for path in FILES)
