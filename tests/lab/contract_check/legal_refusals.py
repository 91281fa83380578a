"""Servers whose refusals the contract leaves open: they break no sentence and confirm none."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from email.utils import format_datetime, parsedate_to_datetime
from typing import Any

from tests.lab.contract_check.tampering_proxy import Exchange, Tampering


def refuse(exchange: Exchange, status: int, code: str, **members: Any) -> None:
    """Turn a response into a valid problem, except for `members`."""
    exchange.status = status
    exchange.headers.update({"X-Request-Id": "r", "Content-Type": "application/problem+json"})
    exchange.json = {
        **{"type": f"https://docs.example/errors/{code.replace('_', '-')}", "title": "No"},
        **{"status": status, "code": code, "request_id": "r", "retryable": False},
        **{"suggested_action": "Wait", **members},
    }


class Refuses(Tampering):
    """Refuses successful requests whose path ends with `ending`."""

    def __init__(self, ending: str, status: int, code: str) -> None:
        self._ending = ending
        self._status = status
        self._code = code

    def after(self, exchange: Exchange) -> None:
        if exchange.ok and exchange.path.partition("?")[0].endswith(self._ending):
            refuse(exchange, self._status, self._code)


class RefusesHiding(Tampering):
    """Refuses to hide the flag with a chosen code."""

    def __init__(self, status: int, code: str) -> None:
        self._status = status
        self._code = code

    def after(self, exchange: Exchange) -> None:
        if exchange.ok and exchange.request_body == b'{"enabled": false}':
            refuse(exchange, self._status, self._code)


class RedeemsOtherwise(Tampering):
    """Redeeming a ticket needs more than opening the URL."""

    def after(self, exchange: Exchange) -> None:
        if "/dev-access/redeem" in exchange.path:
            exchange.status = 405
            exchange.body = b"POST it"


class WithoutIds(Tampering):
    """Leaves out ids that the contract does not require."""

    def after(self, exchange: Exchange) -> None:
        if exchange.ok and exchange.path.endswith("/dev-access-tickets"):
            exchange.json = {
                name: value for name, value in exchange.json.items() if name != "origin"
            }
        if exchange.ok and "/operations/" in exchange.path:
            exchange.json = {name: value for name, value in exchange.json.items() if name != "id"}
        if exchange.ok and "/deployments" in exchange.path:
            page = exchange.json
            page["items"] = [
                {name: value for name, value in item.items() if name != "id"}
                for item in page["items"]
            ]
            exchange.json = page


class WaitsUntilADate(Tampering):
    """Sends Retry-After as a date, which HTTP allows."""

    def after(self, exchange: Exchange) -> None:
        if exchange.status == 404 and "/v1/" in exchange.path:
            exchange.json = {**exchange.json, "retry_after_seconds": 30}
            now = parsedate_to_datetime(exchange.headers["Date"])
            exchange.headers["Retry-After"] = format_datetime(now + timedelta(seconds=30), True)


class WaitsUntilADateByAnUnknownClock(WaitsUntilADate):
    """Sends no Date header, so the date in Retry-After shows no delay."""

    def after(self, exchange: Exchange) -> None:
        super().after(exchange)
        exchange.headers.pop("Date", None)


class KeysMayNotRead(Tampering):
    """Refuses reads with an API key."""

    def __init__(self, status: int, code: str) -> None:
        self._status = status
        self._code = code

    def after(self, exchange: Exchange) -> None:
        is_key = exchange.request_headers.get("Authorization", "").startswith("Bearer phk_")
        if is_key and exchange.path.endswith("/edge-dns"):
            refuse(exchange, self._status, self._code)


class IsBusyWithAnotherKey(Tampering):
    """Cannot apply the domains under the key of another call."""

    def __init__(self) -> None:
        self._keys: set[str] = set()

    def after(self, exchange: Exchange) -> None:
        key = exchange.request_headers.get("Idempotency-Key", "")
        if not exchange.path.endswith("/domains"):
            self._keys.add(key)
        elif key in self._keys:
            refuse(exchange, 503, "service_unavailable")


class HasNoMoreTickets(Tampering):
    """Issues no ticket any more after a request with a body, which is the last of the first check."""

    def __init__(self) -> None:
        self._is_exhausted = False

    def after(self, exchange: Exchange) -> None:
        if exchange.path.endswith("/dev-access-tickets"):
            if exchange.ok and self._is_exhausted:
                refuse(exchange, 503, "service_unavailable")
            self._is_exhausted = self._is_exhausted or exchange.request_body == b"{}"


class ShowsOnlyAHiddenFlag(Tampering):
    """Refuses to show a flag that is shown, except in a retry."""

    def __init__(self) -> None:
        self._keys: set[str] = set()
        self._is_shown = False

    def after(self, exchange: Exchange) -> None:
        if not exchange.ok or not exchange.path.endswith("/powered-by-flag"):
            return
        key = exchange.request_headers["Idempotency-Key"]
        is_enabling = exchange.request_json["enabled"]
        if is_enabling and self._is_shown and key not in self._keys:
            refuse(exchange, 409, "deployment_plan_expired")
        else:
            self._is_shown = is_enabling if key not in self._keys else self._is_shown
            self._keys.add(key)


class PollsNowhere(Tampering):
    """Has no path of operations that the check can guess."""

    def before(self, exchange: Exchange) -> None:
        exchange.path = exchange.path.replace("/operations/", "/jobs/")


class RefusesInitializing(Tampering):
    def before(self, exchange: Exchange) -> None:
        self._is_affected = exchange.path.endswith("/source:initialize")

    def after(self, exchange: Exchange) -> None:
        if self._is_affected and exchange.status not in (401, 404):
            refuse(exchange, 403, "forbidden")


class PagesAreOutOfReach(Tampering):
    """Refuses to list the deployments of a query, except for the first page that a cursor names."""

    def __init__(self, query: str) -> None:
        self._query = query
        self._listed_paths: set[str] = set()

    def after(self, exchange: Exchange) -> None:
        if "/deployments" not in exchange.path or self._query not in exchange.path:
            return
        if "cursor" in exchange.path and not self._listed_paths:
            self._listed_paths.add(exchange.path)
        elif exchange.ok and exchange.path not in self._listed_paths:
            refuse(exchange, 503, "service_unavailable")


#: Servers by name, with the sentences that they do not show, whose verdict must be `skipped`.
LEGAL_REFUSALS: dict[str, tuple[Callable[[], Tampering], str]] = {
    "no key without an interactive session": (
        lambda: Refuses("/user-api-keys", 403, "interactive_login_required"),
        "limit.key keys.call",
    ),
    "busy with another key": (IsBusyWithAnotherKey, "domains.reused"),
    "operations are polled nowhere": (PollsNowhere, "operation.result durable"),
    "initializing is forbidden": (RefusesInitializing, "source.call"),
    "pages are out of reach": (
        lambda: PagesAreOutOfReach("limit=15"),
        "deployments.page-through",
    ),
    "a flag that is shown cannot be shown": (ShowsOnlyAHiddenFlag, ""),
    "an operation cannot start now": (
        lambda: Refuses("/domains", 409, "project_identity_unavailable"),
        "domains.call domains.idempotent",
    ),
    "a source cannot be initialized now": (
        lambda: Refuses("/source:initialize", 403, "git_host_connection_required"),
        "source.call",
    ),
    "reading DNS takes another role": (
        lambda: Refuses("/edge-dns", 403, "forbidden"),
        "dns.call",
    ),
    "compute is out of reach": (
        lambda: Refuses("/compute", 409, "compute_performance_unavailable"),
        "compute.query compute.readers",
    ),
    "hiding is forbidden": (lambda: RefusesHiding(403, "forbidden"), "flag.off flag.off-refused"),
    "hiding is out of order": (
        lambda: RefusesHiding(503, "service_unavailable"),
        "flag.off flag.off-refused flag.hiding-refused",
    ),
    "redeeming takes more": (RedeemsOtherwise, "states.ticket-once tickets.revokes"),
    "ids are left out": (WithoutIds, "deployment.id ticket.origin"),
    "tickets run out": (HasNoMoreTickets, ""),
    "waits until a date": (WaitsUntilADate, ""),
    "waits until a date, by an unknown clock": (WaitsUntilADateByAnUnknownClock, ""),
    "API keys may not read": (lambda: KeysMayNotRead(403, "forbidden"), ""),
    "API keys find no project": (lambda: KeysMayNotRead(404, "resource_not_found"), ""),
    "later pages are out of reach": (lambda: PagesAreOutOfReach("limit=15&cursor"), ""),
}
