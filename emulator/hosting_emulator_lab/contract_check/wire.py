"""The wire from outside: HTTP as the check needs it, and values as any service may write them.

Whatever a server does becomes an `Answer`, never an exception. Redirects are not followed, answers
are bounded in time and size, and nothing is sent twice.
"""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

#: No answer of the contract is nearly as long.
_LONGEST = 4 << 20


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_JSON = json.JSONDecoder(parse_constant=_no_constant)


class Unreachable(Exception):
    """No connection could be made, or nothing answers any more; the message says why."""


@dataclass(frozen=True)
class Answer:
    """What came back, to a call if `call_id` says which.

    `status` 0: no complete response did, and `broken` says what happened instead.
    """

    title: str
    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    broken: str = ""
    call_id: str = ""

    def header(self, name: str) -> str | None:
        """Return a header's first value, None if there is none."""
        values = (value for found, value in self.headers if found.lower() == name.lower())
        return next(values, None)

    @property
    def media_type(self) -> str:
        """The content type without its parameters, in lower case."""
        return (self.header("Content-Type") or "").partition(";")[0].strip().lower()

    @cached_property
    def document(self) -> Any:
        """The body as JSON, which is UTF-8 and knows no NaN; None where it is no JSON.

        All who ask share it, so nobody may change it.
        """
        try:
            return _JSON.decode(self.body.decode())
        except (ValueError, RecursionError):
            return None

    @property
    def fields(self) -> dict[str, Any]:
        """The body as a JSON object; empty where it is none."""
        return document if isinstance(document := self.document, dict) else {}

    def __getitem__(self, name: str) -> Any:
        """Return a field of the body; None where there is none."""
        return self.fields.get(name)

    def text(self, name: str) -> str | None:
        """Return a field of the body that is a text; None where it is none."""
        return value if isinstance(value := self[name], str) else None

    @property
    def ok(self) -> bool:
        """Whether the answer says that what was asked succeeded."""
        return 200 <= self.status < 300

    @property
    def refused(self) -> bool:
        """Whether the answer is a refusal of the request (and no failure of the server)."""
        return 400 <= self.status < 500

    @property
    def code(self) -> str | None:
        """The code of a problem."""
        return self.text("code") if self.status >= 400 else None

    def __str__(self) -> str:
        """The answer in a few words, without its body."""
        if not self.status:
            return f"{self.title}: {self.broken}"
        return f"{self.title}: {self.status}" + (f" {self.code}" if self.code else "")


class Address:
    """Where a server is reached, over a connection for each request. `ca_file` is to be trusted.

    `at` is the address to go to instead of that of the URL, whose name the server is called by all
    the same. A name under `.localhost` is this machine (RFC 6761), whatever its resolver says.
    """

    def __init__(
        self, url: str, *, timeout_s: float, ca_file: str | None = None, at: str | None = None
    ) -> None:
        parts, place = urlsplit(url), urlsplit(at or url)
        self._prefix, self._name = parts.path.rstrip("/"), str(parts.hostname)
        self._host_header = parts.netloc.rpartition("@")[2]
        self._timeout_s = timeout_s
        host, secure = str(place.hostname), place.scheme == "https"
        host = "127.0.0.1" if host.endswith(".localhost") else host
        self._place = (host, place.port or (443 if secure else 80))
        self._tls = ssl.create_default_context(cafile=ca_file) if secure else None

    def exchange(
        self, title: str, method: str, path: str, headers: Mapping[str, str], body: bytes | None
    ) -> Answer:
        """Send a request and read its answer. Raises Unreachable if no connection can be made."""
        connection = http.client.HTTPConnection(*self._place)
        connection.sock = opened = self._open()
        # The socket's own limit is on each wait: one byte at a time could go on for ever.
        longest_s, late = self._timeout_s * 2, threading.Event()

        def cut() -> None:
            late.set()
            with suppress(OSError):
                opened.shutdown(socket.SHUT_RDWR)

        watch = threading.Timer(longest_s, cut)
        watch.daemon = True
        watch.start()
        try:
            sent = {"Host": self._host_header, **headers}
            connection.request(method, self._prefix + path, body, sent)
            response = connection.getresponse()
            content = response.read(_LONGEST + 1)
            if len(content) > _LONGEST:
                return Answer(title, broken=f"a response of more than {_LONGEST >> 20} MiB")
            if response.length:
                raise http.client.IncompleteRead(content)
            return Answer(title, response.status, tuple(response.getheaders()), content)
        except (OSError, http.client.HTTPException, ValueError) as error:
            why = f"no complete response within {longest_s:g} s"
            return Answer(title, broken=why if late.is_set() else _why(error, self._timeout_s))
        finally:
            watch.cancel()
            connection.close()

    def _open(self) -> socket.socket:
        try:
            plain = socket.create_connection(self._place, self._timeout_s)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            # What fails to speak TLS is closed by `wrap_socket`.
            return self._tls.wrap_socket(plain, server_hostname=self._name) if self._tls else plain
        except (OSError, UnicodeError) as error:
            raise Unreachable(_unreachable(error, self._timeout_s)) from error


def _why(error: Exception, timeout_s: float) -> str:
    match error:
        case TimeoutError():
            return f"no response within {timeout_s:g} s"
        case http.client.RemoteDisconnected() | ConnectionError():
            return "the connection was closed without a response"
        case http.client.IncompleteRead():
            return "the response was cut off before its end"
        case _:
            return "what came back is not an HTTP response"


def _unreachable(error: OSError | UnicodeError, timeout_s: float) -> str:
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


def http_date(text: str) -> int | None:
    """Read a date of an HTTP header as ms since 1970; None for anything else."""
    try:
        return int(parsedate_to_datetime(text).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
