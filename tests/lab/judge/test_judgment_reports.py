"""The four reports of a judgment agree with each other, with `explore` and with the exit code."""

from __future__ import annotations

import re
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
from tests.lab.judge.report_samples import (
    judgment,
    judgment_of_survivor,
    judgment_with_causes,
    open_judgment,
    repeat_trial,
)
from tests.lab.judge.samples import result


@pytest.mark.parametrize(
    ("given", "code"),
    [(judgment_of_survivor(), 0), (judgment_with_causes(), 1), (open_judgment(), 2)],
    ids=["survived", "causes", "open"],
)
def test_all_reports_state_the_same_result(given: Judgment, code: int) -> None:
    document = judgment_document(given, repeat_trial)
    page = judgment_page(given, repeat_trial)
    text = judgment_text(given, repeat_trial)
    junit = Xml.fromstring(judgment_junit(given, repeat_trial))
    assert (given.exit_code, document["exit_code"]) == (code, code)
    assert document["result"] in text
    assert document["result"] in page
    assert int(junit.get("failures", "")) == len(given.counted_causes)
    assert int(junit.get("errors", "")) == (1 if code == 2 else 0)
    for cause in given.causes:
        assert cause.id in text
        assert f'id="{cause.id}"' in page
        assert junit.find(f".//testcase[@name='{cause.id}']") is not None
    assert [row["id"] for row in document["causes"]] == [cause.id for cause in given.causes]


def test_judge_and_explore_describe_a_trial_in_the_same_way() -> None:
    failed = result(
        "create_user_api_key#1/connection_reset/after_commit",
        verdict="failed",
        reasons=("exit code 3",),
        output=("no luck",),
    )
    ((text, symptom),) = symptoms_of(failed)

    document = judgment_document(judgment(ClientCause(text, (symptom,))), repeat_trial)

    of_explore = result_document(failed)
    (of_judge,) = document["causes"][0]["symptoms"]
    for member in ("trial", "description", "verdict", "message", "output"):
        assert of_judge[member] == of_explore[member]


def test_long_words_and_the_repeating_line_are_never_broken() -> None:
    trial = f"vary/{'x-' * 300}"
    cause = ClientCause(CAUSE_TEXTS["done-twice"], (Symptom(trial, "seen"),))
    text = judgment_text(judgment(cause), repeat_trial)
    assert f"{trial},\n" in text
    assert repeat_trial(trial) in text


def test_the_text_of_a_judgment_has_colors_only_if_they_are_chosen() -> None:
    text = judgment_text(judgment_with_causes(), repeat_trial)
    colored = judgment_text(judgment_with_causes(), repeat_trial, color=True)
    assert re.sub(r"\x1b\[\d+m", "", colored) == text != colored


def test_the_page_is_self_contained_and_escapes_what_the_client_printed() -> None:
    page = judgment_page(judgment_with_causes(), repeat_trial)
    assert "&lt;timed out&gt; &amp; gone" in page
    assert "<timed" not in page
    assert not re.search(r"<script|<link rel=\"stylesheet|src=|@import|https?://", page)


def test_the_document_and_the_page_contain_every_count_and_all_that_is_missing() -> None:
    coverage = judgment_document(judgment_with_causes(), repeat_trial)["coverage"]
    page = judgment_page(judgment_with_causes(), repeat_trial)
    assert coverage["calls"]["list_deployments"]["roles"] == {"reader": 2, "api_key": 1}
    assert "<td>api_key (1), reader (2)</td>" in page
    for part in ("calls", "problem_codes", "statuses"):
        assert coverage["missing"][part]
        for name in coverage["missing"][part]:
            assert name in page
