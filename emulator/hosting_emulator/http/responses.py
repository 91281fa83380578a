"""Writing HTTP answers: the one place that makes responses.

The control API and the pages answer by aiohttp's own Response. One whose every byte is known, as of the
public API, is a ReadyResponse: about a quarter cheaper. A FaultyResponse breaks as a network does; it
ends when its connection does, and leaves nothing behind.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterable
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from io import BytesIO
from typing import Any

import msgspec
from aiohttp import web
from aiohttp.http import HttpVersion11

from hosting_emulator.build_id import FULL_VERSION
from hosting_emulator.calls.request import Reply
from hosting_emulator.engine.connection import Passage
from hosting_emulator.faults.kinds import FaultKind
from hosting_emulator.http.protocol import protocol_of
from hosting_emulator.http.time_slices import LongJob

#: What is wrong with a request is said in so many characters, however long its own words are.
LONGEST_DETAIL = 2_000
_PIECE = 64 * 1024
_SERVER = "hosting-emulator"
_EMPTY = (204, 304)
_encode = msgspec.json.Encoder(enc_hook=str).encode
_OWN_HEADERS = {
    "Server": f"{_SERVER}/{FULL_VERSION}",  # a client of another version says so if it is refused
    # No page of another site may take an answer for its script, picture or style, or hold our window.
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_STATUS_LINES = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n" for status in HTTPStatus
}


def _headers(content_type: str, named: dict[str, str]) -> dict[str, str]:
    given = {name.replace("_", "-"): value for name, value in named.items()}
    return given | {"Content-Type": content_type, **_OWN_HEADERS}


class _InPieces(BytesIO):
    """A body of which each piece leaves when the one before has; as bytes it would wait in memory."""

    kept: object = None


def raw(
    status: int, body: bytes, content_type: str, *, kept: object = None, **headers: str
) -> web.Response:
    """Answer bytes. What is `kept` lives as long as they are being sent, if they are many."""
    sent = _InPieces(body)
    sent.kept = kept
    given = sent if len(body) > _PIECE else body
    return web.Response(status=status, body=given, headers=_headers(content_type, headers))


def json(
    document: Any, status: int = 200, kind: str = "application/json", **headers: str
) -> web.Response:
    """Answer a JSON document that must not be cached."""
    return raw(status, _encode(document), kind, Cache_Control="no-store", **headers)


def stream(content_type: str, **headers: str) -> web.StreamResponse:
    """Return the beginning of an answer that goes on as long as its handler writes."""
    named = {"Cache_Control": "no-store", **headers}
    return web.StreamResponse(headers=_headers(content_type, named))


async def json_list(
    request: web.BaseRequest,
    document: Any,
    name: str,
    items: Iterable[Any],
    **headers: str,
) -> web.StreamResponse:
    """Answer a document with its list `name` of `items`; a long one is sent while made, never there whole.

    `items` makes each item when it is asked for, which can take a millisecond. Other requests are
    answered in between.
    """
    empty = _encode({name: []})[1:-1]
    before, _, after = _encode(document).partition(empty)
    text, sent, comma = bytearray(before + empty[:-1]), None, b""
    async with LongJob() as job:
        for item in items:
            if request.transport is None:
                raise ConnectionResetError("the client is gone")
            text += comma + _encode(item)
            comma = b","
            if len(text) > _PIECE:
                job.suspend()  # the client may take its time to read
                if sent is None:
                    sent = stream("application/json", **headers)
                    await sent.prepare(request)
                await sent.write(bytes(text))
                text.clear()
            await job.pause()
    text += b"]" + after
    if sent is None:
        return raw(200, bytes(text), "application/json", Cache_Control="no-store", **headers)
    await sent.write_eof(bytes(text))
    return sent


def problem(status: int, title: str, detail: str, **headers: str) -> web.Response:
    """Answer a problem of the control API (the public API's come from the core), and where to read."""
    if len(detail) > LONGEST_DETAIL:
        detail = detail[:LONGEST_DETAIL] + "…"
    document = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    document |= {"documentation": "/_emulator/docs/control-api"}
    headers = {"Link": '</_emulator/openapi.json>; rel="service-desc"', **headers}
    return json(document, status, "application/problem+json", **headers)


def redirect(location: str) -> web.Response:
    """Send a browser elsewhere, with GET (RFC 9110, 15.4.4), and without saying where from."""
    kept = {"Location": location, "Cache_Control": "no-store", "Referrer_Policy": "no-referrer"}
    return keep_opener(raw(303, b"", "text/plain; charset=utf-8", **kept))


def keep_opener(response: web.Response) -> web.Response:
    """Let the window that opened this answer's window keep hold of it: an app's sign-in popup."""
    response.headers["Cross-Origin-Opener-Policy"] = "unsafe-none"
    return response


def html(
    text: str, policy: str, status: int = 200, referrer: str = "no-referrer", **headers: str
) -> web.Response:
    """Answer a page under a content security policy.

    A page whose form is sent here needs the referrer policy `same-origin`: under `no-referrer` a
    browser sends the Origin `null`, which the guard refuses.
    """
    headers |= {"Content_Security_Policy": policy, "Referrer_Policy": referrer}
    kind = "text/html; charset=utf-8"
    return raw(status, text.encode(), kind, Cache_Control="no-cache", **headers)


@lru_cache(maxsize=64)  # of each second, and of several worlds in turn
def http_date(second: int) -> str:
    """Return the value of a Date header, of a second since 1970 (RFC 9110, 5.6.7)."""
    return formatdate(second, usegmt=True)


@lru_cache(maxsize=64)
def _dated(second: int) -> str:
    """Return the Date and Server headers of a second since 1970."""
    return f"Date: {http_date(second)}\r\nServer: {_SERVER}\r\n"


def dated(response: web.Response, second: int) -> web.Response:
    """Set the Date header of a response, which aiohttp would set to the machine's time."""
    response.headers["Date"] = http_date(second)
    return response


class ReadyResponse(web.StreamResponse):
    """Sends status, headers and body in one write. Its headers must be plain, single lines."""

    #: Whether the connection serves another request after this one.
    keep_alive: bool = False  # aiohttp only reads it

    def __init__(self, reply: Reply, date_s: int, passage: Passage | None = None) -> None:
        super().__init__(status=reply.status or 200)
        self.reply = reply
        #: What its Date header shows, in seconds since 1970.
        self.date_s = date_s
        self._passage = passage
        self._request: web.BaseRequest | None = None
        #: Status line and headers, with the empty line after them.
        self.head = b""

    async def prepare(self, request: web.BaseRequest) -> Any:
        """Write the head; everything is sent by `write_eof`.

        Raises ValueError for a header that would break the answer.
        """
        reply, self._request = self.reply, request
        self.keep_alive = keep_alive = request.keep_alive
        of_type = f"Content-Type: {reply.content_type}\r\n" if reply.content_type else ""
        # Without content there is no length to tell either (RFC 9110, 8.6).
        length = "" if reply.status in _EMPTY else f"Content-Length: {len(reply.body)}\r\n"
        text = f"{_STATUS_LINES[reply.status or 200]}{of_type}{length}{_dated(self.date_s)}"
        for name, value in reply.headers:
            if "\r" in value or "\n" in value:
                raise ValueError(f"the header {name} would break the answer")
            text += f"{name}: {value}\r\n"
        if not keep_alive:
            text += "Connection: close\r\n"
        if request.version != HttpVersion11:
            text = text.replace("1.1", "1.0", 1) + "Connection: keep-alive\r\n" * keep_alive
        self.head = (text + "\r\n").encode("utf-8", "surrogateescape")
        return request.writer

    async def write_eof(self, data: bytes = b"") -> None:
        """Send the answer."""
        request = self._request
        assert request is not None
        sent = self.head if request.method == "HEAD" else self.head + self.reply.body
        # It comes back once most of what was sent before has left: who reads nothing gets no more.
        await request.writer.write_eof(sent)
        self._depart(request)

    def _depart(self, request: web.BaseRequest) -> None:
        """Note that the whole response was handed to the connection."""
        if self._passage is not None and request.transport is not None:
            protocol_of(request).note_departure(self._passage)


class FaultyResponse(ReadyResponse):
    """An answer that breaks the way a fault says, for which it is the `Wire` of `faults.kinds`."""

    _request: web.BaseRequest

    def __init__(
        self, reply: Reply, date_s: int, effect: FaultKind, passage: Passage | None = None
    ) -> None:
        super().__init__(reply, date_s, passage)
        self.effect, self.body = effect, reply.body

    async def prepare(self, request: web.BaseRequest) -> Any:
        """Remember whom to answer; only an answer that arrives leaves the connection usable."""
        await super().prepare(request)
        self.keep_alive = self.effect.arrives and request.keep_alive

    async def write_eof(self, data: bytes = b"") -> None:
        """Carry the fault out."""
        if self._request.transport is not None:
            await self.effect.send(self)
            if self.effect.arrives:
                self._depart(self._request)

    async def send(self, data: bytes) -> None:
        """Send bytes."""
        await self._request.writer.write(data)

    async def end(self) -> None:
        """End the answer."""
        await self._request.writer.write_eof()

    async def wait(self, within_s: float | None = None) -> None:
        """Wait until the client is gone, or until so many real seconds have passed."""
        await protocol_of(self._request).lost(within_s)

    def close(self) -> None:
        """Close the connection."""
        if self._request.transport is not None:
            self._request.transport.close()

    def reset(self) -> None:
        """Close so that the system sends a reset instead of a polite end."""
        transport = self._request.transport
        if transport is None:
            return
        connection = transport.get_extra_info("socket")
        if connection is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()

    def refuse(self, for_s: float) -> None:
        """Let the server refuse new connections for so many real seconds."""
        protocol_of(self._request).refuse(for_s)
