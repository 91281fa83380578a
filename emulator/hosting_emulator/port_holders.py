"""Describes the program that is listening on a port of this machine, as far as the system reveals it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from hosting_emulator.running_emulators import EmulatorRecord, registered_emulators

_PROCESSES = Path("/proc")
#: The files in which Linux lists IPv4 and IPv6 TCP sockets.
_SOCKET_TABLES = ("net/tcp", "net/tcp6")
#: The state of a listening socket in these files.
_LISTENING = "0A"


@dataclass(frozen=True, slots=True)
class Program:
    """A running program: its name and its process id."""

    name: str
    pid: int


def emulator_at(port: int) -> EmulatorRecord | None:
    """Return the record of this user's emulator that is listening on a port, or None if there is none.

    The port may be the emulator's TLS port, unless the system has no /proc.
    """
    records = registered_emulators()
    for record in records:
        with suppress(ValueError):
            if urlsplit(record.url).port == port:
                return record
    if not records:
        return None
    # A record does not contain the TLS port.
    program = program_at(port)
    for record in records:
        if program is not None and record.pid == program.pid:
            return record
    return None


def program_at(port: int) -> Program | None:
    """Return the program that is listening on a port.

    Returns None if there is no such program, if it belongs to another user, or if the system has no
    /proc.
    """
    sockets = {f"socket:[{inode}]" for inode in _listening_inodes(port)}
    if not sockets:
        return None
    for folder in _PROCESSES.glob("[0-9]*"):
        # A process may end at any moment, and this user cannot see other users' files.
        with suppress(OSError):
            for descriptor in (folder / "fd").iterdir():
                if str(descriptor.readlink()) in sockets:
                    return Program(_program_name(folder), int(folder.name))
    return None


def _listening_inodes(port: int) -> Iterator[str]:
    for table in _SOCKET_TABLES:
        with suppress(OSError):
            for line in (_PROCESSES / table).read_text("ascii").splitlines()[1:]:
                fields = line.split()
                own_port = int(fields[1].rpartition(":")[2], base=16)
                if own_port == port and fields[3] == _LISTENING:
                    yield fields[9]


def _program_name(folder: Path) -> str:
    """Return the name of the program that a process is running or, for an interpreter, of the script."""
    arguments = (folder / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
    name = Path(arguments[0]).name
    is_script = len(arguments) > 1 and arguments[1] and not arguments[1].startswith("-")
    if name.startswith(("python", "node", "ruby")) and is_script:
        name = Path(arguments[1]).name
    return name or (folder / "comm").read_text("utf-8", "replace").strip()
