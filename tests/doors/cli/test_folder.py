"""Commands find the emulator of their folder: on any port, from a subfolder, and after a restart."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support import warm
from tests.support.emulator_process import Process, emulator
from tests.support.warm import COMMAND


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    """The environment of a shell that knows no emulator. Its registry is empty."""
    outer = os.environ.items()
    return {
        **{name: value for name, value in outer if not name.startswith("HOSTING_EMULATOR_")},
        "XDG_RUNTIME_DIR": str(tmp_path),
    }


@pytest.fixture
def shell(variables: dict[str, str]) -> Shell:
    return Shell(variables)


class Shell:
    """Runs commands in folders."""

    def __init__(self, variables: dict[str, str]) -> None:
        self._variables = variables

    @contextmanager
    def start(self, folder: Path, *arguments: str) -> Iterator[Process]:
        folder.mkdir(parents=True, exist_ok=True)
        with emulator(*arguments, cwd=folder, env=self._variables) as process:
            yield process

    def run(self, folder: Path, *words: str) -> Any:
        folder.mkdir(parents=True, exist_ok=True)
        return warm.run([COMMAND, *words], cwd=folder, env=self._variables)

    def status(self, folder: Path) -> dict[str, Any]:
        result = self.run(folder, "status", "--json")
        assert result.returncode == 0, result.stderr
        status: dict[str, Any] = json.loads(result.stdout)
        return status

    def error(self, folder: Path) -> str:
        result = self.run(folder, "status")
        assert (result.returncode, result.stdout) == (2, "")
        assert result.stderr.count("\n") == 1
        return str(result.stderr)


def test_each_folder_has_its_own_emulator(shell: Shell, tmp_path: Path):
    shop = tmp_path / "shop"
    blog = tmp_path / "blog"

    docs = tmp_path / "docs"
    with shell.start(docs) as stopped:
        stopped.stop()

    with shell.start(shop) as first, shell.start(blog) as second:
        assert shell.status(shop / "src" / "deep")["base_url"] == first.base_url
        assert shell.status(blog)["base_url"] == second.base_url
        error = shell.error(docs)

    for process, folder in ((first, shop), (second, blog)):
        assert f"{process.base_url} ({folder}/.hosting-emulator)" in error


def test_an_emulator_that_ended_is_found_again_after_a_start(shell: Shell, tmp_path: Path):
    with shell.start(tmp_path / "shop") as process:
        process.kill()
    registry = tmp_path / "hosting-emulator"
    stale_records = list(registry.iterdir())
    after_kill = shell.error(tmp_path / "shop")
    with shell.start(tmp_path / "shop") as process:
        running = shell.status(tmp_path / "shop")
        assert len(list(registry.iterdir())) == len(stale_records) == 1
        process.stop()
    after_stop = shell.error(tmp_path / "shop")

    assert running["base_url"] == process.base_url
    for error in (after_kill, after_stop):
        assert "is not running; start it with `hosting-emulator start`" in error
        assert error.endswith("no emulator of this user is running\n")
    assert not (tmp_path / "shop/.hosting-emulator/address.json").exists()


def test_a_stopped_emulator_is_no_reason_to_use_another(shell: Shell, tmp_path: Path):
    """Not even one that took its port."""
    with shell.start(tmp_path / "shop") as process:
        process.kill()
    port = process.base_url.rpartition(":")[2]

    with shell.start(tmp_path / "blog", "--port", port) as other:
        error = shell.error(tmp_path / "shop")

    assert f"the emulator of {tmp_path}/shop/.hosting-emulator is not running" in error
    assert f"running now: {other.base_url} ({tmp_path}/blog/.hosting-emulator)" in error


def test_a_copy_of_a_folder_is_not_the_folder(shell: Shell, tmp_path: Path):
    with shell.start(tmp_path / "shop"):
        copy = tmp_path / "copy" / ".hosting-emulator"
        copy.mkdir(parents=True)
        for name in ("address.json", "lock"):
            content = (tmp_path / "shop/.hosting-emulator" / name).read_bytes()
            (copy / name).write_bytes(content)

        assert f"the emulator of {copy} is not running" in shell.error(tmp_path / "copy")


def test_a_settings_file_names_the_folder_of_the_state(shell: Shell, tmp_path: Path):
    shop = tmp_path / "shop"
    shop.mkdir()
    (shop / "hosting-emulator.yaml").write_text("data-dir: kept/state\nseed: '42'\n")

    with shell.start(shop) as process:
        assert shell.status(shop / "src")["data_dir"] == f"{shop}/kept/state"
        assert shell.status(shop / "src")["base_url"] == process.base_url


def test_a_variable_with_an_address_comes_before_the_folder(
    shell: Shell, variables: dict[str, str], tmp_path: Path
):
    with shell.start(tmp_path / "shop"), shell.start(tmp_path / "blog") as second:
        variables["HOSTING_EMULATOR_URL"] = second.base_url

        assert shell.status(tmp_path / "shop")["base_url"] == second.base_url


def test_a_deleted_address_is_written_again(shell: Shell, tmp_path: Path):
    with shell.start(tmp_path / "shop") as process:
        (tmp_path / "shop/.hosting-emulator/address.json").unlink()
        result = shell.run(tmp_path / "shop", "wait", "--timeout", "10s")

        assert result.returncode == 0, result.stderr
        assert shell.status(tmp_path / "shop")["pid"] == process.ready["pid"]


def test_an_emulator_that_requires_a_control_token_is_found_in_its_folder(
    shell: Shell, variables: dict[str, str], tmp_path: Path
):
    """Behind a proxy, requests from this machine need the token too."""
    variables["HOSTING_EMULATOR_CONTROL_TOKEN"] = "only-here"
    with shell.start(tmp_path / "shop", "--public-url", "https://hosting.example.com"):
        assert shell.status(tmp_path / "shop")["base_url"] == "https://hosting.example.com"
        variables["HOSTING_EMULATOR_CONTROL_TOKEN"] = "wrong"
        assert "requires another control token" in shell.error(tmp_path / "shop")


def test_doctor_checks_the_emulator_of_the_folder(shell: Shell, tmp_path: Path):
    with shell.start(tmp_path / "shop") as process:
        running = shell.run(tmp_path / "shop" / "src", "doctor").stdout
        process.stop()
    stopped = shell.run(tmp_path / "shop" / "src", "doctor").stdout

    assert f"is running at {process.base_url}" in running
    assert f"The running emulator is using {tmp_path}/shop/.hosting-emulator" in running
    assert f"The emulator of {tmp_path}/shop/.hosting-emulator is not running." in stopped
    assert f"{tmp_path}/shop/.hosting-emulator is intact and not in use." in stopped


def test_a_second_start_in_a_folder_names_the_running_emulator(shell: Shell, tmp_path: Path):
    with shell.start(tmp_path / "shop") as process:
        second = shell.run(tmp_path / "shop", "start", "--port", "0")

    assert second.returncode == 2
    assert (
        f"hosting-emulator at {process.base_url} (process {process.ready['pid']})" in second.stderr
    )
    assert "`hosting-emulator stop`" in second.stderr


def test_a_taken_port_names_the_emulator_that_uses_it(shell: Shell, tmp_path: Path):
    with shell.start(tmp_path / "shop") as process:
        port = process.base_url.rpartition(":")[2]
        result = shell.run(tmp_path / "blog", "start", "--port", port)

    assert result.returncode == 2
    assert f"the emulator that was started in {tmp_path / 'shop'}; " in result.stderr
    assert f"({process.base_url}/_emulator)" in result.stderr
    assert f"`hosting-emulator stop --url {process.base_url}`" in result.stderr
    assert not (tmp_path / "blog/.hosting-emulator").exists()


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="only Linux shows the program")
@pytest.mark.parametrize("option", ["--port", "--tls-port"])
def test_a_taken_port_names_the_program_that_uses_it(shell: Shell, tmp_path: Path, option: str):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        other_ports = {"--port": "0", "--tls-port": "0"}
        options = {**other_ports, option: str(port)}
        words = [word for name, value in options.items() for word in (name, value)]
        result = shell.run(tmp_path, "start", *words)

    assert result.returncode == 2
    assert f"(process {os.getpid()}); stop this process, or use {option} 0" in result.stderr
