"""Converts exchanges from the request log to HTTP Archive (HAR) 1.2 entries."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from urllib.parse import parse_qsl

from hosting_emulator.contract.calls import REDEEM_TICKET
from hosting_emulator.engine.exchange import Entry
from hosting_emulator.messages import HeaderValues, JsonObject, Message, WholeExchange

_PHRASES = {status.value: status.phrase for status in HTTPStatus}


def har_entry(
    prefix: str, entry: Entry, exchange: WholeExchange, delivered: WholeExchange
) -> JsonObject:
    """Return the HAR entry for an exchange.

    `prefix` is the part of the world's URL before the path. `entry` is the exchange's log entry,
    and `exchange` is a view of the exchange without secrets. `delivered` is a view of the exchange
    whose response the client received.
    """
    duration_ms = exchange.duration_us / 1000
    return {
        "startedDateTime": exchange.at,
        "time": duration_ms,
        "request": _har_request(prefix, exchange),
        "response": _har_response(delivered),
        "cache": {},
        "timings": {"send": 0, "wait": duration_ms, "receive": 0},
        "comment": "; ".join(exchange.why),
        "_resourceType": "fetch",
        "_number": exchange.n,
        "_call": exchange.call,
        "_user": exchange.user,
        "_principal": _har_principal(entry),
        "_lost": delivered.lost,
        "_trail": exchange.trail,
    }


def _har_request(prefix: str, exchange: WholeExchange) -> JsonObject:
    message = exchange.request
    parameters = parse_qsl(exchange.query, keep_blank_values=True)
    request = {
        "method": exchange.method,
        "url": _url(prefix, exchange),
        "httpVersion": "HTTP/1.1",
        # The list of cookies is empty, because cookie values are secret.
        "cookies": [],
        "headers": _named_values(message.headers),
        "queryString": _named_values(parameters),
        "headersSize": -1,
        "bodySize": message.body_bytes,
    }
    if message.body_bytes:
        request["postData"] = _content(message)
    return request


def _url(prefix: str, exchange: WholeExchange) -> str:
    host = HeaderValues(exchange.request.headers).get("host", "")
    if exchange.call == REDEEM_TICKET and host.startswith("dev-"):
        prefix = f"https://{host}"
    # The URL that a request such as OPTIONS * refers to has no path (RFC 9112, section 3.3).
    url = prefix if exchange.path == "*" else prefix + exchange.path
    if exchange.query:
        url += f"?{exchange.query}"
    return url


def _har_response(exchange: WholeExchange) -> JsonObject:
    message = exchange.response
    comment = ""
    if exchange.lost:
        comment = (
            "The client did not receive a complete and valid response, because the "
            f"{exchange.lost} fault acted."
        )
    return {
        "status": exchange.status,
        "statusText": _PHRASES.get(exchange.status, ""),
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _named_values(message.headers),
        "content": {"size": message.body_bytes, **_content(message)},
        "redirectURL": HeaderValues(message.headers).get("location", ""),
        "headersSize": -1,
        "bodySize": message.body_bytes,
        # Without this member, Chromium would add -1, for the unknown size of the headers, to the
        # size of the body.
        "_transferSize": message.body_bytes,
        "comment": comment,
    }


def _har_principal(entry: Entry) -> JsonObject | None:
    """Return the ids of the caller who sent a request, or None if the request was not authenticated."""
    principal = entry.principal
    if not principal:
        return None
    permissions = None
    if principal.permissions is not None:
        permissions = sorted(principal.permissions)
    return {
        "user": principal.user_id,
        "organization": principal.organization_id,
        "interactive": principal.interactive,
        "api_key": principal.api_key_id,
        "permissions": permissions,
    }


def _content(message: Message) -> dict[str, str]:
    comment = ""
    if message.body is None:
        comment = "The body is not text and is omitted."
    elif message.body_cut and not message.body:
        comment = "The body was not kept."
    elif message.body_cut:
        comment = "Only the beginning of the body is included."
    media_type = HeaderValues(message.headers).get("content-type", "")
    return {"mimeType": media_type, "text": message.body or "", "comment": comment}


def _named_values(pairs: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in pairs]
