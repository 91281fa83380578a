"""Failures of `judge`, `explore` and `exec --shrink` themselves, which say nothing about the client."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from hosting_emulator_cli import client_tools, judging
from hosting_emulator_cli.main import Failure
from hosting_emulator_lab.run_conditions import RunsStopped


def failure_of(monkeypatch: pytest.MonkeyPatch, error: Exception) -> str:
    """Return the message of a tool whose work raises this error."""

    def fail(*_: object) -> None:
        raise error

    for name in ("become_subreaper", "end_orphans"):
        monkeypatch.setattr(client_tools, name, lambda *_: None)
    monkeypatch.setattr(client_tools, "run_logged", fail)
    settings: Any = None
    work: Any = None
    with pytest.raises(Failure) as caught:
        client_tools.run_tool(settings, work, tool="judge", result="judgment")
    return caught.value.message


def test_a_tool_that_cannot_start_a_process_says_so(monkeypatch: pytest.MonkeyPatch):
    error = BlockingIOError(11, "Resource temporarily unavailable")

    message = failure_of(monkeypatch, error)

    assert message == "cannot start a process: Resource temporarily unavailable"


def test_a_mistake_in_a_tool_is_not_taken_for_a_mistake_of_the_client(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    message = failure_of(monkeypatch, ZeroDivisionError("division by zero"))

    assert message == (
        "judge itself failed (ZeroDivisionError), so there is no judgment. Please report the "
        "traceback above"
    )
    assert "ZeroDivisionError: division by zero" in capsys.readouterr().err


def test_a_failure_of_a_tool_keeps_its_message(monkeypatch: pytest.MonkeyPatch):
    assert failure_of(monkeypatch, Failure("the clean run failed")) == "the clean run failed"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            client_tools.JudgeFailed("KeyError"),
            "the requests of a run could not be judged: KeyError",
        ),
        (client_tools.TooManyRequests("too many"), "cannot explore the command: too many"),
    ],
)
def test_a_run_that_cannot_be_observed_is_an_error(error: Exception, message: str):
    with pytest.raises(Failure) as caught, client_tools.observation_failures("explore"):
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
        judge_with(judging.ScaledRunFailed(end, 30.0))

    assert caught.value.message == (
        "the command ended with 1 when the world's clock runs, although it succeeds when "
        "polling advances the clock. The command's output is above"
    )
    assert ends == [end]
