"""An answer whose every byte is known before the first is sent: one block, one write.

aiohttp's own Response supports streaming, compression, cookies and ranges, none of which an answer
of the public API has; leaving them out makes each answer about a quarter cheaper. Whatever is not
plain (another HTTP version's framing, a client that closes) is still decided by aiohttp's request.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from email.utils import formatdate
from http import HTTPStatus
from typing import Any

from aiohttp import web
from aiohttp.http import HttpVersion10, HttpVersion11

_STATUS_LINES = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n" for status in HTTPStatus
}
SERVER = "hosting-emulator"


class ReadyResponse(web.StreamResponse):
    """Sends status, headers and body in one write. Its headers must be plain, single lines."""

    def __init__(
        self, status: int, content_type: str, headers: Iterable[tuple[str, str]], body: bytes
    ) -> None:
        super().__init__(status=status)
        self._type = content_type
        self._more = headers
        self._bytes = body
        self._keeps_alive = False
        self._request: web.BaseRequest | None = None

    @property
    def keep_alive(self) -> bool:
        """Whether the connection serves another request after this one."""
        return self._keeps_alive

    async def prepare(self, request: web.BaseRequest) -> Any:
        """Remember whom to answer; everything is sent by `write_eof`."""
        self._request = request
        self._keeps_alive = request.keep_alive
        return request.writer

    async def write_eof(self, data: bytes = b"") -> None:
        """Send the answer."""
        request = self._request
        assert request is not None
        head = self.head(request)
        body = b"" if request.method == "HEAD" else self._bytes
        writer = request.writer
        await writer.write(head + body)
        await writer.write_eof()

    def head(self, request: web.BaseRequest) -> bytes:
        """Return status line and headers, with the empty line after them."""
        more = [*self._more]
        if not self._keeps_alive:
            more.append(("Connection", "close"))
        elif request.version == HttpVersion10:
            more.append(("Connection", "keep-alive"))
        head = ready_head(self.status, self._type, more, len(self._bytes))
        if request.version != HttpVersion11:
            head = head.replace(b"HTTP/1.1", b"HTTP/1.0", 1)
        return head


def ready_head(
    status: int, content_type: str, more: Iterable[tuple[str, str]], length: int
) -> bytes:
    """Return status line and headers of an HTTP/1.1 response, with the empty line after them.

    Raises ValueError for a header that would break the answer.
    """
    text = (
        f"{_STATUS_LINES[status]}Content-Type: {content_type}\r\n"
        f"Content-Length: {length}\r\nDate: {_date()}\r\nServer: {SERVER}\r\n"
    )
    for name, value in more:
        if "\r" in value or "\n" in value:
            raise ValueError(f"the header {name} would break the answer")
        text += f"{name}: {value}\r\n"
    return (text + "\r\n").encode("utf-8", "surrogateescape")


_last_date = (0, "")


def _date() -> str:
    """Return the Date header of this second (real time: it is about the connection)."""
    global _last_date
    now = int(time.time())
    if _last_date[0] != now:
        _last_date = (now, formatdate(now, usegmt=True))
    return _last_date[1]
