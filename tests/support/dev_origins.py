"""Sends requests to dev origins over plain HTTP, and redeems tickets there."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from tests.support.calls import Response
from tests.support.checked_world import CheckedWorld
from tests.support.wire import wire

REDEEM = "/.service/dev-access/redeem"


def visit(
    api: CheckedWorld,
    url: str,
    *,
    method: str = "GET",
    host: str | None = None,
    cookie: str | None = None,
) -> Response:
    """Request an https URL of a dev origin over plain HTTP, with the origin in the Host header.

    Clients that cannot resolve the origin's host name send such requests.
    """
    parts = urlsplit(url)
    with wire(api.emulator.base_url.partition("/worlds/")[0]) as connection:
        connection.host = host or parts.netloc
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        connection.send_request(
            method, target or "/", [] if cookie is None else [("Cookie", cookie)]
        )
        return connection.read_response(method)


def redeem(api: CheckedWorld, ticket: dict[str, Any]) -> Response:
    """Redeem a ticket at its dev origin."""
    return visit(api, ticket["redeem_url"])


def issue(api: CheckedWorld, **options: Any) -> dict[str, Any]:
    """Issue a ticket, and return its document."""
    response = api.ticket(**options)
    assert response.status == 201
    ticket: dict[str, Any] = response.json
    return ticket


def secret_of(ticket: dict[str, Any]) -> str:
    """Return the secret in a ticket's `redeem_url`."""
    return str(ticket["redeem_url"]).rpartition("=")[2]
