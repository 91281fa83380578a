"""Creates the headers, preflight responses and refusals for requests from other origins (CORS).

The guard decides which origins are allowed.
"""

from __future__ import annotations

from typing import Final

from aiohttp import web

from hosting_emulator.contract.problems import Refused

#: How long a browser may reuse a preflight response, in seconds.
_MAX_AGE_S: Final = 600


def cors_headers(origin: str) -> list[tuple[str, str]]:
    """Return the headers that allow a page from the origin to read a response."""
    return [
        ("Access-Control-Allow-Origin", origin),
        ("Access-Control-Expose-Headers", "X-Request-Id, Retry-After"),
        ("Vary", "Origin"),
    ]


def preflight_response(request: web.BaseRequest, origin: str) -> web.Response | None:
    """Return the response to a preflight request from an allowed origin, or None if this is not a
    preflight.
    """
    if not _is_preflight(request):
        return None
    headers = {
        **dict(cors_headers(origin)),
        "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
        "Access-Control-Allow-Headers": "Authorization, Content-Type, Idempotency-Key, X-Request-Id",
        "Access-Control-Max-Age": str(_MAX_AGE_S),
    }
    if "Access-Control-Request-Private-Network" in request.headers:
        headers["Access-Control-Allow-Private-Network"] = "true"
    return web.Response(status=204, headers=headers)


def preflight_refusal(request: web.BaseRequest) -> Refused | None:
    """Return the refusal of a preflight from an origin that is not allowed, or None if this is not
    a preflight.
    """
    if not _is_preflight(request):
        return None
    return Refused(
        "forbidden",
        origin_refusal(request.headers.get("Origin", "")),
        why="the browser reports a CORS error to the page",
        action="Start the emulator with --allow-origin and the page's origin.",
    )


def origin_refusal(origin: str) -> str:
    """Return the problem detail for requests from an origin that is not allowed."""
    return (
        f"Requests from pages on the origin {origin[:80]!r} are not allowed. To allow them, use "
        "`start --allow-origin`."
    )


def _is_preflight(request: web.BaseRequest) -> bool:
    """Return whether a request is a CORS preflight request."""
    return request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers
