"""Which connections to a server a process holds: what is known to be ours, whatever else is open.

Each look costs what the process itself has open: the system's tables of connections list those of
everybody, and tens of thousands that are long over.
"""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Collection
from pathlib import Path

PROC = Path("/proc/self/fd")


def held_connections(port: int, unless: Collection[int] = ()) -> int:
    """Count the sockets of this process that are one end of a connection to `port`.

    A connection that is over but not yet closed counts, since its descriptor is still held; one
    that the process has not accepted yet does not. Sockets whose number is in `unless` do not count.
    """
    descriptors = [int(entry.name) for entry in PROC.iterdir()]
    numbers = {_number(each) for each in descriptors if _is_end(each, port)}
    return len(numbers.difference(unless))


def open_sockets() -> frozenset[int]:
    """Return the system's number (inode) of each descriptor of this process."""
    return frozenset(_number(int(entry.name)) for entry in PROC.iterdir())


def _number(descriptor: int) -> int:
    try:
        return os.fstat(descriptor).st_ino
    except OSError:  # closed since it was listed
        return 0


def _is_end(descriptor: int, port: int) -> bool:
    try:
        if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            return False
        seen = socket.socket(fileno=os.dup(descriptor))
    except OSError:  # closed since it was listed
        return False
    with seen:
        if seen.family not in (socket.AF_INET, socket.AF_INET6):
            return False
        if seen.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            return False
        try:
            return port in (seen.getsockname()[1], seen.getpeername()[1])
        except OSError:  # over: the server's end still knows its own port
            return bool(seen.getsockname()[1] == port)


def sockets_of(pid: int) -> set[str]:
    """Return the sockets of another process, by the names that the system gives them."""
    sockets = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = str(descriptor.readlink())
        except OSError:  # closed since it was listed
            continue
        if target.startswith("socket:"):
            sockets.add(target)
    return sockets
