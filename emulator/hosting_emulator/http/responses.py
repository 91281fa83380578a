"""Creates the responses of the control API and of the pages.

The `ready_responses` module creates the responses of the public API.
"""

from __future__ import annotations

from collections.abc import Iterable
from email.utils import formatdate
from functools import lru_cache
from io import BytesIO
from typing import Any, Final

import msgspec
from aiohttp import web

from hosting_emulator.build_id import FULL_VERSION
from hosting_emulator.http.time_slices import LongJob

#: The maximum number of characters in a problem's detail, which can quote a long part of the
#: request.
_LONGEST_DETAIL: Final = 2_000
_PIECE_BYTES: Final = 64 * 1024
#: The name of this server in the responses of the public API.
SERVER: Final = "hosting-emulator"
_encode = msgspec.json.Encoder(enc_hook=str).encode
_OWN_HEADERS: Final = {
    # A client with a different version reads the server's version from this header when a request
    # is refused.
    "Server": f"{SERVER}/{FULL_VERSION}",
    # These headers prevent pages of other sites from loading a response as a script, image or style
    # sheet, and from controlling a window that shows a page of the emulator.
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


def _headers(content_type: str, headers: dict[str, str]) -> dict[str, str]:
    """Return all headers of a response.

    In the names of `headers`, an underscore stands for a hyphen.
    """
    named_headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return {**named_headers, "Content-Type": content_type, **_OWN_HEADERS}


class _BodyInPieces(BytesIO):
    """A long body that aiohttp sends in pieces.

    A `bytes` body would be copied to a buffer as a whole instead.
    """

    source: object = None


def raw(
    status: int, body: bytes, content_type: str, *, source: object = None, **headers: str
) -> web.Response:
    """Return a response with the given status, body and content type.

    `source` is kept in memory while a long body is being sent.
    """
    all_headers = _headers(content_type, headers)
    if len(body) <= _PIECE_BYTES:
        return web.Response(status=status, body=body, headers=all_headers)
    pieces = _BodyInPieces(body)
    pieces.source = source
    return web.Response(status=status, body=pieces, headers=all_headers)


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
    """Return `document` as a JSON response, with `items` as the list in the member that `name` names.

    `items` can be an iterator that takes up to a millisecond for each item. Other requests can be
    handled between two items. A long list is sent while it is encoded, so the whole text is never
    in memory. Raises ConnectionResetError if the client disconnects.
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
                # Let other jobs run, because the client may read slowly.
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
    """Return a control API problem, with the URL of the API's documentation.

    The engine creates the problems of the public API.
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
    """Allow the page that opened a window to keep access to the window after this response.

    Apps that open the sign-in page in a new window need this access.
    """
    response.headers["Cross-Origin-Opener-Policy"] = "unsafe-none"
    return response


def html(
    text: str, policy: str, status: int = 200, referrer: str = "no-referrer", **headers: str
) -> web.Response:
    """Return a response with a page and a content security policy.

    A page with a form that is sent to this server needs the `same-origin` referrer policy. Under
    the `no-referrer` policy, a browser sends the Origin `null`, which the guard refuses.
    """
    return raw(
        status,
        text.encode(),
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
    """Set the Date header of a response, because aiohttp would set it to the machine's time."""
    response.headers["Date"] = http_date(second)
    return response
