"""The memory, descriptors and connections of an emulator process, and limits on its open files."""

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
#: The highest limit on open files that a test needs.
ENOUGH_FILES = 65_536


def limit_open_files(soft: int, hard: int | None = None) -> Callable[[], None]:
    """Return a function that limits the open files of a new process, for use as `preexec_fn`."""
    return partial(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard or soft))


def raise_open_files_limit() -> int:
    """Raise the limit on open files of this process to at most ENOUGH_FILES, and return the limit."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    limit = ENOUGH_FILES if hard == resource.RLIM_INFINITY else min(hard, ENOUGH_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    return limit


class ServerProcess:
    """A running emulator process, observed through its sockets and through /proc."""

    def __init__(self, process: Process) -> None:
        self.process = process
        parts = urlsplit(process.base_url)
        self.address = (str(parts.hostname), int(parts.port or 0))
        self.get = (
            f"GET /v1/projects/{process.ready['project_id']}/edge-dns HTTP/1.1\r\n"
            f"Host: {parts.netloc}\r\nAuthorization: Bearer {process.ready['token']}\r\n\r\n"
        ).encode()
        self._proc = Path("/proc", str(process.popen.pid))
        self._initial_sockets = sockets_of(process.popen.pid)

    def connect(self) -> socket.socket:
        return socket.create_connection(self.address, timeout=_PATIENCE_S)

    def send_bytes(self, data: bytes) -> bytes:
        """Send bytes on a new connection, and return all that the server sends until it closes."""
        with self.connect() as connection:
            received = bytearray()
            try:
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
            except OSError:  # the server closed the connection before it read everything
                pass
            try:
                chunk = connection.recv(65_536)
                while chunk:
                    received += chunk
                    chunk = connection.recv(65_536)
            except ConnectionError:  # the server reset the connection after it sent its response
                pass
            return bytes(received)

    def is_responsive(self) -> bool:
        """Return whether a valid request on a new connection succeeds."""
        return read_statuses(self.send_bytes(self.get)) == [200]

    def resident_kb(self) -> int:
        lines = (self._proc / "status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))

    @contextmanager
    def idle_connections(self, count: int) -> Iterator[None]:
        """Hold this many idle connections for the duration of a block."""
        with ExitStack() as connections:
            for _ in range(count):
                connections.enter_context(self.connect())
            yield

    def connection_count(self) -> int:
        """Return how many connections the process holds, without the sockets that it opened at its start."""
        return len(sockets_of(self.process.popen.pid) - self._initial_sockets)

    def descriptor_count(self) -> int:
        return len(list((self._proc / "fd").iterdir()))

    def wait_until(self, is_true: Callable[[], bool]) -> None:
        """Check a condition repeatedly until it is true. Raises AssertionError after 30 seconds."""
        end = time.monotonic() + _PATIENCE_S
        while not is_true():
            counts = f"{self.connection_count()} connections, {self.descriptor_count()} descriptors"
            assert time.monotonic() < end, counts
            time.sleep(0.01)  # the interval between checks of another process
