"""HTTP itself: aiohttp's low-level server, with problem documents where it would answer plain text.

What aiohttp's parser refuses never reaches a handler; it is answered here, so that even a broken
request gets a problem in the contract's form. What a client does wrong is never an error in our log.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import re
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web
from aiohttp.http import HttpVersion10, HttpVersion11, RawRequestMessage
from aiohttp.http_exceptions import (
    BadHttpMethod,
    BadStatusLine,
    ContentLengthError,
    HttpProcessingError,
    LineTooLong,
    TransferEncodingError,
)
from aiohttp.http_parser import HttpParser
from aiohttp.streams import EMPTY_PAYLOAD, StreamReader
from aiohttp.web_protocol import _ErrInfo

from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.problems import Refused
from hosting_emulator.engine.problem_documents import CONTENT_TYPE, problem_document
from hosting_emulator.server.prompt import Answerer, PromptProtocol

_log = logging.getLogger("hosting_emulator.http")
_broken_requests = itertools.count(1)
#: Broken requests have no Host to answer by.
_DOCS = "/_emulator/docs"
#: How long a request may take from its first byte to its last, in seconds of real time. Clients on
#: the same machine take milliseconds; who takes longer than this holds a connection for nothing.
HALF_REQUEST_S = 60.0
_HEAD_END = b"\r\n\r\n"
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,9})\r\n", re.IGNORECASE)


def _is_one_request(data: bytes, head: int) -> bool:
    """Tell whether data is one request and nothing else; its head has `head` bytes."""
    if head == len(data):
        return True
    found = _LENGTH.search(data, 0, head)
    return found is not None and head + int(found[1]) == len(data)


class TooSlow(HttpProcessingError):
    """A request did not arrive whole in time."""

    code = 400


class Protocol(PromptProtocol):
    """One connection. Answers what cannot be parsed with `invalid_request`."""

    half_request_s = HALF_REQUEST_S

    _lost: asyncio.Future[None] | None = None
    #: What was received but not yet parsed: the queue of parsed requests is full.
    _unparsed = b""
    #: The body of the last request, as long as a part of it is missing.
    _arriving: StreamReader | None = None
    #: When the first byte of an unfinished request came, by the loop's clock.
    _half_since: float | None = None
    _half_timer: asyncio.TimerHandle | None = None
    #: The client will send nothing more.
    _ended = False

    async def lost(self, within_s: float | None = None) -> None:
        """Wait until the client is gone, or until so many real seconds have passed.

        Who has ended its side counts as gone, unless there is a limit to the waiting.
        """
        if self.transport is None or (self._ended and within_s is None):
            return
        if self._lost is None:
            self._lost = asyncio.get_running_loop().create_future()
        await asyncio.wait((self._lost,), timeout=within_s)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Tell whoever waits for the end of the connection."""
        super().connection_lost(exc)
        if self._half_timer is not None:
            self._half_timer.cancel()
        if self._lost is not None and not self._lost.done():
            self._lost.set_result(None)

    def eof_received(self) -> bool:  # type: ignore[override]  # asyncio asks; aiohttp never says
        """Take in that the client sends nothing more. True: it is still owed answers.

        Who waits for `lost` meets a client that has gone: one cannot tell it from one that listens.
        """
        idle = not self._messages and (self._waiter is not None or not self._request_count)
        waited_for = self._lost is not None and not self._lost.done()
        if idle or waited_for or self._arriving is not None or self.ssl_context is not None:
            return False
        self._ended = True
        return True

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """Send an answer; the last one to a client that sends nothing more ends the connection."""
        if self._upgraded and not self._messages and self._parser is not None:
            self._pass_over_upgrade(self._parser)
        found = await super().finish_response(request, resp, start_time)
        if self._ended and not self._messages:
            self.close()
        return found

    # --- what arrives ---------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Take in bytes. A body that breaks off in its middle fails its request at once."""
        if self._unparsed:
            data, self._unparsed = self._unparsed + data, b""
        # aiohttp's parser drops the good requests before a bad one that it is given with them. Cut
        # behind each head there is at most one request in a piece, and it is the piece's end.
        start, end = 0, data.find(_HEAD_END)
        if end >= 0 and _is_one_request(data, end + len(_HEAD_END)):
            self._parse(data)
            return
        while 0 <= end < len(data) - len(_HEAD_END):
            end += len(_HEAD_END)
            self._parse(data[start:end])
            if self._close or self.transport is None or self.transport.is_closing():
                return
            if len(self._messages) >= self._max_msg_queue_size:
                self._unparsed = data[end:]
                return
            start, end = end, data.find(_HEAD_END, end)
        self._parse(data[start:] if start else data)

    def _parse(self, data: bytes) -> None:
        """Parse a piece, and note whether a request is now there in part only."""
        count, arriving = self._request_count, self._arriving
        super().data_received(data)
        if arriving is not None and arriving.is_eof():
            self._arriving = self._half_since = None
        if self._request_count != count:
            self._arriving = None
            if self._messages:  # else it was answered already
                self._took_in(arriving, *self._messages[-1])
            if self._arriving is None:
                self._half_since = None
        elif arriving is None and data.strip():  # a part of a head
            self._begin_half()
        if self._arriving is None:
            return
        if self._ended:
            self._break_off(self._arriving, TransferEncodingError("no end"))
        else:
            self._begin_half()

    def _pass_over_upgrade(self, parser: HttpParser[Any]) -> None:
        """Parse what came behind an upgrade that we do not make (or a CONNECT), as all else is."""
        parser.set_upgraded(False)
        self._upgraded = False
        behind, self._message_tail = self._message_tail, b""
        self.data_received(behind)
        if self._buffer_paused:
            self._resume_reading_if_drained()

    def _took_in(
        self,
        arriving: StreamReader | None,
        message: RawRequestMessage | _ErrInfo,
        payload: StreamReader,
    ) -> None:
        if not isinstance(message, _ErrInfo):
            self._arriving = None if payload.is_eof() else payload
            if message.version not in (HttpVersion10, HttpVersion11):
                error = BadStatusLine("not HTTP/1")
                self._messages[-1] = (_ErrInfo(400, error, error.message), payload)
        elif arriving is not None and not arriving.is_eof():
            # aiohttp would let the request wait for the rest of a body that cannot be parsed.
            self._messages.pop()  # the request's own answer says what was wrong
            self._break_off(arriving, TransferEncodingError("broken body"))

    def _break_off(self, payload: StreamReader, error: HttpProcessingError) -> None:
        """Fail a request whose body does not come. With its answer the connection closes."""
        self._lingering_time = 0.0
        payload.set_exception(error)

    # --- what does not arrive -------------------------------------------------------------------

    def _begin_half(self) -> None:
        if self._half_since is None:
            self._half_since = self._loop.time()
            if self._half_timer is None:  # else it will find the new beginning when it looks
                self._half_timer = self._loop.call_later(self.half_request_s, self._look_at_half)

    def _look_at_half(self) -> None:
        self._half_timer = None
        if self._half_since is None or self.transport is None:
            return
        until = self._half_since + self.half_request_s
        if until > self._loop.time():
            self._half_timer = self._loop.call_at(until, self._look_at_half)
            return
        error = TooSlow(message="too slow")
        if self._arriving is not None:
            self._break_off(self._arriving, error)
            return
        self._messages.append((_ErrInfo(400, error, error.message), EMPTY_PAYLOAD))
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # --- what went wrong ------------------------------------------------------------------------

    def log_exception(self, *args: Any, **options: Any) -> None:
        """Log a failure of ours; a client's broken body or early leave is none."""
        error = options.get("exc_info")
        if not isinstance(error, HttpProcessingError | web.RequestPayloadError | ConnectionError):
            super().log_exception(*args, **options)

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Answer a request that aiohttp refused, or a handler that failed; then close."""
        if isinstance(exc, ConnectionError) and self.transport is None:
            raise exc  # the client went away: there is nobody to answer, and nothing has failed
        if request.writer.output_size > 0:
            raise ConnectionError("the answer was already on its way") from exc
        if status >= 500:
            _log.error("an answer could not be made", exc_info=exc)
            refused = Refused("service_unavailable", "The emulator failed; its log says why.")
        else:
            refused = Refused("invalid_request", _what_was_wrong(exc))
        request_id = f"req_unparsed_{next(_broken_requests)}"
        response = web.Response(
            status=refused.status,
            body=problem_document(refused, request_id, _DOCS, Assumptions()),
            headers={"Content-Type": CONTENT_TYPE, "X-Request-Id": request_id},
        )
        response.force_close()
        return response


def _what_was_wrong(error: BaseException | None) -> str:
    if isinstance(error, TooSlow):
        return "The request did not arrive whole in time."
    if isinstance(error, LineTooLong):
        return "A line or header of the request is longer than 8190 bytes."
    if isinstance(error, BadHttpMethod):
        return "The request line has no HTTP method."
    if isinstance(error, TransferEncodingError | ContentLengthError):
        return "The request body does not have the length or the chunks that its headers announce."
    return "The request is not valid HTTP/1.1."


Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


class Server(web.Server):
    """Makes a `Protocol` for each connection."""

    def __init__(self, handler: Handler, answer: Answerer) -> None:
        self._options: dict[str, Any] = {"access_log": None, "logger": _log}
        self._answer = answer
        super().__init__(handler, **self._options)

    def __call__(self) -> Protocol:
        """Return the protocol of a new connection."""
        loop = asyncio.get_running_loop()
        return Protocol(self, loop=loop, answer=self._answer, **self._options)
