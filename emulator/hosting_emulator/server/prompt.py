"""Prompt answers: a whole request on an idle connection is answered the moment it arrives.

aiohttp wakes a task for each request and starts another for its handler. A request of the public
API needs neither: its answer is worked out without waiting for anything. So a request that came
whole, on an idle connection, is answered where its bytes come in. Everything else (half a request,
several at once, upgrades, whatever cannot be parsed) takes aiohttp's own way, which decides all
questions of HTTP.

This looks at names that aiohttp does not promise. Where one is missing, every request takes
aiohttp's way, and is only slower.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from aiohttp import web
from aiohttp.http import HttpVersion11, RawRequestMessage, StreamWriter
from aiohttp.http_parser import HttpRequestParser
from aiohttp.streams import StreamReader

from hosting_emulator.server.ready_response import ready_head

_SLOTS = frozenset(
    "_messages _waiter _parser _upgraded _keepalive_handle _next_keepalive_close_time "
    "_keepalive_timeout _loop".split()
)
#: Whether this aiohttp has the names that are looked at here.
AVAILABLE = {
    name for kind in web.RequestHandler.__mro__ for name in getattr(kind, "__slots__", ())
} >= _SLOTS and hasattr(HttpRequestParser, "message_consumed")
#: A longer body is read the ordinary way, which bounds it.
_LONGEST_BODY = 64 * 1024


class Whole:
    """A request that is all there, as aiohttp parsed it."""

    __slots__ = ("_payload", "_protocol", "message")

    def __init__(
        self, message: RawRequestMessage, payload: StreamReader, protocol: web.RequestHandler
    ) -> None:
        self.message = message
        self._payload = payload
        self._protocol = protocol

    def body(self) -> bytes:
        """Return its body. After that it can no longer be left to the ordinary way."""
        return self._payload.read_nowait(-1) if self._payload.total_bytes else b""

    def request(self) -> web.BaseRequest:
        """Return it as handlers see it."""
        loop = asyncio.get_running_loop()
        nobody: Any = None  # no task waits for the answer
        writer = StreamWriter(self._protocol, loop)
        return web.BaseRequest(self.message, self._payload, self._protocol, writer, nobody, loop)


#: Answers a request with all bytes of a response; None leaves it, untouched, to the ordinary way.
Answerer = Callable[[Whole], bytes | None]


class PromptProtocol(web.RequestHandler):
    """A connection that answers promptly what can be. `answer` must not wait for anything."""

    __slots__ = ("_answer",)

    def __init__(self, *args: Any, answer: Answerer, **options: Any) -> None:
        super().__init__(*args, **options)
        self._answer = answer

    def data_received(self, data: bytes) -> None:
        """Take in bytes: answer a whole request at once, and leave all else to aiohttp."""
        waiter = self._waiter
        # Without a timer for when it idles (older versions start one later) nothing would end it.
        if waiter is None or self._keepalive_handle is None or self._messages or not AVAILABLE:
            super().data_received(data)
            return
        # While it is out of sight, what is parsed does not wake the task of this connection.
        self._waiter = None
        try:
            super().data_received(data)
            if len(self._messages) == 1:
                self._answer_promptly()
        finally:
            self._waiter = waiter
            if self._messages and not waiter.done():
                waiter.set_result(None)

    def _answer_promptly(self) -> None:
        message, payload = self._messages[0]
        transport, parser = self.transport, self._parser
        if transport is None or parser is None or transport.get_write_buffer_size():
            return
        if not isinstance(message, RawRequestMessage) or self._upgraded:
            return
        if not _is_plain(message, payload):
            return
        whole = Whole(message, payload, self)
        try:
            answer = self._answer(whole)
        except Exception as error:
            answer = self._failed(whole, error)
        if answer is None:
            return
        self._messages.popleft()
        parser.message_consumed()
        transport.write(answer)
        self._next_keepalive_close_time = self._loop.time() + self._keepalive_timeout

    def _failed(self, whole: Whole, error: Exception) -> bytes:
        response = self.handle_error(whole.request(), 500, error)
        body = response.body if isinstance(response, web.Response) else None
        assert isinstance(body, bytes)
        more = [(name, value) for name, value in response.headers.items() if name[:8] != "Content-"]
        return ready_head(response.status, response.content_type, more, len(body)) + body


def _is_plain(message: RawRequestMessage, payload: StreamReader) -> bool:
    return (
        payload.is_eof()
        and payload.exception() is None
        and payload.total_bytes <= _LONGEST_BODY
        and message.version == HttpVersion11
        and not message.should_close
        and not message.upgrade
        and not message.compression
        and not message.chunked
        and message.method != "HEAD"
        and "Expect" not in message.headers
    )
