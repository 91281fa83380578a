"""An emulator process as the system sees it: its memory, its descriptors, and a limit on them."""

from __future__ import annotations

import resource
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from tests.support.emulator_process import Process
from tests.support.held_connections import sockets_of
from tests.support.wire import read_statuses

_PATIENCE_S = 30.0
ENOUGH = 65_536


def limited(soft: int, hard: int | None = None) -> Callable[[], None]:
    """Return what gives a process to be started a limit on its open files (`preexec_fn`)."""
    return partial(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard or soft))


def allowed() -> int:
    """Raise this process's own limit on open files as far as it is worth, and return it."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    enough = ENOUGH if hard == resource.RLIM_INFINITY else min(hard, ENOUGH)
    resource.setrlimit(resource.RLIMIT_NOFILE, (enough, hard))
    return enough


class Watched:
    """A running emulator that keeps nothing, seen from outside."""

    def __init__(self, process: Process) -> None:
        self.process = process
        parts = urlsplit(process.base_url)
        self.address = (str(parts.hostname), int(parts.port or 0))
        self.get = (
            f"GET /v1/projects/{process.ready['project_id']}/edge-dns HTTP/1.1\r\n"
            f"Host: {parts.netloc}\r\nAuthorization: Bearer {process.ready['token']}\r\n\r\n"
        ).encode()
        self._proc = Path("/proc", str(process.popen.pid))
        self._at_rest = sockets_of(process.popen.pid)

    def connect(self) -> socket.socket:
        return socket.create_connection(self.address, timeout=_PATIENCE_S)

    def say(self, data: bytes) -> bytes:
        """Send bytes, end our side, and return all it says until it closes."""
        with self.connect() as connection:
            heard = bytearray()
            try:
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
            except OSError:  # it has heard enough
                pass
            try:
                while more := connection.recv(65_536):
                    heard += more
            except ConnectionError:  # it closed on what we still sent; what it said is here
                pass
            return bytes(heard)

    def answers(self) -> bool:
        """Tell whether a normal request on a connection of its own is answered."""
        return read_statuses(self.say(self.get)) == [200]

    def resident_kb(self) -> int:
        lines = (self._proc / "status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))

    @contextmanager
    def crowd(self, count: int) -> Iterator[None]:
        """Hold so many idle connections; whatever happens, all of them are closed."""
        with ExitStack() as closing:
            for _ in range(count):
                closing.enter_context(self.connect())
            yield

    def held(self) -> int:
        """Count the connections that it holds: sockets that it had not when it was ready."""
        return len(sockets_of(self.process.popen.pid) - self._at_rest)

    def descriptors(self) -> int:
        return len(list((self._proc / "fd").iterdir()))

    def wait_until(self, true: Callable[[], bool]) -> None:
        """Look at it again and again until something is true of it."""
        end = time.monotonic() + _PATIENCE_S
        while not true():
            held = f"{self.held()} connections of {self.descriptors()} descriptors"
            assert time.monotonic() < end, held
            time.sleep(0.01)  # between two looks at another process
