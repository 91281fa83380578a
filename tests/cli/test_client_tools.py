"""Failures of `judge`, `explore` and `exec --shrink` themselves, which say nothing about the client."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator_cli import client_tools
from hosting_emulator_cli.main import Failure


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
