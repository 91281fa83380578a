"""Handles HTTP connections with aiohttp's low-level protocol. Refusals are sent as problem
documents.

aiohttp parses requests and writes responses. This module handles requests that arrive too slowly or
incompletely, and clients that close their side of the connection. It uses only asyncio's own
protocol methods and aiohttp's public methods. Mistakes by a client are never logged as errors.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import re
import socket
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import formatdate
from math import inf
from time import perf_counter
from typing import Any, Final

from aiohttp import web
from aiohttp.http_exceptions import BadStatusLine, HttpProcessingError, LineTooLong

from hosting_emulator.contract.assumptions import DEFAULTS
from hosting_emulator.contract.problems import Refused
from hosting_emulator.engine.connection import Connection, Passage
from hosting_emulator.engine.problem_replies import problem_reply
from hosting_emulator.http.crowd import CrowdWatch
from hosting_emulator.http.framing import INVALID, NO_METHOD, TOO_LONG, RequestFraming
from hosting_emulator.http.time_slices import SLICE_S, LongJob

_log = logging.getLogger("hosting_emulator.http")
_positions = itertools.count(1)
#: The maximum time between the first and last byte of a request's head, and then of its body, in
#: real seconds. A client on the same machine takes milliseconds. A client that takes this long is
#: only tying up a connection.
REQUEST_TIMEOUT_S: Final = 60.0
#: If more requests than this are waiting for their responses, no more data is read from the
#: connection. Older versions of aiohttp have no such limit.
MOST_UNANSWERED: Final = 64
#: A client that has closed its side is assumed to be still listening until this many seconds after
#: its request. After that, it may have given up.
_PATIENCE_S: Final = 0.1
#: Up to this many bytes are parsed immediately, even while long jobs are running.
_SMALL: Final = 2048
_TOO_SLOW: Final = "The request did not arrive completely in time."
#: The message of aiohttp's parser about a header that a request must not have twice.
_DUPLICATE_HEADER: Final = re.compile(r"Duplicate '([A-Za-z-]{1,40})' header")
#: An invalid head. aiohttp refuses it after it has handled all earlier requests.
_INVALID_HEAD: Final = b"\0\r\n\r\n"


def next_position() -> int:
    """Return the next position in the order of events across all connections (see Connection)."""
    return next(_positions)


@dataclass(frozen=True, slots=True)
class ServerFunctions:
    """The functions that a connection needs from its server.

    `docs_url` returns the URL of the documentation. `date_s` returns the time for the Date header,
    in seconds since 1970. `request_id` returns a new request id. `refuse_connections` closes the
    server's ports for a number of real seconds.
    """

    docs_url: Callable[[], str]
    date_s: Callable[[], int]
    request_id: Callable[[], str]
    refuse_connections: Callable[[float], None]


class HttpProtocol(web.RequestHandler):
    """A connection. Requests that cannot be parsed are refused with `invalid_request`."""

    request_timeout_s = REQUEST_TIMEOUT_S

    def __init__(
        self, manager: web.Server, functions: ServerFunctions, crowd: CrowdWatch, **options: Any
    ) -> None:
        super().__init__(manager, **options)
        self._functions = functions
        self._crowd = crowd
        self.connection = Connection(next_position())
        self.framing = RequestFraming()
        self.response_count = 0
        #: The request whose handler was started most recently, and its number on the connection,
        #: starting at 1.
        self._latest_request: web.BaseRequest | None = None
        self._latest_number = 0
        #: The reason why the last request is refused, or None. Any data after a refused request is
        #: ignored.
        self._refusal: str | None = None
        #: Whether the client has closed its side of the connection and will not send more data.
        self._is_half_closed = False
        #: A future that completes when the connection is lost, or None if no handler has waited for
        #: that.
        self._departure: asyncio.Future[None] | None = None
        #: The timer that refuses a request if its head or body does not arrive completely in time,
        #: and the part for which the timer was started: the number of complete heads, and whether the
        #: part is a body.
        self._timeout: asyncio.TimerHandle | None = None
        self._timed_part = (0, False)
        #: Whether the time limit is suspended because a fault makes reading the request slow.
        self._has_no_time_limit = False
        #: Whether reading is paused until some of the waiting requests have received their
        #: responses.
        self._is_held_back = False
        #: Whether a response that never ends is being sent. All arriving data is then ignored.
        self._has_endless_response = False
        #: The data that has not been parsed yet, the remaining pieces of its first item, and the
        #: task that parses it.
        self._arrivals = deque[bytes]()
        self._pieces: Iterator[bytes] | None = None
        self._parse_task: asyncio.Future[None] | None = None

    # --- For handlers -----------------------------------------------------------------------------

    def begin_request(self, request: web.BaseRequest) -> None:
        """Record that a request's handler has started."""
        self._latest_request = request
        self._latest_number = self.response_count + 1
        if self._refusal is not None:
            self._break_off_body()

    def begin_passage(self) -> Passage:
        """Record that a request has arrived, and return a Passage with its connection and time."""
        arrived_s = asyncio.get_running_loop().time()
        return Passage(self.connection, next_position(), arrived_s)

    def note_departure(self, passage: Passage) -> None:
        """Record that a complete response has been passed to the connection.

        A client that has closed its side may still be listening, or may have closed the connection
        entirely. In the latter case, the socket reports an error once the response has been sent.
        """
        duration_s = asyncio.get_running_loop().time() - passage.arrived_s
        if self._is_half_closed and duration_s < _PATIENCE_S and not self._has_failed():
            self.connection.closed_by_client = 0
        passage.departure = next_position()

    def refuse_connections(self, duration_s: float) -> None:
        """Make the server refuse new connections for `duration_s` real seconds."""
        self._functions.refuse_connections(duration_s)

    @contextmanager
    def without_time_limit(self) -> Iterator[None]:
        """Suspend the time limit within which a request's head or body must arrive."""
        self._has_no_time_limit = True
        self._note_progress()
        try:
            yield
        finally:
            self._has_no_time_limit = False
            if self.transport is not None:
                self._note_progress()

    async def wait_for_client_to_leave(self, timeout_s: float | None = None) -> None:
        """Wait until the client disconnects, or until `timeout_s` real seconds have passed.

        Without a timeout, a client that has closed its side is treated as disconnected.
        """
        if self.transport is None or (self._is_half_closed and timeout_s is None):
            return
        if timeout_s is None and not self._has_endless_response:
            # Over TLS, asyncio notices only while reading that a client closes its side.
            self._has_endless_response = True
            self.resume_reading()
            self.transport.resume_reading()
        if self._departure is None:
            self._departure = asyncio.get_running_loop().create_future()
        await asyncio.wait((self._departure,), timeout=timeout_s)

    # --- The beginning and the end of the connection --------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Set up a new connection."""
        super().connection_made(transport)
        self._crowd.add()

    def connection_lost(self, exc: BaseException | None) -> None:
        """End the connection, and wake the handlers that are waiting for it to end."""
        super().connection_lost(exc)
        self._crowd.remove()
        self.connection.ended = next_position()
        if not self.connection.closed_by_client:
            self.connection.closed_by_client = self.connection.ended
        if self._timeout is not None:
            self._timeout.cancel()
        self._drop_arrivals()
        if self._parse_task is not None:
            self._parse_task.cancel()
        if self._departure is not None and not self._departure.done():
            self._departure.set_result(None)

    def eof_received(self) -> bool:  # type: ignore[override]  # asyncio reads it; aiohttp returns None
        """Record that the client will send no more data.

        A client may close its side and still listen. Returns True, which keeps the connection open,
        if complete requests are waiting for their responses. Returns False over TLS, and while a
        handler is waiting for the client to disconnect. In these cases, a client that is still
        listening cannot be distinguished from one that has disconnected.
        """
        if self._departure is not None and not self._departure.done():
            return False
        if self.transport is None:
            return False
        is_idle = self.framing.count == self.response_count
        if not self._arrivals and (is_idle or self.framing.in_body):
            return False
        if self.transport.get_extra_info("sslcontext") is not None:
            # Close the connection, because asyncio cannot keep a TLS connection half-closed.
            return False
        self._is_half_closed = True
        self.connection.closed_by_client = next_position()
        return True

    def _has_failed(self) -> bool:
        """Return whether the socket has an error or has been closed."""
        if self.transport is None:
            return True
        connection = self.transport.get_extra_info("socket")
        if connection is None:
            return True
        return bool(connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """Send a response.

        If the client has closed its side, the connection ends after the last response.
        """
        outcome = await super().finish_response(request, resp, start_time)
        self.response_count += 1
        unanswered = self.framing.count - self.response_count
        if self._is_held_back and unanswered < MOST_UNANSWERED // 2:
            self._is_held_back = False
            if self._arrivals:
                if self._parse_task is None:
                    self._parse_task = asyncio.ensure_future(self._parse_in_slices())
            elif self.transport is not None:
                self.transport.resume_reading()
        if self._is_half_closed and unanswered <= 0 and not self._arrivals:
            self.close()
        elif unanswered > 0:
            # aiohttp starts the connection's next request immediately, so give long jobs a turn
            # first.
            async with LongJob():
                pass
        return outcome

    # --- Incoming data --------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Parse incoming data. A request fails as soon as a malformed part of its body arrives.

        If parsing takes longer than one time slice, the rest is parsed later, and no more data is
        read from the connection until then.
        """
        if not data:
            # Make this call even if there is no data, so that aiohttp continues with data that it
            # has already received.
            super().data_received(data)
            return
        if self._ignores_data():
            return
        self._arrivals.append(data)
        if self._parse_task is None and not self._is_held_back:
            # Parse short data without a time limit. With a limit, parsing would stop whenever the
            # system briefly suspends the process, and the next request on the connection would then
            # have to wait for all long jobs.
            if len(data) <= _SMALL:
                is_parsed = self._parse(inf)
            else:
                is_parsed = LongJob.takes_single_slice() and self._parse(perf_counter() + SLICE_S)
            if is_parsed:
                return
            self._parse_task = asyncio.ensure_future(self._parse_in_slices())
        if self.transport is not None:
            self.transport.pause_reading()

    def _ignores_data(self) -> bool:
        return self._refusal is not None or self._has_endless_response

    async def _parse_in_slices(self) -> None:
        """Parse the data that has arrived, one time slice after another, then resume reading."""
        try:
            async with LongJob() as job:
                while not self._parse(job.end_s) and not self._is_held_back:
                    await job.pause()
        finally:
            self._parse_task = None
        if self._is_held_back or self.transport is None:
            return
        self.transport.resume_reading()
        is_idle = self.response_count >= self.framing.count
        if self._is_half_closed and (self.framing.in_body or is_idle):
            self.close()

    def _parse(self, end_s: float) -> bool:
        """Parse the data that has arrived. Return whether all of it was parsed.

        Parsing stops when `perf_counter()` reaches `end_s`.
        """
        while self._arrivals and not self._is_held_back:
            if self._ignores_data():
                self._drop_arrivals()
                break
            if self._pieces is None:
                self._pieces = self.framing.cut(self._arrivals[0])
            for piece in self._pieces:
                super().data_received(piece)
                unanswered = self.framing.count - self.response_count
                if unanswered > MOST_UNANSWERED or perf_counter() >= end_s:
                    self._note_progress()
                    return False
            self._pieces = None
            self._arrivals.popleft()
            if self.framing.error is not None and self._refusal is None:
                self._refuse(self.framing.error)
            self._note_progress()
        return not self._arrivals

    def _drop_arrivals(self) -> None:
        self._arrivals.clear()
        self._pieces = None

    def _note_progress(self) -> None:
        """Pause reading if too many requests are waiting. Start or stop the timer for an incomplete
        request.
        """
        count = self.framing.count
        is_partial = self.framing.is_partial
        if count - self.response_count > MOST_UNANSWERED and self.transport is not None:
            self._is_held_back = True
            self.transport.pause_reading()
        has_limit = is_partial and not self._has_no_time_limit
        part = (count, self.framing.in_body)
        if self._timeout is not None and (not has_limit or self._timed_part != part):
            self._timeout.cancel()
            self._timeout = None
        if has_limit and self._timeout is None:
            loop = asyncio.get_running_loop()
            self._timeout = loop.call_later(self.request_timeout_s, self._refuse, _TOO_SLOW)
            self._timed_part = part

    def _refuse(self, message: str) -> None:
        self._refusal = message
        if self.framing.in_body:
            self._break_off_body()
        else:
            super().data_received(_INVALID_HEAD)

    def _break_off_body(self) -> None:
        """Fail the last request, whose body is malformed.

        The connection is closed after the response to this request.
        """
        if self._latest_request is not None and self._latest_number == self.framing.count:
            error = web.RequestPayloadError(self._refusal)
            self._latest_request.content.set_exception(error)

    # --- Errors ---------------------------------------------------------------------------------

    def log_exception(self, *args: Any, **options: Any) -> None:
        """Log a server error. Clients' mistakes and early disconnects are not logged."""
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
        """Return a response to a request that aiohttp refused or whose handler failed.

        The response closes the connection. Raises ConnectionError if no response can be sent.
        """
        if isinstance(exc, ConnectionError) and self.transport is None:
            # The client has disconnected, so nobody can receive a response. This is not a server
            # error.
            raise exc
        has_begun = request.writer.output_size > 0
        if status >= 500 and not (has_begun and isinstance(exc, ConnectionError)):
            _log.error("a response could not be created", exc_info=exc)
        if has_begun:
            raise ConnectionError("the response was already being sent") from exc
        if status >= 500:
            refusal = Refused("service_unavailable", "The service could not create a response.")
        else:
            refusal = Refused("invalid_request", self._refusal or _parse_error(exc))
        functions = self._functions
        reply = problem_reply(refusal, functions.request_id(), functions.docs_url(), DEFAULTS)
        response = web.Response(
            status=reply.status,
            body=reply.body,
            headers=[
                *reply.headers,
                ("Content-Type", reply.content_type),
                ("Date", formatdate(functions.date_s(), usegmt=True)),
            ],
        )
        response.force_close()
        return response


def _parse_error(error: BaseException | None) -> str:
    """Return the problem detail for an error from aiohttp's parser."""
    if isinstance(error, LineTooLong):
        return TOO_LONG
    if isinstance(error, BadStatusLine):
        # The framing has already checked the target and version, so the error must concern the
        # method.
        return NO_METHOD
    duplicate = _DUPLICATE_HEADER.search(str(error))
    if duplicate is not None:
        return f"The request has several {duplicate[1]} headers, but only one is allowed."
    return INVALID


def protocol_of(request: web.BaseRequest) -> HttpProtocol:
    """Return the protocol object that handles a request's connection."""
    protocol = request.protocol
    assert isinstance(protocol, HttpProtocol)
    return protocol
