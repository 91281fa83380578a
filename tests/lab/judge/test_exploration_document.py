"""The JSON report of an exploration: it is complete, and results can be read from it."""

from __future__ import annotations

import json

import pytest

from hosting_emulator_lab.judge.exploration_document import (
    exploration_document,
    read_result,
    result_document,
)
from hosting_emulator_lab.judge.trial_results import TrialResult
from tests.lab.judge.samples import (
    KEY,
    MIXED_RESULTS,
    result,
    sample_clean_run,
    sample_exploration,
    sample_observation,
)


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


@pytest.mark.parametrize(
    "change",
    [{"trial": "nonsense"}, {"unknown": 1}, {"causes": ["done-thrice"]}],
    ids=["invalid_point", "unknown_key", "unknown_cause"],
)
def test_a_document_with_another_content_is_not_read_as_a_result(change: dict[str, object]):
    document = result_document(result(f"{KEY}/timeout/before_commit"))

    with pytest.raises((ValueError, TypeError)):
        read_result({**document, **change})
