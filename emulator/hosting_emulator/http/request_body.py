"""Reads request bodies within limits.

A malformed body is reported by returning a refusal, not by raising an exception.
"""

from __future__ import annotations

import asyncio
import re
import zlib
from typing import Final

from aiohttp import StreamReader, web

from hosting_emulator.contract.assumptions import DEFAULTS, Assumptions
from hosting_emulator.contract.problems import Refused
from hosting_emulator.engine.problem_replies import too_large
from hosting_emulator.faults.uploads import UploadLimits
from hosting_emulator.http.protocol import protocol_of

#: Any compressed body may decompress to this many bytes. A longer result is allowed only if it is
#: at most `_HIGHEST_RATIO` times as long as the body, so that a small body cannot decompress to a
#: huge one. Exported states of any size have a lower ratio.
_ALWAYS_UNPACKED: Final = 8 * 1024 * 1024
_HIGHEST_RATIO: Final = 50
#: The maximum number of gzip members in a body (RFC 1952, section 2.2).
_MOST_MEMBERS: Final = 64
#: Common content codings that change a body (RFC 9110, section 8.4.1).
_KNOWN_CODINGS: Final = frozenset(
    {"gzip", "x-gzip", "deflate", "compress", "x-compress", "br", "zstd"}
)
#: A recipient should treat this name as the other one (RFC 9110, section 8.4.1.3).
_CODING_ALIASES: Final = {"x-gzip": "gzip"}
_BROKEN: Final = (
    "The request body does not have the length, chunks or encoding that its headers announce."
)


class _UnsupportedCoding(ValueError):
    """Raised if a body has a content coding that cannot be decoded. The message is a problem's detail."""


async def read_body(
    request: web.BaseRequest,
    limit: int,
    assumptions: Assumptions = DEFAULTS,
    upload: UploadLimits | None = None,
) -> tuple[bytes, Refused | None]:
    """Return a request's body, and a refusal or, if the body is accepted, None.

    A body is refused if it is malformed or longer than `limit` bytes.

    `upload` contains the limits that a fault imposes. If the fault truncates the body, the part
    that arrived is returned.
    """
    if not request.can_read_body:
        return b"", None
    coding = request.headers.get("Transfer-Encoding", "chunked").lower()
    if coding != "chunked":
        # Refuse other transfer codings, because aiohttp can decode only chunked bodies.
        return b"", Refused("invalid_request", "The only allowed Transfer-Encoding is chunked.")
    content = request.content
    if not content.is_eof():
        announced = request.content_length
        if announced is not None and announced > limit:
            return b"", too_large(limit, assumptions)
        if request.headers.get("Expect", "").lower() == "100-continue":  # RFC 9110, section 10.1.1
            await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            # Reset the size. Otherwise aiohttp would conclude that the response has already
            # started.
            request.writer.output_size = 0
    try:
        if upload is not None:
            body = await _read_slowly(request, limit, upload)
            if upload.most_bytes is not None:
                return body, None
        elif content.is_eof():
            # This fast path is for bodies that have already arrived completely, as most have.
            body = content.read_nowait()
        else:
            body = await _read_rest(content, limit)
        unpacked = body
        encoding = ", ".join(request.headers.getall("Content-Encoding", ()))
        if encoding:
            limit = min(limit, max(_ALWAYS_UNPACKED, _HIGHEST_RATIO * len(body)))
            unpacked = await asyncio.to_thread(_unpack, body, encoding.lower(), limit)
    except _UnsupportedCoding as unsupported:
        return b"", Refused("invalid_request", str(unsupported))
    except (web.RequestPayloadError, ValueError, zlib.error) as error:
        return b"", Refused("invalid_request", _BROKEN, why=type(error).__name__)
    if len(body) > limit or len(unpacked) > limit:
        return b"", too_large(limit, assumptions)
    return unpacked, None


async def _read_rest(content: StreamReader, limit: int) -> bytes:
    """Read a body as it arrives, until it ends or exceeds the limit."""
    body = bytearray()
    while not content.at_eof() and len(body) <= limit:
        body += await content.readany()
    return bytes(body)


async def _read_slowly(request: web.BaseRequest, limit: int, upload: UploadLimits) -> bytes:
    """Read a body within the limits that a fault imposes.

    A fault can truncate even a body that has already arrived completely.
    """
    content = request.content
    rate = upload.bytes_per_second
    most = limit + 1
    if upload.most_bytes is not None:
        announced = request.content_length
        most = upload.most_bytes if announced is None else upload.bytes_to_read(announced)
    piece = most if rate is None else max(1, rate // 10)  # ten pieces per second
    loop = asyncio.get_running_loop()
    began_s = loop.time()
    body = bytearray()
    while len(body) < most and not content.at_eof():
        body += await content.read(min(piece, most - len(body)))
        if rate is not None:
            with protocol_of(request).without_time_limit():
                await asyncio.sleep(began_s + len(body) / rate - loop.time())
    if upload.most_bytes is not None and content.is_eof():
        body += content.read_nowait()
    return bytes(body)


def _unpack(body: bytes, coding: str, limit: int) -> bytes:
    """Decode a body that has this content coding. Stop when the result exceeds `limit` bytes.

    A body with an unknown coding is returned unchanged. Raises _UnsupportedCoding for a known coding
    that cannot be decoded here, alone or in a list, and ValueError or zlib.error for a malformed body.
    aiohttp's own decoder is not used, because it would keep the request waiting for the rest of a
    malformed body.
    """
    coding = _CODING_ALIASES.get(coding, coding)
    names = re.split("[ \t]*,[ \t]*", coding)
    is_decodable = coding in ("gzip", "deflate")
    if not is_decodable and not _KNOWN_CODINGS.isdisjoint(names):
        raise _UnsupportedCoding(
            f"The Content-Encoding {coding[:80]!r} is not supported; use gzip or deflate."
        )
    if not is_decodable:
        return body
    unpacked = b""
    for _ in range(_MOST_MEMBERS):
        if not body or len(unpacked) > limit:
            return unpacked
        reader = zlib.decompressobj(_window_bits(coding, body))
        unpacked += reader.decompress(body, limit + 1 - len(unpacked))
        if not reader.eof and len(unpacked) <= limit:
            raise ValueError("cut off")
        body = reader.unused_data
    raise ValueError("too many members")


def _window_bits(coding: str, body: bytes) -> int:
    """Return zlib's `wbits` argument for a compressed body."""
    if coding == "gzip":
        return 16 + zlib.MAX_WBITS
    # Some clients omit the two bytes of the zlib header.
    has_header = body[0] & 0x0F == 8
    return zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS
