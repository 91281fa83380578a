"""A finished exploration: its exit code, and which parts of the contract it covered."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hosting_emulator_lab.judge.exploration import coverage, coverage_texts
from hosting_emulator_lab.judge.exploration_matrix import exploration_matrix
from hosting_emulator_lab.judge.fault_points import OUTCOMES
from hosting_emulator_lab.judge.point_plan import plan_points
from hosting_emulator_lab.judge.run_results import ConductChoice
from tests.lab.judge.samples import (
    KEY,
    observed,
    requests,
    result,
    sample_clean_run,
    sample_exploration,
    sample_observation,
    state,
)


@pytest.mark.parametrize(
    ("verdicts", "exit_code"),
    [
        (("survived", "gave up"), 0),
        (("survived", "not reached"), 0),
        (("doubled", "unclear"), 1),
        (("survived", "unclear"), 2),
        (("not reached", "not reached"), 2),
        ((), 2),
    ],
)
def test_the_exit_code_of_an_exploration_follows_from_its_verdicts(
    verdicts: tuple[str, ...], exit_code: int
):
    points = sample_exploration().plan.points
    results = [
        result(str(point), verdict=verdict)
        for point, verdict in zip(points, verdicts, strict=False)
    ]

    exploration = sample_exploration(*results)

    assert exploration.exit_code == exit_code
    assert exploration.survived is (exit_code == 0)


@pytest.mark.parametrize(
    ("verdicts", "reason"),
    [
        ((), "No failure was tried, so nothing is known about the command."),
        (("not reached",), "No failure hit a request, so nothing is known about the command."),
        (("not reached", "survived"), ""),
    ],
)
def test_an_exploration_that_proves_nothing_says_why(verdicts: tuple[str, ...], reason: str):
    results = [result(f"{KEY}/timeout/after_commit", verdict=verdict) for verdict in verdicts]

    assert sample_exploration(*results).undecided_reason == reason


@pytest.mark.parametrize(
    ("conduct", "exit_code_of_a_warning", "exit_code_of_an_error"),
    [("off", 0, 0), ("report", 0, 1), ("error", 1, 1)],
)
def test_the_conduct_choice_decides_which_findings_of_the_clean_run_count(
    conduct: ConductChoice, exit_code_of_a_warning: int, exit_code_of_an_error: int
):
    findings = ("retried-too-soon: No",)
    warned = sample_observation(conduct=findings)
    accused = replace(warned, conduct_errors=findings)
    survived = result(f"{KEY}/timeout/before_commit")

    exit_codes = [
        sample_exploration(
            survived, clean_run=sample_clean_run(observation), conduct=conduct
        ).exit_code
        for observation in (warned, accused)
    ]

    assert exit_codes == [exit_code_of_a_warning, exit_code_of_an_error]


def test_coverage_leaves_out_calls_that_no_fault_hit():
    clean_run = sample_clean_run(
        observed(requests("create_user_api_key", "list_deployments"), state())
    )
    missed = result("list_deployments#1/timeout/before_commit", verdict="not reached", hit=False)
    hit = result(f"{KEY}/timeout/before_commit")
    run_plan = plan_points(clean_run.observation.requests, faults=["timeout"])

    figures = coverage(sample_exploration(hit, missed, clean_run=clean_run, plan=run_plan))

    assert figures["calls"].covered == ["create_user_api_key"]


def test_coverage_includes_the_codes_that_the_client_received_without_a_fault():
    clean_run = sample_clean_run(sample_observation(codes=frozenset({"etag_mismatch"})))
    limited = result(f"{KEY}/timeout/before_commit", codes=("rate_limited",))

    figures = coverage(sample_exploration(limited, clean_run=clean_run))

    assert set(figures["problem_codes"].covered) == {"etag_mismatch", "rate_limited"}


def test_a_lasting_refusal_covers_an_outcome_and_no_kind_of_fault():
    observation = sample_observation()
    plan = plan_points(observation.requests, faults=["abort:forbidden"])
    refused = result(f"{KEY}/abort:forbidden/lasting", verdict="gave up")

    figures = coverage(sample_exploration(refused, plan=plan))

    assert figures["fault_kinds"].covered == []
    assert figures["outcomes"].covered == ["abort:forbidden"]


def test_an_exploration_without_outcomes_has_no_figure_for_outcomes():
    assert list(coverage_texts(sample_exploration())) == ["calls", "fault kinds", "problem codes"]


def test_coverage_counts_outcomes_that_a_quick_plan_leaves_out_as_uncovered():
    run_plan = plan_points(requests("apply_project_domains"), faults=OUTCOMES, quick=True)
    exploration = sample_exploration(result(str(run_plan.points[0])), plan=run_plan)

    figure = coverage(exploration)["outcomes"]

    assert len(figure.covered) == 1
    assert figure.total == len(run_plan.points) + len(run_plan.left_out)
    # The matrix has a column for each of them, too.
    assert figure.total == len(exploration_matrix(exploration).faults)
