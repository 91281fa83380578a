"""Responses whose bytes are all known in advance, such as those of the public API.

A ReadyResponse takes about a quarter less time to send than aiohttp's own Response. A
FaultyResponse is sent by a fault, which may delay, truncate or corrupt it.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Awaitable, Callable
from functools import lru_cache
from http import HTTPStatus
from typing import Final, TypeAlias

from aiohttp import web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http import HttpVersion11

from hosting_emulator.calls.request import Reply
from hosting_emulator.engine.connection import Passage
from hosting_emulator.engine.exchange import Entry
from hosting_emulator.faults.kinds import FaultKind
from hosting_emulator.http.protocol import HttpProtocol, protocol_of
from hosting_emulator.http.responses import SERVER, http_date

#: A function that waits until world time has advanced by a number of milliseconds, or until the
#: client disconnects.
PassWorldTime: TypeAlias = Callable[[HttpProtocol, int], Awaitable[None]]
#: The statuses of responses that have no content and no Content-Length (RFC 9110, section 8.6).
_WITHOUT_CONTENT: Final = (204, 304)
_STATUS_LINES: Final = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n" for status in HTTPStatus
}


@lru_cache(maxsize=64)  # each world has its own time
def _general_headers(second: int) -> str:
    """Return the Date and Server headers for a time in seconds since 1970."""
    return f"Date: {http_date(second)}\r\nServer: {SERVER}\r\n"


class ReadyResponse(web.StreamResponse):
    """A response whose status line, headers and body are sent in a single write.

    Headers must not contain line ends.
    """

    #: Whether the connection can serve another request after this response.
    keep_alive: bool = False  # aiohttp only reads this attribute and never sets it

    def __init__(self, reply: Reply, date_s: int, passage: Passage | None = None) -> None:
        super().__init__(status=reply.status or 200)
        self.reply = reply
        #: The time for the Date header, in seconds since 1970.
        self.date_s = date_s
        self._passage = passage
        self._request: web.BaseRequest | None = None
        #: The status line and the headers, including the empty line that ends them.
        self.head = b""

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter:
        """Prepare the status line and headers, which `write_eof` sends together with the body.

        Raises ValueError if a header contains a line end.
        """
        reply = self.reply
        self._request = request
        keep_alive = request.keep_alive
        self.keep_alive = keep_alive
        text = _STATUS_LINES[reply.status or 200]
        if reply.content_type:
            text += f"Content-Type: {reply.content_type}\r\n"
        if reply.status not in _WITHOUT_CONTENT:
            text += f"Content-Length: {len(reply.body)}\r\n"
        text += _general_headers(self.date_s)
        for name, value in reply.headers:
            if "\r" in value or "\n" in value:
                raise ValueError(f"the {name} header contains a line break")
            text += f"{name}: {value}\r\n"
        if not keep_alive:
            text += "Connection: close\r\n"
        if request.version != HttpVersion11:
            text = text.replace("1.1", "1.0", 1)
            if keep_alive:
                text += "Connection: keep-alive\r\n"
        self.head = (text + "\r\n").encode("utf-8", "surrogateescape")
        return request.writer

    async def write_eof(self, data: bytes = b"") -> None:
        """Send the response."""
        request = self._request
        assert request is not None
        content = self.head
        if request.method != "HEAD":
            content += self.reply.body
        # Record the departure after this call, because it waits until the client has read most of
        # the earlier data.
        await request.writer.write_eof(content)
        self._note_departure(request)

    def _note_departure(self, request: web.BaseRequest) -> None:
        """Record that the complete response has been passed to the connection."""
        if self._passage is not None and request.transport is not None:
            protocol_of(request).note_departure(self._passage)


class FaultyResponse(ReadyResponse):
    """A response sent by a fault, which may delay, truncate or corrupt it.

    This class implements `Wire` from `faults.kinds`, through which the fault sends the response.
    """

    _request: web.BaseRequest

    def __init__(
        self,
        reply: Reply,
        date_s: int,
        effect: FaultKind,
        pass_world_time: PassWorldTime,
        entry: Entry | None = None,
    ) -> None:
        super().__init__(reply, date_s, None if entry is None else entry.passage)
        self.effect = effect
        self.body = reply.body
        self._pass_world_time = pass_world_time
        #: The log entry of the response's exchange, or None if the exchange is not in the request
        #: log.
        self._entry = entry

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter:
        """Prepare the head. The connection can be reused only if the fault delivers the complete response."""
        writer = await super().prepare(request)
        self.keep_alive = self.effect.delivers_response and request.keep_alive
        return writer

    async def write_eof(self, data: bytes = b"") -> None:
        """Carry out the fault."""
        if self._request.transport is None:
            return
        began_s = time.monotonic()
        await self.effect.send(self)
        if self.effect.delivers_response:
            self._note_departure(self._request)
            self._note_delay(round((time.monotonic() - began_s) * 1000))

    def _note_delay(self, duration_ms: int) -> None:
        """Add to the log entry any delay that became known only while the response was being sent."""
        if self._entry is not None:
            self._entry.late_ms += max(0, duration_ms - self.effect.late_ms(len(self.body)))

    async def send(self, data: bytes) -> None:
        """Send bytes."""
        await self._request.writer.write(data)

    async def end(self) -> None:
        """End the response."""
        await self._request.writer.write_eof()

    async def wait(self, within_s: float | None = None) -> None:
        """Wait until the client disconnects, or until `within_s` real seconds have passed."""
        await protocol_of(self._request).wait_for_client_to_leave(within_s)

    async def wait_for_world_time(self, ms: int) -> None:
        """Wait until world time has advanced by `ms`, or until the client disconnects."""
        await self._pass_world_time(protocol_of(self._request), ms)

    def close(self) -> None:
        """Close the connection."""
        if self._request.transport is not None:
            self._request.transport.close()

    def reset(self) -> None:
        """Close the connection so that the system sends a reset (TCP RST)."""
        transport = self._request.transport
        if transport is None:
            return
        connection = transport.get_extra_info("socket")
        if connection is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()

    def refuse(self, for_s: float) -> None:
        """Make the server refuse new connections for `for_s` real seconds."""
        protocol_of(self._request).refuse_connections(for_s)
