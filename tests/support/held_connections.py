"""Counts the connections to a server that a process holds, by looking at the descriptors of the process.

The system's tables of connections are not used, because they list the connections of all processes,
and tens of thousands of closed connections.
"""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Collection
from pathlib import Path

#: The folder of this process's open descriptors, which exists only on Linux.
OPEN_DESCRIPTORS = Path("/proc/self/fd")


def held_connections(port: int, ignored_inodes: Collection[int] = ()) -> int:
    """Return how many sockets of this process are one end of a connection to `port`.

    A connection that has ended counts until its descriptor is closed. A connection that the process has
    not accepted yet does not count. Sockets whose inode is in `ignored_inodes` do not count either.
    """
    descriptors = [int(entry.name) for entry in OPEN_DESCRIPTORS.iterdir()]
    inodes = {_inode(descriptor) for descriptor in descriptors if _is_connection(descriptor, port)}
    return len(inodes.difference(ignored_inodes))


def open_sockets() -> frozenset[int]:
    """Return the inodes of all open descriptors of this process, including its sockets."""
    return frozenset(_inode(int(entry.name)) for entry in OPEN_DESCRIPTORS.iterdir())


def _inode(descriptor: int) -> int:
    try:
        return os.fstat(descriptor).st_ino
    except OSError:  # the descriptor was closed after it was listed
        return 0


def _is_connection(descriptor: int, port: int) -> bool:
    """Return whether a descriptor is one end of a connection to `port`."""
    try:
        if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            return False
        duplicate = socket.socket(fileno=os.dup(descriptor))
    except OSError:  # the descriptor was closed after it was listed
        return False
    with duplicate:
        if duplicate.family not in (socket.AF_INET, socket.AF_INET6):
            return False
        if duplicate.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            return False
        try:
            return port in (duplicate.getsockname()[1], duplicate.getpeername()[1])
        except OSError:  # the connection has ended, but the server's end still has its own port
            return bool(duplicate.getsockname()[1] == port)


def sockets_of(pid: int) -> set[str]:
    """Return the sockets of another process by their names in /proc, such as `socket:[4711]`."""
    sockets = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = str(descriptor.readlink())
        except OSError:  # the descriptor was closed after it was listed
            continue
        if target.startswith("socket:"):
            sockets.add(target)
    return sockets
