"""One kept-alive HTTP connection that carries requests and brings back bytes.

It knows nothing of JSON or the control API, and must never repeat a request that may have taken
effect twice. One request at a time: not safe to share between threads.
"""

from __future__ import annotations

import http.client
import socket
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

#: Asking for these again leaves the emulator as asking once does (PATCH only sets named values).
_REPEATABLE = frozenset({"GET", "PUT", "PATCH"})


class Answer(NamedTuple):
    """A whole response."""

    status: int
    content_type: str
    body: bytes


class KeptConnection:
    """A connection that stays open between requests and is made anew when it went stale.

    `timeout_s` bounds each wait on the socket, in real seconds.
    """

    def __init__(self, host: str, port: int | None, *, secure: bool, timeout_s: float) -> None:
        make = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        self._http = make(host, port, timeout=timeout_s)
        self._secure = secure

    def exchange(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes | None
    ) -> Answer:
        """Send one request and read its whole response.

        Raises OSError or http.client.HTTPException, with the connection closed. A request that met
        a connection the server had just dropped is sent once more if that cannot do harm.
        """
        kept = self._still_open()
        try:
            return self._once(method, target, headers, body)
        except ConnectionError:
            if not kept or method not in _REPEATABLE:
                raise
        return self._once(method, target, headers, body)

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        self._http.close()

    def _once(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes | None
    ) -> Answer:
        try:
            self._http.request(method, target, body=body, headers=dict(headers))
            response = self._http.getresponse()
            content_type = response.headers.get("Content-Type", "")
            return Answer(response.status, content_type, response.read())
        except BaseException:
            # Half an exchange on the wire, even by Ctrl-C: nothing sensible can follow it.
            self._http.close()
            raise

    def _still_open(self) -> bool:
        """Whether there is an open connection; one the server has closed is dropped here.

        Looking before sending is what lets a POST survive a restarted or idle server: nothing has
        been sent yet, so nothing is repeated.
        """
        sock: socket.socket | None = self._http.sock
        if sock is None:
            return False
        if self._secure or _is_quiet(sock):  # TLS cannot be looked into
            return True
        self._http.close()
        return False


def _is_quiet(sock: socket.socket) -> bool:
    # Between requests a healthy connection has nothing to read; an end of file means it is closed.
    timeout = sock.gettimeout()
    try:
        sock.settimeout(0)
        sock.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        with suppress(OSError):
            sock.settimeout(timeout)
    return False
