"""The four reports of a judgment agree with each other and with the exit code."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree as Xml

import pytest

from hosting_emulator_lab.judge.cause_texts import CAUSE_TEXTS
from hosting_emulator_lab.judge.causes import ClientCause, Symptom
from hosting_emulator_lab.judge.exploration_document import result_document
from hosting_emulator_lab.judge.judgment import Judgment
from hosting_emulator_lab.judge.judgment_document import judgment_document
from hosting_emulator_lab.judge.judgment_junit import judgment_junit
from hosting_emulator_lab.judge.judgment_page import judgment_page
from hosting_emulator_lab.judge.judgment_text import judgment_text
from hosting_emulator_lab.judge.symptoms import symptoms_of
from hosting_emulator_lab.judge.trials import read_trial
from tests.lab.judge.samples import result
from tests.support.sample_coverage import SAMPLE_COVERAGE

TRIAL = "create_user_api_key#1/connection_reset/after_commit"
ERROR = ClientCause(
    CAUSE_TEXTS["done-twice"],
    (Symptom(TRIAL, "doubled: 2 API keys", ("<Done> & done",), "create_user_api_key#1"),),
)
NOTE = ClientCause(CAUSE_TEXTS["may-hide-failure"], (Symptom("clean", "unclear: perhaps"),))


def repeat(trial: str) -> str:
    """Return the command line that makes a trial again."""
    return f"hosting-emulator judge --trial '{trial}' -- ./client"


def judgment(*causes: ClientCause, **fields: Any) -> Judgment:
    """Return a judgment in which everything was tried."""
    values: dict[str, Any] = {
        "command": "./client --shop 'a & b'",
        "request_count": 6,
        "clean_s": 0.5,
        "run_count": 90,
        "duration_s": 31.4,
        "causes": causes,
        "planned": 80,
        "tried": 80,
        "not_tried": [],
        "needed_s": 60,
        "unproven": [],
        "remarks": [],
        "coverage": SAMPLE_COVERAGE,
    }
    return Judgment(**{**values, **fields})


SURVIVED = judgment(NOTE)
FOUND = judgment(ERROR, NOTE)
OPEN = judgment(
    tried=40,
    not_tried=[read_trial(TRIAL)] * 40,
    needed_s=90,
    unproven=["There was no time for 3 pairs of a call and a kind of failure."],
)


@pytest.mark.parametrize(("given", "code"), [(SURVIVED, 0), (FOUND, 1), (OPEN, 2)])
def test_all_reports_state_the_same_result(given: Judgment, code: int) -> None:
    document = judgment_document(given, repeat)
    page = judgment_page(given, repeat)
    text = judgment_text(given, repeat)
    junit = Xml.fromstring(judgment_junit(given, repeat))
    assert (given.exit_code, document["exit_code"]) == (code, code)
    assert document["result"] in text
    assert document["result"] in page
    assert int(junit.get("failures", "")) == (1 if code == 1 else 0)
    assert int(junit.get("errors", "")) == (1 if code == 2 else 0)
    for cause in given.causes:
        assert cause.id in text
        assert f'id="{cause.id}"' in page
        assert junit.find(f".//testcase[@name='{cause.id}']") is not None
    assert [row["id"] for row in document["causes"]] == [cause.id for cause in given.causes]


def test_judge_and_explore_describe_a_trial_in_the_same_way() -> None:
    failed = result(TRIAL, verdict="failed", reasons=("exit code 3",), output=("no luck",))
    ((text, symptom),) = symptoms_of(failed)

    document = judgment_document(judgment(ClientCause(text, (symptom,))), repeat)

    of_explore = result_document(failed)
    (of_judge,) = document["causes"][0]["symptoms"]
    for member in ("trial", "description", "verdict", "message", "output"):
        assert of_judge[member] == of_explore[member]


def test_a_cause_shows_evidence_reason_remedy_and_a_line_that_repeats_it() -> None:
    text = " ".join(judgment_text(FOUND, repeat).split())
    cause = ERROR.text
    for part in (TRIAL, "2 API keys", cause.matters, cause.because, cause.instead, repeat(TRIAL)):
        assert part in text


def test_the_repeating_line_is_never_broken() -> None:
    long = replace(ERROR, symptoms=(Symptom(f"vary/{'x' * 300}", "seen"),))
    assert repeat(f"vary/{'x' * 300}") in judgment_text(judgment(long), repeat)


def test_what_was_not_tried_names_a_budget_that_would_do() -> None:
    text = judgment_text(OPEN, repeat)
    assert "Tried 40 of 80 trials; 40 were not tried: give --budget 90s." in text
    assert judgment_document(OPEN, repeat)["needed_budget_s"] == 90


def test_the_junit_report_carries_the_tried_and_the_planned_trials() -> None:
    junit = Xml.fromstring(judgment_junit(OPEN, repeat))
    properties = {row.get("name"): row.get("value") for row in junit.iter("property")}
    assert properties == {"planned": "80", "tried": "40"}


def test_the_page_is_self_contained_and_escapes_what_the_client_printed() -> None:
    page = judgment_page(FOUND, repeat)
    assert "&lt;Done&gt; &amp; done" in page
    assert "<Done>" not in page
    assert not re.search(r"<script|<link rel=\"stylesheet|src=|@import|https?://", page)


def test_the_document_is_json() -> None:
    assert json.loads(json.dumps(judgment_document(FOUND, repeat)))["tried"] == 80


def test_a_cause_that_was_not_seen_alone_says_so_in_each_report() -> None:
    doubtful = judgment(replace(ERROR, seen_alone=False))
    assert "may be chance" in judgment_text(doubtful, repeat)
    assert "may be chance" in judgment_page(doubtful, repeat)
    assert judgment_document(doubtful, repeat)["causes"][0]["seen_alone"] is False
    assert doubtful.exit_code == 0


def test_only_the_first_symptoms_are_shown_and_the_others_are_counted() -> None:
    symptoms = tuple(Symptom(f"vary/{number}", f"seen {number}") for number in range(5))
    many = judgment(replace(ERROR, symptoms=symptoms))
    assert "and at 2 other trials" in judgment_text(many, repeat)
    assert len(judgment_document(many, repeat)["causes"][0]["symptoms"]) == 5
    other_trials = "<li><code>vary/3</code></li><li><code>vary/4</code></li>"
    assert f"<summary>Other trials: 2</summary><ul>{other_trials}</ul>" in judgment_page(
        many, repeat
    )
    assert "Other trials" not in judgment_page(judgment(ERROR), repeat)


def test_the_text_says_in_short_what_the_clean_run_exercised_of_the_contract() -> None:
    text = judgment_text(FOUND, repeat)
    assert "calls             2 of 8: create_user_api_key, list_deployments; missing:" in text
    assert "pages             3 pages of deployments, 2 with a cursor" in text


def test_the_document_and_the_page_contain_every_count_and_all_that_is_missing() -> None:
    coverage = judgment_document(FOUND, repeat)["coverage"]
    page = judgment_page(FOUND, repeat)
    assert coverage["calls"]["list_deployments"]["roles"] == {"reader": 2, "api_key": 1}
    assert "<td>api_key (1), reader (2)</td>" in page
    for part in ("calls", "problem_codes", "statuses"):
        assert coverage["missing"][part]
        for name in coverage["missing"][part]:
            assert name in page


def test_the_junit_report_has_the_coverage_of_the_clean_run_as_output() -> None:
    junit = Xml.fromstring(judgment_junit(FOUND, repeat))
    output = junit.findtext("testsuite/system-out") or ""
    assert "roles             reader, API key; missing: owner, maintainer" in output
