"""`stop` waits until the emulator has ended, and says what was stopped or why nothing was."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hosting_emulator_cli.commands import stop as stop_command
from hosting_emulator_cli.main import Failure
from tests.cli.conftest import Run
from tests.support.control_samples import HEALTH, INFO
from tests.support.data_directories import registered_emulator, running_in, write_address
from tests.support.fake_control import ANOTHER_SERVER, FakeControl, FakeResponse, refusal
from tests.support.ports import free_ports

NO_CONTENT = FakeResponse(status=204)


@pytest.fixture(autouse=True)
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty registry. It exists, because otherwise `stop --all` would look in another folder."""
    (tmp_path / "hosting-emulator").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


def test_an_emulator_elsewhere_has_ended_when_it_responds_no_more(ask: Run, control: FakeControl):
    control.on("GET /info", INFO)
    control.on("POST /stop", NO_CONTENT)
    control.on("GET /health", HEALTH, FakeResponse(close_before=True))

    result = ask("stop")

    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == (
        f"Stopped the emulator at {control.url}; its state is stored in /data.\n"
    )
    assert [request.path for request in control.requests[:3]] == ["/info", "/stop", "/health"]


def test_an_emulator_that_does_not_end_is_an_error(ask: Run, control: FakeControl):
    control.on("GET /info", INFO)
    control.on("POST /stop", NO_CONTENT)
    control.on("GET /health", HEALTH)

    result = ask("stop", "--timeout", "60ms")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "(process 4242) has not exited within 0.06 s" in result.stderr


def test_an_emulator_of_a_test_run_is_not_stopped(ask: Run, control: FakeControl):
    control.on("GET /info", INFO)
    control.on("POST /stop", refusal(409, "Cannot stop"))

    result = ask("stop")

    assert (result.exit_code, result.stderr) == (2, "Error: Cannot stop\n")


def test_json_describes_each_stopped_emulator(ask: Run, control: FakeControl):
    control.on("GET /info", {**INFO, "data_dir": None})
    control.on("POST /stop", NO_CONTENT)
    control.on("GET /health", FakeResponse(close_before=True))

    result = ask("stop", "--json")

    assert json.loads(result.stdout) == [{"url": control.url, "pid": 4242, "data_dir": None}]


def test_stop_without_any_emulator_is_an_error(run: Run, monkeypatch: pytest.MonkeyPatch):
    port = next(free_ports())
    monkeypatch.setenv("HOSTING_EMULATOR_PORT", str(port))

    result = run("stop")

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        f"Error: nothing was stopped: no emulator responds at http://127.0.0.1:{port} "
        "(connection refused); no emulator of this user is running\n"
    )


def test_stop_refuses_another_server_at_the_default_address(
    run: Run, control: FakeControl, monkeypatch: pytest.MonkeyPatch
):
    control.on("GET /health", ANOTHER_SERVER)
    monkeypatch.setenv("HOSTING_EMULATOR_PORT", control.url.rpartition(":")[2])

    result = run("stop")

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Error: nothing was stopped: ")
    assert control.control_url in result.stderr
    assert [request.path for request in control.requests] == ["/health"]


def test_stop_sends_no_control_token_to_an_address_that_only_a_folder_names(
    run: Run, control: FakeControl, monkeypatch: pytest.MonkeyPatch
):
    folder = Path.cwd() / ".hosting-emulator"
    control.on("GET /info", {**INFO, "data_dir": str(folder)})
    control.on("POST /stop", NO_CONTENT)
    control.on("GET /health", HEALTH, FakeResponse(close_before=True))
    monkeypatch.setenv("HOSTING_EMULATOR_CONTROL_TOKEN", "secret")

    with running_in(folder, control.url):
        result = run("stop")

    assert "POST /stop" in [f"{request.method} {request.path}" for request in control.requests], (
        result.stderr
    )
    assert not [request for request in control.requests if "X-Control-Token" in request.headers]


def test_stop_in_a_folder_whose_emulator_does_not_run_is_an_error(run: Run):
    write_address(Path(".hosting-emulator"), "http://127.0.0.1:1")

    result = run("stop")

    assert result.exit_code == 2
    assert result.stderr == (
        f"Error: nothing was stopped: the emulator of {Path.cwd()}/.hosting-emulator is not "
        "running; no emulator of this user is running\n"
    )


def test_stop_does_not_guess_which_of_several_emulators_is_meant(run: Run):
    folder = Path.cwd()

    with (
        registered_emulator(folder / "a", "http://127.0.0.1:4711"),
        registered_emulator(folder / "b", "http://127.0.0.1:4712", instance="another"),
    ):
        result = run("stop")

    assert result.exit_code == 2
    assert result.stderr.startswith(
        f"Error: nothing was stopped: several emulators were started in {folder}; running now: "
    )
    assert result.stderr.endswith("; select one with --url, or all with --all\n")


def test_stop_all_without_an_emulator_is_no_error(run: Run):
    result = run("stop", "--all")

    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "You have no running emulators.\n"


def test_stop_all_reports_each_emulator_that_it_could_not_stop(
    run: Run, control: FakeControl, tmp_path: Path
):
    control.on("GET /info", {**INFO, "instance": "another"})

    with registered_emulator(tmp_path / "a", control.url):
        result = run("stop", "--all")

    assert result.exit_code == 2
    assert result.stderr == (
        "Error: stopped 0, but not all emulators: process 4242: another emulator is running at "
        f"{control.url}\n"
    )


def test_stop_all_names_each_emulator_that_was_stopped_and_each_that_was_not(
    run: Run, monkeypatch: pytest.MonkeyPatch
):
    """The first emulator has a data directory, and the second has none."""
    records = [
        SimpleNamespace(url=f"http://x:{port}", instance=str(port), pid=port) for port in (1, 2, 3)
    ]
    failing_ports: set[int] = set()
    stopped: list[tuple[object, ...]] = []

    def stop_emulator(
        url: str, control_token: str | None, timeout_s: float, instance: str
    ) -> dict[str, Any]:
        if int(instance) in failing_ports:
            raise Failure(f"{url} does not end")
        stopped.append((url, control_token, timeout_s, instance))
        data_dir = "/data" if instance == "1" else None
        return {"url": url, "pid": int(instance), "data_dir": data_dir}

    monkeypatch.setattr("hosting_emulator.running_emulators.registered_emulators", lambda: records)
    monkeypatch.setattr(stop_command, "_stop_emulator", stop_emulator)

    result = run("stop", "--all", "--timeout", "3s", "--control-token", "secret")

    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.splitlines() == [
        "Stopped the emulator at http://x:1; its state is stored in /data.",
        "Stopped the emulator at http://x:2; its state was in memory.",
        "Stopped the emulator at http://x:3; its state was in memory.",
    ]
    assert stopped == [(f"http://x:{port}", "secret", 3.0, str(port)) for port in (1, 2, 3)]

    failing_ports |= {1, 3}
    result = run("stop", "--all")

    assert result.exit_code == 2
    assert result.stderr == (
        "Error: stopped 1, but not all emulators: process 1: http://x:1 does not end; "
        "process 3: http://x:3 does not end\n"
    )
