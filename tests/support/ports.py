"""Ports for tests that must know a port number before a server listens on it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from random import SystemRandom

#: These ports are outside the default ephemeral range of Linux. Servers and clients of other tests use
#: ephemeral ports all the time, so a free ephemeral port may soon be in use again.
_PORTS = range(20_000, 30_000)


def free_ports() -> Iterator[int]:
    """Yield ports on which no server listens, and which the system never assigns by itself."""
    for port in SystemRandom().sample(_PORTS, len(_PORTS)):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        yield port
