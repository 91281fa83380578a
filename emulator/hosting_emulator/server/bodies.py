"""Reading request bodies: bounded, and with a refusal instead of an exception when they are broken."""

from __future__ import annotations

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from hosting_emulator.contract.problems import Refused
from hosting_emulator.engine.exchange import too_large


async def read_body(request: web.BaseRequest, limit: int) -> tuple[bytes, Refused | None]:
    """Return the body of at most `limit` bytes, or what is wrong with it."""
    if not request.can_read_body:
        return b"", None
    coding = request.headers.get("Transfer-Encoding", "chunked").lower()
    if coding != "chunked":  # aiohttp takes the chunks apart and leaves the rest as it is
        return b"", Refused(
            "invalid_request", "The only Transfer-Encoding that a request may have is chunked."
        )
    announced = request.content_length
    if announced is not None and announced > limit:
        return b"", too_large(limit)
    if request.headers.get("Expect", "").lower() == "100-continue":
        await _invite(request)
    content = request.content
    body = bytearray()
    try:
        if content.is_eof():  # all of it is here already, as with most requests
            body += content.read_nowait()
        while chunk := await content.readany():
            body += chunk
            if len(body) > limit:
                break
    except (HttpProcessingError, web.RequestPayloadError, ValueError) as error:
        reason = type(error).__name__
        return b"", Refused(
            "invalid_request",
            "The request body does not have the length, chunks or encoding that its headers announce.",
            why=reason,
        )
    if len(body) > limit:
        return b"", too_large(limit)
    return bytes(body), None


async def _invite(request: web.BaseRequest) -> None:
    """Ask for the body of a client that waits to be asked (RFC 9110, 10.1.1)."""
    writer = request.writer
    await writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    writer.output_size = 0  # the answer itself has not begun
