"""Ports for tests that must name one before anybody listens there."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from random import SystemRandom

#: None of these is given to who asks for any port, as servers and clients of other tests do all the
#: time: one of those may be in use again as soon as it is known.
_PORTS = range(20_000, 30_000)


def free_ports() -> Iterator[int]:
    """Yield ports where nobody listens, and which nobody is given by chance."""
    for port in SystemRandom().sample(_PORTS, len(_PORTS)):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        yield port
