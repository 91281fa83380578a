"""The progress of `explore` and `judge` on a terminal: failures stay visible above the bar."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from hosting_emulator_cli import exploration_progress, judging_progress
from hosting_emulator_cli import output as out

MERGING = "Causes are listed as soon as they are seen, and the report may merge them."


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
    assert f"1 request in the clean run: 7 trials planned. {MERGING}" in " ".join(lines)
    assert "seen so far: error: It [bold]retries. [retry] in list_deployments#1/timeout" in lines


def bar_of(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return a list that will contain the progress bar."""
    from rich import progress

    bars: list[Any] = []

    class Noted(progress.Progress):
        def __init__(self, *columns: Any, **options: Any) -> None:
            super().__init__(*columns, **options)
            bars.append(self)

    monkeypatch.setattr(progress, "Progress", Noted)
    return bars


def state_of(bars: list[Any]) -> tuple[object, ...]:
    """Return the description of the only task, and its completed and total steps."""
    [bar] = bars
    [task] = bar.tasks
    return task.description, task.completed, task.total


@pytest.mark.usefixtures("terminal")
def test_the_bar_of_explore_counts_results(monkeypatch: pytest.MonkeyPatch):
    bars = bar_of(monkeypatch)
    fine: Any = SimpleNamespace(is_fine=True)

    with exploration_progress.show_progress(1, 3) as show:
        assert state_of(bars) == ("", 1, 3)
        show(fine, 2)
        assert state_of(bars) == ("", 2, 3)


@pytest.mark.usefixtures("terminal")
def test_the_bar_of_judge_counts_trials_and_names_the_latest(monkeypatch: pytest.MonkeyPatch):
    bars = bar_of(monkeypatch)
    plan: Any = SimpleNamespace(trial_count=7)
    clean: Any = SimpleNamespace(observation=SimpleNamespace(request_count=1))
    trial: Any = "a trial\x1b"

    with judging_progress.show_judging() as listener:
        assert state_of(bars) == ("clean runs", 0, None)
        listener.on_plan(plan, clean)
        assert state_of(bars) == ("clean runs", 0, 7)
        listener.on_trial(trial, 2, 7)
        assert state_of(bars) == ("a trial\\x1b", 2, 7)
        listener.on_alteration(trial, 3, 9)
        assert state_of(bars) == ("a trial\\x1b", 3, 9)


def test_progress_in_a_pipe_is_a_line_for_each_failure_and_each_cause(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(out, "is_terminal", lambda stream: False)
    monkeypatch.setattr(exploration_progress, "result_text", lambda result: "it fails\x1b")
    plan: Any = SimpleNamespace(trial_count=1)
    clean: Any = SimpleNamespace(observation=SimpleNamespace(request_count=2))
    trial: Any = "a trial"
    cause: Any = SimpleNamespace(severity="error", title="It retries.", id="retry")
    result: Any = SimpleNamespace(is_fine=False)
    fine: Any = SimpleNamespace(is_fine=True)

    with exploration_progress.show_progress(1, 3) as show:
        show(result, 2)
        show(fine, 3)
    with judging_progress.show_judging() as listener:
        listener.on_plan(plan, clean)
        listener.on_trial(trial, 1, 2)
        listener.on_alteration(trial, 2, 2)
        listener.on_cause(cause, SimpleNamespace(trial=trial))  # type: ignore[arg-type]

    assert capsys.readouterr().err.splitlines() == [
        "[2/3] it fails\\x1b",
        f"2 requests in the clean run: 1 trial planned. {MERGING}",
        "seen so far: error: It retries. [retry] in a trial",
    ]


@pytest.mark.usefixtures("terminal")
def test_an_exploration_without_points_has_no_bar(monkeypatch: pytest.MonkeyPatch):
    bars = bar_of(monkeypatch)

    with exploration_progress.show_progress(0, 0):
        assert bars == []
