"""Reading one HTTP/1.1 response from a socket, by length, in chunks or to the end of the line.

It must not send, retry or close anything: the connection does.
"""

from __future__ import annotations

import socket
from typing import NamedTuple

_BLOCK = 65_536
#: No head of an answer is nearly as long; what is longer is no HTTP.
_LONGEST_HEAD = 65_536
_NO_BODY = frozenset({204, 304})
_DROPPED = "it closed the connection before it answered"
_CUT_OFF = "it closed the connection in the middle of its answer"


class NotHttp(Exception):
    """What came back is no HTTP/1.1 response."""


class Answer(NamedTuple):
    """A whole response."""

    status: int
    content_type: str
    body: bytes


def read_answer(sock: socket.socket) -> tuple[Answer, bool]:
    """Read one whole response, and whether the connection serves another request after it.

    Raises NotHttp for anything else, ConnectionError when the other side closes too early.
    """
    lines = _Lines(sock)
    while True:
        version, status, fields = _parse_head(lines.head())
        if status >= 200:  # what is below announces the answer that follows
            break
    keeps = version == b"HTTP/1.1" and b"close" not in fields.get(b"connection", b"").lower()
    content_type = fields.get(b"content-type", b"").decode("latin-1")
    if status in _NO_BODY:
        body = b""
    elif b"chunked" in fields.get(b"transfer-encoding", b"").lower():
        body = lines.chunks()
    elif b"content-length" in fields:
        body = lines.exactly(_number(fields[b"content-length"], 10))
    else:
        body, keeps = lines.everything(), False
    return Answer(status, content_type, body), keeps and not lines.left


def _parse_head(head: bytes) -> tuple[bytes, int, dict[bytes, bytes]]:
    first, *rest = head.split(b"\r\n")
    version, _, told = first.partition(b" ")
    status = told[:3]
    if not version.startswith(b"HTTP/1.") or len(status) != 3 or not status.isdigit():
        raise NotHttp
    fields = {}
    for line in rest:
        name, _, value = line.partition(b":")
        fields[name.lower()] = value.strip()
    return version, int(status), fields


def _number(text: bytes, base: int) -> int:
    try:
        number = int(text, base)
    except ValueError:
        raise NotHttp from None
    if number < 0:
        raise NotHttp
    return number


class _Lines:
    """What comes from a socket; `left` is what was received and not yet taken."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self.left = b""

    def head(self) -> bytes:
        """Take all up to an empty line, without it."""
        while (end := self.left.find(b"\r\n\r\n")) < 0:
            if len(self.left) > _LONGEST_HEAD or not b"HTTP/1.".startswith(self.left[:7]):
                raise NotHttp
            self._more(_CUT_OFF if self.left else _DROPPED)
        head, self.left = self.left[:end], self.left[end + 4 :]
        return head

    def exactly(self, size: int) -> bytes:
        """Take so many bytes."""
        parts, missing = [self.left], size - len(self.left)
        while missing > 0:
            part = self._socket.recv(min(missing, 1 << 20))
            if not part:
                raise ConnectionError(_CUT_OFF)
            parts.append(part)
            missing -= len(part)
        whole = parts[0] if len(parts) == 1 else b"".join(parts)
        self.left = whole[size:]
        return whole[:size]

    def chunks(self) -> bytes:
        """Take a chunked body, its trailer dropped."""
        parts = []
        while size := _number(self._line().partition(b";")[0], 16):
            parts.append(self.exactly(size))
            self._line()
        while self._line():
            pass
        return b"".join(parts)

    def everything(self) -> bytes:
        """Take all until the other side closes."""
        parts = [self.left]
        while part := self._socket.recv(_BLOCK):
            parts.append(part)
        self.left = b""
        return b"".join(parts)

    def _line(self) -> bytes:
        while b"\r\n" not in self.left:
            if len(self.left) > _LONGEST_HEAD:
                raise NotHttp
            self._more(_CUT_OFF)
        line, _, self.left = self.left.partition(b"\r\n")
        return line

    def _more(self, why_none: str) -> None:
        part = self._socket.recv(_BLOCK)
        if not part:
            raise ConnectionError(why_none)
        self.left += part
