"""Runs that `judge` and `explore` cannot observe, and clients that fail only in some clean runs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from hosting_emulator_cli import judging
from hosting_emulator_cli.client_tools import observation_failures
from hosting_emulator_cli.main import Failure
from hosting_emulator_lab.judge.clean_runs import ScaledRunFailed
from hosting_emulator_lab.judge.run_observation import JudgeFailed, TooManyRequests
from hosting_emulator_lab.run_conditions import RunsStopped


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            JudgeFailed("KeyError"),
            "the requests of a run could not be judged: KeyError",
        ),
        (TooManyRequests("too many"), "cannot explore the command: too many"),
    ],
)
def test_a_run_that_cannot_be_observed_is_an_error(error: Exception, message: str):
    with pytest.raises(Failure) as caught, observation_failures("explore"):
        raise error

    assert caught.value.message == message


def judge_with(error: Exception) -> int:
    """Judge a command whose runs raise this error, and return the exit code."""

    def fail() -> None:
        raise error

    tool: Any = SimpleNamespace(_options=SimpleNamespace(trial=None), _judge_all=fail)
    return judging._CommandJudge._judge(tool)


def test_a_judgment_that_was_interrupted_is_undecided():
    assert judge_with(RunsStopped()) == 2


def test_a_command_that_fails_only_when_the_clock_runs_is_shown_with_its_output(
    monkeypatch: pytest.MonkeyPatch,
):
    ends: list[object] = []
    monkeypatch.setattr(judging, "show_output", ends.append)
    end: Any = SimpleNamespace(exit_code=1, hung=False)

    with pytest.raises(Failure, match="when the world's clock runs") as caught:
        judge_with(ScaledRunFailed(end, 30.0))

    assert caught.value.message == (
        "the command ended with 1 when the world's clock runs, although it succeeds when "
        "polling advances the clock. The command's output is above"
    )
    assert ends == [end]
