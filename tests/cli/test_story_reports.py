"""Reports on stories as whole texts: colors, unused entries, variation, and the last sentences."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as Xml

import pytest

from hosting_emulator_cli.story_reports import stories_junit, stories_summary, story_text

COLORS = {"31": "red", "32": "green", "33": "yellow", "0": "/"}


def with_color_names(text: str) -> str:
    for code, name in COLORS.items():
        text = text.replace(f"\x1b[{code}m", f"<{name}>")
    return text


def step(n: int, **fields: Any) -> dict[str, Any]:
    values = {"n": n, "line": n + 3, "title": f"step {n}", "passed": True, "message": ""}
    return {**values, "differences": [], "responses": [], "nearest": [], **fields}


def response(**fields: Any) -> dict[str, Any]:
    return {"n": 3, "status": 200, "code": None, "lost": None, "detail": None, **fields}


def entry(**fields: Any) -> dict[str, Any]:
    values = {"id": "fault-1", "kind": "abort", "at": "faults[0]", "line": 20}
    return {**values, "unused": "no request matched", "optional": False, **fields}


def report(*steps: dict[str, Any], passed: bool = True, **fields: Any) -> dict[str, Any]:
    values = {"scenario": "outage", "file": "outage.yaml", "steps": steps, "passed": passed}
    return {**values, **fields}


VARIATION = {"seed": "5", "only": None, "assumed": {}, "varied": {"page-size": 2, "key-order": 1}}
FAILED = report(
    step(1, message="status 200"),
    step(
        12,
        passed=False,
        responses=[
            response(n=None, status=None, lost="timeout"),
            response(status=404, code="resource_not_found", detail="No \x1b[2Jproject."),
        ],
        nearest=["request 1 differs: status is 200\x07"],
        differences=[{"at": "status", "expected": 200, "found": [], "line": 8, "column": 24}],
    ),
    passed=False,
    entries=[
        entry(),
        entry(id="outcome-1", unused=None),
        entry(id="fault-2", optional=True),
    ],
    variation=VARIATION,
)


def test_the_text_of_a_failed_story_shows_all_that_explains_it():
    assert with_color_names(story_text(FAILED)).splitlines() == [
        "outage (outage.yaml)",
        "  <green>ok  </>   1  step 1: status 200",
        "  <red>FAIL</>  12  step 12 (line 15)",
        "            the request: the response was lost (timeout)",
        "            request 3: 404 resource_not_found: No \\x1b[2Jproject.",
        "            request 1 differs: status is 200\\x07",
        "            status (line 8, column 24):",
        "            <red>- 200</>",
        "            <green>+ []</>",
        "  <red>FAIL</>      fault-1 (abort) never acted: no request matched (line 20)",
        "  varied   by seed 5: page-size, key-order",
        "  again    --vary 5 (start, exec, scenario run), or --hosting-emulator-vary=5 (pytest)",
    ]


def test_the_text_of_other_stories_is_short():
    error = {"file": "x.yaml", "error": "x.yaml:1:1: no\nx.yaml:2:1: no", "passed": False}
    passed = report(step(1, responses=[response()], nearest=["no"]), variation=VARIATION)
    empty = report(entries=[entry()])

    assert with_color_names(story_text(error)).splitlines() == [
        "<red>ERROR</> x.yaml:1:1: no",
        "<red>ERROR</> x.yaml:2:1: no",
    ]
    assert with_color_names(story_text(passed)).splitlines() == [
        "outage (outage.yaml)",
        "  <green>ok  </>   1  step 1",
    ]
    assert story_text(empty).splitlines() == [
        "outage (outage.yaml)",
        "  no story: the world was built, but no request was sent",
    ]


@pytest.mark.parametrize(
    ("reports", "summary"),
    [
        ([], "0 stories: 0 passed, 0 failed."),
        ([report(step(1))], "1 story: 1 passed, 0 failed."),
        (
            [report(step(1)), report(step(1), passed=False), report(step(1), passed=False)],
            "3 stories: 1 passed, 2 failed.",
        ),
        ([report()], "0 stories: 0 passed, 0 failed. Scenarios without a story: 1."),
        ([{"error": "no", "passed": False}], "1 scenario could not be run."),
        (
            [{"error": "no", "passed": False}] * 2 + [report(step(1)), report()],
            "1 story: 1 passed, 0 failed. Scenarios without a story: 1. 2 scenarios could not be run.",
        ),
        ([report(step(1), variation=VARIATION)], "1 story: 1 passed, 0 failed."),
        (
            [FAILED, FAILED],
            "2 stories: 0 passed, 2 failed.\n"
            "With --vary, a story fails if it expects a particular choice by the emulator. Responses "
            "varied at: page-size, key-order.",
        ),
    ],
)
def test_the_summary_counts_stories_and_names_what_varied(
    reports: list[dict[str, Any]], summary: str
):
    assert stories_summary(reports, "run") == summary


def test_junit_of_stories_has_a_case_for_each_step_and_each_unused_entry():
    error = {"file": "x.yaml", "error": "x.yaml:1:1: no", "passed": False}
    text = stories_junit([FAILED, report(), error])

    assert text.endswith(">\n")
    cases = [
        (suite.get("name"), case.attrib, [(each.tag, each.attrib, each.text) for each in case])
        for suite in Xml.fromstring(text)
        for case in suite
    ]
    lines = [
        "the request: the response was lost (timeout)",
        "request 3: 404 resource_not_found: No \\x1b[2Jproject.",
        "request 1 differs: status is 200\\x07",
        "status (line 8, column 24):",
        "- 200",
        "+ []",
    ]
    unused = "fault-1 (abort) never acted: no request matched"
    of = {"classname": "outage", "file": "outage.yaml"}
    assert cases == [
        ("outage", {**of, "name": "1. step 1", "line": "4"}, []),
        (
            "outage",
            {**of, "name": "12. step 12", "line": "15"},
            [("failure", {"message": "it differs"}, "\n".join(lines))],
        ),
        (
            "outage",
            {**of, "name": "faults[0] acts", "line": "20"},
            [("failure", {"message": unused}, unused)],
        ),
        (
            "outage",
            {**of, "name": "the story"},
            [("skipped", {"message": "the scenario has no story"}, None)],
        ),
        (
            "x.yaml",
            {"classname": "x.yaml", "name": "the scenario can be read"},
            [("error", {"message": "x.yaml:1:1: no"}, "x.yaml:1:1: no")],
        ),
    ]
