"""Only the owner can read stored files, whatever the umask is and whatever existed before."""

from __future__ import annotations

import os
import signal
import stat
import sys
from pathlib import Path
from subprocess import PIPE

import pytest

from tests.support.emulator_process import emulator, failed_start
from tests.support.exec_process import execution
from tests.support.private_keys import files_with_a_private_key


def modes(folder: Path) -> dict[str, str]:
    """Return the mode of a folder and of everything below it."""
    paths = [folder, *folder.rglob("*")]
    return {str(path.relative_to(folder)): oct(stat.S_IMODE(path.stat().st_mode)) for path in paths}


def private(folder: Path) -> None:
    for name, mode in modes(folder).items():
        assert mode == ("0o700" if (folder / name).is_dir() else "0o600"), name


# With the umask 0o277, a file whose mode the umask decides gets 0o400; any explicit mode shows as it is.
@pytest.mark.parametrize(
    "umask",
    [0o277, *(pytest.param(n, marks=pytest.mark.torture) for n in (0o000, 0o022, 0o077, 0o777))],
)
def test_a_new_data_directory_is_private(tmp_path: Path, umask: int):
    data = tmp_path / "data"
    ready = tmp_path / "ready.json"
    arguments = ("--data-dir", str(data), "--tls-port", "0", "--ready-file", str(ready))
    # The umask must not affect Python's own caches, so they are not written (-B).
    shell = (
        "bash",
        "-c",
        f'umask {umask:o}; exec {sys.executable} -B -m hosting_emulator_cli "$@"',
        "emu",
    )

    with emulator(*arguments, command=shell) as process:
        client = process.client()
        client.control("POST", "worlds", {"name": "ci"})
        private(data)
        assert oct(stat.S_IMODE(ready.stat().st_mode) & 0o177) == "0o0"
        process.stop()

    private(data)


def test_an_existing_data_directory_is_made_private(tmp_path: Path):
    with emulator("--data-dir", str(tmp_path), "--tls-port", "0") as process:
        process.stop()
    before = (tmp_path / "tls" / "ca.pem").read_bytes()
    for path in tmp_path.rglob("*"):
        path.chmod(0o777 if path.is_dir() else 0o666)

    with emulator("--data-dir", str(tmp_path), "--tls-port", "0") as process:
        modes_after = modes(tmp_path)
        process.stop()

    open_to_others = {name: mode for name, mode in modes_after.items() if int(mode, 8) & 0o077}
    assert set(open_to_others) <= {"."}  # The folder itself may be shared, but not its contents.
    assert (tmp_path / "tls" / "ca.pem").read_bytes() == before


# --- Links that lead out ------------------------------------------------------------------------

LINKS = [
    "worlds",
    "lock",
    ".gitignore",
    "address.json",
    "worlds/default",
    "worlds/default/snapshot.json",
    "worlds/default/journal.ndjson",
    "tls",
    "tls/ca.key",
]


@pytest.mark.parametrize(
    ("name", "target"),
    [
        # Each name once, each kind of target equally often. The other pairs are torture.
        pytest.param(name, target, marks=[] if (n + m) % 3 == 0 else pytest.mark.torture)
        for n, name in enumerate(LINKS)
        for m, target in enumerate(["file", "folder", "nothing"])
    ],
)
def test_a_link_in_the_data_directory_is_refused(tmp_path: Path, name: str, target: str):
    """A prepared folder of an attacker must not make the emulator write, truncate or read other files."""
    data = tmp_path / "data"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    victim = elsewhere / "precious"
    victim.write_text("one line\nand a last one without its newline")
    victim.chmod(0o644)
    if target == "folder":
        (elsewhere / "snapshot.json").write_text("precious, too")
    link = data / name
    link.parent.mkdir(parents=True)
    link.symlink_to({"file": victim, "folder": elsewhere}.get(target, elsewhere / "new"))
    before = {path.name: path.read_bytes() for path in elsewhere.iterdir()}

    failed = failed_start("--port", "0", "--tls-port", "0", "--data-dir", str(data))

    assert failed.returncode != 0
    assert "symbolic link" in failed.stderr
    assert "Traceback" not in failed.stderr
    assert {path.name: path.read_bytes() for path in elsewhere.iterdir()} == before
    assert stat.S_IMODE(victim.stat().st_mode) == 0o644


@pytest.mark.parametrize(
    "name", ["worlds.json", "lock", "address.json", "worlds/default/journal.ndjson"]
)
def test_a_pipe_in_the_data_directory_is_refused(tmp_path: Path, name: str):
    """Reading from the pipe would wait until somebody writes."""
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(tmp_path / name)

    failed = failed_start("--port", "0", "--data-dir", str(tmp_path))

    assert failed.returncode != 0
    assert "is neither a file nor a folder" in failed.stderr
    assert "Traceback" not in failed.stderr


def test_a_data_directory_may_itself_be_reached_by_a_link(tmp_path: Path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")

    with emulator("--data-dir", str(tmp_path / "link")) as process:
        assert process.stop()[0] == 0


# --- Private keys ------------------------------------------------------------------------------


def test_a_killed_ephemeral_emulator_leaves_no_private_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    with execution(
        "--tls-port", "0", "--", "sh", "-c", "echo ready; sleep 1000", stdout=PIPE, cold=True
    ) as running:
        assert running.popen.stdout is not None
        assert running.popen.stdout.readline() == "ready\n"
        running.send(signal.SIGKILL)
        running.wait_for_end()

    assert [path.name for path in tmp_path.rglob("ca.*")] == ["ca.pem"]
    assert files_with_a_private_key(tmp_path) == []
