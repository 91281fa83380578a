"""Sends requests to a server, with one connection for each request.

Whatever a server does becomes a ServerResponse, never an exception. Redirects are not followed, no
request is sent twice, and responses are bounded in time and size.
"""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
from collections.abc import Mapping
from contextlib import suppress
from urllib.parse import urlsplit

from hosting_emulator_lab.contract_check.response import ServerResponse

#: The largest body that is read, in bytes. Responses that follow the contract are far smaller.
_LARGEST_BODY = 4 << 20


class Unreachable(Exception):
    """No connection can be made, or the server no longer responds. The message gives the reason."""


class Address:
    """The address of a server.

    `timeout_s` is the longest time to wait for a connection, and then for a whole response, in
    seconds. `ca_file` is a file with certificate
    authorities to trust. `at` is an address to connect to instead of the address in `url`. The
    request and the certificate still use the name in `url`. Any name under `.localhost` is this
    machine (RFC 6761), even if the resolver does not know the name.

    Raises OSError or ssl.SSLError if `ca_file` cannot be used.
    """

    def __init__(
        self, url: str, *, timeout_s: float, ca_file: str | None = None, at: str | None = None
    ) -> None:
        named_parts = urlsplit(url)
        connect_parts = urlsplit(at or url)
        is_secure = connect_parts.scheme == "https"
        self._path_prefix = named_parts.path.rstrip("/")
        self._server_name = str(named_parts.hostname)
        self._host_header = named_parts.netloc.rpartition("@")[2]
        self._timeout_s = timeout_s
        host = str(connect_parts.hostname)
        if host.endswith(".localhost"):
            host = "127.0.0.1"
        default_port = 443 if is_secure else 80
        self._socket_address = (host, connect_parts.port or default_port)
        self._tls = ssl.create_default_context(cafile=ca_file) if is_secure else None

    def exchange(
        self, title: str, method: str, path: str, headers: Mapping[str, str], body: bytes | None
    ) -> ServerResponse:
        """Send a request and read its response.

        Raises Unreachable if no connection can be made.
        """
        connection = http.client.HTTPConnection(*self._socket_address)
        opened_socket = self._open()
        connection.sock = opened_socket
        # The socket's own timeout bounds each wait. A server that sends single bytes could go on
        # forever, so a timer bounds the whole exchange.
        is_late = threading.Event()

        def cut_off() -> None:
            is_late.set()
            with suppress(OSError):
                opened_socket.shutdown(socket.SHUT_RDWR)

        timer = threading.Timer(self._timeout_s, cut_off)
        timer.daemon = True
        timer.start()
        try:
            connection.request(
                method, self._path_prefix + path, body, {"Host": self._host_header, **headers}
            )
            return _read_response(title, connection.getresponse())
        except (OSError, http.client.HTTPException, ValueError) as error:
            if is_late.is_set():
                reason = f"no complete response within {self._timeout_s:g} s"
            else:
                reason = _why_incomplete(error, self._timeout_s)
            return ServerResponse(title, broken=reason)
        finally:
            timer.cancel()
            connection.close()

    def _open(self) -> socket.socket:
        try:
            plain_socket = socket.create_connection(self._socket_address, self._timeout_s)
            plain_socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._tls is None:
                return plain_socket
            # Do not close the plain socket here, because `wrap_socket` closes it if the handshake
            # fails.
            return self._tls.wrap_socket(plain_socket, server_hostname=self._server_name)
        except (OSError, UnicodeError) as error:
            raise Unreachable(_why_unreachable(error, self._timeout_s)) from error


def _read_response(title: str, response: http.client.HTTPResponse) -> ServerResponse:
    body = response.read(_LARGEST_BODY + 1)
    if len(body) > _LARGEST_BODY:
        return ServerResponse(title, broken=f"a response of more than {_LARGEST_BODY >> 20} MiB")
    if response.length:
        raise http.client.IncompleteRead(body)
    return ServerResponse(title, response.status, tuple(response.getheaders()), body)


def _why_incomplete(error: Exception, timeout_s: float) -> str:
    match error:
        case TimeoutError():
            return f"no response within {timeout_s:g} s"
        case http.client.RemoteDisconnected() | ConnectionError():
            return "the connection was closed without a response"
        case http.client.IncompleteRead():
            return "the response was cut off before its end"
        case _:
            return "what came back is not an HTTP response"


def _why_unreachable(error: OSError | UnicodeError, timeout_s: float) -> str:
    match error:
        case socket.gaierror() | UnicodeError():
            return "its name cannot be resolved"
        case ssl.SSLCertVerificationError():
            return f"its certificate is not trusted: {error.verify_message}"
        case ssl.SSLError():
            return f"it does not speak TLS: {(error.reason or str(error)).lower()}"
        case TimeoutError():
            return f"no connection within {timeout_s:g} s"
        case _:
            return (error.strerror or str(error)).lower()
