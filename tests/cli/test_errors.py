"""Every error is one line on stderr for each mistake, nothing on stdout, and exit code 2."""

import re
import runpy
import socket
import subprocess
import sys
from pathlib import Path

import click
import pytest

from hosting_emulator_cli.main import cli, main
from tests.cli.conftest import Run
from tests.support.control_samples import INFO
from tests.support.data_directories import running_in
from tests.support.fake_control import ANOTHER_SERVER, FakeControl, FakeResponse, refusal


def assert_one_line(result, *words: str):
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    for word in words:
        assert word in result.stderr


@pytest.mark.parametrize(
    "line",
    [
        "status",
        "env",
        "token",
        "clock show",
        "clock freeze",
        "clock run",
        "clock scale 2",
        "clock skip",
        "clock advance 1m",
        "clock advance --to 2030-01-01T00:00:00Z",
        "world list",
        "world create",
        "world fork",
        "world reset",
        "world delete w",
        "world export",
        "contract openapi",
        "contract problems",
        "contract assumptions",
        "fault add timeout",
        "fault list",
        "fault remove fault-1",
        "fault clear",
        "fault kinds",
        "intervene stick_operation project=shop",
        "intervene kinds",
        "scenario list",
        "scenario show x",
        "scenario load x",
        "scenario run x",
        "scenario schema",
    ],
)
def test_a_command_without_an_emulator_explains_how_to_start_one(run, line: str):
    with socket.socket() as bound:
        # bound, but not listening, so that no other program can take the port
        bound.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound.getsockname()[1]}"

        result = run(*line.split(), "--url", url)

    assert_one_line(result, url, "hosting-emulator start --port ")


def test_a_refusal_of_the_emulator_is_printed_in_one_line(ask, control: FakeControl):
    control.on("POST /worlds/default/clock/advance", refusal(409, "the clock\ncannot move back"))

    result = ask("clock", "advance", "--to", "2020-01-01T00:00:00Z")

    assert_one_line(result, "the clock cannot move back")


@pytest.mark.parametrize("line", ["world create --scenario -", "scenario load -"])
def test_each_mistake_in_a_scenario_is_printed_in_its_own_line(
    ask, control: FakeControl, line: str
):
    detail = "-:2:1: unknown field 'clocks'\n-:4:3: unknown field 'userz'"
    for path in ("/worlds", "/worlds/default/scenario"):
        control.on(f"POST {path}", refusal(400, detail, "Scenario refused"))

    result = ask(*line.split(), stdin="name: x")

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "Error: -:2:1: unknown field 'clocks'\nError: -:4:3: unknown field 'userz'\n"
    )


def test_a_command_refuses_another_server_at_the_address(ask, control: FakeControl):
    control.on("GET /info", ANOTHER_SERVER)

    assert_one_line(ask("status"), control.control_url, "`unset HOSTING_EMULATOR_URL`")


def test_another_server_at_a_typed_address_comes_with_the_running_emulators(
    run: Run, control: FakeControl
):
    control.on("GET /info", ANOTHER_SERVER)

    result = run("status", "--url", control.url)

    assert_one_line(result, "is not a hosting emulator")
    assert re.search("; (running now: http|no emulator of this user is running)", result.stderr)


def test_start_refuses_an_assumption_with_an_impossible_value(run):
    result = run("start", "--ephemeral", "--port", "0", "--assume", "accepted_status=ok")

    assert_one_line(result, "'ok'", "one of 202, 200, 201")


def test_an_output_file_that_cannot_be_written_is_an_error(ask, control: FakeControl, tmp_path):
    control.on("GET /worlds/default/state", {"a": 1})

    result = ask("world", "export", "--output", str(tmp_path / "missing" / "x.json"))

    assert_one_line(result, "cannot write", "No such file")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_behind_stdout_is_an_error():
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        result = subprocess.run(
            [sys.executable, "-m", "hosting_emulator_cli", "--version"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert (result.returncode, result.stderr) == (2, "Error: no space left on device\n")


def test_a_command_runs_with_closed_streams(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "argv", ["hosting-emulator", "contract", "problems"])
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)

    with pytest.raises(SystemExit) as ended:
        main()

    assert not ended.value.code
    assert sys.stdin.read() == ""
    assert sys.stderr is not None
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        stream.close()


def test_an_address_in_a_variable_at_which_nothing_responds_names_the_variable(
    run: Run, monkeypatch: pytest.MonkeyPatch
):
    """A shell keeps the variable after the emulator has ended."""
    monkeypatch.setenv("HOSTING_EMULATOR_URL", "http://127.0.0.1:1")

    assert "`unset HOSTING_EMULATOR_URL`" in run("status").stderr
    assert "unset" not in run("status", "--url", "http://127.0.0.1:1").stderr


def test_an_emulator_of_the_folder_that_stops_responding_is_a_plain_error(
    run: Run, control: FakeControl
):
    folder = Path.cwd() / ".hosting-emulator"
    control.on("GET /info", {**INFO, "data_dir": str(folder)})
    control.on("GET /worlds", FakeResponse(close_before=True))

    with running_in(folder, control.url):
        result = run("world", "list")

    assert_one_line(result, control.url, "closed the connection before responding")
    assert "of this user" not in result.stderr


def test_a_refusal_by_the_emulator_of_the_folder_is_printed_without_advice(
    run: Run, control: FakeControl
):
    folder = Path.cwd() / ".hosting-emulator"
    control.on("GET /info", {**INFO, "data_dir": str(folder)})
    control.on("GET /worlds", refusal(503, "it is stopping"))

    with running_in(folder, control.url):
        result = run("world", "list")

    assert_one_line(result, "it is stopping\n")
    assert "control token" not in result.stderr


def test_a_program_that_embeds_the_command_line_gets_errors_as_exceptions(run: Run):
    with pytest.raises(click.UsageError, match="'nonsense'"):
        cli.main(["nonsense"], standalone_mode=False)


@pytest.mark.parametrize("module", ["hosting_emulator", "hosting_emulator_cli"])
def test_python_runs_the_packages_as_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], module: str
):
    monkeypatch.setattr(sys, "argv", [module, "--version"])

    with pytest.raises(SystemExit) as ended:
        runpy.run_module(module, run_name="__main__")

    assert not ended.value.code
    assert capsys.readouterr().out.startswith("hosting-emulator 0.")
