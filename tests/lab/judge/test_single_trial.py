"""A repeated trial describes its result, and its exit code says whether it shows a cause."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator_lab.judge.run_results import RunEnd
from hosting_emulator_lab.judge.single_trial import SingleTrial, try_once
from hosting_emulator_lab.judge.trial_results import TrialResult
from hosting_emulator_lab.judge.trials import CleanTrial, Trial, read_trial
from tests.lab.judge.planned_runs import PlannedRuns

RESET = "create_user_api_key#1/connection_reset/after_commit"
STATUS = "alter/create_user_api_key/2xx/status"


def repeated(text: str, **fields: Any) -> SingleTrial:
    """Repeat a trial whose result has these fields."""
    values: dict[str, Any] = {
        "verdict": "survived",
        "reasons": (),
        "exit_code": 0,
        "duration_s": 0.5,
    }

    def results(trial: Trial, alone: bool) -> TrialResult:
        return TrialResult(trial, **{**values, **fields})

    runs = PlannedRuns(results)
    return try_once(runs, read_trial(text), limit_s=10.0, severity="warning")


@pytest.mark.parametrize(
    ("fields", "description", "exit_code"),
    [
        ({"hit": False}, "no response was altered", 2),
        ({"effect": "depends", "reasons": ("exit code 1",)}, "depends: exit code 1", 0),
        ({"effect": "ignores"}, "ignores: the same requests, exit code and output", 0),
    ],
)
def test_a_repeated_alteration_describes_its_effect(
    fields: dict[str, Any], description: str, exit_code: int
) -> None:
    single = repeated(STATUS, **fields)

    assert (single.text, single.exit_code) == (f"{STATUS}  {description}", exit_code)


def test_a_repeated_trial_that_shows_a_cause_names_it_and_exits_with_1() -> None:
    single = repeated(
        RESET, verdict="doubled", reasons=("2 API keys",), printed_lines=("created", "created")
    )

    assert single.exit_code == 1
    first_line, cause_line, symptom_line = single.text.splitlines()
    assert first_line == f"{RESET}  doubled: 2 API keys"
    assert cause_line.startswith("error: ")
    assert cause_line.endswith("[done-twice]")
    assert "2 API keys" in symptom_line
    assert single.printed_lines == ("created", "created")


def test_a_repeated_trial_whose_fault_hit_no_request_proves_nothing() -> None:
    assert repeated(RESET, hit=False).exit_code == 2
    assert repeated(RESET).exit_code == 0


@pytest.mark.parametrize(("is_slow", "exit_code"), [(False, 1), (True, 2)])
def test_a_repeated_trial_that_hangs_proves_something_only_if_the_machine_is_not_busy(
    is_slow: bool, exit_code: int
) -> None:
    def results(trial: Trial, alone: bool) -> TrialResult:
        return TrialResult(trial, "hung", ("it did not end",), 1, 10.0)

    runs = PlannedRuns(results, is_slow=lambda: is_slow)
    single = try_once(runs, read_trial(RESET), limit_s=10.0, severity="warning")

    assert single.exit_code == exit_code
    assert ("the machine was busy" in single.text) == is_slow
    assert ("[hangs]" in single.text) != is_slow


@pytest.mark.parametrize(("client_exit_code", "exit_code"), [(0, 0), (3, 2)])
def test_a_repeated_clean_run_proves_something_only_if_it_succeeds(
    client_exit_code: int, exit_code: int
) -> None:
    def ends(trial: CleanTrial, alone: bool) -> RunEnd:
        return RunEnd(client_exit_code, duration_s=0.5)

    single = try_once(PlannedRuns(clean_ends=ends), CleanTrial(), limit_s=10.0, severity="warning")

    assert single.text.startswith(f"clean  exit code {client_exit_code}")
    assert single.exit_code == exit_code
