"""The progress of `explore` and `judge` on a terminal: failures stay visible above the bar."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from hosting_emulator_cli import exploration_progress, judging_progress
from hosting_emulator_cli import output as out


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let stderr be a wide terminal without colors."""
    monkeypatch.setattr(out, "is_terminal", lambda stream: True)
    for name, value in (("COLUMNS", "120"), ("TERM", "dumb"), ("NO_COLOR", "1")):
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("terminal")
def test_the_bar_of_explore_shows_each_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(exploration_progress, "result_text", lambda result, **_: result.text)
    fine: Any = SimpleNamespace(is_fine=True, text="a point that is fine")
    failure: Any = SimpleNamespace(is_fine=False, text="a point that fails")

    with exploration_progress.show_progress(1, 3) as show:
        show(fine, 2)
        show(failure, 3)

    stderr = capsys.readouterr().err
    assert "a point that fails" in stderr
    assert "a point that is fine" not in stderr


@pytest.mark.usefixtures("terminal")
def test_the_bar_of_judge_shows_the_plan_and_each_cause(capsys: pytest.CaptureFixture[str]):
    plan: Any = SimpleNamespace(trial_count=7)
    clean: Any = SimpleNamespace(observation=SimpleNamespace(request_count=1))
    cause: Any = SimpleNamespace(severity="error", title="It [bold]retries.", id="retry")
    trial: Any = "list_deployments#1/timeout"
    symptom: Any = SimpleNamespace(trial=trial)

    with judging_progress.show_judging() as listener:
        listener.on_plan(plan, clean)
        listener.on_trial(trial, 1, 7)
        listener.on_alteration(trial, 2, 9)
        listener.on_cause(cause, symptom)

    lines = [line.strip() for line in capsys.readouterr().err.splitlines()]
    assert "1 request in the clean run: 7 trials planned." in lines
    assert "error: It [bold]retries. [retry] at list_deployments#1/timeout" in lines
