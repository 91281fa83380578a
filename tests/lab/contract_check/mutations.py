"""Subtle deviations: servers that keep the contract except for one detail.

They follow its sentences one by one, independently of what the check looks for. Importing this
module adds them to the table of `deviations`.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from hosting_emulator_lab.contract_check import CheckOptions
from hosting_emulator_lab.contract_check.run import UNUSED_ID
from tests.lab.contract_check.deviations import (
    caller_deviation,
    edit_success,
    request_deviation,
    response_deviation,
    stateful_deviation,
)
from tests.lab.contract_check.people import TakesFor
from tests.lab.contract_check.tampering_proxy import Exchange, Tampering

_FLAG = "/powered-by-flag"
_DNS = "/edge-dns"
_COMPUTE = "/database/compute"
_LIST = "/deployments"
_KEYS = "/user-api-keys"
_TICKETS = "/dev-access-tickets"
_SOURCE = "/source:initialize"
_DOMAINS = "/domains"
_OTHER = "7ZZZZZZZZZZZZZZZZZZZZZZZZY"


def path_ends_with(exchange: Exchange, ending: str) -> bool:
    """Return whether the path of a request ends with `ending`."""
    return exchange.path.partition("?")[0].endswith(ending)


def later(timestamp: str, **by: float) -> str:
    """Return a timestamp moved by a time span, which may be negative."""
    return (datetime.fromisoformat(timestamp) + timedelta(**by)).isoformat()


def is_successful_poll(exchange: Exchange) -> bool:
    return exchange.ok and "/operations/" in exchange.path


def refuse(exchange: Exchange, status: int, code: str, **more: Any) -> None:
    """Turn a response into a valid problem, except for the members in `more`."""
    exchange.status = status
    exchange.headers |= {"Content-Type": "application/problem+json", "X-Request-Id": "r-1"}
    link = f"https://docs.example/errors/{code.replace('_', '-')}"
    exchange.json = {"type": link, "title": "No", "status": status, "code": code} | {
        **{"request_id": "r-1", "retryable": status >= 429, "suggested_action": "Wait.", **more},
    }


def accept(exchange: Exchange, document: Any) -> None:
    """Turn a response into a success."""
    exchange.status = 200
    exchange.json = document
    exchange.headers["Content-Type"] = "application/json"


def edit_problem_member(code: str, name: str, breaks: str, /, **changed: Any) -> None:
    """Plant a deviation in each problem with a code. `...` removes a member."""

    @response_deviation(name, breaks)
    def change_problem(exchange: Exchange) -> None:
        if exchange.status >= 400 and exchange.body and exchange.json["code"] == code:
            document = {**exchange.json, **changed}
            exchange.json = {n: v for n, v in document.items() if v is not ...}


def edit_operation(name: str, breaks: str, change: Callable[[dict[str, Any]], object]) -> None:
    """Plant a deviation in each poll of an operation."""

    @response_deviation(name, breaks)
    def change_operation(exchange: Exchange) -> None:
        if is_successful_poll(exchange):
            document = exchange.json
            change(document)
            exchange.json = document


# --- Bodies ---------------------------------------------------------------------------------------


@response_deviation("a flag as HTML", "json")
def a_flag_as_html(exchange: Exchange) -> None:
    if exchange.ok and path_ends_with(exchange, _FLAG):
        exchange.headers["Content-Type"] = "text/html"


@response_deviation("a success as a problem", "json")
def a_success_as_a_problem(exchange: Exchange) -> None:
    if exchange.ok and path_ends_with(exchange, _DNS):
        exchange.headers["Content-Type"] = "application/problem+json"


@response_deviation("no number in JSON", "json compute.response")
def no_number_in_json(exchange: Exchange) -> None:
    if exchange.ok and path_ends_with(exchange, _COMPUTE):
        exchange.body = re.sub(rb'"max_cu":[\d.]+', b'"max_cu":NaN', exchange.body)


@response_deviation("JSON in UTF-16", "json dns.response")
def json_in_utf_16(exchange: Exchange) -> None:
    if exchange.ok and path_ends_with(exchange, _DNS):
        exchange.body = exchange.body.decode().encode("utf-16")


# --- Problems -------------------------------------------------------------------------------------


@response_deviation("nobody is refused in plain JSON", "problem-media problem")
def nobody_is_refused_in_plain_json(exchange: Exchange) -> None:
    if exchange.status == 401:
        exchange.headers["Content-Type"] = "application/json"


@response_deviation("conflicts without X-Request-Id", "request-id problem")
def conflicts_without_x_request_id(exchange: Exchange) -> None:
    if exchange.status == 409:
        exchange.headers.pop("X-Request-Id", None)


@response_deviation("an X-Request-Id of nothing", "request-id")
def an_x_request_id_of_nothing(exchange: Exchange) -> None:
    if exchange.status == 403:
        exchange.headers["X-Request-Id"] = ""


@response_deviation("a link with underscores", "problem.type")
def a_link_with_underscores(exchange: Exchange) -> None:
    if exchange.status == 404 and "/v1/" in exchange.path:
        exchange.json = {**exchange.json, "type": "https://d.example/errors/resource_not_found"}


edit_problem_member("resource_not_found", "the status as text", "problem.status", status="404")
edit_problem_member("invalid_request", "detail null", "problem.detail", detail=None)
edit_problem_member("forbidden", "instance a number", "problem.instance", instance=7)
edit_problem_member(
    "forbidden",
    "codes in capitals",
    "problem.code problem.codes auth.forbidden",
    code="FORBIDDEN",
    type="https://d.example/errors/FORBIDDEN",
)
edit_problem_member(
    "unauthenticated", "no request_id for nobody", "problem.request_id", request_id=...
)
edit_problem_member("invalid_request", "retryable left out", "problem.retryable", retryable=...)
edit_problem_member("organization_required", "no title", "problem.title", title=None)
edit_problem_member(
    "idempotency_key_reused",
    "an empty action",
    "problem.suggested_action",
    suggested_action="",
)
edit_problem_member(
    "idempotency_key_reused", "a reused key can be retried", "condition.reused", retryable=True
)
edit_problem_member(
    "idempotency_key_reused",
    "a reused key is a stale tag",
    "flag.reused condition.reused",
    code="etag_mismatch",
    type="https://d.example/errors/etag-mismatch",
)


def deviate_retry_after(name: str, breaks: str, seconds: Any, header: str | None) -> None:
    @response_deviation(name, breaks)
    def change_problem(exchange: Exchange) -> None:
        if exchange.status == 404 and "/v1/" in exchange.path:
            exchange.json = {**exchange.json, "retry_after_seconds": seconds}
            if header is not None:
                exchange.headers["Retry-After"] = header


deviate_retry_after(
    "more than a day", "problem.retry_after_seconds limit.retry-after", 86_401, "86401"
)
deviate_retry_after("seconds without Retry-After", "problem.retry_after_seconds", 30, None)
deviate_retry_after("seconds as text", "problem.retry_after_seconds", "30", "30")


class LimitedOnce(Tampering):
    """Limits one request of a call incorrectly; the next attempt succeeds."""

    def __init__(self) -> None:
        self._limited = False

    def after(self, exchange: Exchange) -> None:
        if path_ends_with(exchange, _DNS) and exchange.ok and not self._limited:
            self._limited = True
            self.limit(exchange)

    def limit(self, exchange: Exchange) -> None:
        raise NotImplementedError


@stateful_deviation("limited once, for another time than it says", "problem.retry_after_seconds")
class LimitedForAnotherTime(LimitedOnce):
    def limit(self, exchange: Exchange) -> None:
        refuse(exchange, 429, "rate_limited", retry_after_seconds=2)
        exchange.headers["Retry-After"] = "4"


@stateful_deviation("limited once, in words", "problem-media problem json")
class LimitedInWords(LimitedOnce):
    def limit(self, exchange: Exchange) -> None:
        exchange.status = 429
        exchange.body = b"slow down"
        exchange.headers |= {"Content-Type": "text/plain", "Retry-After": "2", "X-Request-Id": "r"}


@response_deviation("what is missing is made up", "condition.missing")
def what_is_missing_is_made_up(exchange: Exchange) -> None:
    if path_ends_with(exchange, _DNS) and UNUSED_ID in exchange.path and exchange.status == 404:
        empty: dict[str, Any] = {
            "status": "not_authorized",
            "zone": None,
            "scopes": [],
            "expires_at": None,
        }
        accept(exchange, empty)


class LeadsElsewhere(Tampering):
    """Redirects requests for a missing resource to an existing one, where paths contain `part`."""

    def __init__(self, part: str, existing_id: str) -> None:
        self._part = part
        self._existing_id = existing_id

    def before(self, exchange: Exchange) -> None:
        if self._part in exchange.path:
            exchange.path = exchange.path.replace(UNUSED_ID, self._existing_id)


caller_deviation(
    "tickets for a project that is not there",
    "condition.missing",
    lambda options: LeadsElsewhere(_TICKETS, options.project_id),
)
caller_deviation(
    "keys of an organization that is not there",
    "condition.missing",
    lambda options: LeadsElsewhere(_KEYS, options.organization_id),
)


@stateful_deviation("an operation that is not there", "condition.missing")
class AnOperationThatIsNotThere(Tampering):
    def __init__(self) -> None:
        self._existing_path = ""

    def before(self, exchange: Exchange) -> None:
        if UNUSED_ID in exchange.path and "/operations/" in exchange.path:
            exchange.path = self._existing_path

    def after(self, exchange: Exchange) -> None:
        if is_successful_poll(exchange):
            self._existing_path = exchange.path


# --- The flag -------------------------------------------------------------------------------------

edit_success(
    _FLAG,
    "the flag as 1",
    "flag.enabled flag.on flag.off",
    lambda f: f.update(enabled=int(f["enabled"])),
)


def _no_time(flag: dict[str, Any]) -> None:
    flag["enabled_at"] = None


edit_success(_FLAG, "no time of a flag that is shown", "flag.enabled_at flag.on", _no_time)


def _left_out(flag: dict[str, Any]) -> None:
    if not flag["enabled"]:
        del flag["enabled_at"]


edit_success(_FLAG, "no enabled_at of a flag that is hidden", "flag.enabled_at", _left_out)
edit_success(
    _FLAG, "a member more that is null", "flag.closed", lambda flag: flag.update(note=None)
)


def _ahead(flag: dict[str, Any]) -> None:
    if flag["enabled"]:
        flag["enabled_at"] = flag["enabled_at"].replace("T12:", "T13:")


edit_success(_FLAG, "switched on in an hour", "flag.on flag.enabled_at", _ahead)
edit_success(_FLAG, "never hidden", "flag.off flag.enabled", lambda flag: flag.update(enabled=True))
edit_success(
    _FLAG, "another project's flag", "flag.project_id", lambda flag: flag.update(project_id=_OTHER)
)


@request_deviation("enabled null hides", "flag.body flag.request")
def enabled_null_hides(exchange: Exchange) -> None:
    if path_ends_with(exchange, _FLAG) and exchange.request_body == b'{"enabled": null}':
        exchange.request_json = {"enabled": True}


@request_deviation("enabled 1 shows", "flag.body flag.request")
def enabled_1_shows(exchange: Exchange) -> None:
    if path_ends_with(exchange, _FLAG) and exchange.request_body == b'{"enabled": 1}':
        exchange.request_json = {"enabled": True}


@response_deviation("a flag's wrong body is 422", "flag.statuses")
def a_flag_s_wrong_body_is_422(exchange: Exchange) -> None:
    if path_ends_with(exchange, _FLAG) and exchange.status == 400:
        exchange.status = 422
        exchange.json = {**exchange.json, "status": 422}


class Replays(Tampering):
    """Counts the requests that show the flag with the same Idempotency-Key."""

    def __init__(self) -> None:
        self._keys: dict[str, int] = {}

    def times(self, exchange: Exchange) -> int:
        key = exchange.request_headers.get("Idempotency-Key", "")
        if not path_ends_with(exchange, _FLAG) or exchange.request_body != b'{"enabled": true}':
            return 0
        self._keys[key] = self._keys.get(key, 0) + 1
        return self._keys[key]


@stateful_deviation("a retry switches again and says nothing", "flag.retry flag.replay")
class ARetrySwitchesInSecret(Replays):
    def __init__(self) -> None:
        super().__init__()
        self._first: dict[str, bytes] = {}

    def before(self, exchange: Exchange) -> None:
        self._key = exchange.request_headers.get("Idempotency-Key", "")
        if not self._key:
            return
        times = self.times(exchange)
        if times > 1:
            exchange.request_headers["Idempotency-Key"] = f"{self._key}-{times}"

    def after(self, exchange: Exchange) -> None:
        if exchange.ok and path_ends_with(exchange, _FLAG):
            exchange.body = self._first.setdefault(
                self._key + str(exchange.request_body), exchange.body
            )


@stateful_deviation("a retry shows the flag as it is", "flag.retry flag.replay")
class ARetryShowsTheFlagAsItIs(Replays):
    def __init__(self) -> None:
        super().__init__()
        self._hidden = b""

    def after(self, exchange: Exchange) -> None:
        if exchange.ok and path_ends_with(exchange, _FLAG):
            if not exchange.json["enabled"]:
                self._hidden = exchange.body
            elif self.times(exchange) > 2 and self._hidden:
                exchange.body = self._hidden


@request_deviation("an Idempotency-Key of 128 is too long", "idempotency-key limit.idempotency-key")
def an_idempotency_key_of_128_is_too_long(exchange: Exchange) -> None:
    key = exchange.request_headers.get("Idempotency-Key", "")
    if path_ends_with(exchange, _FLAG) and len(key) == 128:
        exchange.request_headers["Idempotency-Key"] = key + "x"


@request_deviation("an empty Idempotency-Key makes keys", "idempotency-key limit.idempotency-key")
def an_empty_idempotency_key_makes_keys(exchange: Exchange) -> None:
    if path_ends_with(exchange, _KEYS) and exchange.request_headers.get("Idempotency-Key") == "":
        exchange.request_headers["Idempotency-Key"] = "made-up"


def _maintainers(ending: str, owner_only: str) -> None:
    caller_deviation(
        f"maintainers pass for owners at {ending}",
        f"{owner_only} auth.roles",
        lambda options: TakesFor(options.maintainer_token, options.token, ending),
    )


_maintainers(_FLAG, "flag.owner-only")
_maintainers(_TICKETS, "tickets.owner-only")


class TheKeyIsEnough(Tampering):
    """Any user who knows an Idempotency-Key gets its stored response."""

    def __init__(self, options: CheckOptions) -> None:
        self._owner = f"Bearer {options.token}"
        self._keys = set[str]()

    def before(self, exchange: Exchange) -> None:
        key = exchange.request_headers.get("Idempotency-Key", "")
        if exchange.request_headers.get("Authorization") == self._owner:
            self._keys |= {key} - {""}
        elif key in self._keys and "Authorization" in exchange.request_headers:
            exchange.request_headers["Authorization"] = self._owner


class TheKeyIsEnoughForNobody(TheKeyIsEnough):
    """A request with a known Idempotency-Key needs no token."""

    def before(self, exchange: Exchange) -> None:
        key = exchange.request_headers.get("Idempotency-Key", "")
        if exchange.request_headers.get("Authorization") == self._owner:
            self._keys |= {key} - {""}
        elif key in self._keys and "Authorization" not in exchange.request_headers:
            exchange.request_headers["Authorization"] = self._owner


class TheKeyIsEnoughForOutsiders(TheKeyIsEnough):
    """An outsider who knows an Idempotency-Key gets its response, where a path ends with `ending`."""

    def __init__(self, options: CheckOptions, ending: str) -> None:
        super().__init__(options)
        self._ending = ending
        self._outsider = f"Bearer {options.outsider_token}"

    def before(self, exchange: Exchange) -> None:
        is_own = exchange.request_headers.get("Authorization") in (self._owner, self._outsider)
        if is_own and path_ends_with(exchange, self._ending):
            super().before(exchange)


caller_deviation(
    "the key is enough",
    "flag.owner-only auth.roles auth.session condition.missing keys.session",
    TheKeyIsEnough,
)
caller_deviation("the key is enough for nobody", "auth.bearer bearer", TheKeyIsEnoughForNobody)
caller_deviation(
    "the key is enough to make keys",
    "keys.session",
    lambda options: TheKeyIsEnoughForOutsiders(options, _KEYS),
)
caller_deviation(
    "the key is enough to start operations",
    "condition.missing",
    lambda options: TheKeyIsEnoughForOutsiders(options, _DOMAINS),
)
edit_success(
    _KEYS,
    "most of the value in the obfuscated one",
    "key.metadata keys.replay",
    lambda creation: creation["key"].update(obfuscated_value=(creation["value"] or "")[:40] + "…"),
)
edit_success(
    _KEYS,
    "the last 20 characters of the value in the obfuscated one",
    "key.metadata keys.replay",
    lambda creation: creation["key"].update(obfuscated_value="…" + (creation["value"] or "")[-20:]),
)

# --- Keys -----------------------------------------------------------------------------------------


def edit_replay(name: str, breaks: str, change: Callable[[dict[str, Any]], object]) -> None:
    """Plant a deviation in the exact replay of the creation of a key."""

    def change_replay(creation: dict[str, Any]) -> None:
        if creation["replayed"]:
            change(creation)

    edit_success(_KEYS, name, breaks, change_replay)


edit_replay("no value on replay", "key.value", lambda creation: creation.pop("value"))
edit_replay(
    "an empty value on replay",
    "key.value keys.value-once keys.replay",
    lambda creation: creation.update(value=""),
)
edit_replay(
    "another name on replay", "keys.replay", lambda creation: creation["key"].update(name="ci")
)
edit_replay(
    "a replay renews the key",
    "keys.replay",
    lambda creation: creation["key"].update(expires_at="2026-06-30T12:00:00.000Z"),
)
edit_replay("replayed as text", "key.replayed", lambda creation: creation.update(replayed="true"))
edit_success(
    _KEYS,
    "the value in the obfuscated one",
    "key.metadata keys.replay",
    lambda creation: creation["key"].update(obfuscated_value=f"key {creation['value'] or ''}"),
)


@stateful_deviation("the value again in the metadata", "keys.value-once")
class TheValueAgain(Tampering):
    def __init__(self) -> None:
        self._value = ""

    def after(self, exchange: Exchange) -> None:
        if exchange.ok and path_ends_with(exchange, _KEYS):
            creation = exchange.json
            self._value = creation["value"] or self._value
            if creation["replayed"]:
                creation["key"]["token"] = self._value
                exchange.json = creation


edit_success(
    _KEYS,
    "keys of ninety days and an hour",
    "keys.days limit.key",
    lambda creation: creation["key"].update(
        expires_at=later(creation["key"]["expires_at"], hours=1)
    ),
)
edit_success(
    _KEYS, "never used is null", "key.metadata", lambda m: m["key"].update(last_used_at=None)
)
edit_success(
    _KEYS, "permissions as numbers", "key.metadata", lambda m: m["key"].update(permissions=[1])
)
edit_success(
    _KEYS,
    "expiry without an offset",
    "key.metadata timestamp",
    lambda creation: creation["key"].update(expires_at="2026-05-30T12:00:00"),
)
edit_success(
    _KEYS,
    "a request id as number",
    "key.request_id",
    lambda creation: creation.update(request_id=7),
)


@response_deviation("a key's reused key is a replay", "condition.reused")
def a_key_s_reused_key_is_a_replay(exchange: Exchange) -> None:
    if path_ends_with(exchange, _KEYS) and exchange.status == 409:
        key = {"id": _OTHER, "name": exchange.request_json["name"]}
        accept(exchange, {"replayed": True, "value": None, "request_id": "r", "key": key})


@request_deviation("a number is a name", "keys.body")
def a_number_is_a_name(exchange: Exchange) -> None:
    if path_ends_with(exchange, _KEYS) and exchange.request_json.get("name") == 7:
        exchange.request_json = {"name": "7"}


caller_deviation(
    "outsiders make keys",
    "keys.session",
    lambda options: TakesFor(options.outsider_token, options.token, _KEYS),
)


class TakesAnything(Tampering):
    """A token that was never issued counts as the owner's, where paths contain `part`."""

    def __init__(self, options: CheckOptions, part: str) -> None:
        option_names = ("token", "maintainer_token", "reader_token", "outsider_token")
        tokens = [*(getattr(options, n) for n in option_names), options.no_organization_token]
        self._known_headers = {f"Bearer {token}" for token in tokens}
        self._part = part
        self._owner = f"Bearer {options.token}"

    def before(self, exchange: Exchange) -> None:
        authorization = exchange.request_headers.get("Authorization", "")
        is_unknown = (
            authorization.startswith("Bearer ")
            and authorization not in self._known_headers
            and "phk_" not in authorization
        )
        if is_unknown and self._part in exchange.path:
            exchange.request_headers["Authorization"] = self._owner


def _anything(part: str) -> None:
    caller_deviation(
        f"any token is good at {part}",
        "auth.bearer auth.kinds",
        lambda options: TakesAnything(options, part),
    )


for _part in (_KEYS, _LIST, "/operations/"):
    _anything(_part)


class SignedByAnybody(Tampering):
    """Reads a token without checking its signature."""

    def __init__(self, options: CheckOptions) -> None:
        self._token = options.token

    def before(self, exchange: Exchange) -> None:
        token = exchange.request_headers.get("Authorization", "").removeprefix("Bearer ")
        if token.rpartition(".")[0] == self._token.rpartition(".")[0]:
            exchange.request_headers["Authorization"] = f"Bearer {self._token}"


caller_deviation("signed by anybody", "auth.bearer auth.kinds bearer", SignedByAnybody)
caller_deviation(
    "strangers poll",
    "condition.missing",
    lambda options: _Polls(options.outsider_token, options.token),
)
caller_deviation("nobody polls", "auth.bearer bearer", lambda options: _Polls(None, options.token))


class _Polls(Tampering):
    def __init__(self, accepted_token: str | None, effective_token: str) -> None:
        self._accepted_header = f"Bearer {accepted_token}" if accepted_token else None
        self._effective_header = f"Bearer {effective_token}"

    def before(self, exchange: Exchange) -> None:
        is_accepted = exchange.request_headers.get("Authorization") == self._accepted_header
        if is_accepted and "/operations/" in exchange.path:
            exchange.request_headers["Authorization"] = self._effective_header


@response_deviation("without an organization compute is forbidden", "auth.organization")
def without_an_organization_compute_is_forbidden(exchange: Exchange) -> None:
    if path_ends_with(exchange, _COMPUTE) and exchange.status == 403:
        refuse(exchange, 403, "forbidden")


@response_deviation("wrong tokens are forbidden", "auth.unauthenticated")
def wrong_tokens_are_forbidden(exchange: Exchange) -> None:
    if exchange.status == 401 and "Authorization" in exchange.request_headers:
        refuse(exchange, 401, "forbidden")


@response_deviation("API keys are no tokens", "auth.kinds key.value")
def api_keys_are_no_tokens(exchange: Exchange) -> None:
    if "phk_" in exchange.request_headers.get("Authorization", ""):
        refuse(exchange, 401, "unauthenticated")


class Repeats(Tampering):
    """Repeats the token of the request in a problem."""

    def after(self, exchange: Exchange) -> None:
        if exchange.status == 404 and path_ends_with(exchange, _DNS):
            detail = f"not for {exchange.request_headers.get('Authorization')}"
            exchange.json = {**exchange.json, "detail": detail}


caller_deviation("the token in a detail", "ticket.once", lambda _: Repeats())

# --- Operations -----------------------------------------------------------------------------------


class AfterItsEnd(Tampering):
    """Changes polls of an operation that an earlier poll showed as ended."""

    def __init__(self) -> None:
        self._ended: set[str] = set()

    def after(self, exchange: Exchange) -> None:
        if not is_successful_poll(exchange):
            return
        if exchange.path in self._ended:
            self.change(exchange)
        elif exchange.json["state"] == "succeeded":
            self._ended.add(exchange.path)

    def change(self, exchange: Exchange) -> None:
        raise NotImplementedError


@stateful_deviation("gone after its end", "durable")
class GoneAfterItsEnd(AfterItsEnd):
    def change(self, exchange: Exchange) -> None:
        refuse(exchange, 404, "resource_not_found")


@stateful_deviation("another result after its end", "durable")
class AnotherResult(AfterItsEnd):
    def change(self, exchange: Exchange) -> None:
        exchange.json = {**exchange.json, "result": {"other": True}}


@stateful_deviation("failed after its end", "durable")
class FailedAfterItsEnd(AfterItsEnd):
    def change(self, exchange: Exchange) -> None:
        exchange.json = {**exchange.json, "state": "failed"}


@stateful_deviation("gone between two polls", "durable")
class GoneBetweenTwoPolls(Tampering):
    def __init__(self) -> None:
        self._poll_count = 0

    def after(self, exchange: Exchange) -> None:
        if is_successful_poll(exchange):
            self._poll_count += 1
            if self._poll_count == 4:
                refuse(exchange, 404, "resource_not_found")


def _made_anew(document: dict[str, Any]) -> None:
    document["created_at"] = document["updated_at"] = document["progress"]["observed_at"]


edit_operation("created anew at each poll", "operation.times", _made_anew)
edit_operation("another operation", "operation.id durable", lambda o: o.update(id=_OTHER))
edit_operation(
    "times as numbers", "operation.times timestamp", lambda o: o.update(created_at=1772366400)
)
edit_operation(
    "states in capitals",
    "operation.state states.operation",
    lambda o: o.update(state=o["state"].capitalize()),
)
edit_operation("no progress is null", "operation.progress", lambda o: o.update(progress=None))
edit_operation(
    "another project's progress",
    "progress-object",
    lambda o: o["progress"].update(project_id=_OTHER),
)
edit_operation(
    "another deployment's progress",
    "progress-object",
    lambda o: o["progress"].update(deployment_id=_OTHER),
)
edit_operation(
    "progress of yesterday",
    "progress-object",
    lambda o: _on_another_day(-1)(o["progress"]),
)
edit_operation(
    "half a second to the next poll",
    "progress-object",
    lambda o: o["progress"].update(next_poll_after_seconds=0.5),
)


def _runs_and_waits(document: dict[str, Any]) -> None:
    if document["state"] == "running":
        document["blocking_operation_id"] = _OTHER


edit_operation(
    "it runs and waits", "states.blocking operation.blocking_operation_id", _runs_and_waits
)


@response_deviation("it waits on nothing that is there", "operation.blocking_operation_id")
def it_waits_on_nothing_that_is_there(exchange: Exchange) -> None:
    if exchange.ok and b"blocking_operation_id" in exchange.body:
        exchange.json = {**exchange.json, "blocking_operation_id": _OTHER}


@response_deviation("it waits on itself", "states.blocking")
def it_waits_on_itself(exchange: Exchange) -> None:
    if exchange.ok and b"blocking_operation_id" in exchange.body:
        exchange.json = {**exchange.json, "blocking_operation_id": exchange.json["id"]}


def _fails(document: dict[str, Any]) -> None:
    if document["state"] == "succeeded":
        document["state"] = "failed"
        document["error"] = {"code": "operation_failed", "retryable": "no"}
        del document["result"]


edit_operation("a failure without yes or no", "error-object", _fails)


@response_deviation("another operation's deployment", "deployment.operation_id")
def another_operation_s_deployment(exchange: Exchange) -> None:
    if exchange.ok and path_ends_with(exchange, _LIST):
        page = exchange.json
        for item in page["items"]:
            item["operation_id"] = _OTHER
        exchange.json = page


@response_deviation("a source's reused key is fine", "condition.reused")
def a_source_s_reused_key_is_fine(exchange: Exchange) -> None:
    reused = exchange.status == 409 and exchange.json["code"] == "idempotency_key_reused"
    if reused and path_ends_with(exchange, _SOURCE):
        accept(exchange, {"id": _OTHER, "state": "queued"})


@request_deviation("a generation as text", "source.body")
def a_generation_as_text(exchange: Exchange) -> None:
    if (
        path_ends_with(exchange, _SOURCE)
        and exchange.request_json.get("expected_source_generation") == "0"
    ):
        exchange.request_json = {"expected_source_generation": 1}


@request_deviation("applying domains takes a body", "domains.call")
def applying_domains_takes_a_body(exchange: Exchange) -> None:
    if (
        path_ends_with(exchange, _DOMAINS)
        and not exchange.request_body
        and "x" not in exchange.path
    ):
        exchange.request_headers.pop("Idempotency-Key", None)


# --- DNS ------------------------------------------------------------------------------------------

edit_success(
    _DNS, "a zone with a dot at its end", "dns.zone", lambda d: d.update(zone="shop.example.")
)
edit_success(_DNS, "a zone of one label", "dns.zone", lambda d: d.update(zone="localhost"))


def _nothing(**changes: Any) -> Callable[[dict[str, Any]], None]:
    empty: dict[str, Any] = {
        "status": "not_authorized",
        "zone": None,
        "scopes": [],
        "expires_at": None,
    }
    return lambda authorization: authorization.update({**empty, **changes})


edit_success(_DNS, "scopes without authorization", "dns.scopes", _nothing(scopes=["zone.read"]))
edit_success(
    _DNS,
    "an expiry without authorization",
    "dns.expires_at",
    _nothing(expires_at="2026-03-31T12:00:00Z"),
)
edit_success(
    _DNS,
    "no scopes are null",
    "dns.scopes",
    lambda authorization: authorization.update(scopes=None),
)
edit_success(
    _DNS, "no status", "dns.status states.dns", lambda authorization: authorization.pop("status")
)
edit_success(
    _DNS,
    "the provider's token",
    "dns.no-credentials",
    lambda authorization: authorization.update(provider={"api_token": "q7Xv2LmN8pR4sT6uW9yB"}),
)

# --- Deployments ----------------------------------------------------------------------------------


@request_deviation("the cursor is read and forgotten", "deployments.page-through")
def the_cursor_is_read_and_forgotten(exchange: Exchange) -> None:
    exchange.path = re.sub("&cursor=[A-Za-z0-9_-]+$", "", exchange.path)


@response_deviation("a list without an end", "deployments.page-through")
def a_list_without_an_end(exchange: Exchange) -> None:
    if path_ends_with(exchange, _LIST) and exchange.path.endswith("cursor=more"):
        accept(exchange, {"items": [], "next_cursor": "more"})
    elif exchange.ok and "cursor=" in exchange.path and "next_cursor" not in exchange.json:
        exchange.json = {**exchange.json, "next_cursor": "more"}


@request_deviation("a cursor of any characters", "deployments.query")
def a_cursor_of_any_characters(exchange: Exchange) -> None:
    exchange.path = re.sub("&?cursor=[A-Za-z0-9_-]*[^A-Za-z0-9_&-].*$", "", exchange.path)


@request_deviation("the size is read and forgotten", "deployments.query limit.page-size")
def the_size_is_read_and_forgotten(exchange: Exchange) -> None:
    exchange.path = re.sub("limit=([1-9][0-9]?|100)(?![0-9.])", "limit=20", exchange.path)


@response_deviation("a page of 100 is too long", "deployments.query limit.page-size")
def a_page_of_100_is_too_long(exchange: Exchange) -> None:
    if exchange.path.endswith("limit=100"):
        refuse(exchange, 400, "invalid_request")


def last_deployment(page: dict[str, Any]) -> dict[str, Any]:
    """Return the last deployment of a page, or an empty one."""
    deployment: dict[str, Any] = page["items"][-1] if page["items"] else {}
    return deployment


edit_success(
    _LIST,
    "a status as number",
    "deployment.status",
    lambda page: last_deployment(page).update(status=1),
)
edit_success(
    _LIST,
    "the last one's operation a word",
    "deployment.operation_id ulid",
    lambda page: last_deployment(page).update(operation_id="first"),
)
edit_success(
    _LIST, "no url is null", "deployment.url", lambda page: last_deployment(page).update(url=None)
)
edit_success(
    _LIST,
    "created in the thirteenth month",
    "deployment.times timestamp",
    lambda page: last_deployment(page).update(created_at="2026-13-01T00:00:00Z"),
)
edit_success(
    _LIST,
    "no further page is false",
    "page.next_cursor",
    lambda page: page.setdefault("next_cursor", False),
)
edit_success(
    _LIST, "no items are null", "page.items deployments.response", lambda p: p.update(items=None)
)

# --- Tickets --------------------------------------------------------------------------------------


def _words(ticket: dict[str, Any]) -> None:
    for name in ("origin", "redeem_url"):
        ticket[name] = re.sub(r"dev-[a-z]+-", "dev-", ticket[name], count=1)


edit_success(_TICKETS, "an origin of two words", "ticket.origin ticket.redeem_url", _words)
edit_success(
    _TICKETS,
    "a ticket of production",
    "ticket.redeem_url",
    lambda t: t.update(redeem_url=t["redeem_url"].replace("stage=dev", "stage=prod")),
)
edit_success(
    _TICKETS,
    "a ticket for another origin",
    "ticket.redeem_url",
    lambda t: t.update(redeem_url=re.sub("dev-[a-z]+-", "dev-other-", t["redeem_url"])),
)
edit_success(
    _TICKETS,
    "half a minute more",
    "ticket.expires_at states.ticket-once limit.ticket",
    lambda t: t.update(expires_at=re.sub(r":\d\d\.\d+Z", ":59.000Z", t["expires_at"])),
)
edit_success(
    _TICKETS, "always one ticket", "ticket.ticket_id", lambda t: t.update(ticket_id=_OTHER)
)
edit_success(
    _TICKETS, "another project's", "ticket.project_id", lambda t: t.update(project_id=_OTHER)
)
edit_success(
    _TICKETS,
    "an environment by name",
    "ticket.environment_id ulid",
    lambda t: t.update(environment_id="dev"),
)


@stateful_deviation("the previous ticket in the next response", "ticket.once")
class TheTicketBefore(Tampering):
    def __init__(self) -> None:
        self._previous_url = ""

    def after(self, exchange: Exchange) -> None:
        if exchange.ok and path_ends_with(exchange, _TICKETS):
            ticket = exchange.json
            url = ticket["redeem_url"]
            ticket["revoked"] = self._previous_url
            if self._previous_url:
                exchange.json = ticket
            self._previous_url = url


@stateful_deviation("the previous ticket in a header", "ticket.once")
class TheTicketInAHeader(Tampering):
    def __init__(self) -> None:
        self._previous_ticket = ""

    def after(self, exchange: Exchange) -> None:
        if exchange.ok and path_ends_with(exchange, _TICKETS):
            exchange.headers["X-Revoked"] = self._previous_ticket
            self._previous_ticket = exchange.json["redeem_url"].rpartition("=")[2]


class OpensAlways(Tampering):
    """Opens the dev origin to unusable tickets, as it does to valid ones."""

    def __init__(self) -> None:
        self.issued: list[str] = []
        self.opened: set[str] = set()

    def after(self, exchange: Exchange) -> None:
        if exchange.ok and path_ends_with(exchange, _TICKETS):
            self.issued.append(exchange.json["redeem_url"].rpartition("=")[2])
        if "/dev-access/redeem" not in exchange.path:
            return
        ticket = exchange.path.rpartition("=")[2]
        if exchange.status == 303:
            self.opened.add(ticket)
        elif ticket not in self.opened and self.opens(ticket):
            exchange.status = 303
            exchange.headers["Location"] = f"https://{exchange.request_headers['Host']}/"
            exchange.headers["Set-Cookie"] = "dev_access=let-in; Path=/"

    def opens(self, ticket: str) -> bool:
        raise NotImplementedError


@stateful_deviation("a ticket that was never issued", "states.ticket-once limit.ticket")
class ATicketNeverIssued(OpensAlways):
    def opens(self, ticket: str) -> bool:
        return ticket not in self.issued


@stateful_deviation("a ticket after ten minutes", "states.ticket-once limit.ticket")
class ATicketAfterTenMinutes(OpensAlways):
    def opens(self, ticket: str) -> bool:
        return ticket == self.issued[-1]


# --- Compute --------------------------------------------------------------------------------------


@request_deviation("every environment is dev", "compute.query")
def every_environment_is_dev(exchange: Exchange) -> None:
    exchange.path = exchange.path.replace("environment=prod", "environment=dev")


def _on_another_day(days: int) -> Callable[[dict[str, Any]], None]:
    return lambda document: document.update(observed_at=later(document["observed_at"], days=days))


edit_success(_COMPUTE, "observed yesterday", "compute.observed_at", _on_another_day(-1))
edit_success(_COMPUTE, "observed tomorrow", "compute.observed_at", _on_another_day(1))


def _database(**more: Any) -> Callable[[dict[str, Any]], None]:
    return lambda compute: (compute["database"] or {}).update(more)


edit_success(
    _COMPUTE,
    "where the database is",
    "compute.no-identifiers",
    _database(connection="postgres://app:hunter22@db.example/main"),
)
edit_success(
    _COMPUTE,
    "the provider's id",
    "compute.no-identifiers",
    _database(endpoint_id="ep-cool-darkness-123456"),
)
edit_success(
    _COMPUTE,
    "another project's compute",
    "compute.project_id",
    lambda compute: compute.update(project_id=_OTHER),
)


def _shared(compute: dict[str, Any]) -> None:
    compute["data_mode"] = "shared"


edit_success(_COMPUTE, "shared, and not the same", "compute.data_mode", _shared)
edit_success(_COMPUTE, "disabled as text", "compute.placement", _database(disabled="false"))
edit_success(
    _COMPUTE, "no pending state is null", "compute.placement", _database(pending_state=None)
)
edit_success(
    _COMPUTE,
    "suspended after half a second",
    "compute.placement",
    _database(suspend_timeout_seconds=0.5),
)
edit_success(
    _COMPUTE,
    "databases in a list",
    "compute.database",
    lambda f: f.update(database=[f["database"]]),
)
edit_success(
    _COMPUTE,
    "an id without its last letter",
    "compute.project_id ulid",
    lambda f: f.update(project_id=f["project_id"][:25]),
)


# --- A second round, written after the check had found all of the first ------------------------------

edit_success(
    _LIST,
    "a cursor by another name",
    "deployments.page-through",
    lambda page: page.update(nextCursor=page.pop("next_cursor", None)),
)
edit_success(
    _FLAG,
    "a time by another name",
    "flag.enabled_at flag.closed flag.on",
    lambda flag: flag.update(enabledAt=flag.pop("enabled_at")),
)
edit_success(
    _KEYS,
    "key ids with a prefix",
    "key.metadata ulid",
    lambda creation: creation["key"].update(id="key_1"),
)
edit_success(
    _LIST,
    "ids with I, L, O and U",
    "deployment.id ulid deployments.page-through",
    lambda page: last_deployment(page).update(id="01LOUI" + "0" * 20),
)


@response_deviation("the page before is the next", "deployments.page-through")
def the_page_before_is_the_next(exchange: Exchange) -> None:
    if exchange.ok and "cursor=" in exchange.path:
        page = exchange.json
        page["items"] = page["items"][:1] * 2 + page["items"][2:]
        exchange.json = page


@response_deviation(
    "a cursor that was given is refused", "deployments.page-through deployments.query"
)
def a_cursor_that_was_given_is_refused(exchange: Exchange) -> None:
    if exchange.ok and "cursor=" in exchange.path:
        refuse(exchange, 400, "invalid_request")


class ReusedWithoutChange(Tampering):
    """Refuses the second request with an Idempotency-Key, although it is identical."""

    def __init__(self, ending: str) -> None:
        self._ending = ending
        self._keys = set[str]()

    def after(self, exchange: Exchange) -> None:
        if not exchange.ok or not path_ends_with(exchange, self._ending):
            return
        key = exchange.request_headers.get("Idempotency-Key", "")
        if key in self._keys:
            refuse(exchange, 409, "idempotency_key_reused")
        self._keys.add(key)


caller_deviation(
    "a flag's retry is a reuse", "flag.retry flag.replay", lambda _: ReusedWithoutChange(_FLAG)
)
caller_deviation(
    "a key's retry is a reuse",
    "keys.replay keys.uncertainty",
    lambda _: ReusedWithoutChange(_KEYS),
)
caller_deviation(
    "a source's retry is a reuse", "condition.reused", lambda _: ReusedWithoutChange(_SOURCE)
)
caller_deviation(
    "a domain's retry is a reuse", "domains.idempotent", lambda _: ReusedWithoutChange(_DOMAINS)
)


def _before_it_was_made(document: dict[str, Any]) -> None:
    document["updated_at"] = "2025-01-01T00:00:00Z"


edit_operation("changed before it was made", "operation.times", _before_it_was_made)
edit_success(
    _LIST,
    "a deployment changed before it was made",
    "deployment.times",
    lambda page: _before_it_was_made(last_deployment(page)),
)


def _last_year(creation: dict[str, Any]) -> None:
    creation["key"] |= {"created_at": "2025-03-01T12:00:00Z", "expires_at": "2025-05-30T12:00:00Z"}


edit_success(_KEYS, "a key of last year", "keys.days limit.key key.metadata", _last_year)


@response_deviation("an operation of last year", "operation.times")
def an_operation_of_last_year(exchange: Exchange) -> None:
    if exchange.ok and (path_ends_with(exchange, _DOMAINS) or is_successful_poll(exchange)):
        document = exchange.json
        document["created_at"] = "2025-03-01T12:00:00Z"
        exchange.json = document


@stateful_deviation("what was deployed is not listed", "operation.deployment_id")
class NotListed(Tampering):
    def __init__(self) -> None:
        self._deployed = ""

    def after(self, exchange: Exchange) -> None:
        if exchange.ok and path_ends_with(exchange, _SOURCE):
            self._deployed = exchange.json["deployment_id"]
        elif exchange.ok and path_ends_with(exchange, _LIST):
            page = exchange.json
            page["items"] = [item for item in page["items"] if item["id"] != self._deployed]
            exchange.json = page


edit_success(
    _KEYS,
    "a value without its end",
    "key.value auth.kinds",
    lambda creation: creation.update(value=creation["value"] and creation["value"][:-3]),
)


class SignedByNobody(Tampering):
    """Accepts a token whose header says that it is not signed."""

    def __init__(self, options: CheckOptions) -> None:
        self._token = options.token

    def before(self, exchange: Exchange) -> None:
        token = exchange.request_headers.get("Authorization", "").removeprefix("Bearer ")
        if token.endswith(".") and token.split(".")[1] == self._token.split(".")[1]:
            exchange.request_headers["Authorization"] = f"Bearer {self._token}"


caller_deviation("signed by nobody", "auth.bearer auth.kinds", SignedByNobody)


@response_deviation("the token in a header", "ticket.once")
def the_token_in_a_header(exchange: Exchange) -> None:
    if exchange.ok and path_ends_with(exchange, _LIST):
        exchange.headers["X-Debug-Caller"] = exchange.request_headers["Authorization"]


edit_success(
    _KEYS,
    "a secret beside the key",
    "ticket.once",
    lambda creation: creation["key"].update(client_secret="c8Jd02mQx7VtLwPz"),
)
edit_operation(
    "the provider's id of an operation",
    "compute.no-identifiers",
    lambda document: document.update(provider_operation_id="op-7f3a"),
)
edit_success(
    _LIST,
    "a private key in a deployment",
    "ticket.once",
    lambda page: last_deployment(page).update(note="-----BEGIN RSA PRIVATE KEY-----\nMIIE"),
)
edit_success(
    _DNS,
    "the provider's account",
    "dns.no-credentials",
    lambda authorization: authorization.update(account_id="023e105f4ecef8ad9ca31a8372d0c353"),
)


@response_deviation("dev and prod are swapped", "compute.query")
def dev_and_prod_are_swapped(exchange: Exchange) -> None:
    if exchange.ok and path_ends_with(exchange, _COMPUTE):
        compute = exchange.json
        compute["environment"] = {"dev": "prod", "prod": "dev"}[compute["environment"]]
        exchange.json = compute


@stateful_deviation("another origin for each ticket", "ticket.origin")
class AnotherOrigin(Tampering):
    def __init__(self) -> None:
        self._ticket_count = 0

    def after(self, exchange: Exchange) -> None:
        if exchange.ok and path_ends_with(exchange, _TICKETS):
            self._ticket_count += 1
            word = "abcdefghi"[self._ticket_count]
            body = re.sub("dev-[a-z]+-", f"dev-{word}-", exchange.body.decode())
            exchange.body = body.encode()


@request_deviation("an X-Request-Id of 1 is too short", "request-id limit.request-id")
def an_x_request_id_of_1_is_too_short(exchange: Exchange) -> None:
    if len(exchange.request_headers.get("X-Request-Id", "")) == 1:
        exchange.request_headers["X-Request-Id"] = "x" * 129


@request_deviation("an Idempotency-Key of 1 is too short", "idempotency-key limit.idempotency-key")
def an_idempotency_key_of_1_is_too_short(exchange: Exchange) -> None:
    if len(exchange.request_headers.get("Idempotency-Key", "")) == 1:
        exchange.request_headers["Idempotency-Key"] = "x" * 129


@response_deviation("nobody's request is not in order", "auth.unauthenticated")
def nobody_s_request_is_not_in_order(exchange: Exchange) -> None:
    if exchange.status == 401 and path_ends_with(exchange, _SOURCE):
        refuse(exchange, 400, "invalid_request")


edit_success(
    _KEYS,
    "names in small letters",
    "key.metadata",
    lambda creation: creation["key"].update(name=creation["key"]["name"].upper()),
)
edit_problem_member(
    "resource_not_found", "an instance with spaces", "problem.instance", instance="no such"
)
edit_problem_member("unauthenticated", "200 in the document", "problem.status", status=200)
deviate_retry_after("half a second", "problem.retry_after_seconds", 0.5, "1")
deviate_retry_after("no seconds are null", "problem.retry_after_seconds", None, "30")
edit_operation(
    "a result in words", "operation.result", lambda document: document.update(result="done")
)
edit_success(
    _TICKETS,
    "a ticket of other characters",
    "ticket.redeem_url",
    lambda t: t.update(redeem_url=t["redeem_url"][:-1] + "+"),
)
edit_success(
    _DNS, "a zone with an underscore", "dns.zone", lambda d: d.update(zone="my_shop.example")
)
edit_success(_DNS, "a zone for all names", "dns.zone", lambda d: d.update(zone="*.shop.example"))


@response_deviation("a packed body", "json dns.response")
def a_packed_body(exchange: Exchange) -> None:
    if exchange.ok and path_ends_with(exchange, _DNS):
        exchange.body = gzip.compress(exchange.body)


@response_deviation("the list by reference", "deployments.response page.items")
def the_list_by_reference(exchange: Exchange) -> None:
    if exchange.ok and path_ends_with(exchange, _LIST):
        exchange.json = {"items": {"href": "/v1/items"}}


@response_deviation("missing with 400", "condition.missing condition.statuses problem.status")
def missing_with_400(exchange: Exchange) -> None:
    if exchange.status == 404 and path_ends_with(exchange, _COMPUTE):
        exchange.status = 400


@response_deviation("outsiders are forbidden to list", "condition.missing")
def outsiders_are_forbidden_to_list(exchange: Exchange) -> None:
    if exchange.status == 404 and path_ends_with(exchange, _LIST):
        refuse(exchange, 403, "forbidden")


deviate_retry_after(
    "until a day long ago", "problem.retry_after_seconds", 30, "Thu, 01 Jan 2026 00:00:30 GMT"
)


@request_deviation("no body shows the flag", "flag.body flag.request")
def no_body_shows_the_flag(exchange: Exchange) -> None:
    if path_ends_with(exchange, _FLAG) and not exchange.request_body:
        exchange.request_json = {"enabled": True}


@response_deviation("a page of as many as there are", "deployments.query limit.page-size")
def a_page_of_as_many_as_there_are(exchange: Exchange) -> None:
    if exchange.ok and exchange.path.endswith(_LIST):
        page = exchange.json
        page["items"] = (page["items"] * 6)[:101]
        exchange.json = page


@stateful_deviation(
    "any ticket of 43 characters",
    "states.ticket-once states.ticket-revoked limit.ticket tickets.revokes",
)
class AnyTicket(OpensAlways):
    def after(self, exchange: Exchange) -> None:
        self.opened = set()
        super().after(exchange)

    def opens(self, ticket: str) -> bool:
        return True
