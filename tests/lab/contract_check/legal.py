"""Servers that respond unlike this emulator and keep the contract: no sentence may differ.

Each one names the sentences that it does not show, whose verdict must be `skipped`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

from tests.lab.contract_check.tampering_proxy import Exchange, Tampering

Change = Callable[[Exchange], None]


class Legal(NamedTuple):
    """A legal server. `skipped` names the sentences that it does not show; `make` returns a fresh one."""

    name: str
    skipped: frozenset[str]
    make: Callable[[], Tampering]


LEGAL: list[Legal] = []


def legal_server(name: str, skipped: str = "") -> Callable[[type[Tampering]], type[Tampering]]:
    """Add a server."""

    def add(kind: type[Tampering]) -> type[Tampering]:
        LEGAL.append(Legal(name, frozenset(skipped.split()), kind))
        return kind

    return add


def legal_response(name: str, skipped: str = "") -> Callable[[Change], Change]:
    """Add a server that changes its responses."""

    def add(change: Change) -> Change:
        class ResponseTampering(Tampering):
            def after(self, exchange: Exchange) -> None:
                change(exchange)

        legal_server(name, skipped)(ResponseTampering)
        return change

    return add


def _edit(ending: str, name: str, skipped: str, change: Callable[[dict[str, Any]], object]) -> None:
    @legal_response(name, skipped)
    def change_document(exchange: Exchange) -> None:
        if exchange.ok and exchange.path.partition("?")[0].endswith(ending):
            document = exchange.json
            change(document)
            exchange.json = document


# --- Problems -------------------------------------------------------------------------------------


@legal_response("request ids of their own in the body")
def request_ids_of_their_own_in_the_body(exchange: Exchange) -> None:
    if exchange.status >= 400 and "/v1/" in exchange.path:
        exchange.json = {**exchange.json, "request_id": "corr-1"}


def _limited(status: int, code: str) -> Change:
    def change(exchange: Exchange) -> None:
        if exchange.path.endswith("/powered-by-flag"):
            exchange.status = status
            exchange.headers |= {
                "Content-Type": "application/problem+json",
                "X-Request-Id": "r-1",
            }
            exchange.json = {
                "type": f"https://x.example/errors/{code.replace('_', '-')}",
                "title": "Not now",
                "status": status,
                "code": code,
                "request_id": "r-1",
                "retryable": True,
                "suggested_action": "Wait.",
            }

    return change


legal_response("no flag call comes through a rate limit", "flag.statuses flag.200 flag.on")(
    _limited(429, "rate_limited")
)
legal_response("no flag call is small enough", "flag.statuses flag.200 flag.on")(
    _limited(413, "payload_too_large")
)

# --- Keys -----------------------------------------------------------------------------------------

_KEYS = "/user-api-keys"
_edit(
    _KEYS, "keys name no organization", "", lambda creation: creation["key"].pop("organization_id")
)
_edit(_KEYS, "keys have no id", "keys.uncertainty", lambda creation: creation["key"].pop("id"))
_edit(
    _KEYS, "keys have no request id", "key.request_id", lambda creation: creation.pop("request_id")
)

# --- Operations -----------------------------------------------------------------------------------


@legal_server("an active operation is returned, whatever the key")
class ReturnsTheActiveOperation(Tampering):
    def __init__(self) -> None:
        self._first = b""

    def after(self, exchange: Exchange) -> None:
        if exchange.ok and exchange.path.endswith("/domains"):
            self._first = self._first or exchange.body
            exchange.body = self._first


# --- Timestamps -----------------------------------------------------------------------------------


def _used(at: str) -> Callable[[dict[str, Any]], object]:
    return lambda creation: creation["key"].update(last_used_at=at)


for _at in ("0001-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "2016-12-31T23:59:60Z"):
    _edit(_KEYS, f"last used at {_at}", "", _used(_at))


def _without_seconds(text: str) -> str:
    return re.sub(r"(T\d\d:\d\d):\d\d\.\d+Z", r"\1Z", text)


@legal_response("timestamps without seconds", "keys.days")
def timestamps_without_seconds(exchange: Exchange) -> None:
    if exchange.ok:
        exchange.body = _without_seconds(exchange.body.decode()).encode()


# --- Deployments ----------------------------------------------------------------------------------


@legal_server("an empty cursor on the last page")
class AnEmptyCursorOnTheLastPage(Tampering):
    def after(self, exchange: Exchange) -> None:
        path = exchange.path.partition("?")[0]
        if exchange.ok and path.endswith("/deployments"):
            exchange.json = {**exchange.json, "next_cursor": exchange.json.get("next_cursor", "")}


@legal_server("sizes brought into bounds")
class SizesBroughtIntoBounds(Tampering):
    def before(self, exchange: Exchange) -> None:
        exchange.path = exchange.path.replace("limit=101", "limit=100")
        exchange.path = exchange.path.replace("limit=0", "limit=1")


# --- Tickets --------------------------------------------------------------------------------------


class _DeadTickets(Tampering):
    status = 303
    headers: ClassVar[dict[str, str]] = {}
    body = b""

    def after(self, exchange: Exchange) -> None:
        if "/dev-access/redeem" in exchange.path and exchange.status >= 400:
            exchange.status = self.status
            exchange.body = self.body
            exchange.headers = dict(self.headers)


_TICKETS = "states.ticket-once states.ticket-revoked tickets.revokes limit.ticket"


@legal_server("dead tickets lead to signing in", _TICKETS)
class DeadTicketsLeadToSigningIn(_DeadTickets):
    headers: ClassVar[dict[str, str]] = {
        "Location": "/signin?expired=1",
        "Set-Cookie": "dev_access=; Max-Age=0",
    }


@legal_server("dead tickets show a page", _TICKETS)
class DeadTicketsShowAPage(_DeadTickets):
    status = 200
    headers: ClassVar[dict[str, str]] = {"Content-Type": "text/html"}
    body = b"<p>This ticket is not good any more."


@legal_server("dead tickets break the server", _TICKETS)
class DeadTicketsBreakTheServer(_DeadTickets):
    status = 503


# --- Operations -----------------------------------------------------------------------------------


@legal_server("a retry of the source's initialization is another")
class ARetryIsAnother(Tampering):
    """A retry starts a second operation."""

    def __init__(self) -> None:
        self._seen_keys: set[str] = set()

    def after(self, exchange: Exchange) -> None:
        if exchange.ok and exchange.path.endswith("/source:initialize"):
            key = exchange.request_headers["Idempotency-Key"]
            if key in self._seen_keys:
                replacement = {"deployment_id": "7ZZZZZZZZZZZZZZZZZZZZZZZZV"}
                progress = {**exchange.json["progress"], **replacement}
                second_operation = {
                    "id": "7ZZZZZZZZZZZZZZZZZZZZZZZZW",
                    "progress": progress,
                    **replacement,
                }
                exchange.json = {**exchange.json, **second_operation}
            self._seen_keys.add(key)
