"""The JSON report of an exploration: it is complete, and results can be read from it."""

from __future__ import annotations

import json

import pytest

from hosting_emulator_lab.judge.exploration_document import (
    exploration_document,
    read_result,
    result_document,
)
from hosting_emulator_lab.judge.fault_points import KINDS
from hosting_emulator_lab.judge.trial_results import TrialResult
from tests.lab.judge.samples import (
    KEY,
    MIXED_RESULTS,
    REPEAT_COMMAND,
    mixed_exploration,
    result,
    sample_clean_run,
    sample_exploration,
    sample_observation,
)


def test_the_json_report_is_complete_and_reproducible():
    report = json.loads(json.dumps(exploration_document(mixed_exploration())))

    assert [point["verdict"] for point in report["points"]] == [
        "doubled",
        "survived",
        "not reached",
    ]
    assert report["points"][0]["repeat"] == REPEAT_COMMAND
    assert report["not_run"] == [f"{KEY}/connection_reset/before_commit"]
    assert report["cut"] == "interrupted"
    assert report["summary"] == {"survived": 1, "not reached": 1, "doubled": 1}
    assert report["coverage"]["fault_kinds"] == {
        "met": ["timeout", "connection_reset"],
        "of": len(KINDS),
    }
    assert exploration_document(mixed_exploration()) == report


def test_the_json_report_lists_the_requests_of_the_clean_run():
    report = exploration_document(sample_exploration())

    assert report["clean"]["requests"] == [
        {
            "request": KEY,
            "method": "POST",
            "path": "/v1/create_user_api_key",
            "status": 200,
            "code": None,
            "idempotency_key": False,
        }
    ]


def test_the_json_report_leaves_out_conduct_findings_if_conduct_is_off():
    clean_run = sample_clean_run(sample_observation(conduct=("retried-too-soon: No",)))

    reporting = exploration_document(sample_exploration(clean_run=clean_run))
    silent = exploration_document(sample_exploration(clean_run=clean_run, conduct="off"))

    assert reporting["clean"]["conduct"] == ["retried-too-soon: No"]
    assert silent["clean"]["conduct"] == []


@pytest.mark.parametrize("point_result", MIXED_RESULTS, ids=lambda each: each.verdict)
def test_a_written_result_is_read_back_unchanged(point_result: TrialResult):
    document = json.loads(json.dumps(result_document(point_result)))

    assert read_result(document) == point_result


def test_a_result_describes_its_trial_and_its_verdict_in_words():
    failed = result(f"{KEY}/timeout/before_commit", verdict="failed", reasons=("exit code 3",))
    hung = result(f"{KEY}/timeout/before_commit", verdict="hung")

    document = result_document(failed)

    assert document["trial"] == f"{KEY}/timeout/before_commit"
    assert document["description"] == f"no response to {KEY} arrives, before it takes effect"
    assert (document["verdict"], document["message"]) == ("failed", "failed: exit code 3")
    assert result_document(hung)["message"] == "hung: the client did not end within the time limit"


def test_only_results_with_findings_have_a_command_that_repeats_their_run():
    failed = result(f"{KEY}/timeout/before_commit", verdict="failed")
    impolite = result(f"{KEY}/timeout/before_commit", conduct=("retried-too-soon: No",))
    survived = result(f"{KEY}/timeout/before_commit")

    documents = [result_document(each, str) for each in (failed, impolite, survived)]

    assert [document.get("repeat") for document in documents] == [
        f"{KEY}/timeout/before_commit",
        f"{KEY}/timeout/before_commit",
        None,
    ]


@pytest.mark.parametrize(
    "change",
    [{"trial": "nonsense"}, {"unknown": 1}],
    ids=["invalid_point", "unknown_key"],
)
def test_a_document_with_another_content_is_not_read_as_a_result(change: dict[str, object]):
    document = result_document(result(f"{KEY}/timeout/before_commit"))

    with pytest.raises((ValueError, TypeError)):
        read_result({**document, **change})
