"""What `exec` reports on a run, which exit code it has, and how it passes signals on."""

from __future__ import annotations

import asyncio
import signal
import time
from math import inf
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hosting_emulator.settings import Settings
from hosting_emulator_cli import execution
from hosting_emulator_cli.execution import Execution
from hosting_emulator_cli.verdict import NO_REQUEST
from hosting_emulator_scenarios import FOLDER


def command_run(**fields: Any) -> Any:
    """Return a run of a command. The keyword arguments are the options of `exec`."""
    values: dict[str, Any] = {
        "command": ("client",),
        "settings": Settings(port=0, data_dir=None, library=FOLDER),
        "user": None,
        "exports": (),
        "report": "failed",
        "failed_world": None,
        "patience_s": 10.0,
        "quiet": False,
        "conduct": "off",
        "skip_rules": (),
        "sealed": False,
    }
    return execution._CommandRun(Execution(**{**values, **fields}))


def verdict_of(**fields: Any) -> Any:
    values: dict[str, Any] = {"has_requests": True, "has_findings": False, "is_bad": False}
    values |= {"errors": [], "in_progress_text": lambda: "", "conduct_text": conduct_text}
    return SimpleNamespace(**{**values, **fields})


def conduct_text(*, color: bool) -> str:
    return f"conduct, color {color}"


BAD = {"has_findings": True, "is_bad": True}


@pytest.mark.parametrize(
    ("options", "verdict", "lines", "exit_code"),
    [
        ({}, {}, [], 0),
        ({}, BAD, [], 0),
        ({}, {"has_requests": False}, [NO_REQUEST], 0),
        ({"quiet": True}, {"has_requests": False}, [], 0),
        (
            {"quiet": True, "conduct": "error"},
            {"has_requests": False},
            [NO_REQUEST],
            2,
        ),
        ({"conduct": "report"}, {}, ["conduct, color True"], 0),
        ({"conduct": "report"}, BAD, ["conduct, color True"], 0),
        ({"conduct": "error"}, {}, [], 0),
        ({"conduct": "error"}, {"has_findings": True}, ["conduct, color True"], 0),
        ({"conduct": "error"}, BAD, ["conduct, color True"], 1),
        (
            {"conduct": "error"},
            {**BAD, "errors": ["a rule failed"], "in_progress_text": lambda: "Two are open."},
            ["conduct, color True", "Error: a rule failed", "Two are open."],
            1,
        ),
        (
            {"conduct": "report"},
            {"errors": ["a rule failed"]},
            ["conduct, color True", "Error: a rule failed"],
            2,
        ),
    ],
)
def test_the_conduct_of_a_successful_command_decides_the_exit_code_only_if_asked(
    options: dict[str, Any],
    verdict: dict[str, Any],
    lines: list[str],
    exit_code: int,
    capsys: pytest.CaptureFixture[str],
):
    run = command_run(**options)

    run._judge(verdict_of(**verdict), color=True)

    assert capsys.readouterr().err.splitlines() == lines
    assert run._exit_code(SimpleNamespace(code=0)) == exit_code
    assert run._exit_code(SimpleNamespace(code=7)) == 7


@pytest.mark.parametrize(
    ("options", "code", "lines"),
    [
        ({"report": "never"}, 7, []),
        ({"report": "failed"}, 0, []),
        ({"report": "failed"}, 7, ["a world", "It connected."]),
        ({"report": "always"}, 0, ["a world", "It connected."]),
        ({"report": "never", "conduct": "error"}, 0, ["It connected."]),
    ],
)
def test_a_report_follows_as_the_option_report_says(
    options: dict[str, Any],
    code: int,
    lines: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setattr(execution, "RunVerdict", lambda report: verdict_of())
    monkeypatch.setattr(execution, "report_texts", lambda *_, color: ["a world"])
    kept: list[object] = []
    run = command_run(**options)
    run._connections_text = "It connected."
    run._keep_worlds = lambda *arguments: kept.append(arguments)
    observation: Any = SimpleNamespace(report=lambda final, wait_s: (final, wait_s))

    run._report_observation(observation, SimpleNamespace(code=code))

    assert capsys.readouterr().err.splitlines() == lines
    assert bool(kept) == (code != 0)


def test_the_worlds_of_a_failed_run_are_saved_only_if_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    saved: list[Path] = []
    others: list[Path] = []

    def keep_worlds(verdict: object, observation: object, path: Path) -> tuple[Path, list[Path]]:
        saved.append(path)
        return path, others

    def lines(**options: Any) -> list[str]:
        command_run(**options)._keep_worlds(None, None)
        return capsys.readouterr().err.splitlines()

    monkeypatch.setattr(execution, "keep_worlds", keep_worlds)
    path = Path("a world.json")
    first_line = (
        "The world was saved. To open it, run: hosting-emulator start --ephemeral --import "
        "'a world.json'"
    )

    assert lines() == []
    assert lines(failed_world=path, quiet=True) == []
    assert lines(failed_world=path) == [first_line]
    others += [Path("b.json"), Path("c d.json")]
    assert lines(failed_world=path) == [
        first_line,
        "Other worlds that received requests were also saved: b.json, 'c d.json'",
    ]
    assert saved == [path] * 3


@pytest.mark.parametrize(
    ("conduct", "report", "sealed", "is_watched"),
    [
        ("off", "never", False, False),
        ("off", "failed", False, True),
        ("report", "never", False, True),
        ("error", "always", True, False),
    ],
)
def test_connections_are_watched_only_if_they_can_be_reported(
    conduct: str, report: str, sealed: bool, is_watched: bool
):
    run = command_run(conduct=conduct, report=report, sealed=sealed)

    assert run._watches_connections() == is_watched


@pytest.mark.parametrize(
    ("conduct", "report", "is_undecided"),
    [("off", "failed", False), ("off", "always", True), ("report", "never", True)],
)
def test_a_report_that_fails_matters_only_if_it_was_asked_for(
    conduct: str, report: str, is_undecided: bool
):
    run = command_run(conduct=conduct, report=report)

    run._give_no_verdict("it is gone")

    assert run._undecided == is_undecided


# --- Signals --------------------------------------------------------------------------------------


def signalled(
    monkeypatch: pytest.MonkeyPatch, *presses: tuple[float, int], patience_s: float = 10.0
) -> tuple[Any, list[object]]:
    """Send signals at some times, and return the run and what its command received."""
    received: list[object] = []
    child = SimpleNamespace(
        signal=received.append, end=lambda grace_s: received.append(f"end {grace_s}")
    )
    run = command_run(patience_s=patience_s)

    def end_later(child: object, number: int) -> None:
        received.append(f"end later after {number:d}")
        run._timers.append(number)

    async def press() -> None:
        for at, number in presses:
            monkeypatch.setattr(time, "monotonic", lambda at=at: at)
            run._on_signal(number)
            run._child = child
        monkeypatch.undo()

    run._end_later = end_later
    asyncio.run(press())
    return run, received


def test_a_signal_is_passed_on_and_the_command_is_ended_later(monkeypatch: pytest.MonkeyPatch):
    term = signal.SIGTERM

    run, received = signalled(monkeypatch, (1.0, signal.SIGHUP), (2.0, term), (3.0, term))

    # The first signal arrived before the command began.
    assert received == [term, f"end later after {term:d}", term]
    assert run._signal == signal.SIGHUP
    assert not run._was_killed


@pytest.mark.parametrize(
    ("second_s", "number", "patience_s", "is_killed"),
    [
        (0.0, signal.SIGINT, 10.0, False),
        (60.0, signal.SIGINT, 10.0, True),
        (60.0, signal.SIGTERM, 10.0, False),
        (60.0, signal.SIGINT, inf, False),
    ],
)
def test_a_second_ctrl_c_kills_the_command(
    second_s: float,
    number: int,
    patience_s: float,
    is_killed: bool,
    monkeypatch: pytest.MonkeyPatch,
):
    presses = ((1.0, signal.SIGINT), (1.0 + second_s, number))

    run, received = signalled(monkeypatch, *presses, patience_s=patience_s)

    assert run._was_killed == is_killed
    assert received[0] == ("end 0" if is_killed else number)
    assert len(received) == (2 if patience_s != inf and not is_killed else 1)
