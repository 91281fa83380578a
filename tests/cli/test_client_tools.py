"""Failures of `judge`, `explore` and `exec --shrink` themselves, which say nothing about the client."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hosting_emulator.settings import Settings
from hosting_emulator_cli import client_tools, exploration
from hosting_emulator_cli.client_tools import ReportWriters
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


def test_earlier_reports_are_removed_and_orphans_ended_before_a_tool_returns(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    events: list[object] = []
    report = tmp_path / "report.html"
    report.touch()
    monkeypatch.setattr(client_tools, "descendants", lambda: {7})
    monkeypatch.setattr(client_tools, "become_subreaper", lambda: events.append("subreaper"))
    monkeypatch.setattr(client_tools, "end_orphans", events.append)

    def run_logged(settings: object, run: object) -> int:
        events.append((settings, run, report.exists()))
        return 3

    monkeypatch.setattr(client_tools, "run_logged", run_logged)
    settings: Any = "settings"
    work: Any = "work"

    code = client_tools.run_tool(settings, work, [None, report], tool="judge", result="judgment")

    assert code == 3
    assert events == ["subreaper", ("settings", "work", False), {7}]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        ("JudgeFailed", "the requests of a run could not be judged: a reason"),
        ("TooManyRequests", "cannot explore the command: a reason"),
    ],
)
def test_a_run_whose_requests_cannot_be_observed_is_an_error(error: str, message: str):
    with pytest.raises(Failure) as caught, client_tools.observation_failures("explore"):
        raise vars(client_tools)[error]("a reason")

    assert caught.value.message == message


@pytest.mark.parametrize(
    ("hung", "is_second", "message"),
    [
        (
            True,
            False,
            "the command did not end within 2.5 s even without failures. If it is a server, run it in "
            "the background: hosting-emulator judge -- sh -c './server & ./check'. If it takes "
            "longer, give a larger --time-limit",
        ),
        (
            False,
            False,
            "the command ended with 3 even without failures; judge needs clean runs that succeed. "
            "The command's output is above",
        ),
        (
            False,
            True,
            "the command ended with 3 when it runs a second time even without failures; judge needs "
            "clean runs that succeed. The command's output is above",
        ),
    ],
)
def test_a_clean_run_that_fails_is_an_error_below_its_output(
    hung: bool, is_second: bool, message: str, capsys: pytest.CaptureFixture[str]
):
    error: Any = Exception("did not end within 2.5 s" if hung else "ended with 3")
    error.end = SimpleNamespace(hung=hung, output=("a", "\x1b[2J"))
    error.is_second = is_second

    failure = client_tools.clean_run_failure(error, "judge", limit_option="--time-limit")

    assert failure.message == message
    assert capsys.readouterr().err == "| a\n| \\x1b[2J\n"


def test_connections_are_watched_and_reported_unless_the_network_is_sealed():
    sealed: Any = SimpleNamespace(sealed=True)
    quiet: Any = SimpleNamespace(sentence=lambda: "")
    connected: Any = SimpleNamespace(sentence=lambda: "It connected.")

    with client_tools.watch_connections(sealed) as watch:
        assert watch is None
    assert client_tools.connections_remark(None) == []
    assert client_tools.connections_remark(quiet) == []
    assert client_tools.connections_remark(connected) == ["It connected."]


def written(
    capsys: pytest.CaptureFixture[str], folder: Path | None = None, *, as_json: bool = False
) -> str:
    """Return what is printed of a report, after writing its files into a folder."""
    options: Any = SimpleNamespace(junit_file=None, html_file=None, as_json=as_json)
    if folder is not None:
        options.junit_file = folder / "junit.xml"
        options.html_file = folder / "page.html"
    writers = ReportWriters(
        junit=lambda: "<junit/>",
        page=lambda: "<html/>",
        document=lambda: {"a": 1},
        text=lambda color: f"color {color}\x1b",
    )
    client_tools.write_reports(options, writers)
    return capsys.readouterr().out


def test_a_report_is_printed_and_written_in_the_requested_forms(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    assert written(capsys) == "color False\\x1b\n"
    assert list(tmp_path.iterdir()) == []
    assert written(capsys, tmp_path, as_json=True) == '{\n  "a": 1\n}\n'
    assert (tmp_path / "junit.xml").read_text() == "<junit/>"
    assert (tmp_path / "page.html").read_text() == "<html/>"

    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert written(capsys) == "color True\x1b\n"


@pytest.mark.parametrize(("processors", "jobs"), [(None, 4), (1, 4), (2, 6), (5, 15), (6, 16)])
def test_the_number_of_runs_at_a_time_depends_on_the_processors(
    processors: int | None, jobs: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(os, "cpu_count", lambda: processors)

    assert client_tools.default_jobs(3, least=4, most=16) == jobs


# --- What explore cannot plan ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("calls", "request_count", "message"),
    [
        (
            ("set_flag", "list_deployments"),
            3,
            "the command makes no request to set_flag or list_deployments, so there is nothing to "
            "explore",
        ),
        (
            (),
            1,
            "the command sends 1 request, but explore needs at least one call with a valid token or "
            "API key, such as HOSTING_TOKEN",
        ),
        (
            (),
            0,
            "the command sends no request to the emulator; check that it uses HOSTING_BASE_URL and "
            "HOSTING_TOKEN",
        ),
    ],
)
def test_a_command_without_a_request_to_explore_is_an_error(
    calls: tuple[str, ...], request_count: int, message: str
):
    options: Any = SimpleNamespace(
        command=("x",), settings=Settings(port=0, data_dir=None), user=None, exports=(), jobs=1
    )
    for name, value in (("faults", ()), ("outcomes", True), ("max_runs", 9), ("quick", False)):
        setattr(options, name, value)
    options.calls = calls
    clean: Any = SimpleNamespace(
        observation=SimpleNamespace(requests=(), request_count=request_count)
    )

    with pytest.raises(Failure) as caught:
        exploration._Exploration(options)._plan(clean)

    assert caught.value.message == message
