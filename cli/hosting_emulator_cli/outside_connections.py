"""Watches for TCP connections from commands to other machines.

A command under test should talk only to the emulator. A connection to another machine is
suspicious, because the real service may be running there. Only Linux shows the connections of other
processes (see proc_net(5)).
"""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import NamedTuple, Self

from hosting_emulator.supervisor import descendants

#: The shortest and longest pause between two scans of the connections, in real seconds. Connections
#: that last less than the pause may be missed. The longest pause is used on machines with so many
#: sockets that a scan takes 15 ms or more.
_SHORTEST_PAUSE_S = 0.25
_LONGEST_PAUSE_S = 3.0
#: Within these bounds, the pause is this many times as long as the processor time of a scan.
_SPARING = 200
#: The maximum number of connections listed in a sentence.
_MOST_NAMED = 5
#: A row of a table: the local address, the remote address, the state, and the socket's inode.
_ROW = re.compile(
    r"^ *\d+: (\S+) (\S+) (\S+) \S+ \S+ \S+ +\d+ +\d+ (\d+)",
    re.MULTILINE,
)
_LISTENING = "0A"
_NO_SOCKET = "0"

NOT_WATCHED = "Connections to other machines were not watched, because only Linux shows them."


class OutsideConnection(NamedTuple):
    """A TCP connection: the program, and the address and port to which the program connects."""

    program: str
    address: str

    def __str__(self) -> str:
        return f"{self.program} to {self.address}"


class ConnectionWatch:
    """Watches this process's descendants in a thread, within a `with` block.

    Descendants that exist at the beginning of the block are ignored, but descendants that they
    start later are not. `proc` is the mount point of procfs, and `find_descendants` returns the
    pids of all descendants.
    """

    def __init__(
        self,
        proc: Path = Path("/proc"),
        find_descendants: Callable[[], set[int]] = descendants,
    ) -> None:
        self._proc = proc
        self._find_descendants = find_descendants
        self._other_pids: set[int] = set()
        #: Sockets that do not have to be examined again.
        self._checked_sockets: set[str] = set()
        #: Connections to other machines, in the order in which they were observed.
        self._connections: dict[OutsideConnection, None] = {}
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="connections", daemon=True)

    @property
    def can_watch(self) -> bool:
        """Whether the connections of other processes are visible on this system."""
        return sys.platform == "linux" and (self._proc / "net" / "tcp").exists()

    @property
    def connections(self) -> Sequence[OutsideConnection]:
        """The connections to other machines that were observed, without duplicates."""
        return list(self._connections)

    def sentence(self) -> str:
        """Return a sentence about the connections to other machines, or an empty text if there are none.

        If they cannot be watched, the sentence says so.
        """
        if not self.can_watch:
            return NOT_WATCHED
        connections = self.connections
        if not connections:
            return ""
        texts = [str(connection) for connection in connections[:_MOST_NAMED]]
        if len(connections) > _MOST_NAMED:
            texts.append(f"and {len(connections) - _MOST_NAMED} more")
        return (
            f"The command connected to other machines, perhaps to the real service: {', '.join(texts)}. "
            "--sealed prevents this."
        )

    def look(self) -> None:
        """Scan all connections once, and record new ones from descendants to other machines."""
        new_sockets = {
            socket: address
            for socket, address in self._outside_sockets()
            if socket not in self._checked_sockets
        }
        if not new_sockets:
            return
        self._checked_sockets |= new_sockets.keys()
        for pid in self._find_descendants() - self._other_pids:
            for socket in self._sockets_of(pid) & new_sockets.keys():
                self._note(pid, new_sockets[socket])

    def __enter__(self) -> Self:
        if self.can_watch:
            self._other_pids = self._find_descendants()
            self._checked_sockets = {socket for socket, _ in self._outside_sockets()}
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        if self._thread.is_alive():
            self._thread.join()

    def _watch(self) -> None:
        pause_s = _SHORTEST_PAUSE_S
        while not self._is_over.wait(pause_s):
            began = time.thread_time()
            self.look()
            pause_s = _SPARING * (time.thread_time() - began)
            pause_s = min(max(pause_s, _SHORTEST_PAUSE_S), _LONGEST_PAUSE_S)

    def _outside_sockets(self) -> Iterator[tuple[str, str]]:
        """Yield the inode and the remote address of each open socket connected to another machine."""
        rows = [
            match.groups()
            for name in ("tcp", "tcp6")
            for match in _ROW.finditer(self._text(self._proc / "net" / name))
        ]
        listening_ports = {
            local.rpartition(":")[2] for local, _, state, _ in rows if state == _LISTENING
        }
        for local, remote, state, inode in rows:
            # Skip connections opened by other machines: their local port is the port of a listening
            # socket.
            is_incoming = local.rpartition(":")[2] in listening_ports
            if inode == _NO_SOCKET or state == _LISTENING or is_incoming:
                continue
            address = _address(remote.rpartition(":")[0])
            is_own = address == _address(local.rpartition(":")[0])
            if not (address.is_loopback or address.is_unspecified or is_own):
                yield inode, _address_text(address, remote)

    def _text(self, path: Path) -> str:
        """Return a table of connections. The text is empty if the table cannot be read."""
        with suppress(OSError):
            return path.read_text(encoding="ascii")
        return ""

    def _sockets_of(self, pid: int) -> set[str]:
        """Return the inodes of a process's sockets. The set is empty if the process has ended."""
        sockets = set()
        folder = self._proc / str(pid) / "fd"
        with suppress(OSError):
            for descriptor in os.listdir(folder):  # noqa: PTH208
                with suppress(OSError):
                    kind, _, inode = os.readlink(f"{folder}/{descriptor}").partition(":[")  # noqa: PTH115
                    if kind == "socket":
                        sockets.add(inode.removesuffix("]"))
        return sockets

    def _note(self, pid: int, address: str) -> None:
        program = f"process {pid}"
        with suppress(OSError):
            program = (self._proc / str(pid) / "comm").read_text(errors="replace").strip()
        self._connections[OutsideConnection(program, address)] = None


@lru_cache(maxsize=1024)
def _address(digits: str) -> IPv4Address | IPv6Address:
    """Return the address encoded in hexadecimal digits such as `0100007F`, in the machine's byte
    order.
    """
    words = [int(digits[start : start + 8], 16) for start in range(0, len(digits), 8)]
    address = ip_address(b"".join(word.to_bytes(4, sys.byteorder) for word in words))
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def _address_text(address: IPv4Address | IPv6Address, remote: str) -> str:
    port = int(remote.rpartition(":")[2], 16)
    if isinstance(address, IPv6Address):
        return f"[{address}]:{port}"
    return f"{address}:{port}"
