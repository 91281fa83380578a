"""HTTP itself: aiohttp's low-level server, with problem documents where it would answer plain text.

What aiohttp's parser refuses never reaches a handler; it is answered here, so that even a broken
request gets a problem in the contract's form.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web
from aiohttp.http_exceptions import (
    BadHttpMethod,
    ContentLengthError,
    LineTooLong,
    TransferEncodingError,
)
from aiohttp.web_protocol import _ErrInfo

from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.problems import Refused
from hosting_emulator.engine.problem_documents import CONTENT_TYPE, problem_document

_log = logging.getLogger("hosting_emulator.http")
_broken_requests = itertools.count(1)
#: Broken requests have no Host to answer by.
_DOCS = "/_emulator/docs"


class Protocol(web.RequestHandler):
    """One connection. Answers what cannot be parsed with `invalid_request`."""

    _lost: asyncio.Future[None] | None = None

    async def lost(self, within_s: float | None = None) -> None:
        """Wait until the client is gone, or until so many real seconds have passed."""
        if self.transport is None:
            return
        if self._lost is None:
            self._lost = asyncio.get_running_loop().create_future()
        await asyncio.wait((self._lost,), timeout=within_s)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Tell whoever waits for the end of the connection."""
        super().connection_lost(exc)
        if self._lost is not None and not self._lost.done():
            self._lost.set_result(None)

    def data_received(self, data: bytes) -> None:
        """Take in bytes. A body that breaks off in its middle fails its request at once."""
        super().data_received(data)
        if self._messages and isinstance(self._messages[-1][0], _ErrInfo):
            self._fail_unfinished_body()

    def _fail_unfinished_body(self) -> None:
        # aiohttp would let the request wait for the rest of a body that can no longer be parsed.
        waiting = [payload for _, payload in self._messages]
        if self._current_request is not None:
            waiting.append(self._current_request.content)
        for payload in waiting:
            if not payload.is_eof():
                payload.set_exception(TransferEncodingError("broken body"))
                self._messages.pop()  # the request's own answer says what was wrong
                self._lingering_time = 0.0
                self.close()
                return

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Answer a request that aiohttp refused, or a handler that failed; then close."""
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

    def __init__(self, handler: Handler) -> None:
        self._options: dict[str, Any] = {"access_log": None, "logger": _log}
        super().__init__(handler, **self._options)

    def __call__(self) -> Protocol:
        """Return the protocol of a new connection."""
        return Protocol(self, loop=asyncio.get_running_loop(), **self._options)
