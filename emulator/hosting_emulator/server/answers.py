"""Writing HTTP answers: the one place that makes responses."""

from __future__ import annotations

from collections.abc import AsyncIterable
from typing import Any

import msgspec
from aiohttp import Payload, web
from aiohttp.abc import AbstractStreamWriter

from hosting_emulator import __version__
from hosting_emulator.server.ready_response import SERVER

#: What is wrong with a request is said in so many characters, however long its own words are.
LONGEST_DETAIL = 2_000
_PIECE = 64 * 1024
#: A client of another version says so where something is refused.
_SERVER = f"{SERVER}/{__version__}"
#: The control API in words, and as an OpenAPI document: each of its refusals says where.
DOCUMENTATION, DESCRIPTION = "/_emulator/docs/control-api", "/_emulator/openapi.json"
_encode = msgspec.json.Encoder(enc_hook=str).encode
#: No page of another site may take an answer for its script, picture or style, or hold our window.
_KEPT_FROM_OTHER_SITES = {
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class _InPieces(Payload):
    """A body of which each piece leaves when the one before has; as bytes it would wait in memory."""

    def __init__(self, body: bytes, kept: object) -> None:
        super().__init__(body)
        self._body = body
        self._kept = kept

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return len(self._body)

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """Return it as text."""
        return self._body.decode(encoding, errors)

    async def write(self, writer: AbstractStreamWriter) -> None:
        """Send it; raises ConnectionError when the client is gone."""
        for at in range(0, len(self._body), _PIECE):
            await writer.write(self._body[at : at + _PIECE])


def raw(
    status: int, body: bytes, content_type: str, *, kept: object = None, **headers: str
) -> web.Response:
    """Answer bytes. What is `kept` lives as long as they are being sent, if they are many."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    named |= {"Content-Type": content_type, "Server": _SERVER, **_KEPT_FROM_OTHER_SITES}
    sent = _InPieces(body, kept) if len(body) > _PIECE else body
    return web.Response(status=status, body=sent, headers=named)


def json(document: Any, status: int = 200) -> web.Response:
    """Answer a JSON document that must not be cached."""
    return raw(status, _encode(document), "application/json", Cache_Control="no-store")


def stream(content_type: str, **headers: str) -> web.StreamResponse:
    """Return the beginning of an answer that goes on as long as its handler writes."""
    named = {"Content-Type": content_type, "Cache-Control": "no-store", "Server": _SERVER}
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    return web.StreamResponse(headers=named | _KEPT_FROM_OTHER_SITES)


async def json_list(
    request: web.BaseRequest,
    document: Any,
    name: str,
    items: AsyncIterable[Any],
    **headers: str,
) -> web.StreamResponse:
    """Answer a JSON document with its list `name`, which is empty in it, of `items`.

    A long one is sent while it is made, as fast as its reader reads: it is never there whole.
    Raises ConnectionError when the client is gone.
    """
    empty = _encode({name: []})[1:-1]
    before, _, after = _encode(document).partition(empty)
    text, sent, comma = bytearray(before + empty[:-1]), None, b""
    async for item in items:
        if request.transport is None:
            raise ConnectionResetError("the client is gone")
        text += comma + _encode(item)
        comma = b","
        if len(text) > _PIECE:
            if sent is None:
                sent = stream("application/json", **headers)
                await sent.prepare(request)
            await sent.write(bytes(text))
            text.clear()
    text += b"]" + after
    if sent is None:
        return raw(200, bytes(text), "application/json", Cache_Control="no-store", **headers)
    await sent.write_eof(bytes(text))
    return sent


def problem(status: int, title: str, detail: str, **headers: str) -> web.Response:
    """Answer a problem of the control API (the public API's come from the core), and where to read."""
    if len(detail) > LONGEST_DETAIL:
        detail = detail[:LONGEST_DETAIL] + "…"
    document = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    document |= {"documentation": DOCUMENTATION}
    headers = {"Link": f'<{DESCRIPTION}>; rel="service-desc"', **headers}
    return raw(
        status, _encode(document), "application/problem+json", Cache_Control="no-store", **headers
    )


def redirect(location: str, **headers: str) -> web.Response:
    """Send a browser elsewhere, with GET (RFC 9110, 15.4.4), and without saying where from."""
    kept = {"Cache_Control": "no-store", "Referrer_Policy": "no-referrer", **headers}
    response = raw(303, b"", "text/plain; charset=utf-8", Location=location, **kept)
    return keep_opener(response)


def keep_opener(response: web.Response) -> web.Response:
    """Let the window that opened this answer's window keep hold of it: an app's sign-in popup."""
    response.headers["Cross-Origin-Opener-Policy"] = "unsafe-none"
    return response


def html(
    text: str, policy: str, status: int = 200, referrer: str = "no-referrer", **headers: str
) -> web.Response:
    """Answer a page under a content security policy.

    A page whose form is sent here needs the referrer policy `same-origin`: under `no-referrer` a
    browser sends the Origin `null`, which the guard refuses.
    """
    return raw(
        status,
        text.encode(),
        "text/html; charset=utf-8",
        Content_Security_Policy=policy,
        Referrer_Policy=referrer,
        Cache_Control="no-cache",
        **headers,
    )
