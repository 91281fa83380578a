"""Planted deviations: each is one mistake of a server, with the sentences that it breaks."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from hosting_emulator_lab.contract_check import CheckOptions
from tests.lab.contract_check.tampering_proxy import Exchange, Tampering

Change = Callable[[Exchange], None]


class Deviation(NamedTuple):
    """A mistake of a server.

    `breaks` lists exactly the sentences that differ, the deviation's own first. `make` returns a
    fresh server with that mistake, to be checked with the given options.
    """

    name: str
    breaks: list[str]
    make: Callable[[CheckOptions], Tampering]


DEVIATIONS: list[Deviation] = []


class _ResponseTampering(Tampering):
    def __init__(self, change: Change) -> None:
        self._change = change

    def after(self, exchange: Exchange) -> None:
        self._change(exchange)


class _RequestTampering(Tampering):
    def __init__(self, change: Change) -> None:
        self._change = change

    def before(self, exchange: Exchange) -> None:
        self._change(exchange)


def response_deviation(name: str, breaks: str) -> Callable[[Change], Change]:
    """Plant a deviation in responses."""

    def add(change: Change) -> Change:
        DEVIATIONS.append(Deviation(name, breaks.split(), lambda _: _ResponseTampering(change)))
        return change

    return add


def request_deviation(name: str, breaks: str) -> Callable[[Change], Change]:
    """Plant a deviation that forwards a changed request."""

    def add(change: Change) -> Change:
        DEVIATIONS.append(Deviation(name, breaks.split(), lambda _: _RequestTampering(change)))
        return change

    return add


def stateful_deviation(name: str, breaks: str) -> Callable[[type[Tampering]], type[Tampering]]:
    """Plant a deviation that remembers earlier exchanges."""

    def add(kind: type[Tampering]) -> type[Tampering]:
        DEVIATIONS.append(Deviation(name, breaks.split(), lambda _: kind()))
        return kind

    return add


def caller_deviation(name: str, breaks: str, make: Callable[[CheckOptions], Tampering]) -> None:
    """Plant a deviation that depends on the caller."""
    DEVIATIONS.append(Deviation(name, breaks.split(), make))


def edit_success(
    path_ending: str, name: str, breaks: str, change: Callable[[dict[str, Any]], None]
) -> None:
    """Plant a deviation in the document of each success whose path ends in `path_ending`."""

    @response_deviation(name, breaks)
    def change_document(exchange: Exchange) -> None:
        if exchange.ok and exchange.path.partition("?")[0].endswith(path_ending):
            document = exchange.json
            change(document)
            exchange.json = document


def edit_problem(code: str, name: str, breaks: str, /, **changed: Any) -> None:
    """Plant a deviation in each problem with a code; None removes a field."""

    @response_deviation(name, breaks)
    def change_problem(exchange: Exchange) -> None:
        if exchange.status >= 400 and exchange.json["code"] == code:
            document = {**exchange.json, **changed}
            exchange.json = {n: v for n, v in document.items() if v is not None}


def first_deployment(document: dict[str, Any]) -> dict[str, Any]:
    """Return a page's first deployment, or an empty one."""
    deployment: dict[str, Any] = next(iter(document["items"]), {})
    return deployment


# --- Problems -------------------------------------------------------------------------------------


@response_deviation("problems as plain JSON", "problem-media problem")
def problems_as_plain_json(exchange: Exchange) -> None:
    if exchange.status >= 400:
        exchange.headers["Content-Type"] = "application/json"


@response_deviation("problems without X-Request-Id", "problem request-id")
def problems_without_x_request_id(exchange: Exchange) -> None:
    exchange.headers.pop("X-Request-Id", None)


@response_deviation(
    "an HTML page for what is missing", "problem-media problem json condition.missing"
)
def an_html_page_for_what_is_missing(exchange: Exchange) -> None:
    if exchange.status == 404 and "/v1/" in exchange.path:
        exchange.headers["Content-Type"] = "text/html"
        exchange.body = b"<h1>Not Found</h1>"


@response_deviation("Retry-After says another number", "problem.retry_after_seconds")
def retry_after_says_another_number(exchange: Exchange) -> None:
    if exchange.status == 404 and "/v1/" in exchange.path:
        exchange.json = {**exchange.json, "retry_after_seconds": 30}
        exchange.headers["Retry-After"] = "60"


@response_deviation("to wait no time", "problem.retry_after_seconds limit.retry-after")
def to_wait_no_time(exchange: Exchange) -> None:
    if exchange.status == 404 and "/v1/" in exchange.path:
        exchange.json = {**exchange.json, "retry_after_seconds": 0}
        exchange.headers["Retry-After"] = "0"


_MISSING = "resource_not_found"
edit_problem(_MISSING, "a request id of 129", "problem.request_id", request_id="r" * 129)
edit_problem(_MISSING, "retryable a string", "problem.retryable", retryable="no")
edit_problem(_MISSING, "what is missing is retryable", "condition.missing", retryable=True)
edit_problem(_MISSING, "an empty title", "problem.title", title="")
edit_problem(_MISSING, "no suggested action", "problem.suggested_action", suggested_action=None)
edit_problem(_MISSING, "another status in the body", "problem.status", status=410)
edit_problem(_MISSING, "a link to another problem", "problem.type", type="https://x/errors/gone")
edit_problem(_MISSING, "a link of no form", "problem.type", type="about:blank")
edit_problem(_MISSING, "detail an object", "problem.detail", detail={"text": "no"})
edit_problem(
    _MISSING,
    "an unknown code",
    "problem.code problem.codes condition.missing",
    code="not_found",
    type="https://x/errors/not-found",
)
edit_problem(
    "unauthenticated",
    "nobody is forbidden",
    "auth.unauthenticated",
    code="forbidden",
    type="https://x/errors/forbidden",
)
edit_problem(
    "organization_required",
    "no organization is forbidden",
    "auth.organization",
    code="forbidden",
    type="https://x/errors/forbidden",
)


@response_deviation("a stranger is forbidden", "condition.missing")
def a_stranger_is_forbidden(exchange: Exchange) -> None:
    if exchange.status == 404 and "/projects/7ZZZ" not in exchange.path and "/v1/" in exchange.path:
        link = "https://x/errors/forbidden"
        exchange.json = {**exchange.json, "status": 403, "code": "forbidden", "type": link}
        exchange.status = 403


@response_deviation("reused keys are 422", "condition.reused condition.statuses flag.statuses")
def reused_keys_are_422(exchange: Exchange) -> None:
    if exchange.status == 409 and exchange.json["code"] == "idempotency_key_reused":
        exchange.json = {**exchange.json, "status": 422}
        exchange.status = 422


# --- The flag -------------------------------------------------------------------------------------

_FLAG = "/powered-by-flag"
edit_success(
    _FLAG, "a member more in the flag", "flag.closed", lambda flag: flag.update(colour="blue")
)
edit_success(
    _FLAG, "the flag as a word", "flag.enabled flag.on flag.off", lambda f: f.update(enabled="on")
)
edit_success(
    _FLAG, "the flag of no project", "flag.project_id", lambda flag: flag.pop("project_id")
)


def _never_null(flag: dict[str, Any]) -> None:
    flag["enabled_at"] = flag["enabled_at"] or "2026-01-01T00:00:00Z"


edit_success(_FLAG, "enabled_at while hidden", "flag.enabled_at flag.off", _never_null)


def _long_ago(flag: dict[str, Any]) -> None:
    if flag["enabled"]:
        flag["enabled_at"] = "2020-01-01T00:00:00Z"


edit_success(_FLAG, "switched on long ago", "flag.on flag.enabled_at", _long_ago)


@response_deviation("the flag is created", "flag.200")
def the_flag_is_created(exchange: Exchange) -> None:
    if exchange.ok and exchange.path.endswith(_FLAG):
        exchange.status = 201


@response_deviation("a flag's reused key is fine", "flag.reused condition.reused")
def a_flag_s_reused_key_is_fine(exchange: Exchange) -> None:
    if exchange.status == 409 and exchange.path.endswith(_FLAG):
        exchange.status = 200
        project = exchange.path.split("/")[-2]
        exchange.json = {"project_id": project, "enabled": False, "enabled_at": None}
        exchange.headers["Content-Type"] = "application/json"


@request_deviation("a property more is fine", "flag.body flag.request")
def a_property_more_is_fine(exchange: Exchange) -> None:
    if exchange.path.endswith(_FLAG) and b"hosting_emulator_check" in exchange.request_body:
        exchange.request_json = {"enabled": True}


@stateful_deviation("a retry switches again", "flag.retry flag.replay")
class ARetrySwitchesAgain(Tampering):
    def __init__(self) -> None:
        self._keys: set[str] = set()

    def after(self, exchange: Exchange) -> None:
        if not exchange.ok or not exchange.path.endswith(_FLAG):
            return
        key = exchange.request_headers["Idempotency-Key"]
        if key in self._keys:
            exchange.json = {**exchange.json, "enabled_at": "2026-01-01T00:00:09.999Z"}
        self._keys.add(key)


# --- Idempotency-Keys and request ids -------------------------------------------------------------


@stateful_deviation("no Idempotency-Key is fine", "idempotency-key")
class NoIdempotencyKeyIsFine(Tampering):
    def __init__(self) -> None:
        self._invented_count = 0

    def before(self, exchange: Exchange) -> None:
        missing = (
            "Idempotency-Key" not in exchange.request_headers
            and "Authorization" in exchange.request_headers
        )
        if exchange.method == "PUT" and missing:
            self._invented_count += 1
            exchange.request_headers["Idempotency-Key"] = f"made-up-{self._invented_count}"


@stateful_deviation("an Idempotency-Key of 129 is fine", "idempotency-key limit.idempotency-key")
class AnIdempotencyKeyOf129IsFine(Tampering):
    def before(self, exchange: Exchange) -> None:
        key = exchange.request_headers.get("Idempotency-Key", "")
        if exchange.path.endswith(_FLAG) and len(key) == 129:
            exchange.request_headers["Idempotency-Key"] = "shorter"


@request_deviation("an X-Request-Id of 128 is too long", "request-id limit.request-id")
def an_x_request_id_of_128_is_too_long(exchange: Exchange) -> None:
    request_id = exchange.request_headers.get("X-Request-Id", "")
    if len(request_id) == 128:
        exchange.request_headers["X-Request-Id"] = request_id + "x"


# --- DNS, compute, deployments --------------------------------------------------------------------

_DNS = "/edge-dns"
edit_success(
    _DNS, "an unknown DNS status", "dns.status states.dns", lambda d: d.update(status="new")
)
edit_success(_DNS, "a zone in capitals", "dns.zone", lambda d: d.update(zone="SHOP.example"))
edit_success(_DNS, "a zone of three", "dns.zone limit.zone", lambda d: d.update(zone="a.b"))
edit_success(_DNS, "an unknown scope", "dns.scopes", lambda d: d.update(scopes=["dns.read"]))
edit_success(
    _DNS,
    "three scopes",
    "dns.scopes limit.scopes",
    lambda d: d.update(scopes=["dns.write", "zone.read", "dns.write"]),
)
edit_success(
    _DNS,
    "a zone without authorization",
    "dns.zone",
    lambda d: d.update(status="not_authorized", scopes=[], expires_at=None),
)
edit_success(
    _DNS, "a day as expiry", "dns.expires_at timestamp", lambda d: d.update(expires_at="2027-01-01")
)


@response_deviation("DNS as a list", "dns.response")
def dns_as_a_list(exchange: Exchange) -> None:
    if exchange.ok and exchange.path.partition("?")[0].endswith(_DNS):
        exchange.json = [exchange.json]


@response_deviation("half of the JSON", "json dns.response")
def half_of_the_json(exchange: Exchange) -> None:
    if exchange.ok and exchange.path.partition("?")[0].endswith(_DNS):
        exchange.body = exchange.body[:-5]


@response_deviation("DNS is elsewhere", "dns.call")
def dns_is_elsewhere(exchange: Exchange) -> None:
    if exchange.ok and exchange.path.partition("?")[0].endswith(_DNS):
        exchange.status = 302
        exchange.body = b""
        exchange.headers["Location"] = "https://login.example/?token=secret"


_COMPUTE = "/database/compute"
edit_success(
    _COMPUTE,
    "compute units as text",
    "compute.placement",
    lambda compute: (compute["database"] or {}).update(min_cu="0.25"),
)
edit_success(
    _COMPUTE,
    "suspended after less than never",
    "compute.placement",
    lambda compute: (compute["database"] or {}).update(suspend_timeout_seconds=-2),
)
edit_success(
    _COMPUTE, "a number as data mode", "compute.data_mode", lambda c: c.update(data_mode=1)
)


def _shared_with_nothing(compute: dict[str, Any]) -> None:
    compute["data_mode"] = "shared"
    if compute["environment"] == "dev":
        compute["database"] = None


edit_success(_COMPUTE, "shared with no database", "compute.data_mode", _shared_with_nothing)


def _production(compute: dict[str, Any]) -> None:
    if compute["environment"] == "prod":
        compute["environment"] = "production"


edit_success(_COMPUTE, "another word for prod", "compute.environment", _production)


@request_deviation("any environment is dev", "compute.query")
def any_environment_is_dev(exchange: Exchange) -> None:
    exchange.path = exchange.path.replace("environment=staging", "environment=dev")


_LIST = "/deployments"


@stateful_deviation("cursors of other characters", "page.next_cursor")
class CursorsOfOtherCharacters(Tampering):
    def before(self, exchange: Exchange) -> None:
        exchange.path = exchange.path.replace("%3D", "")

    def after(self, exchange: Exchange) -> None:
        if exchange.ok and "/deployments" in exchange.path and exchange.json.get("next_cursor"):
            exchange.json = {**exchange.json, "next_cursor": exchange.json["next_cursor"] + "="}


@stateful_deviation("a deployment twice while paging", "deployments.page-through")
class ADeploymentTwiceWhilePaging(Tampering):
    def __init__(self) -> None:
        self._last: dict[str, Any] | None = None

    def after(self, exchange: Exchange) -> None:
        if not exchange.ok or "/deployments" not in exchange.path:
            return
        page = exchange.json
        if "cursor=" in exchange.path and self._last is not None:
            page["items"] = [self._last, *page["items"]]
            exchange.json = page
        self._last = page["items"][-1] if page["items"] else None


@response_deviation("a deployment left out while paging", "deployments.page-through")
def a_deployment_left_out_while_paging(exchange: Exchange) -> None:
    if exchange.ok and "cursor=" in exchange.path:
        exchange.json = {**exchange.json, "items": exchange.json["items"][1:]}


@stateful_deviation("a page of 101", "deployments.query limit.page-size")
class APageOf101(Tampering):
    def __init__(self) -> None:
        self._page: dict[str, Any] = {}

    def after(self, exchange: Exchange) -> None:
        if exchange.path.endswith("limit=100"):
            self._page = exchange.json
        if exchange.path.endswith("limit=101"):
            exchange.status = 200
            exchange.headers["Content-Type"] = "application/json"
            exchange.json = {**self._page, "items": (self._page["items"] * 101)[:101]}


@request_deviation("pages are longer than asked for", "deployments.query limit.page-size")
def pages_are_longer_than_asked_for(exchange: Exchange) -> None:
    if exchange.path.endswith("limit=1"):
        exchange.path = exchange.path.replace("limit=1", "limit=2")


edit_success(
    _LIST,
    "ids in small letters",
    "deployment.id ulid",
    lambda page: first_deployment(page).update(id=first_deployment(page).get("id", "").lower()),
)
edit_success(
    _LIST,
    "timestamps without T and Z",
    "deployment.times timestamp",
    lambda page: first_deployment(page).update(updated_at="2026-01-01 12:00:00"),
)
edit_success(
    _LIST,
    "a commit as number",
    "deployment.commit_sha",
    lambda p: first_deployment(p).update(commit_sha=7),
)
edit_success(
    _LIST,
    "another project's deployment",
    "deployments.page-through",
    lambda page: first_deployment(page).update(project_id="7ZZZZZZZZZZZZZZZZZZZZZZZZY"),
)
edit_success(
    _LIST,
    "deployments by another name",
    "page.items deployments.response",
    lambda page: page.update(deployments=page.pop("items")),
)


def _a_day_earlier(timestamp: str) -> str:
    return (datetime.fromisoformat(timestamp) - timedelta(days=1)).isoformat()


# --- Keys -----------------------------------------------------------------------------------------

_KEYS = "/user-api-keys"


def _value_again(creation: dict[str, Any]) -> None:
    creation["value"] = creation["value"] or "phk_again"


edit_success(
    _KEYS, "a key's value on replay", "key.value keys.value-once keys.replay", _value_again
)
edit_success(_KEYS, "never replayed", "key.replayed", lambda key: key.update(replayed=False))
edit_success(
    _KEYS,
    "keys of 89 days",
    "keys.days limit.key",
    lambda c: c["key"].update(expires_at=_a_day_earlier(c["key"]["expires_at"])),
)
edit_success(
    _KEYS, "permissions in a text", "key.metadata", lambda c: c["key"].update(permissions="all")
)
edit_success(
    _KEYS,
    "a key of another organization",
    "auth.key-bound",
    lambda c: c["key"].update(organization_id="7ZZZZZZZZZZZZZZZZZZZZZZZZY"),
)


@stateful_deviation("another key on replay", "keys.replay keys.uncertainty")
class AnotherKeyOnReplay(Tampering):
    def after(self, exchange: Exchange) -> None:
        if exchange.ok and exchange.path.endswith(_KEYS) and exchange.json["replayed"]:
            key = {**exchange.json["key"], "id": "7ZZZZZZZZZZZZZZZZZZZZZZZZX"}
            exchange.json = {**exchange.json, "key": key}


@request_deviation("a name of 65 is fine", "keys.body limit.key-name")
def a_name_of_65_is_fine(exchange: Exchange) -> None:
    if exchange.path.endswith(_KEYS) and len(str(exchange.request_json.get("name"))) == 65:
        exchange.request_json = {"name": "shorter"}


# --- Tickets --------------------------------------------------------------------------------------

_TICKETS = "/dev-access-tickets"
edit_success(
    _TICKETS,
    "a ticket of 42 characters",
    "ticket.redeem_url",
    lambda ticket: ticket.update(redeem_url=ticket["redeem_url"][:-1]),
)
edit_success(
    _TICKETS,
    "a ticket of plain HTTP",
    "ticket.origin ticket.redeem_url",
    lambda ticket: ticket.update(origin=ticket["origin"].replace("https", "http")),
)
edit_success(
    _TICKETS,
    "tickets of nine minutes",
    "ticket.expires_at states.ticket-once limit.ticket",
    lambda ticket: ticket.update(expires_at=_earlier(ticket["expires_at"])),
)
edit_success(
    _TICKETS, "a ticket's id a number", "ticket.ticket_id ulid", lambda t: t.update(ticket_id=7)
)


def _earlier(timestamp: str) -> str:
    moment = datetime.fromisoformat(timestamp) - timedelta(minutes=1)
    return moment.isoformat().replace("+00:00", "Z")


@stateful_deviation("a ticket is good twice", "states.ticket-once limit.ticket")
class ATicketIsGoodTwice(Tampering):
    def __init__(self) -> None:
        self._redemption_headers: dict[str, dict[str, str]] = {}

    def after(self, exchange: Exchange) -> None:
        if "/dev-access/redeem" not in exchange.path:
            return
        if exchange.status == 303:
            self._redemption_headers[exchange.path] = exchange.headers
        elif exchange.path in self._redemption_headers:
            exchange.status = 303
            exchange.headers = self._redemption_headers[exchange.path]


@stateful_deviation("a revoked ticket is good", "states.ticket-revoked tickets.revokes")
class ARevokedTicketIsGood(Tampering):
    def __init__(self) -> None:
        self._redemption_count = 0

    def after(self, exchange: Exchange) -> None:
        if "/dev-access/redeem" in exchange.path:
            self._redemption_count += 1
            if self._redemption_count == 1:
                exchange.status = 303
                exchange.headers["Location"] = f"https://{exchange.request_headers['Host']}/"
                exchange.headers["Set-Cookie"] = "dev_access=let-in; Path=/"


# --- Operations -----------------------------------------------------------------------------------

_INITIALIZE = "/source:initialize"
edit_success(
    _INITIALIZE,
    "an unknown state of an operation",
    "operation.state states.operation",
    lambda operation: operation.update(state="waiting"),
)
edit_success(
    _INITIALIZE,
    "when to poll again as text",
    "progress-object",
    lambda operation: operation["progress"].update(next_poll_after_seconds="2s"),
)


@response_deviation("a deployment named at first only", "operation.deployment_id")
def a_deployment_named_at_first_only(exchange: Exchange) -> None:
    if exchange.ok and "/operations/" in exchange.path:
        operation = exchange.json
        operation.pop("deployment_id", None)
        exchange.json = operation


@stateful_deviation("a retry of the source counts as another request", "condition.reused")
class ARetryOfTheSourceCountsAsAnotherRequest(Tampering):
    def __init__(self) -> None:
        self._keys: set[str] = set()

    def before(self, exchange: Exchange) -> None:
        key = exchange.request_headers.get("Idempotency-Key", "")
        if exchange.path.endswith(_INITIALIZE) and key in self._keys:
            exchange.request_json = {"expected_source_generation": 777}

    def after(self, exchange: Exchange) -> None:
        if exchange.ok and exchange.path.endswith(_INITIALIZE):
            self._keys.add(exchange.request_headers["Idempotency-Key"])


@stateful_deviation("what has ended goes on", "durable")
class WhatHasEndedGoesOn(Tampering):
    def __init__(self) -> None:
        self._ended: set[str] = set()

    def after(self, exchange: Exchange) -> None:
        if not exchange.ok or "/operations/" not in exchange.path:
            return
        if exchange.path in self._ended:
            exchange.json = {**exchange.json, "state": "running"}
        elif exchange.json["state"] == "succeeded":
            self._ended.add(exchange.path)


@stateful_deviation("another operation on retry", "domains.idempotent")
class AnotherOperationOnRetry(Tampering):
    def __init__(self) -> None:
        self._request_count = 0

    def after(self, exchange: Exchange) -> None:
        if exchange.ok and exchange.path.endswith("/domains"):
            self._request_count += 1
            if self._request_count == 2:
                exchange.json = {**exchange.json, "id": "7ZZZZZZZZZZZZZZZZZZZZZZZZW"}
