"""An answer whose every byte is known before the first is sent: one block, one write.

aiohttp's own Response supports streaming, compression, cookies and ranges, none of which an answer
of the public API has; leaving them out makes each answer about a quarter cheaper. Whatever is not
plain (another HTTP version's framing, a client that closes) is still decided by aiohttp's request.
"""

from __future__ import annotations

import time
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from typing import Any

from aiohttp import web
from aiohttp.http import HttpVersion10, HttpVersion11

from hosting_emulator.calls.request import Reply

_STATUS_LINES = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n" for status in HTTPStatus
}
SERVER = "hosting-emulator"


@lru_cache(maxsize=1)
def _date(second: int) -> str:
    """Return the Date header of a second (real time: it is about the connection)."""
    return formatdate(second, usegmt=True)


class ReadyResponse(web.StreamResponse):
    """Sends status, headers and body in one write. Its headers must be plain, single lines."""

    #: Whether the connection serves another request after this one.
    keep_alive: bool = False  # aiohttp only reads it

    def __init__(self, reply: Reply) -> None:
        super().__init__(status=reply.status or 200)
        self.reply = reply
        self._request: web.BaseRequest | None = None

    async def prepare(self, request: web.BaseRequest) -> Any:
        """Remember whom to answer; everything is sent by `write_eof`."""
        self._request = request
        self.keep_alive = request.keep_alive
        return request.writer

    async def write_eof(self, data: bytes = b"") -> None:
        """Send the answer."""
        request = self._request
        assert request is not None
        head = self.head(request)
        # It comes back once most of what was sent before has left: who reads nothing gets no more.
        await request.writer.write_eof(head if request.method == "HEAD" else head + self.reply.body)

    def head(self, request: web.BaseRequest) -> bytes:
        """Return status line and headers, with the empty line after them.

        Raises ValueError for a header that would break the answer.
        """
        reply = self.reply
        of_type = f"Content-Type: {reply.content_type}\r\n" if reply.content_type else ""
        text = (
            f"{_STATUS_LINES[self.status]}{of_type}"
            f"Content-Length: {len(reply.body)}\r\nDate: {_date(int(time.time()))}\r\n"
            f"Server: {SERVER}\r\n"
        )
        for name, value in reply.headers:
            if "\r" in value or "\n" in value:
                raise ValueError(f"the header {name} would break the answer")
            text += f"{name}: {value}\r\n"
        if not request.keep_alive:
            text += "Connection: close\r\n"
        elif request.version == HttpVersion10:
            text += "Connection: keep-alive\r\n"
        head = (text + "\r\n").encode("utf-8", "surrogateescape")
        if request.version != HttpVersion11:
            head = head.replace(b"HTTP/1.1", b"HTTP/1.0", 1)
        return head
