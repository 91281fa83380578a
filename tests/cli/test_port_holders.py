"""The program that listens on a port, as the errors of `start` and `doctor` name it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hosting_emulator import port_holders
from hosting_emulator.port_holders import Program, program_at

HEADER = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"
LISTENING = "0A"
ESTABLISHED = "01"
PORT = 4620


@pytest.fixture
def proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder like /proc, in which socket 9 listens on the port, and no process has it."""
    (tmp_path / "net").mkdir()
    monkeypatch.setattr(port_holders, "_PROCESSES", tmp_path)
    set_socket(tmp_path, LISTENING)
    return tmp_path


def set_socket(proc: Path, state: str) -> None:
    row = f"   0: 0100007F:{PORT:04X} 00000000:0000 {state} 0:0 00:0 0 0 0 9"
    (proc / "net" / "tcp").write_text(f"{HEADER}\n{row}\n")


def add_process(proc: Path, *arguments: str, comm: str = "") -> None:
    folder = proc / "4242"
    (folder / "fd").mkdir(parents=True)
    (folder / "fd" / "3").symlink_to("socket:[9]")
    (folder / "cmdline").write_text("\0".join(arguments))
    (folder / "comm").write_text(f"{comm}\n")


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (("/usr/bin/nginx", "-g", "daemon off;"), "nginx"),
        (("/usr/bin/python3", "/srv/app.py", "--port"), "app.py"),
        (("/usr/bin/node", "server.js"), "server.js"),
        (("python3", "-m", "http.server"), "python3"),
        (("python3",), "python3"),
        (("",), "kernel-thread"),
    ],
)
def test_a_program_is_named_by_its_file_or_its_script(
    proc: Path, arguments: tuple[str, ...], name: str
) -> None:
    add_process(proc, *arguments, comm="kernel-thread")

    assert program_at(PORT) == Program(name, 4242)


def test_a_listener_of_another_user_has_no_name(proc: Path) -> None:
    assert program_at(PORT) is None


def test_a_connection_is_no_listener(proc: Path) -> None:
    add_process(proc, "nginx")
    set_socket(proc, ESTABLISHED)

    assert program_at(PORT) is None


def test_a_system_without_proc_names_no_program(
    proc: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(port_holders, "_PROCESSES", proc / "missing")

    assert program_at(PORT) is None
