"""HTTP itself: aiohttp's low-level server, with problem documents where it would answer plain text.

aiohttp parses and writes. Here is what it leaves open: requests that come too slowly or not whole,
clients that end their side, and refusals in the contract's form. Only asyncio's own protocol methods
and aiohttp's public ones are used. What a client does wrong is never an error in our log.
"""

from __future__ import annotations

import asyncio
import errno
import gc
import itertools
import logging
import resource
import socket
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from email.utils import formatdate
from math import inf
from time import perf_counter
from typing import Any

from aiohttp import web
from aiohttp.http_exceptions import BadStatusLine, HttpProcessingError, LineTooLong

from hosting_emulator.contract.assumptions import DEFAULTS
from hosting_emulator.contract.problems import Refused
from hosting_emulator.engine.connection import Connection, Passage
from hosting_emulator.engine.problem_replies import problem_reply
from hosting_emulator.http.framing import INVALID, NO_METHOD, TOO_LONG, RequestFraming
from hosting_emulator.http.time_slices import SLICE_S, LongJob

_log = logging.getLogger("hosting_emulator.http")
_positions = itertools.count(1)
#: How long a request may take from its first byte to its last, in seconds of real time. Clients on
#: the same machine take milliseconds; who takes longer than this holds a connection for nothing.
HALF_REQUEST_S = 60.0
#: With so many requests unanswered nothing more is read; aiohttp sees to it only in newer versions.
MOST_UNANSWERED = 64
#: A client that ends its side later than this, in seconds after its request, has given up: one that
#: only ends its side and still listens does so at once.
_PATIENCE_S = 0.1
#: Data of at most so many bytes is parsed at once, even while long jobs run.
_SMALL = 2048
_TOO_SLOW = "The request did not arrive completely in time."
#: No head can begin so: aiohttp refuses it, in its turn behind the requests before it.
_REFUSED_HEAD = b"\0\r\n\r\n"
#: As many connections as are worth having; some systems take no more than the second.
_ENOUGH = (65_536, 10_240)
_NO_MORE = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
#: The full house is said once in so many seconds of real time.
_PAUSE_S = 10.0
#: So many connections at once are a crowd, and so are so many one after another. It has gone when no
#: connection has come for so long, in seconds of real time, and few are left.
CROWD, MANY = 100, 1000
AFTER_S, _FEW = 5.0, CROWD // 20

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


def next_position() -> int:
    """Return the next position in the order of events on all connections (see Connection)."""
    return next(_positions)


class Protocol(web.RequestHandler):
    """One connection. Answers what cannot be parsed with `invalid_request`."""

    half_request_s = HALF_REQUEST_S

    def __init__(self, manager: Server, **options: Any) -> None:
        super().__init__(manager, **options)
        self.server, self.docs_url, self.refuse = manager, manager.docs_url, manager.refuse
        self.connection = Connection(next_position())
        self.framing = RequestFraming()
        #: How many requests are answered, and the one whose handler began last, which sets it.
        self.answered = 0
        self.begun: tuple[int, web.BaseRequest] | None = None
        #: Why the last request is refused. What follows it is not listened to.
        self.refusal: str | None = None
        #: The client will send nothing more.
        self.ended = False
        self.gone: asyncio.Future[None] | None = None
        #: Ends the patience with an unfinished request: which it is, and when.
        self.half: tuple[int, asyncio.TimerHandle] | None = None
        #: Nothing is read until some of what was asked is answered.
        self.held_back = False
        #: What comes now is never answered: an answer without an end is before it.
        self.endless = False
        #: Data that is not parsed yet, the pieces of the first of it, and the task that parses it.
        self._arrivals = deque[bytes]()
        self._pieces: Iterator[bytes] | None = None
        self._parsing: asyncio.Future[None] | None = None

    async def lost(self, within_s: float | None = None) -> None:
        """Wait until the client is gone, or until so many real seconds have passed.

        Who has ended its side counts as gone, unless there is a limit to the waiting.
        """
        if self.transport is None or (self.ended and within_s is None):
            return
        if within_s is None and not self.endless:
            # Over TLS asyncio tells of a client's end only where its bytes are read.
            self.endless = True
            self.resume_reading()
            self.transport.resume_reading()
        if self.gone is None:
            self.gone = asyncio.get_running_loop().create_future()
        await asyncio.wait((self.gone,), timeout=within_s)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin a connection."""
        super().connection_made(transport)
        self.server.count(1)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Tell whoever waits for the end of the connection."""
        super().connection_lost(exc)
        self.server.count(-1)
        self.connection.ended = next_position()
        self.connection.closed_by_client = self.connection.closed_by_client or self.connection.ended
        if self.half is not None:
            self.half[1].cancel()
        self._drop_arrivals()
        if self._parsing is not None:
            self._parsing.cancel()
        if self.gone is not None and not self.gone.done():
            self.gone.set_result(None)

    def eof_received(self) -> bool:  # type: ignore[override]  # asyncio asks; aiohttp never says
        """Take in that the client sends nothing more. True: it is still owed answers.

        Who waits for `lost` meets a client that has gone: one cannot tell it from one that listens.
        """
        waited_for = self.gone is not None and not self.gone.done()
        if waited_for or self.transport is None:
            return False
        idle = self.framing.count == self.answered
        if not self._arrivals and (idle or self.framing.in_body):
            return False
        if self.transport.get_extra_info("sslcontext") is not None:  # TLS has no half of a close
            return False
        self.ended = True
        self.connection.closed_by_client = next_position()
        return True

    def note_departure(self, passage: Passage) -> None:
        """Note that a whole response was handed to the connection.

        A client that ended its side may have closed the connection, or may still listen. If it has
        closed, the system refuses what was sent to it.
        """
        took_s = asyncio.get_running_loop().time() - passage.arrived_s
        if self.ended and took_s < _PATIENCE_S and not self._is_refused():
            self.connection.closed_by_client = 0
        passage.departure = next_position()

    def begin_passage(self) -> Passage:
        """Note that a request arrived, and return where its way is noted."""
        arrived_s = asyncio.get_running_loop().time()
        return Passage(self.connection, next_position(), arrived_s)

    def _is_refused(self) -> bool:
        opened = None if self.transport is None else self.transport.get_extra_info("socket")
        return opened is None or opened.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) != 0

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """Send an answer; the last one to a client that sends nothing more ends the connection."""
        sent = await super().finish_response(request, resp, start_time)
        self.answered += 1
        waiting = self.framing.count - self.answered
        if self.held_back and waiting < MOST_UNANSWERED // 2:
            self.held_back = False
            if self._arrivals:
                if self._parsing is None:
                    self._parsing = asyncio.ensure_future(self._parse_in_slices())
            elif self.transport is not None:
                self.transport.resume_reading()
        if self.ended and waiting <= 0 and not self._arrivals:
            self.close()
        elif waiting > 0:
            # aiohttp begins the next request of the connection at once.
            async with LongJob():
                pass
        return sent

    # --- what arrives, and what does not --------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Take in bytes. A body that breaks off in its middle fails its request at once.

        Bytes that take longer than a slice of time wait, and the connection is not read meanwhile.
        """
        if not data:  # aiohttp goes on with what it has
            super().data_received(data)
            return
        if self._ignores_data():
            return
        self._arrivals.append(data)
        if self._parsing is None and not self.held_back:
            # Small data is parsed completely even if the system suspends this process meanwhile. The
            # connection would otherwise wait for all long jobs before its next request is read.
            if len(data) <= _SMALL:
                is_parsed = self._parse(inf)
            else:
                is_parsed = LongJob.takes_single_slice() and self._parse(perf_counter() + SLICE_S)
            if is_parsed:
                return
            self._parsing = asyncio.ensure_future(self._parse_in_slices())
        if self.transport is not None:
            self.transport.pause_reading()

    def _ignores_data(self) -> bool:
        return self.refusal is not None or self.endless

    async def _parse_in_slices(self) -> None:
        """Parse what has arrived, a slice of time after the other, and read on."""
        try:
            async with LongJob() as job:
                while not self._parse(job.end_s) and not self.held_back:
                    await job.pause()
        finally:
            self._parsing = None
        if self.held_back or self.transport is None:
            return
        self.transport.resume_reading()
        if self.ended and (self.framing.in_body or self.answered >= self.framing.count):
            self.close()

    def _parse(self, end_s: float) -> bool:
        """Parse what has arrived until a moment of the performance counter. True: nothing is left."""
        while self._arrivals and not self.held_back:
            if self._ignores_data():
                self._drop_arrivals()
                break
            if self._pieces is None:
                self._pieces = self.framing.cut(self._arrivals[0])
            for piece in self._pieces:
                super().data_received(piece)
                unanswered = self.framing.count - self.answered
                if unanswered > MOST_UNANSWERED or perf_counter() >= end_s:
                    self._note_progress()
                    return False
            self._pieces = None
            self._arrivals.popleft()
            if self.framing.wrong is not None and self.refusal is None:
                self._refuse(self.framing.wrong)
            self._note_progress()
        return not self._arrivals

    def _drop_arrivals(self) -> None:
        self._arrivals.clear()
        self._pieces = None

    def _note_progress(self) -> None:
        """Hold the client back if too many requests wait, and be patient with a part of a request."""
        count, partial = self.framing.count, self.framing.partial
        if count - self.answered > MOST_UNANSWERED and self.transport is not None:
            self.held_back = True
            self.transport.pause_reading()
        if self.half is not None and (not partial or self.half[0] != count):
            self.half[1].cancel()
            self.half = None
        if partial and self.half is None:
            loop = asyncio.get_running_loop()
            self.half = (count, loop.call_later(self.half_request_s, self._refuse, _TOO_SLOW))

    def _refuse(self, message: str) -> None:
        self.refusal = message
        if self.framing.in_body:
            self.break_off_body()
        else:
            super().data_received(_REFUSED_HEAD)

    def break_off_body(self) -> None:
        """Fail the last request, whose body does not come. With its answer the connection closes."""
        if self.begun is not None and self.begun[0] == self.framing.count:
            self.begun[1].content.set_exception(web.RequestPayloadError(self.refusal))

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
        begun = request.writer.output_size > 0
        if status >= 500 and not (begun and isinstance(exc, ConnectionError)):
            _log.error("a response could not be created", exc_info=exc)
        if begun:
            raise ConnectionError("the response was already being sent") from exc
        if status >= 500:
            refused = Refused("service_unavailable", "The service could not create a response.")
        else:
            # Target and version were looked at before: of the line, only the method is left.
            wrong = NO_METHOD if isinstance(exc, BadStatusLine) else INVALID
            wrong = TOO_LONG if isinstance(exc, LineTooLong) else wrong
            refused = Refused("invalid_request", self.refusal or wrong)
        reply = problem_reply(refused, self.server.request_id(), self.docs_url(), DEFAULTS)
        response = web.Response(
            status=reply.status,
            body=reply.body,
            headers=[
                *reply.headers,
                ("Content-Type", reply.content_type),
                ("Date", formatdate(self.server.date_s(), usegmt=True)),
            ],
        )
        response.force_close()
        return response


def protocol_of(request: web.BaseRequest) -> Protocol:
    """Return the connection of a request."""
    protocol = request.protocol
    assert isinstance(protocol, Protocol)
    return protocol


class Server(web.Server):
    """Makes a `Protocol` for each connection. Problems that it writes itself point to `docs_url`,
    their Date shows `date_s`, in seconds since 1970, and `request_id` draws their request id.

    `refuse` lets every new connection be refused for so many seconds.
    """

    def __init__(
        self,
        handler: Handler,
        docs_url: Callable[[], str],
        date_s: Callable[[], int],
        request_id: Callable[[], str],
        refuse: Callable[[float], None],
    ) -> None:
        self.docs_url = docs_url
        self.date_s = date_s
        self.request_id = request_id
        self.refuse = refuse
        super().__init__(handler)
        #: How many connections there are; how many at most, and how many came, since a crowd left.
        self._open = self._most = self._came = 0
        self._waiting = False

    def count(self, more: int) -> None:
        """Count connections; what a crowd has left is cleared away once it is gone."""
        self._open += more
        self._most = max(self._most, self._open)
        self._came += max(0, more)
        if not self._waiting and (self._most >= CROWD or self._came >= MANY):
            self._waiting = True
            asyncio.get_running_loop().call_later(AFTER_S, self._look, self._came)

    def _look(self, came: int) -> None:
        if self._came > came or self._open > _FEW:
            asyncio.get_running_loop().call_later(AFTER_S, self._look, self._came)
            return
        self._most, self._came, self._waiting = self._open, 0, False
        give_back()

    def __call__(self) -> Protocol:
        """Return the protocol of a new connection."""
        loop = asyncio.get_running_loop()
        return Protocol(self, loop=loop, access_log=None, logger=_log, auto_decompress=False)


def give_back() -> None:
    """Collect garbage, and let the allocator return what is free, where it can (glibc).

    It keeps what was freed between things that stay: a process that had five hundred clients at once
    would look for good as if they were still there.
    """
    import ctypes  # few processes ever have a crowd

    gc.collect()
    with suppress(OSError, TypeError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def raise_limit() -> None:
    """Let this process open as many files as it may; shells begin with 256 or 1024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for enough in _ENOUGH:
        wanted = enough if hard == resource.RLIM_INFINITY else min(enough, hard)
        if 0 <= soft < wanted:
            try:
                resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            except (ValueError, OSError):
                continue
        return


class TooManyFiles:
    """Says in one line that no file is left for a connection: `loop.set_exception_handler(…)`.

    The connection waits with the system and is taken in later, by asyncio.
    """

    def __init__(self) -> None:
        self._said_at: float | None = None

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Handle what an event loop cannot; all else is left to it."""
        error = context.get("exception")
        if self._said_at is not None and "_start_serving" in repr(context.get("handle")):
            return  # asyncio tries again to accept, though we have stopped meanwhile
        if not isinstance(error, OSError) or error.errno not in _NO_MORE:
            loop.default_exception_handler(context)
            return
        now = loop.time()
        if self._said_at is None or now >= self._said_at + _PAUSE_S:
            self._said_at = now
            _log.warning("no more connections can be accepted for now: %s", error.strerror)
