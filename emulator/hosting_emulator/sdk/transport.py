"""One kept-alive HTTP connection that carries requests and brings back bytes.

It knows nothing of JSON or the control API, and must never repeat a request that may have taken
effect twice. It speaks to the socket itself: the standard library's client spends most of the time
of a short exchange on parsing headers. Threads may share it: one request at a time has the line.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from hosting_emulator.sdk.responses import Answer, read_answer

#: Asking for these again leaves the emulator as asking once does (PATCH only sets named values).
_REPEATABLE = frozenset({"GET", "PUT", "PATCH"})
_DEFAULT_PORTS = {True: 443, False: 80}


class Peer(NamedTuple):
    """Whom to connect to. `timeout_s` bounds each wait on the socket, in real seconds."""

    host: str
    port: int
    secure: bool
    timeout_s: float


class KeptConnection:
    """A connection that stays open between requests and is made anew when it went stale.

    `headers` go with every request. A header or target that would break out of its line is a
    ValueError.
    """

    def __init__(
        self,
        host: str,
        port: int | None,
        *,
        secure: bool,
        timeout_s: float,
        headers: Mapping[str, str],
    ) -> None:
        self._peer = Peer(host, port or _DEFAULT_PORTS[secure], secure, timeout_s)
        lines = {"Host": _host_header(self._peer), "Accept-Encoding": "identity", **headers}
        self._head = "".join(f"{name}: {_plain(value)}\r\n" for name, value in lines.items())
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._process = 0

    def exchange(self, method: str, target: str, body: bytes | None) -> Answer:
        """Send one request, its `body` declared as JSON, and read its whole response.

        Raises OSError or NotHttp, with the connection closed. A request that met a connection the
        server had just dropped is sent once more if that cannot do harm.
        """
        message = self._message(method, target, body)
        with self._lock:
            kept = self._still_open()
            try:
                return self._once(method, message)
            except ConnectionError:
                if not kept or method not in _REPEATABLE:
                    raise
            return self._once(method, message)

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        with self._lock:
            self._drop()

    def _message(self, method: str, target: str, body: bytes | None) -> bytes:
        if " " in target:
            raise ValueError(f"{target!r} is no target of a request: it has a space")
        head = f"{method} {_plain(target)} HTTP/1.1\r\n{self._head}"
        if body is not None:
            head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            return head.encode("latin-1") + body  # one write: head and body leave together
        if method != "GET":
            head += "Content-Length: 0\r\n"
        return (head + "\r\n").encode("latin-1")

    def _once(self, method: str, message: bytes) -> Answer:
        try:
            if self._socket is None:
                self._socket = _connected(self._peer)
                self._process = os.getpid()
            self._socket.sendall(message)
            answer, keep = read_answer(self._socket)
        except BaseException:
            # Half an exchange on the wire, even by Ctrl-C: nothing sensible can follow it.
            self._drop()
            raise
        if not keep:
            self._drop()
        return answer

    def _drop(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _still_open(self) -> bool:
        """Whether there is an open connection; one the server has closed is dropped here.

        Looking before sending is what lets a POST survive a restarted or idle server: nothing has
        been sent yet, so nothing is repeated.
        """
        if self._socket is None:
            return False
        # A forked child shares the socket with its parent; only one of them may go on with it.
        mine = self._process == os.getpid()
        if mine and (self._peer.secure or _is_quiet(self._socket)):  # TLS cannot be looked into
            return True
        self._drop()
        return False


def _connected(peer: Peer) -> socket.socket:
    plain = socket.create_connection((peer.host, peer.port), peer.timeout_s)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if not peer.secure:
        return plain
    import ssl  # only here: it would cost every start of the command line

    try:
        return ssl.create_default_context().wrap_socket(plain, server_hostname=peer.host)
    except BaseException:
        plain.close()
        raise


def _host_header(peer: Peer) -> str:
    host = f"[{peer.host}]" if ":" in peer.host else peer.host
    if not host.isascii():
        host = host.encode("idna").decode()
    return host if peer.port == _DEFAULT_PORTS[peer.secure] else f"{host}:{peer.port}"


def _plain(text: str) -> str:
    if not text.isprintable() or not text.isascii():
        raise ValueError(f"{text!r} cannot be sent: it is not plain text of one line")
    return text


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
