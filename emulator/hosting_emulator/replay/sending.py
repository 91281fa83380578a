"""Sending: a recorded request goes out as it was, over one kept-alive connection."""

from __future__ import annotations

import http.client
from urllib.parse import urlsplit

from hosting_emulator.replay.record import Answered, Headers

#: What belongs to a connection, to another place or to somebody's session, not to the request.
_NOT_SENT = frozenset(
    {
        *("host", "connection", "keep-alive", "proxy-connection", "proxy-authorization"),
        *("transfer-encoding", "content-length", "te", "trailer", "upgrade", "expect"),
        *("accept-encoding", "cookie", "x-control-token"),
    }
)


class Sender:
    """A connection to one world. `timeout_s` bounds each wait for it, in real seconds."""

    def __init__(self, base_url: str, *, timeout_s: float) -> None:
        parts = urlsplit(base_url)
        kind = (
            http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        )
        self._connection = kind(parts.hostname or "", parts.port, timeout=timeout_s)
        self._prefix = parts.path.rstrip("/")

    def send(
        self, method: str, target: str, headers: Headers, body: bytes | None
    ) -> Answered | None:
        """Send one request and read its answer; None: no whole answer came."""
        connection = self._connection
        try:
            connection.putrequest(method, self._prefix + target, skip_accept_encoding=True)
            for name, value in headers:
                if name.lower() not in _NOT_SENT and not name.startswith(":"):
                    connection.putheader(name, value.encode("utf-8", "surrogateescape"))
            if body is not None or method not in ("GET", "HEAD"):
                connection.putheader("Content-Length", str(len(body or b"")))
            connection.endheaders(body)
            found = connection.getresponse()
            content = found.read()
        except (OSError, http.client.HTTPException):
            connection.close()
            return None
        return Answered(found.status, tuple(found.getheaders()), _text(content))

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def _text(content: bytes) -> str | None:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None
