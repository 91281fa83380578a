"""Creates responses for the control API and for pages.

Responses of the public API are created in the `ready_responses` module.
"""

from __future__ import annotations

from collections.abc import Iterable
from email.utils import formatdate
from functools import lru_cache
from io import BytesIO
from json import dumps
from typing import Any, Final

import msgspec
from aiohttp import web

from hosting_emulator.build_id import FULL_VERSION
from hosting_emulator.http.time_slices import LongJob

#: The maximum number of characters in a problem's detail, because the detail may quote a long part
#: of the request.
_LONGEST_DETAIL: Final = 2_000
_PIECE_BYTES: Final = 64 * 1024
#: The name of this server in responses of the public API.
SERVER: Final = "hosting-emulator"
_encode_unicode = msgspec.json.Encoder(enc_hook=str).encode
_OWN_HEADERS: Final = {
    # If a request is refused, a client can read from this header that the server has a different
    # version.
    "Server": f"{SERVER}/{FULL_VERSION}",
    # These headers prevent pages from other sites from loading a response as a script, image or
    # style sheet, and from controlling a window that shows one of the emulator's pages.
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


def _encode(document: Any) -> bytes:
    """Encode a document as JSON.

    A path that is not valid Unicode contains lone surrogates, which msgspec refuses. They are
    written as escape sequences such as `\\udce9`, so that a client can restore the path's bytes.
    """
    try:
        return _encode_unicode(document)
    except UnicodeEncodeError:
        plain_values = msgspec.to_builtins(document, enc_hook=str)
        return dumps(plain_values, separators=(",", ":")).encode()


def _headers(content_type: str, headers: dict[str, str]) -> dict[str, str]:
    """Return all headers for a response.

    In the names of `headers`, an underscore stands for a hyphen.
    """
    named_headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return {**named_headers, "Content-Type": content_type, **_OWN_HEADERS}


class _BodyInPieces(BytesIO):
    """A long body that aiohttp sends in pieces.

    If the body were `bytes`, all of it would be copied to a buffer at once.
    """

    source: object = None


class _LongResponse(web.Response):
    """A response whose body is sent in pieces. `content` is the complete body."""

    def __init__(
        self, status: int, content: bytes, headers: dict[str, str], *, source: object
    ) -> None:
        pieces = _BodyInPieces(content)
        pieces.source = source
        super().__init__(status=status, body=pieces, headers=headers)
        self.content = content


def raw(
    status: int, body: bytes, content_type: str, *, source: object = None, **headers: str
) -> web.Response:
    """Return a response with this status, body and content type.

    `source` is kept alive while a long body is being sent.
    """
    all_headers = _headers(content_type, headers)
    if len(body) <= _PIECE_BYTES:
        return web.Response(status=status, body=body, headers=all_headers)
    return _LongResponse(status, body, all_headers, source=source)


def complete_body(response: web.Response) -> bytes:
    """Return the body of a response from this module, whether or not it is sent in pieces."""
    if isinstance(response, _LongResponse):
        return response.content
    if isinstance(response.body, bytes):
        return response.body
    return b""


def json(
    document: Any, status: int = 200, content_type: str = "application/json", **headers: str
) -> web.Response:
    """Return a JSON response that must not be cached."""
    return raw(status, _encode(document), content_type, Cache_Control="no-store", **headers)


def stream(content_type: str, **headers: str) -> web.StreamResponse:
    """Return a response whose body the handler writes in pieces."""
    all_headers = _headers(content_type, {"Cache_Control": "no-store", **headers})
    return web.StreamResponse(headers=all_headers)


async def json_list(
    request: web.BaseRequest,
    document: Any,
    name: str,
    items: Iterable[Any],
    **headers: str,
) -> web.StreamResponse:
    """Return `document` as a JSON response, with `items` as a list in its member `name`.

    `items` can be an iterator that takes up to a millisecond for each item. Other requests can be
    handled between items. A long list is sent while it is being encoded, so that it is never in
    memory as a whole. Raises ConnectionResetError if the client disconnects.
    """
    empty_list = _encode({name: []})[1:-1]
    start, _, end = _encode(document).partition(empty_list)
    text = bytearray(start + empty_list[:-1])
    response: web.StreamResponse | None = None
    separator = b""
    async with LongJob() as job:
        for item in items:
            if request.transport is None:
                raise ConnectionResetError("the client has disconnected")
            text += separator + _encode(item)
            separator = b","
            if len(text) > _PIECE_BYTES:
                # Let other jobs run, because the client may be reading slowly.
                job.suspend()
                if response is None:
                    response = stream("application/json", **headers)
                    await response.prepare(request)
                await response.write(bytes(text))
                text.clear()
            await job.pause()
    text += b"]" + end
    if response is None:
        return raw(200, bytes(text), "application/json", Cache_Control="no-store", **headers)
    await response.write_eof(bytes(text))
    return response


def problem(status: int, title: str, detail: str, **headers: str) -> web.Response:
    """Return a control API problem, with a link to the API's documentation.

    Problems of the public API are created by the engine.
    """
    if len(detail) > _LONGEST_DETAIL:
        detail = detail[:_LONGEST_DETAIL] + "…"
    document = {
        "type": "about:blank",
        "title": title,
        "status": status,
        "detail": detail,
        "documentation": "/_emulator/docs/control-api",
    }
    headers = {"Link": '</_emulator/openapi.json>; rel="service-desc"', **headers}
    return json(document, status, "application/problem+json", **headers)


def redirect(location: str) -> web.Response:
    """Return a response that redirects a browser with GET (RFC 9110, section 15.4.4), without a referrer."""
    response = raw(
        303,
        b"",
        "text/plain; charset=utf-8",
        Location=location,
        Cache_Control="no-store",
        Referrer_Policy="no-referrer",
    )
    return keep_opener(response)


def keep_opener(response: web.Response) -> web.Response:
    """Let the page that opened this window keep access to it after this response.

    Apps that open the sign-in page in a popup window need this.
    """
    response.headers["Cross-Origin-Opener-Policy"] = "unsafe-none"
    return response


def html(
    text: str, policy: str, status: int = 200, referrer: str = "no-referrer", **headers: str
) -> web.Response:
    """Return a response with a page and its content security policy.

    A page whose form is submitted to this server needs the `same-origin` referrer policy. With
    `no-referrer`, browsers send the Origin `null`, which the guard refuses.
    """
    return raw(
        status,
        # A path in the text may not be valid Unicode.
        text.encode(errors="replace"),
        "text/html; charset=utf-8",
        Cache_Control="no-cache",
        Content_Security_Policy=policy,
        Referrer_Policy=referrer,
        **headers,
    )


@lru_cache(maxsize=64)  # each world can have its own time
def http_date(second: int) -> str:
    """Return the value of the Date header for a time in seconds since 1970 (RFC 9110, section 5.6.7)."""
    return formatdate(second, usegmt=True)


def dated(response: web.Response, second: int) -> web.Response:
    """Set a response's Date header, because aiohttp would otherwise set it to the real time."""
    response.headers["Date"] = http_date(second)
    return response
