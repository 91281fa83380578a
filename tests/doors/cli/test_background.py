"""`start --detach` and `stop`: an emulator in the background, from its start to its end."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.support import warm
from tests.support.emulator_process import Process, emulator
from tests.support.http_client import HttpClient
from tests.support.warm import COMMAND

Run = Callable[..., CompletedProcess[str]]


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    """The environment of a shell that knows no emulator. Its registry is empty.

    Without a folder of its own for temporary files, `stop --all` would also end the emulators that the
    developer of these tests is running.
    """
    runtime_folder = tmp_path / "runtime"
    runtime_folder.mkdir(mode=0o700)
    outer = os.environ.items()
    return {
        **{name: value for name, value in outer if not name.startswith("HOSTING_EMULATOR_")},
        "XDG_RUNTIME_DIR": str(runtime_folder),
        "TMPDIR": str(runtime_folder),
    }


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    return folder


@pytest.fixture
def run(project: Path, variables: dict[str, str], tmp_path: Path) -> Iterator[Run]:
    """Run a command in the project. At the end, all emulators in the background are killed."""

    def run(*words: str) -> CompletedProcess[str]:
        # Some processes are real: a warm process keeps the streams and the TMPDIR of its parent.
        is_cold = "--detach" in words or "--all" in words
        return warm.run([COMMAND, *words], cwd=project, env=variables, cold=is_cold)

    yield run
    for path in (tmp_path / "runtime").glob("*/*.json"):
        with suppress(ProcessLookupError):
            os.kill(json.loads(path.read_bytes())["pid"], signal.SIGKILL)


def exit_code(process: Process) -> int:
    """Wait for the end of a process, and return its exit code."""
    process.popen.communicate(timeout=10)
    return int(process.popen.returncode)


def test_an_emulator_in_the_background_runs_until_stop(run: Run, project: Path):
    started = run("start", "--detach", "--port", "0", "--log-requests")
    assert (started.returncode, started.stderr) == (0, "")
    assert "Stop with `hosting-emulator stop`." in started.stdout
    log = project / ".hosting-emulator/emulator.log"
    assert f"  log       {log}\n" in started.stdout
    [base_url] = re.findall(r"base URL  (\S+)", started.stdout)
    assert json.loads(run("status", "--json").stdout)["base_url"] == base_url
    client = HttpClient(base_url)
    client.send("GET", "/v1/nothing")
    client.close()

    stopped = run("stop")

    assert stopped.returncode == 0
    assert stopped.stderr == (
        f"Stopped the emulator at {base_url}; its state is stored in {project}/.hosting-emulator.\n"
    )
    assert "/v1/nothing" in log.read_text()
    assert log.stat().st_mode & 0o777 == 0o600
    # The process has ended, and the directory is free.
    with emulator("--data-dir", str(project / ".hosting-emulator")) as process:
        assert process.ready["fresh"] is False


def test_the_json_of_an_emulator_in_the_background_names_its_log(run: Run, tmp_path: Path):
    words = ("--port", "0", "--ephemeral", "--json", "--log-requests", "--ready-file", "ready.json")

    ready = json.loads(run("start", "--detach", *words).stdout)

    log = tmp_path / f"runtime/hosting-emulator/{ready['pid']}.log"
    assert ready["log_file"] == str(log)
    assert log.exists()
    assert json.loads((tmp_path / "shop/ready.json").read_bytes()) == ready
    assert run("stop").returncode == 0


def test_an_emulator_that_cannot_start_in_the_background_is_an_error(run: Run, project: Path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        result = run("start", "--detach", "--port", str(port))

    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(f"Error: port {port} on 127.0.0.1 is in use")
    assert result.stderr.count("\n") == 1
    assert list(project.iterdir()) == []


def test_the_ready_file_of_an_emulator_in_the_background_exists_until_stop(
    run: Run, project: Path, tmp_path: Path
):
    words = ("--port", "0", "--ephemeral", "--quiet", "--ready-file", "ready.json")

    started = run("start", "--detach", *words)

    assert (started.returncode, started.stdout, started.stderr) == (0, "", "")
    ready = json.loads((project / "ready.json").read_bytes())
    assert ready["data_dir"] is None
    assert run("stop").stderr == (
        f"Stopped the emulator at {ready['base_url']}; its state was in memory.\n"
    )
    assert list(project.iterdir()) == []
    # An empty log is removed too.
    assert list((tmp_path / "runtime/hosting-emulator").iterdir()) == []


def test_stop_ends_an_emulator_in_a_terminal_and_waits_for_its_end(
    run: Run, project: Path, variables: dict[str, str]
):
    with emulator(cwd=project, env=variables) as process:
        result = run("stop")

        assert exit_code(process) == 0
    assert result.returncode == 0, result.stderr
    assert "is not running" in run("stop").stderr


def test_stop_all_ends_every_emulator_of_this_user(
    run: Run, project: Path, variables: dict[str, str], tmp_path: Path
):
    with (
        emulator(cwd=project, env=variables) as first,
        emulator("--ephemeral", cwd=tmp_path, env=variables) as second,
    ):
        stopped = json.loads(run("stop", "--all", "--json").stdout)

        assert (exit_code(first), exit_code(second)) == (0, 0)
    assert {row["pid"] for row in stopped} == {first.ready["pid"], second.ready["pid"]}


def test_stop_with_an_address_ends_only_this_emulator(
    run: Run, project: Path, variables: dict[str, str], tmp_path: Path
):
    with (
        emulator(cwd=project, env=variables) as first,
        emulator("--ephemeral", cwd=tmp_path, env=variables) as second,
    ):
        result = run("stop", "--url", second.base_url)

        assert exit_code(second) == 0
        assert first.popen.poll() is None
    assert result.returncode == 0


def test_the_emulator_of_exec_is_not_stopped(run: Run):
    result = run("exec", "--", COMMAND, "stop")

    assert (
        "Error: only the program that runs this emulator can stop it, such as a test run or "
        "`hosting-emulator exec`; end that program\n"
    ) in result.stderr


def test_an_emulator_starts_in_the_background_although_stderr_is_closed(
    run: Run, project: Path, variables: dict[str, str]
):
    start = [COMMAND, "start", "--port", "0", "--ephemeral", "--detach", "--quiet"]
    command = ["sh", "-c", 'exec "$@" 2>&-', "sh", *start]

    started = subprocess.run(command, cwd=project, env=variables, check=False)

    assert started.returncode == 0
    assert run("stop").returncode == 0


UTF_8 = {"PYTHONUTF8": "1"}
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


# The fixture `run` kills the emulator if `stop` fails.
@pytest.mark.usefixtures("run")
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux accepts any bytes in a path")
@pytest.mark.parametrize(
    ("name", "start_locale", "command_locale"),
    [
        (b"lat\xe9in", UTF_8, UTF_8),
        ("dír".encode(), ASCII, UTF_8),
        ("dír".encode(), UTF_8, ASCII),
    ],
)
def test_a_path_of_any_bytes_can_be_the_data_directory(
    variables: dict[str, str],
    tmp_path: Path,
    name: bytes,
    start_locale: dict[str, str],
    command_locale: dict[str, str],
):
    folder = os.fsencode(tmp_path) + b"/" + name
    os.mkdir(folder)  # noqa: PTH102
    # In the locale of many users, stdout refuses characters that UTF-8 cannot encode.
    strict = {"PYTHONIOENCODING": "utf-8:strict"}

    def output(locale: dict[str, str], *words: str) -> bytes:
        environment = variables | strict | locale
        result = subprocess.run(
            [COMMAND, *words], cwd=folder, env=environment, capture_output=True, check=False
        )
        assert result.returncode == 0, result.stderr
        return result.stdout

    output(start_locale, "start", "--port", "0", "--detach")
    try:
        status = output(command_locale, "status")
        variables_text = output(command_locale, "env")
    finally:
        output(command_locale, "stop")

    assert b"state        " + folder + b"/.hosting-emulator (" in status
    assert b"HOSTING_BASE_URL=" in variables_text
