"""The text report of an exploration: a matrix, a text for each group of results, and a summary."""

from __future__ import annotations

import re
from dataclasses import replace

from hosting_emulator.contract.calls import ALL_CALLS as CALLS
from hosting_emulator_lab.judge.exploration_matrix import exploration_matrix
from hosting_emulator_lab.judge.exploration_text import plan_text, report_text
from hosting_emulator_lab.judge.fault_points import KINDS, OUTCOMES
from hosting_emulator_lab.judge.point_plan import plan_points
from tests.lab.judge.samples import (
    DOUBLED_REASON,
    KEY,
    REPEAT_COMMAND,
    coverage_line,
    mixed_exploration,
    requests,
    result,
    sample_clean_run,
    sample_exploration,
    sample_observation,
    state,
)

FINDING = "retried-too-soon: No"


def test_the_text_report_has_a_matrix_a_group_with_its_command_and_a_summary():
    text = report_text(mixed_exploration())

    assert text.splitlines()[:3] == [
        "                       timeout  reset",
        "create_user_api_key#1  ?2       -+",
        "Two marks each, before and after the commit: + survived, ? not reached, 2 doubled, "
        "- not run.",
    ]
    group_lines = [
        f"{KEY}  doubled at 1 point: {DOUBLED_REASON}",
        "  | <Done> & done",
        f"  repeat: {REPEAT_COMMAND}",
    ]
    assert "\n".join(group_lines) in text
    assert "3 runs: 1 survived, 1 not reached, 1 doubled.\n1 point not run: interrupted.\n" in text
    assert text.endswith(coverage_line(calls=1, kinds=2, codes=1))


def test_colors_change_no_word_of_the_text_report():
    exploration = mixed_exploration()

    colored_text = report_text(exploration, color=True)

    assert "\x1b[31m" in colored_text
    assert re.sub(r"\x1b\[\d+m", "", colored_text) == report_text(exploration)


# --- Matrix --------------------------------------------------------------------------------------


def test_a_matrix_that_is_too_wide_with_names_has_numbered_columns():
    run_plan = plan_points(requests(*CALLS), faults=[*KINDS, "abort:*"])
    exploration = sample_exploration(plan=run_plan)

    lines = report_text(exploration).splitlines()

    faults = exploration_matrix(exploration).faults
    assert lines[0].split() == [str(number) for number in range(1, len(faults) + 1)]
    assert "1 timeout" in lines[len(CALLS) + 1]


def test_a_lasting_fault_has_one_column_with_one_mark():
    run_plan = plan_points(
        sample_observation().requests, faults=["timeout", "value_lost", "abort:forbidden"]
    )
    exploration = sample_exploration(
        result(f"{KEY}/value_lost/lasting", verdict="blind success"),
        result(f"{KEY}/abort:forbidden/lasting", verdict="gave up"),
        plan=run_plan,
    )

    text = report_text(exploration)

    assert text.splitlines()[:3] == [
        "                       timeout  value_lost  forbidden",
        "create_user_api_key#1  --       B           .",
        "Two marks each, before and after the commit: . gave up, B blind success, - not run.",
    ]
    assert "outcomes 2 of 2" in text


# --- Results -------------------------------------------------------------------------------------


def test_points_with_the_same_result_share_one_text_with_a_command_each():
    results = [
        result(f"{KEY}/{fault}/before_commit", verdict="failed", reasons=("exit code 1",))
        for fault in ("timeout", "connection_reset")
    ]

    text = report_text(sample_exploration(*results))

    assert text.count("exit code 1") == 1
    assert text.count("  repeat: ") == 2


def test_output_that_ends_with_the_same_lines_is_printed_once():
    common_lines = (
        "Traceback",
        '  File "deploy.py", line 7, in send',
        "    raise NoResponse",
        "NoResponse: timed out",
    )
    first_point = f"{KEY}/timeout/after_commit"
    second_point = f"{KEY}/connection_reset/after_commit"
    results = [
        result(first_point, verdict="failed", output=("Attempt 1", *common_lines)),
        result(second_point, verdict="failed", output=("Attempt 2", *common_lines)),
    ]

    text = report_text(sample_exploration(*results))

    assert text.count("deploy.py") == 1
    assert f"  | … as at {first_point}\n  | NoResponse: timed out" in text
    assert text.count("  repeat: ") == 2


def test_the_text_of_a_misbehaved_run_names_the_rules():
    misbehaved = result(
        f"{KEY}/timeout/before_commit",
        verdict="misbehaved",
        reasons=("retried-too-soon",),
        conduct=(FINDING,),
    )
    exploration = sample_exploration(misbehaved, conduct="error")

    text = report_text(exploration)

    assert not exploration.survived
    assert f"{KEY}  misbehaved at 1 point: retried-too-soon\n  conduct: {FINDING}\n" in text
    assert "M misbehaved" in text


# --- Conduct -------------------------------------------------------------------------------------


def test_a_conduct_finding_of_several_runs_is_printed_once_with_one_command():
    results = [
        result(f"{KEY}/{fault}/before_commit", conduct=(FINDING,))
        for fault in ("timeout", "connection_reset")
    ]

    text = report_text(sample_exploration(*results))

    assert f"conduct: {FINDING} ({KEY}/timeout/before_commit and 1 more)" in text
    command = f"hosting-emulator explore --trial '{KEY}/timeout/before_commit' -- ./deploy.sh"
    assert text.count(f"repeat: {command}") == 1


def test_conduct_findings_of_the_clean_run_are_printed_with_their_command():
    clean_run = sample_clean_run(sample_observation(conduct=(FINDING,)))
    exploration = sample_exploration(
        result(f"{KEY}/timeout/before_commit"),
        clean_run=clean_run,
        repeat_clean_command="hosting-emulator exec -- ./deploy.sh",
    )

    reporting = report_text(exploration)
    silent = report_text(replace(exploration, conduct="off"))
    strict = report_text(replace(exploration, conduct="error"))

    lines = f"conduct: {FINDING} (the clean run)\n  repeat: hosting-emulator exec -- ./deploy.sh"
    assert lines in reporting
    assert "retried-too-soon" not in silent
    assert "The clean run itself has conduct findings." not in reporting
    assert "The clean run itself has conduct findings." in strict


# --- Summary -------------------------------------------------------------------------------------


def test_the_summary_counts_the_points_that_a_quick_plan_leaves_out():
    run_plan = plan_points(requests("apply_project_domains"), faults=OUTCOMES, quick=True)

    text = report_text(sample_exploration(plan=run_plan))

    assert f"{len(run_plan.left_out)} points left out by quick." in text


def test_the_summary_counts_merged_points_by_reason():
    run_plan = plan_points(requests("list_deployments"), faults=["timeout"])

    text = report_text(sample_exploration(plan=run_plan))

    assert "1 point merged: a read changes nothing, so both phases look the same." in text


def test_the_summary_names_a_failure_that_occurred_in_only_one_of_two_runs():
    survived = result(f"{KEY}/timeout/before_commit", reasons=("once: failed",))

    text = report_text(sample_exploration(survived))

    assert f"Only in one of two runs: {KEY}/timeout/before_commit (once: failed)." in text


def test_the_summary_names_the_state_that_differs_between_two_clean_runs():
    clean_run = sample_clean_run(second_state=state())

    assert "not compared: API key." in report_text(sample_exploration(clean_run=clean_run))


def test_the_summary_names_an_idempotency_key_that_both_clean_runs_share():
    clean_run = replace(sample_clean_run(), same_keys=(KEY,))

    text = report_text(sample_exploration(clean_run=clean_run))

    assert f"Same Idempotency-Key in both clean runs: {KEY}. If " in text


def test_explore_announces_the_number_of_runs():
    run_plan = plan_points(
        requests("create_user_api_key", "list_deployments"), faults=["timeout"], max_runs=2
    )

    assert plan_text(run_plan, 4) == (
        "2 requests: 2 runs, 4 at a time, 1 more is merged as equivalent, 1 is left out by the "
        "limit on runs."
    )
