"""Every story of the library holds, and holds again: the shipped scenarios are their own tests."""

from __future__ import annotations

import re

import jsonschema  # type: ignore[import-untyped]
import pytest

from hosting_emulator.scenario.document import read_scenario
from hosting_emulator.scenario.schema import scenario_schema
from hosting_emulator.scenario.story import check_text
from hosting_emulator_scenarios import FOLDER

FILES = sorted(FOLDER.glob("*.yaml"))
MODELINE = (
    "# yaml-language-server: "
    "$schema=http://127.0.0.1:4620/_emulator/contract/scenario-schema.json\n"
)
every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


@every_file
def test_a_story_holds(path):
    report = check_text(path.read_text("utf-8"), path.name)

    assert report["passed"], report["steps"][-1]
    assert len(report["steps"]) >= 4  # a story, not an example


@every_file
def test_a_story_told_twice_gives_the_same_bytes_and_the_same_report(path):
    text = path.read_text("utf-8")

    assert check_text(text, path.name) == check_text(text, path.name)


@every_file
def test_a_file_says_what_it_is(path):
    text = path.read_text("utf-8")
    part = read_scenario(text, path.name).part

    assert part.name == path.stem
    assert len(part.description) >= 40
    assert text.startswith(MODELINE)


@every_file
def test_a_story_looks_at_what_is_answered(path):
    story = read_scenario(path.read_text("utf-8"), path.name).part.story

    looked_at = [step.expect for step in story if step.expect is not None]
    assert len(looked_at) >= 3


@every_file
def test_a_file_fits_the_published_schema(path):
    data = read_scenario(path.read_text("utf-8"), path.name).located.data

    jsonschema.Draft202012Validator(scenario_schema()).validate(data)


def test_names_are_distinct_and_plain():
    assert len(FILES) >= 30
    assert all(re.fullmatch("[a-z][a-z0-9-]{0,40}", path.stem) for path in FILES)
