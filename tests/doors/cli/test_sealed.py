"""A sealed command reaches its emulator and nothing else, and otherwise runs as usual."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import warm
from tests.support.exec_process import environment, run
from tests.support.namespaces import need_namespaces
from tests.support.warm import COMMAND

#: Prints as JSON what the command sees and reaches. Its argument is a port of the tests' own machine.
PROBE = """
import json, os, socket, sys, urllib.request

def error_of(host, port):
    try:
        socket.create_connection((host, port), timeout=10).close()
    except OSError as error:
        return type(error).__name__
    return None

path = f"/v1/projects/{os.environ['HOSTING_PROJECT_ID']}/edge-dns"
request = urllib.request.Request(os.environ["HOSTING_BASE_URL"] + path)
request.add_header("Authorization", f"Bearer {os.environ['HOSTING_TOKEN']}")
with urllib.request.urlopen(request) as response:
    status = response.status
open("made.txt", "w").close()
made = os.stat("made.txt")
print(json.dumps({
    "status": status,
    "interfaces": [name for _, name in socket.if_nameindex()],
    "local error": error_of("127.0.0.1", int(sys.argv[1])),
    "ids": [os.getuid(), os.geteuid(), os.getgid(), os.getegid()],
    "owner": [made.st_uid, made.st_gid],
    "namespaces": [os.readlink(f"/proc/self/ns/{kind}") for kind in ("user", "net")],
}))
"""


@pytest.fixture(autouse=True)
def _namespaces() -> None:
    need_namespaces()


@pytest.fixture
def local_port() -> Iterator[int]:
    """The port of a server on the loopback of the tests."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def probe(folder: Path, port: int, *arguments: str) -> dict[str, Any]:
    """Run the probe under `exec` in a folder, and return what it prints."""
    command = (sys.executable, "-c", PROBE, str(port))
    result = run(*arguments, "--", *command, cwd=folder)
    assert result.returncode == 0, result.stderr
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def test_a_sealed_command_reaches_its_emulator_and_nothing_else(
    tmp_path: Path, local_port: int
) -> None:
    usual = probe(tmp_path, local_port)
    sealed = probe(tmp_path, local_port, "--sealed")

    assert (usual["status"], usual["local error"]) == (200, None)
    assert (sealed["status"], sealed["local error"]) == (200, "ConnectionRefusedError")
    assert sealed["interfaces"] == ["lo"]


def test_a_sealed_command_runs_as_the_same_user(tmp_path: Path, local_port: int) -> None:
    sealed = probe(tmp_path, local_port, "--sealed")

    assert sealed["ids"] == [os.getuid(), os.geteuid(), os.getgid(), os.getegid()]
    made = (tmp_path / "made.txt").stat()
    assert sealed["owner"] == [made.st_uid, made.st_gid]
    own = [str(Path(f"/proc/self/ns/{kind}").readlink()) for kind in ("user", "net")]
    assert not set(own) & set(sealed["namespaces"])


def test_a_sealed_command_can_seal_its_own_command(tmp_path: Path, local_port: int) -> None:
    inner = (COMMAND, "exec", "--sealed", "--", sys.executable, "-c", PROBE, str(local_port))
    result = run("--sealed", "--", *inner, cwd=tmp_path)

    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["ids"][0] == os.getuid()


def test_judge_seals_its_runs(tmp_path: Path, local_port: int) -> None:
    arguments = ("judge", "--sealed", "--trial", "clean", "--", sys.executable, "-c", PROBE)
    result = warm.run(
        [COMMAND, *arguments, str(local_port)], env=environment(), cwd=tmp_path, timeout=60
    )

    assert result.returncode == 0, result.stderr
    sealed = json.loads(result.stdout)
    assert (sealed["status"], sealed["interfaces"]) == (200, ["lo"])
    assert sealed["local error"] == "ConnectionRefusedError"


def test_where_no_more_namespaces_are_allowed_the_command_is_not_run(tmp_path: Path) -> None:
    script = 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"'
    outer = ("unshare", "--user", "--map-root-user", "sh", "-c", script, "sh")
    result = subprocess.run(
        [*outer, COMMAND, "exec", "--sealed", "--", "touch", str(tmp_path / "run")],
        env=environment(),
        capture_output=True,
        text=True,
    )

    assert (result.returncode, result.stdout) == (2, "")
    assert "user.max_user_namespaces" in result.stderr
    assert not (tmp_path / "run").exists()
