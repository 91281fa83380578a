"""Reading request bodies: bounded, and with a refusal instead of an exception when they are broken."""

from __future__ import annotations

import asyncio
import zlib

from aiohttp import web

from hosting_emulator.contract.assumptions import CONDITIONS
from hosting_emulator.contract.problems import Refused
from hosting_emulator.engine.exchange import too_large

#: What a compressed body may become: so much in any case, else so many times what was sent. An
#: exported state of any size packs less than that; a few bytes that unpack without end do not pass.
_ALWAYS_UNPACKED, _HIGHEST_RATIO = 8 * 1024 * 1024, 50
#: A compressed body may be several, one after the other.
_MOST_MEMBERS = 64
_BROKEN = "The request body does not have the length, chunks or encoding that its headers announce."


async def read_body(
    request: web.BaseRequest, limit: int, too_long: str = CONDITIONS["body_too_long"]
) -> tuple[bytes, Refused | None]:
    """Return the body of at most `limit` bytes, or what is wrong with it (`too_long`: its code)."""
    if not request.can_read_body:
        return b"", None
    coding = request.headers.get("Transfer-Encoding", "chunked").lower()
    if coding != "chunked":  # aiohttp takes the chunks apart and leaves the rest as it is
        return b"", Refused("invalid_request", "The only allowed Transfer-Encoding is chunked.")
    announced = request.content_length
    if announced is not None and announced > limit:
        return b"", too_large(limit, too_long)
    if request.headers.get("Expect", "").lower() == "100-continue":
        await _invite(request)
    content = request.content
    body = bytearray()
    try:
        if content.is_eof():  # all of it is here already, as with most requests
            body += content.read_nowait()
        while not content.at_eof() and len(body) <= limit:
            body += await content.readany()
        unpacked = bytes(body)
        if encoding := request.headers.get("Content-Encoding"):
            limit = min(limit, max(_ALWAYS_UNPACKED, _HIGHEST_RATIO * len(body)))
            unpacked = await asyncio.to_thread(_unpack, unpacked, encoding.lower(), limit)
    except (web.RequestPayloadError, ValueError, zlib.error) as error:
        return b"", Refused("invalid_request", _BROKEN, why=type(error).__name__)
    if len(body) > limit or len(unpacked) > limit:
        return b"", too_large(limit, too_long)
    return unpacked, None


def _unpack(body: bytes, coding: str, limit: int) -> bytes:
    """Undo a Content-Encoding, but for what goes beyond the limit. Raises ValueError, zlib.error.

    aiohttp would do this as the bytes come, and let a request wait for the rest of a broken body.
    """
    if coding in ("br", "zstd"):
        raise ValueError(coding)
    if coding not in ("gzip", "deflate"):
        return body
    unpacked = b""
    for _ in range(_MOST_MEMBERS):
        if not body or len(unpacked) > limit:
            return unpacked
        if coding == "gzip":
            window = 16 + zlib.MAX_WBITS
        else:  # some clients leave the two bytes before the stream out
            window = zlib.MAX_WBITS if body[0] & 0x0F == 8 else -zlib.MAX_WBITS
        reader = zlib.decompressobj(window)
        unpacked += reader.decompress(body, limit + 1 - len(unpacked))
        if not reader.eof and len(unpacked) <= limit:
            raise ValueError("cut off")
        body = reader.unused_data
    raise ValueError("too many members")


async def _invite(request: web.BaseRequest) -> None:
    """Ask for the body of a client that waits to be asked (RFC 9110, 10.1.1)."""
    writer = request.writer
    await writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    writer.output_size = 0  # the answer itself has not begun
