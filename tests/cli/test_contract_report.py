"""A report of `contract check` as whole texts: with colors, as JUnit XML and as a scenario."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as Xml

from hosting_emulator_cli.contract_report import (
    check_junit,
    check_scenario,
    check_summary,
    check_text,
    failed_check_junit,
)

COLORS = {"31": "red", "32": "green", "33": "yellow", "90": "gray", "1": "bold", "0": "/"}


def sentence(section: str, key: str, verdict: str, *observations: str) -> dict[str, Any]:
    text = f"The sentence {key}."
    return {
        "section": section,
        "key": key,
        "verdict": verdict,
        "sentence": text,
        "seen": observations,
    }


def cause(text: str, *keys: str, **fields: Any) -> dict[str, Any]:
    values = {"cause": text, "sentences": keys, "responses": 1, "calls": ["set_flag"]}
    return {**values, "examples": ["PUT /v1/x: 200"], **fields}


def report_of(**fields: Any) -> Any:
    values: dict[str, Any] = {
        "base_url": "http://127.0.0.1:4620",
        "project_id": "01PROJ1",
        "sentences": [
            sentence("1. Bodies", "json", "holds", "three bodies are JSON"),
            sentence("1. Bodies", "utf8", "undecided", "no letter was seen", "one was"),
            sentence("2. Keys", "k1", "differs", "k1 is broken", "and again"),
            sentence("2. Keys", "k2", "differs", "k2 is broken"),
            sentence("2. Keys", "k3", "skipped", "permit it"),
            sentence("2. Keys", "k4", "unseen", "nobody sees it"),
        ],
        "created": ["key 01KEY"],
        "notes": ["it was slow"],
        "assumptions": {"accepted_status": 200, "rate_limit": "100/60s"},
        "causes": [
            cause("an id is missing", "k1", "k2", "json", "utf8"),
            cause("x" * 160, "k1", responses=3, calls=["set_flag", "get_operation"]),
        ],
        "summary": {"holds": 1, "differs": 2, "undecided": 1, "skipped": 1, "unseen": 1},
        "requests": 34,
        "unchecked": None,
    }
    return {**values, **fields}


def with_color_names(text: str) -> list[str]:
    for code, name in COLORS.items():
        text = text.replace(f"\x1b[{code}m", f"<{name}>")
    return text.splitlines()


def test_the_text_of_a_check_lists_sentences_changes_assumptions_and_causes():
    assert with_color_names(check_text(report_of())) == [
        "http://127.0.0.1:4620, project 01PROJ1",
        "",
        "<bold>1. Bodies</>",
        "  <green>holds    </>  The sentence json.",
        "  <yellow>undecided</>  The sentence utf8.",
        "             no letter was seen",
        "             one was",
        "",
        "<bold>2. Keys</>",
        "  <red>differs  </>  The sentence k1.",
        "             k1 is broken",
        "             and again",
        "  <red>differs  </>  The sentence k2.",
        "             k2 is broken",
        "  <yellow>skipped  </>  The sentence k3.",
        "             permit it",
        "  <gray>unseen   </>  The sentence k4.",
        "             nobody sees it",
        "",
        "Changed on the server:",
        "  key 01KEY",
        "",
        "Noted:",
        "  it was slow",
        "",
        "Differences from this emulator, as assumptions for a scenario:",
        "",
        "assumptions:",
        "  accepted_status: 200",
        '  rate_limit: "100/60s"',
        "",
        "<bold>2 causes of 2 differences:</>",
        "",
        "  1. an id is missing",
        "     Seen in 1 response:",
        "       PUT /v1/x: 200",
        "     Violates 4 sentences:",
        "       The sentence k1.",
        "       The sentence k2.",
        "       The sentence json.",
        "       and 1 more",
        "",
        f"  2. {'x' * 149}…",
        "     Seen in 3 responses to 2 calls, such as:",
        "       PUT /v1/x: 200",
        "     Violates 1 sentence:",
        "       The sentence k1.",
    ]


def test_the_text_of_a_check_without_differences_is_short():
    report = report_of(created=[], notes=[], assumptions={}, causes=[], sentences=[])

    assert check_text(report).splitlines() == [
        "http://127.0.0.1:4620, project 01PROJ1",
        "",
        "Where the contract is silent, no difference from this emulator was observed.",
    ]


def test_the_summary_of_a_check_counts_sentences_and_requests():
    assert check_summary(report_of()) == (
        "6 sentences: 1 hold, 2 differ, 1 undecided, 1 skipped, 1 unseen (34 requests)."
    )


def test_the_scenario_of_a_check_sets_the_observed_assumptions():
    heading = [
        "name: observed",
        'description: "Sets the assumptions for which http://127.0.0.1:4620 differs from the '
        "emulator's defaults.\"",
        "",
    ]
    text = check_scenario(report_of())

    assert text.endswith("\n")
    assert text.splitlines() == [
        *heading,
        "assumptions:",
        "  accepted_status: 200",
        '  rate_limit: "100/60s"',
    ]
    assert check_scenario(report_of(assumptions={})).splitlines() == [
        *heading,
        "# The check observed no such difference.",
    ]


def cases_of(text: str) -> list[object]:
    """Return the suite, the class, the name and the outcome of each case."""
    assert text.endswith(">\n")
    root = Xml.fromstring(text)
    assert root.get("name") == "contract check"
    return [
        (suite.get("name"), case.get("classname"), case.get("name"), *outcomes_of(case))
        for suite in root
        for case in suite
    ]


def outcomes_of(case: Xml.Element) -> list[object]:
    return [part for each in case for part in (each.tag, each.get("message"), each.text)]


def test_junit_of_a_check_has_a_case_for_each_sentence():
    assert cases_of(check_junit(report_of(unchecked="the check was stopped"))) == [
        ("contract check", "contract check", "all", "error", "the check was stopped", None),
        ("1. Bodies", "1. Bodies", "json: The sentence json."),
        (
            "1. Bodies",
            "1. Bodies",
            "utf8: The sentence utf8.",
            "skipped",
            "undecided: no letter was seen\none was",
            None,
        ),
        (
            "2. Keys",
            "2. Keys",
            "k1: The sentence k1.",
            "failure",
            "k1 is broken",
            "k1 is broken\nand again\n"
            "Cause 1 of 2: an id is missing (it also breaks k2, json, utf8)\n"
            f"Cause 2 of 2: {'x' * 160}",
        ),
        (
            "2. Keys",
            "2. Keys",
            "k2: The sentence k2.",
            "failure",
            "k2 is broken",
            "k2 is broken\nCause 1 of 2: an id is missing (it also breaks k1, json, utf8)",
        ),
        ("2. Keys", "2. Keys", "k3: The sentence k3.", "skipped", "skipped: permit it", None),
        ("2. Keys", "2. Keys", "k4: The sentence k4.", "skipped", "unseen: nobody sees it", None),
    ]


def test_junit_of_a_check_that_could_not_run_has_its_error():
    assert cases_of(failed_check_junit("it is gone")) == [
        ("contract check", "contract check", "the check", "error", "it is gone", None)
    ]
