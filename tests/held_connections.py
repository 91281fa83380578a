"""Which connections to a server a process holds: what is known to be ours, whatever else is open."""

from __future__ import annotations

from pathlib import Path

PROC = Path("/proc/self/fd")
_LISTEN = "0A"


def held_connections(port: int, pid: int | str = "self") -> int:
    """Count the sockets of a process that are one end of a connection to `port`.

    A connection that is over but not yet closed counts, since its descriptor is still held; one
    that the process has not accepted yet does not.
    """
    inodes = _sockets(pid)
    name = f":{port:04X}"
    rows = [line.split() for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]]
    return sum(
        row[9] in inodes and name in (row[1][-5:], row[2][-5:]) and row[3] != _LISTEN
        for row in rows
    )


def _sockets(pid: int | str) -> set[str]:
    found = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = str(descriptor.readlink())
        except OSError:  # closed since it was listed
            continue
        if target.startswith("socket:["):
            found.add(target[8:-1])
    return found
