"""The state that a run left is compared with the state that the clean run left."""

from __future__ import annotations

from dataclasses import replace

from hosting_emulator_lab.judge.state_differences import StateDifferences, state_differences
from hosting_emulator_lab.judge.world_summary import StateRows
from tests.lab.judge.samples import key_row, observed, operation_row, sample_clean_run, state

ONE_KEY = state(user_api_keys={"1": key_row("ci")})
TWO_KEYS = state(user_api_keys={"1": key_row("ci"), "2": key_row("ci")})


def differences(
    run_state: StateRows, clean_state: StateRows, second_state: StateRows | None = None
) -> StateDifferences:
    """Compare a run's state with the states of two clean runs, which are equal by default."""
    clean_run = sample_clean_run(observed((), clean_state), second_state=second_state)
    return state_differences(observed((), run_state), clean_run)


def test_equal_states_have_no_differences():
    assert differences(ONE_KEY, ONE_KEY) == StateDifferences([], [])


def test_a_missing_row_is_a_difference_but_no_addition():
    text = "1 API key, while the clean run makes 2: 'ci' of owner in acme"

    assert differences(ONE_KEY, TWO_KEYS) == StateDifferences([text], [])


def test_rows_from_before_the_run_are_not_counted_as_created():
    clean_run = replace(sample_clean_run(observed((), TWO_KEYS)), start=ONE_KEY)

    texts = state_differences(observed((), ONE_KEY), clean_run).texts

    assert texts == ["0 API keys, while the clean run makes 1: 'ci' of owner in acme"]


def test_a_lost_value_explains_an_additional_key_but_no_additional_operation():
    succeeded = operation_row("succeeded")
    one_each = state(user_api_keys={"1": key_row("ci")}, operations={"1": succeeded})
    two_each = state(
        user_api_keys={"1": key_row("ci"), "2": key_row("ci")},
        operations={"1": succeeded, "2": succeeded},
    )
    clean_run = sample_clean_run(observed((), one_each))
    observation = observed((), two_each, lost_keys=1)

    text = "2 operations, while the clean run makes 1: apply_project_domains of shop succeeded"
    assert state_differences(observation, clean_run) == StateDifferences([text], [text])


def test_failed_operations_can_be_left_out():
    failed = state(operations={"1": operation_row("failed"), "2": operation_row("succeeded")})
    clean_run = sample_clean_run(observed((), state(operations={"1": operation_row("succeeded")})))
    observation = observed((), failed)

    assert state_differences(observation, clean_run).additions
    assert not state_differences(observation, clean_run, include_failed=False).additions


def test_an_operation_that_is_still_queued_differs_from_a_finished_but_not_from_a_running_one():
    queued = state(operations={"1": operation_row("queued")})
    running = state(operations={"1": operation_row("running")})
    succeeded = state(operations={"1": operation_row("succeeded")})

    assert differences(running, queued) == differences(queued, running) == ([], [])
    assert differences(queued, succeeded).texts


def test_an_operation_that_the_clean_run_leaves_unfinished_may_be_further_or_finished():
    """Such a client does not wait, so a trial that takes longer leaves another state."""
    clean = state(operations={"1": operation_row("running"), "2": operation_row("queued")})
    later = state(operations={"1": operation_row("succeeded"), "2": operation_row("running")})
    failed = state(operations={"1": operation_row("failed"), "2": operation_row("running")})

    assert differences(later, clean) == ([], [])
    assert differences(failed, clean).texts == [
        "operation at the end: apply_project_domains of shop failed (in the clean run: none)"
    ]
    # A client that waits for the end of its operations leaves a finished state in each run.
    assert differences(
        clean, state(operations={"1": operation_row("succeeded"), "2": operation_row("succeeded")})
    ).texts
