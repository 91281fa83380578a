"""A persistent HTTP connection to an emulator. Several threads can share it.

Network errors are converted to exceptions with a one-line message. This module must not interpret
bodies. A request is retried only if sending it twice has no additional effect.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import (
    HTTPConnection,
    HTTPException,
    HTTPMessage,
    HTTPResponse,
    HTTPSConnection,
    IncompleteRead,
    RemoteDisconnected,
)
from typing import NoReturn
from urllib.parse import urlsplit

from hosting_emulator.sdk.errors import EmulatorUnreachable, UnexpectedResponse

#: Makes pytest show the line in the test instead of lines in this module.
__tracebackhide__ = True

#: The idempotent methods. A PATCH request to the control API only assigns the values in its body.
_REPEATABLE = frozenset({"GET", "PUT", "PATCH"})


class Response:
    """A response whose body has been read."""

    def __init__(self, status: int, headers: HTTPMessage, body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body


class ControlConnection:
    """Sends requests to the server at `address`, over a connection that is opened when it is first
    used.

    `timeout_s` is the maximum wait for a response, in real seconds. Requests can raise
    EmulatorUnreachable or UnexpectedResponse.
    """

    def __init__(self, address: str, timeout_s: float) -> None:
        self._address = address
        self._lock = threading.Lock()
        self._connection = connection_to(address, timeout_s)
        self._process_id = 0

    def close(self) -> None:
        """Close the connection. A later request opens a new one."""
        with self._lock:
            self._connection.close()

    def exchange(
        self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]
    ) -> Response:
        """Send a request, and return its response with the complete body."""
        with self._lock:
            was_open = self._is_open()
            try:
                return self._exchange(method, target, body, headers)
            except EmulatorUnreachable as error:
                # The server may just have closed an idle connection, so retry a request that is
                # safe to repeat.
                was_dropped = isinstance(error.__cause__, ConnectionError)
                if not (was_open and was_dropped and method in _REPEATABLE):
                    raise
                return self._exchange(method, target, body, headers)

    def _exchange(
        self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]
    ) -> Response:
        self._process_id = os.getpid()
        with clear_errors(self._connection, self._address):
            self._connection.request(method, target, body, headers)
            response = self._connection.getresponse()
            return Response(response.status, response.headers, response.read())

    def _is_open(self) -> bool:
        """Return whether the connection can be reused. Close it if it cannot.

        It cannot be reused if the server has closed it, or if it belongs to the parent of a forked
        process. Because this is checked before a request is sent, even a POST over HTTP succeeds
        after the server has been restarted.
        """
        open_socket = self._connection.sock
        if open_socket is None:
            return False
        if self._process_id == os.getpid():
            # One cannot peek at an encrypted connection, so assume that it is open.
            if isinstance(self._connection, HTTPSConnection):
                return True
            # No data is expected between requests, so if the socket is readable, the server has
            # closed it.
            try:
                open_socket.settimeout(0)
                open_socket.recv(1, socket.MSG_PEEK)
            except BlockingIOError:
                open_socket.settimeout(self._connection.timeout)
                return True
            except OSError:
                pass
        self._connection.close()
        return False


def open_response(
    address: str, target: str, headers: Mapping[str, str], timeout_s: float
) -> tuple[HTTPConnection, HTTPResponse]:
    """Send a GET request on a new connection. Return the connection and the response, whose body
    has not been read.
    """
    connection = connection_to(address, timeout_s)
    with clear_errors(connection, address):
        connection.request("GET", target, headers=dict(headers))
        return connection, connection.getresponse()


def connection_to(url: str, timeout_s: float) -> HTTPConnection:
    """Return a connection to the server in an `http` or `https` URL. It is opened when it is first used."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme == "https":
        return HTTPSConnection(host, parts.port, timeout=timeout_s)
    return HTTPConnection(host, parts.port, timeout=timeout_s)


@contextmanager
def clear_errors(connection: HTTPConnection, address: str) -> Iterator[None]:
    """Close a connection if the block raises an exception.

    Network and HTTP errors are converted to ControlError.
    """
    try:
        yield
    except BaseException as error:
        # After an interrupted exchange, the rest of a response may still arrive on the connection,
        # so close it.
        connection.close()
        if isinstance(error, OSError | HTTPException):
            _raise_clear_error(error, connection, address)
        raise


def _raise_clear_error(error: Exception, connection: HTTPConnection, address: str) -> NoReturn:
    if isinstance(error, TimeoutError):
        reason = f"no response within {connection.timeout:g} s"
    elif isinstance(error, RemoteDisconnected):
        reason = "it closed the connection before responding"
    elif isinstance(error, IncompleteRead):
        reason = "it closed the connection in the middle of its response"
    elif isinstance(error, OSError):
        reason = (error.strerror or str(error) or type(error).__name__).lower()
    else:
        raise UnexpectedResponse(address, "it does not speak HTTP") from error
    raise EmulatorUnreachable(address, reason) from error
