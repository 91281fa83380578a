"""The text report of an exploration: a matrix, a text for each group of results, and a summary."""

from __future__ import annotations

import re
from dataclasses import replace

from hosting_emulator.contract.calls import ALL_CALLS as CALLS
from hosting_emulator_lab.judge.exploration_matrix import exploration_matrix
from hosting_emulator_lab.judge.exploration_text import report_text
from hosting_emulator_lab.judge.fault_points import KINDS, OUTCOMES
from hosting_emulator_lab.judge.point_plan import plan_points
from tests.lab.judge.samples import (
    KEY,
    mixed_exploration,
    requests,
    result,
    sample_clean_run,
    sample_exploration,
    sample_observation,
)

FINDING = "retried-too-soon: No"


def test_colors_change_no_word_of_the_text_report():
    exploration = mixed_exploration()

    colored_text = report_text(exploration, color=True)

    assert "\x1b[31m" in colored_text
    assert re.sub(r"\x1b\[\d+m", "", colored_text) == report_text(exploration)


def test_a_plan_without_points_has_an_empty_matrix():
    text = report_text(sample_exploration(plan=plan_points((), faults=["timeout"])))

    assert "0 runs: nothing." in text


# --- Matrix --------------------------------------------------------------------------------------


def test_a_matrix_that_is_too_wide_with_names_has_numbered_columns():
    run_plan = plan_points(requests(*CALLS), faults=[*KINDS, "abort:*"])
    exploration = sample_exploration(plan=run_plan)

    lines = report_text(exploration).splitlines()

    faults = exploration_matrix(exploration).faults
    assert lines[0].split() == [str(number) for number in range(1, len(faults) + 1)]
    assert "1 timeout" in lines[len(CALLS) + 1]


# --- Results -------------------------------------------------------------------------------------


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
