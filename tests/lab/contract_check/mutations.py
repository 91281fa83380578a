"""Subtle deviations: a server that is right but for one thing that the contract says.

They are taken from its sentences one by one, without looking at what the check looks for. Importing
this module puts them into the table of `deviations`.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from hosting_emulator_lab.contract_check import CheckOptions
from hosting_emulator_lab.contract_check.run import NOWHERE
from tests.lab.contract_check.deviations import answers, edit, people, requests, wrong
from tests.lab.contract_check.people import TakesFor
from tests.lab.contract_check.tampering_proxy import Exchange, Tampering

_FLAG, _DNS, _COMPUTE = "/powered-by-flag", "/edge-dns", "/database/compute"
_LIST, _KEYS, _TICKETS = "/deployments", "/user-api-keys", "/dev-access-tickets"
_SOURCE, _DOMAINS = "/source:initialize", "/domains"
_OTHER = "7ZZZZZZZZZZZZZZZZZZZZZZZZY"


def at(exchange: Exchange, ending: str) -> bool:
    """Whether a request's path ends so."""
    return exchange.path.partition("?")[0].endswith(ending)


def later(timestamp: str, **by: float) -> str:
    """Return a later moment, or an earlier one."""
    return (datetime.fromisoformat(timestamp) + timedelta(**by)).isoformat()


def polls(exchange: Exchange) -> bool:
    return exchange.ok and "/operations/" in exchange.path


def refused(exchange: Exchange, status: int, code: str, **more: Any) -> None:
    """Make an answer a problem, in order but for what is in `more`."""
    exchange.status = status
    exchange.headers |= {"Content-Type": "application/problem+json", "X-Request-Id": "r-1"}
    link = f"https://docs.example/errors/{code.replace('_', '-')}"
    exchange.json = {"type": link, "title": "No", "status": status, "code": code} | {
        **{"request_id": "r-1", "retryable": status >= 429, "suggested_action": "Wait.", **more},
    }


def accepted(exchange: Exchange, document: Any) -> None:
    """Make an answer a success."""
    exchange.status, exchange.json = 200, document
    exchange.headers["Content-Type"] = "application/json"


def problem(code: str, name: str, breaks: str, /, **changed: Any) -> None:
    """Plant a deviation in each problem of a code. `...` takes a member away."""

    @answers(name, breaks)
    def _(exchange: Exchange) -> None:
        if exchange.status >= 400 and exchange.body and exchange.json["code"] == code:
            document = {**exchange.json, **changed}
            exchange.json = {n: v for n, v in document.items() if v is not ...}


def operation(name: str, breaks: str, change: Callable[[dict[str, Any]], object]) -> None:
    """Plant a deviation in each poll of an operation."""

    @answers(name, breaks)
    def _(exchange: Exchange) -> None:
        if polls(exchange):
            document = exchange.json
            change(document)
            exchange.json = document


# --- Bodies ---------------------------------------------------------------------------------------


@answers("a flag as HTML", "json")
def _(exchange: Exchange) -> None:
    if exchange.ok and at(exchange, _FLAG):
        exchange.headers["Content-Type"] = "text/html"


@answers("a success as a problem", "json")
def _(exchange: Exchange) -> None:
    if exchange.ok and at(exchange, _DNS):
        exchange.headers["Content-Type"] = "application/problem+json"


@answers("no number in JSON", "json compute.response")
def _(exchange: Exchange) -> None:
    if exchange.ok and at(exchange, _COMPUTE):
        exchange.body = re.sub(rb'"max_cu":[\d.]+', b'"max_cu":NaN', exchange.body)


@answers("JSON in UTF-16", "json dns.response")
def _(exchange: Exchange) -> None:
    if exchange.ok and at(exchange, _DNS):
        exchange.body = exchange.body.decode().encode("utf-16")


# --- Problems -------------------------------------------------------------------------------------


@answers("nobody is refused in plain JSON", "problem-media problem")
def _(exchange: Exchange) -> None:
    if exchange.status == 401:
        exchange.headers["Content-Type"] = "application/json"


@answers("conflicts without X-Request-Id", "request-id problem")
def _(exchange: Exchange) -> None:
    if exchange.status == 409:
        exchange.headers.pop("X-Request-Id", None)


@answers("an X-Request-Id of nothing", "request-id")
def _(exchange: Exchange) -> None:
    if exchange.status == 403:
        exchange.headers["X-Request-Id"] = ""


@answers("a link with underscores", "problem.type")
def _(exchange: Exchange) -> None:
    if exchange.status == 404 and "/v1/" in exchange.path:
        exchange.json = {**exchange.json, "type": "https://d.example/errors/resource_not_found"}


problem("resource_not_found", "the status as text", "problem.status", status="404")
problem("invalid_request", "detail null", "problem.detail", detail=None)
problem("forbidden", "instance a number", "problem.instance", instance=7)
problem(
    "forbidden",
    "codes in capitals",
    "problem.code problem.codes auth.forbidden",
    code="FORBIDDEN",
    type="https://d.example/errors/FORBIDDEN",
)
problem("unauthenticated", "no request_id for nobody", "problem.request_id", request_id=...)
problem("invalid_request", "retryable left out", "problem.retryable", retryable=...)
problem("organization_required", "no title", "problem.title", title=None)
problem(
    "idempotency_key_reused",
    "an empty action",
    "problem.suggested_action",
    suggested_action="",
)
problem("idempotency_key_reused", "a reused key can be retried", "condition.reused", retryable=True)
problem(
    "idempotency_key_reused",
    "a reused key is a stale tag",
    "flag.reused condition.reused",
    code="etag_mismatch",
    type="https://d.example/errors/etag-mismatch",
)


def waits(name: str, breaks: str, seconds: Any, header: str | None) -> None:
    @answers(name, breaks)
    def _(exchange: Exchange) -> None:
        if exchange.status == 404 and "/v1/" in exchange.path:
            exchange.json = {**exchange.json, "retry_after_seconds": seconds}
            if header is not None:
                exchange.headers["Retry-After"] = header


waits("more than a day", "problem.retry_after_seconds limit.retry-after", 86_401, "86401")
waits("seconds without Retry-After", "problem.retry_after_seconds", 30, None)
waits("seconds as text", "problem.retry_after_seconds", "30", "30")


class LimitedOnce(Tampering):
    """Limits one request of a call, wrongly; the next attempt succeeds."""

    def __init__(self) -> None:
        self._limited = False

    def after(self, exchange: Exchange) -> None:
        if at(exchange, _DNS) and exchange.ok and not self._limited:
            self._limited = True
            self.limit(exchange)

    def limit(self, exchange: Exchange) -> None:
        raise NotImplementedError


@wrong("limited once, for another time than it says", "problem.retry_after_seconds")
class LimitedForAnotherTime(LimitedOnce):
    def limit(self, exchange: Exchange) -> None:
        refused(exchange, 429, "rate_limited", retry_after_seconds=2)
        exchange.headers["Retry-After"] = "4"


@wrong("limited once, in words", "problem-media problem json")
class LimitedInWords(LimitedOnce):
    def limit(self, exchange: Exchange) -> None:
        exchange.status, exchange.body = 429, b"slow down"
        exchange.headers |= {"Content-Type": "text/plain", "Retry-After": "2", "X-Request-Id": "r"}


@answers("what is missing is made up", "condition.missing")
def _(exchange: Exchange) -> None:
    if at(exchange, _DNS) and NOWHERE in exchange.path and exchange.status == 404:
        empty: dict[str, Any] = {
            "status": "not_authorized",
            "zone": None,
            "scopes": [],
            "expires_at": None,
        }
        accepted(exchange, empty)


class LeadsElsewhere(Tampering):
    """What is asked of nothing is asked of something, where paths hold this."""

    def __init__(self, part: str, something: str) -> None:
        self._part, self._something = part, something

    def before(self, exchange: Exchange) -> None:
        if self._part in exchange.path:
            exchange.path = exchange.path.replace(NOWHERE, self._something)


people(
    "tickets for a project that is not there",
    "condition.missing",
    lambda options: LeadsElsewhere(_TICKETS, options.project_id),
)
people(
    "keys of an organization that is not there",
    "condition.missing",
    lambda options: LeadsElsewhere(_KEYS, options.organization_id),
)


@wrong("an operation that is not there", "condition.missing")
class AnOperationThatIsNotThere(Tampering):
    def __init__(self) -> None:
        self._known = ""

    def before(self, exchange: Exchange) -> None:
        if NOWHERE in exchange.path and "/operations/" in exchange.path:
            exchange.path = self._known

    def after(self, exchange: Exchange) -> None:
        if polls(exchange):
            self._known = exchange.path


# --- The flag -------------------------------------------------------------------------------------

edit(
    _FLAG,
    "the flag as 1",
    "flag.enabled flag.on flag.off",
    lambda f: f.update(enabled=int(f["enabled"])),
)


def _no_time(flag: dict[str, Any]) -> None:
    flag["enabled_at"] = None


edit(_FLAG, "no time of a flag that is shown", "flag.enabled_at flag.on", _no_time)


def _left_out(flag: dict[str, Any]) -> None:
    if not flag["enabled"]:
        del flag["enabled_at"]


edit(_FLAG, "no enabled_at of a flag that is hidden", "flag.enabled_at", _left_out)
edit(_FLAG, "a member more that is null", "flag.closed", lambda flag: flag.update(note=None))


def _ahead(flag: dict[str, Any]) -> None:
    if flag["enabled"]:
        flag["enabled_at"] = flag["enabled_at"].replace("T12:", "T13:")


edit(_FLAG, "switched on in an hour", "flag.on flag.enabled_at", _ahead)
edit(_FLAG, "never hidden", "flag.off flag.enabled", lambda flag: flag.update(enabled=True))
edit(
    _FLAG, "another project's flag", "flag.project_id", lambda flag: flag.update(project_id=_OTHER)
)


@requests("enabled null hides", "flag.body flag.request")
def _(exchange: Exchange) -> None:
    if at(exchange, _FLAG) and exchange.content == b'{"enabled": null}':
        exchange.sent_json = {"enabled": True}


@requests("enabled 1 shows", "flag.body flag.request")
def _(exchange: Exchange) -> None:
    if at(exchange, _FLAG) and exchange.content == b'{"enabled": 1}':
        exchange.sent_json = {"enabled": True}


@answers("a flag's wrong body is 422", "flag.statuses")
def _(exchange: Exchange) -> None:
    if at(exchange, _FLAG) and exchange.status == 400:
        exchange.status, exchange.json = 422, {**exchange.json, "status": 422}


class Replays(Tampering):
    """Does something when a key of the flag comes a second time to show it."""

    def __init__(self) -> None:
        self._keys: dict[str, int] = {}

    def times(self, exchange: Exchange) -> int:
        key = exchange.sent.get("Idempotency-Key", "")
        if not at(exchange, _FLAG) or exchange.content != b'{"enabled": true}':
            return 0
        self._keys[key] = self._keys.get(key, 0) + 1
        return self._keys[key]


@wrong("a retry switches again and says nothing", "flag.retry flag.replay")
class ARetrySwitchesInSecret(Replays):
    def __init__(self) -> None:
        super().__init__()
        self._first: dict[str, bytes] = {}

    def before(self, exchange: Exchange) -> None:
        self._key = exchange.sent.get("Idempotency-Key", "")
        if self._key and (times := self.times(exchange)) > 1:
            exchange.sent["Idempotency-Key"] = f"{self._key}-{times}"

    def after(self, exchange: Exchange) -> None:
        if exchange.ok and at(exchange, _FLAG):
            exchange.body = self._first.setdefault(self._key + str(exchange.content), exchange.body)


@wrong("a retry shows the flag as it is", "flag.retry flag.replay")
class ARetryShowsTheFlagAsItIs(Replays):
    def __init__(self) -> None:
        super().__init__()
        self._hidden = b""

    def after(self, exchange: Exchange) -> None:
        if exchange.ok and at(exchange, _FLAG):
            if not exchange.json["enabled"]:
                self._hidden = exchange.body
            elif self.times(exchange) > 2 and self._hidden:
                exchange.body = self._hidden


@requests("an Idempotency-Key of 128 is too long", "idempotency-key limit.idempotency-key")
def _(exchange: Exchange) -> None:
    key = exchange.sent.get("Idempotency-Key", "")
    if at(exchange, _FLAG) and len(key) == 128:
        exchange.sent["Idempotency-Key"] = key + "x"


@requests("an empty Idempotency-Key makes keys", "idempotency-key limit.idempotency-key")
def _(exchange: Exchange) -> None:
    if at(exchange, _KEYS) and exchange.sent.get("Idempotency-Key") == "":
        exchange.sent["Idempotency-Key"] = "made-up"


def _maintainers(ending: str, owner_only: str) -> None:
    people(
        f"maintainers pass for owners at {ending}",
        f"{owner_only} auth.roles",
        lambda options: TakesFor(options.maintainer_token, options.token, ending),
    )


_maintainers(_FLAG, "flag.owner-only")
_maintainers(_TICKETS, "tickets.owner-only")


class TheKeyIsEnough(Tampering):
    """Whoever knows an Idempotency-Key is told what came of it."""

    def __init__(self, options: CheckOptions) -> None:
        self._owner, self._keys = f"Bearer {options.token}", set[str]()

    def before(self, exchange: Exchange) -> None:
        key = exchange.sent.get("Idempotency-Key", "")
        if exchange.sent.get("Authorization") == self._owner:
            self._keys |= {key} - {""}
        elif key in self._keys and "Authorization" in exchange.sent:
            exchange.sent["Authorization"] = self._owner


class TheKeyIsEnoughForNobody(TheKeyIsEnough):
    """Whoever knows an Idempotency-Key needs no token."""

    def before(self, exchange: Exchange) -> None:
        key = exchange.sent.get("Idempotency-Key", "")
        if exchange.sent.get("Authorization") == self._owner:
            self._keys |= {key} - {""}
        elif key in self._keys and "Authorization" not in exchange.sent:
            exchange.sent["Authorization"] = self._owner


class TheKeyIsEnoughForOutsiders(TheKeyIsEnough):
    """Whoever knows an Idempotency-Key is told what came of it, where a path ends so."""

    def __init__(self, options: CheckOptions, ending: str) -> None:
        super().__init__(options)
        self._ending, self._outsider = ending, f"Bearer {options.outsider_token}"

    def before(self, exchange: Exchange) -> None:
        theirs = exchange.sent.get("Authorization") in (self._owner, self._outsider)
        if theirs and at(exchange, self._ending):
            super().before(exchange)


people(
    "the key is enough",
    "flag.owner-only auth.roles auth.session condition.missing keys.session",
    TheKeyIsEnough,
)
people("the key is enough for nobody", "auth.bearer bearer", TheKeyIsEnoughForNobody)
people(
    "the key is enough to make keys",
    "keys.session",
    lambda options: TheKeyIsEnoughForOutsiders(options, _KEYS),
)
people(
    "the key is enough to start operations",
    "condition.missing",
    lambda options: TheKeyIsEnoughForOutsiders(options, _DOMAINS),
)
edit(
    _KEYS,
    "most of the value in the obfuscated one",
    "key.metadata keys.replay",
    lambda made: made["key"].update(obfuscated_value=(made["value"] or "")[:40] + "…"),
)

# --- Keys -----------------------------------------------------------------------------------------


def replayed(name: str, breaks: str, change: Callable[[dict[str, Any]], object]) -> None:
    """Plant a deviation in the exact replay of a key's creation."""

    def when(made: dict[str, Any]) -> None:
        if made["replayed"]:
            change(made)

    edit(_KEYS, name, breaks, when)


replayed("no value on replay", "key.value", lambda made: made.pop("value"))
replayed(
    "an empty value on replay",
    "key.value keys.value-once keys.replay",
    lambda made: made.update(value=""),
)
replayed("another name on replay", "keys.replay", lambda made: made["key"].update(name="ci"))
replayed(
    "a replay renews the key",
    "keys.replay",
    lambda made: made["key"].update(expires_at="2026-06-30T12:00:00.000Z"),
)
replayed("replayed as text", "key.replayed", lambda made: made.update(replayed="true"))
edit(
    _KEYS,
    "the value in the obfuscated one",
    "key.metadata keys.replay",
    lambda made: made["key"].update(obfuscated_value=f"key {made['value'] or ''}"),
)


@wrong("the value again in the metadata", "keys.value-once")
class TheValueAgain(Tampering):
    def __init__(self) -> None:
        self._value = ""

    def after(self, exchange: Exchange) -> None:
        if exchange.ok and at(exchange, _KEYS):
            made = exchange.json
            self._value = made["value"] or self._value
            if made["replayed"]:
                made["key"]["token"] = self._value
                exchange.json = made


edit(
    _KEYS,
    "keys of ninety days and an hour",
    "keys.days limit.key",
    lambda made: made["key"].update(expires_at=later(made["key"]["expires_at"], hours=1)),
)
edit(_KEYS, "never used is null", "key.metadata", lambda m: m["key"].update(last_used_at=None))
edit(_KEYS, "permissions as numbers", "key.metadata", lambda m: m["key"].update(permissions=[1]))
edit(
    _KEYS,
    "expiry without an offset",
    "key.metadata timestamp",
    lambda made: made["key"].update(expires_at="2026-05-30T12:00:00"),
)
edit(_KEYS, "a request id as number", "key.request_id", lambda made: made.update(request_id=7))


@answers("a key's reused key is a replay", "condition.reused")
def _(exchange: Exchange) -> None:
    if at(exchange, _KEYS) and exchange.status == 409:
        key = {"id": _OTHER, "name": exchange.sent_json["name"]}
        accepted(exchange, {"replayed": True, "value": None, "request_id": "r", "key": key})


@requests("a number is a name", "keys.body")
def _(exchange: Exchange) -> None:
    if at(exchange, _KEYS) and exchange.sent_json.get("name") == 7:
        exchange.sent_json = {"name": "7"}


people(
    "outsiders make keys",
    "keys.session",
    lambda options: TakesFor(options.outsider_token, options.token, _KEYS),
)


class TakesAnything(Tampering):
    """A token that nobody issued is as good as the owner's, where paths hold this."""

    def __init__(self, options: CheckOptions, part: str) -> None:
        known = ("token", "maintainer_token", "reader_token", "outsider_token")
        tokens = [*(getattr(options, n) for n in known), options.no_organization_token]
        self._known, self._part = {f"Bearer {token}" for token in tokens}, part
        self._owner = f"Bearer {options.token}"

    def before(self, exchange: Exchange) -> None:
        sent = exchange.sent.get("Authorization", "")
        wrong = sent.startswith("Bearer ") and sent not in self._known and "phk_" not in sent
        if wrong and self._part in exchange.path:
            exchange.sent["Authorization"] = self._owner


def _anything(part: str) -> None:
    people(
        f"any token is good at {part}",
        "auth.bearer auth.kinds",
        lambda options: TakesAnything(options, part),
    )


for _part in (_KEYS, _LIST, "/operations/"):
    _anything(_part)


class SignedByAnybody(Tampering):
    """A token is read, and its signature is not looked at."""

    def __init__(self, options: CheckOptions) -> None:
        self._token = options.token

    def before(self, exchange: Exchange) -> None:
        sent = exchange.sent.get("Authorization", "").removeprefix("Bearer ")
        if sent.rpartition(".")[0] == self._token.rpartition(".")[0]:
            exchange.sent["Authorization"] = f"Bearer {self._token}"


people("signed by anybody", "auth.bearer auth.kinds bearer", SignedByAnybody)
people(
    "strangers poll",
    "condition.missing",
    lambda options: _Polls(options.outsider_token, options.token),
)
people("nobody polls", "auth.bearer bearer", lambda options: _Polls(None, options.token))


class _Polls(Tampering):
    def __init__(self, taken: str | None, counts_as: str) -> None:
        self._taken = f"Bearer {taken}" if taken else None
        self._as = f"Bearer {counts_as}"

    def before(self, exchange: Exchange) -> None:
        asks = exchange.sent.get("Authorization") == self._taken
        if asks and "/operations/" in exchange.path:
            exchange.sent["Authorization"] = self._as


@answers("without an organization compute is forbidden", "auth.organization")
def _(exchange: Exchange) -> None:
    if at(exchange, _COMPUTE) and exchange.status == 403:
        refused(exchange, 403, "forbidden")


@answers("wrong tokens are forbidden", "auth.unauthenticated")
def _(exchange: Exchange) -> None:
    if exchange.status == 401 and "Authorization" in exchange.sent:
        refused(exchange, 401, "forbidden")


@answers("API keys are no tokens", "auth.kinds key.value")
def _(exchange: Exchange) -> None:
    if "phk_" in exchange.sent.get("Authorization", ""):
        refused(exchange, 401, "unauthenticated")


class Repeats(Tampering):
    """A problem repeats the token that was sent."""

    def after(self, exchange: Exchange) -> None:
        if exchange.status == 404 and at(exchange, _DNS):
            detail = f"not for {exchange.sent.get('Authorization')}"
            exchange.json = {**exchange.json, "detail": detail}


people("the token in a detail", "ticket.once", lambda _: Repeats())

# --- Operations -----------------------------------------------------------------------------------


class AfterItsEnd(Tampering):
    """Does something to an operation that had ended when it was polled before."""

    def __init__(self) -> None:
        self._ended: set[str] = set()

    def after(self, exchange: Exchange) -> None:
        if not polls(exchange):
            return
        if exchange.path in self._ended:
            self.change(exchange)
        elif exchange.json["state"] == "succeeded":
            self._ended.add(exchange.path)

    def change(self, exchange: Exchange) -> None:
        raise NotImplementedError


@wrong("gone after its end", "durable")
class GoneAfterItsEnd(AfterItsEnd):
    def change(self, exchange: Exchange) -> None:
        refused(exchange, 404, "resource_not_found")


@wrong("another result after its end", "durable")
class AnotherResult(AfterItsEnd):
    def change(self, exchange: Exchange) -> None:
        exchange.json = {**exchange.json, "result": {"other": True}}


@wrong("failed after its end", "durable")
class FailedAfterItsEnd(AfterItsEnd):
    def change(self, exchange: Exchange) -> None:
        exchange.json = {**exchange.json, "state": "failed"}


@wrong("gone between two polls", "durable")
class GoneBetweenTwoPolls(Tampering):
    def __init__(self) -> None:
        self._polls = 0

    def after(self, exchange: Exchange) -> None:
        if polls(exchange):
            self._polls += 1
            if self._polls == 4:
                refused(exchange, 404, "resource_not_found")


def _made_anew(found: dict[str, Any]) -> None:
    found["created_at"] = found["updated_at"] = found["progress"]["observed_at"]


operation("created anew at each poll", "operation.times", _made_anew)
operation("another operation", "operation.id durable", lambda o: o.update(id=_OTHER))
operation(
    "times as numbers", "operation.times timestamp", lambda o: o.update(created_at=1772366400)
)
operation(
    "states in capitals",
    "operation.state states.operation",
    lambda o: o.update(state=o["state"].capitalize()),
)
operation("no progress is null", "operation.progress", lambda o: o.update(progress=None))
operation(
    "another project's progress",
    "progress-object",
    lambda o: o["progress"].update(project_id=_OTHER),
)
operation(
    "another deployment's progress",
    "progress-object",
    lambda o: o["progress"].update(deployment_id=_OTHER),
)
operation(
    "progress of yesterday",
    "progress-object",
    lambda o: _on_another_day(-1)(o["progress"]),
)
operation(
    "half a second to the next poll",
    "progress-object",
    lambda o: o["progress"].update(next_poll_after_seconds=0.5),
)


def _runs_and_waits(found: dict[str, Any]) -> None:
    if found["state"] == "running":
        found["blocking_operation_id"] = _OTHER


operation("it runs and waits", "states.blocking operation.blocking_operation_id", _runs_and_waits)


@answers("it waits on nothing that is there", "operation.blocking_operation_id")
def _(exchange: Exchange) -> None:
    if exchange.ok and b"blocking_operation_id" in exchange.body:
        exchange.json = {**exchange.json, "blocking_operation_id": _OTHER}


@answers("it waits on itself", "states.blocking")
def _(exchange: Exchange) -> None:
    if exchange.ok and b"blocking_operation_id" in exchange.body:
        exchange.json = {**exchange.json, "blocking_operation_id": exchange.json["id"]}


def _fails(found: dict[str, Any]) -> None:
    if found["state"] == "succeeded":
        found["state"], found["error"] = "failed", {"code": "operation_failed", "retryable": "no"}
        del found["result"]


operation("a failure without yes or no", "error-object", _fails)


@answers("another operation's deployment", "deployment.operation_id")
def _(exchange: Exchange) -> None:
    if exchange.ok and at(exchange, _LIST):
        page = exchange.json
        for item in page["items"]:
            item["operation_id"] = _OTHER
        exchange.json = page


@answers("a source's reused key is fine", "condition.reused")
def _(exchange: Exchange) -> None:
    reused = exchange.status == 409 and exchange.json["code"] == "idempotency_key_reused"
    if reused and at(exchange, _SOURCE):
        accepted(exchange, {"id": _OTHER, "state": "queued"})


@requests("a generation as text", "source.body")
def _(exchange: Exchange) -> None:
    if at(exchange, _SOURCE) and exchange.sent_json.get("expected_source_generation") == "0":
        exchange.sent_json = {"expected_source_generation": 1}


@requests("applying domains takes a body", "domains.call")
def _(exchange: Exchange) -> None:
    if at(exchange, _DOMAINS) and not exchange.content and "x" not in exchange.path:
        exchange.sent.pop("Idempotency-Key", None)


# --- DNS ------------------------------------------------------------------------------------------

edit(_DNS, "a zone with a dot at its end", "dns.zone", lambda d: d.update(zone="shop.example."))
edit(_DNS, "a zone of one label", "dns.zone", lambda d: d.update(zone="localhost"))


def _nothing(**but: Any) -> Callable[[dict[str, Any]], None]:
    empty: dict[str, Any] = {
        "status": "not_authorized",
        "zone": None,
        "scopes": [],
        "expires_at": None,
    }
    return lambda found: found.update({**empty, **but})


edit(_DNS, "scopes without authorization", "dns.scopes", _nothing(scopes=["zone.read"]))
edit(
    _DNS,
    "an expiry without authorization",
    "dns.expires_at",
    _nothing(expires_at="2026-03-31T12:00:00Z"),
)
edit(_DNS, "no scopes are null", "dns.scopes", lambda found: found.update(scopes=None))
edit(_DNS, "no status", "dns.status states.dns", lambda found: found.pop("status"))
edit(
    _DNS,
    "the provider's token",
    "dns.no-credentials",
    lambda found: found.update(provider={"api_token": "q7Xv2LmN8pR4sT6uW9yB"}),
)

# --- Deployments ----------------------------------------------------------------------------------


@requests("the cursor is read and forgotten", "deployments.page-through")
def _(exchange: Exchange) -> None:
    exchange.path = re.sub("&cursor=[A-Za-z0-9_-]+$", "", exchange.path)


@answers("a list without an end", "deployments.page-through")
def _(exchange: Exchange) -> None:
    if at(exchange, _LIST) and exchange.path.endswith("cursor=more"):
        accepted(exchange, {"items": [], "next_cursor": "more"})
    elif exchange.ok and "cursor=" in exchange.path and "next_cursor" not in exchange.json:
        exchange.json = {**exchange.json, "next_cursor": "more"}


@requests("a cursor of any characters", "deployments.query")
def _(exchange: Exchange) -> None:
    exchange.path = re.sub("&?cursor=[A-Za-z0-9_-]*[^A-Za-z0-9_&-].*$", "", exchange.path)


@requests("the size is read and forgotten", "deployments.query limit.page-size")
def _(exchange: Exchange) -> None:
    exchange.path = re.sub("limit=([1-9][0-9]?|100)(?![0-9.])", "limit=20", exchange.path)


@answers("a page of 100 is too long", "deployments.query limit.page-size")
def _(exchange: Exchange) -> None:
    if exchange.path.endswith("limit=100"):
        refused(exchange, 400, "invalid_request")


def last(page: dict[str, Any]) -> dict[str, Any]:
    """Return a page's last deployment, or an empty one."""
    found: dict[str, Any] = page["items"][-1] if page["items"] else {}
    return found


edit(_LIST, "a status as number", "deployment.status", lambda page: last(page).update(status=1))
edit(
    _LIST,
    "the last one's operation a word",
    "deployment.operation_id ulid",
    lambda page: last(page).update(operation_id="first"),
)
edit(_LIST, "no url is null", "deployment.url", lambda page: last(page).update(url=None))
edit(
    _LIST,
    "created in the thirteenth month",
    "deployment.times timestamp",
    lambda page: last(page).update(created_at="2026-13-01T00:00:00Z"),
)
edit(
    _LIST,
    "no further page is false",
    "page.next_cursor",
    lambda page: page.setdefault("next_cursor", False),
)
edit(_LIST, "no items are null", "page.items deployments.response", lambda p: p.update(items=None))

# --- Tickets --------------------------------------------------------------------------------------


def _words(ticket: dict[str, Any]) -> None:
    for name in ("origin", "redeem_url"):
        ticket[name] = re.sub(r"dev-[a-z]+-", "dev-", ticket[name], count=1)


edit(_TICKETS, "an origin of two words", "ticket.origin ticket.redeem_url", _words)
edit(
    _TICKETS,
    "a ticket of production",
    "ticket.redeem_url",
    lambda t: t.update(redeem_url=t["redeem_url"].replace("stage=dev", "stage=prod")),
)
edit(
    _TICKETS,
    "a ticket for another origin",
    "ticket.redeem_url",
    lambda t: t.update(redeem_url=re.sub("dev-[a-z]+-", "dev-other-", t["redeem_url"])),
)
edit(
    _TICKETS,
    "half a minute more",
    "ticket.expires_at states.ticket-once limit.ticket",
    lambda t: t.update(expires_at=re.sub(r":\d\d\.\d+Z", ":59.000Z", t["expires_at"])),
)
edit(_TICKETS, "always one ticket", "ticket.ticket_id", lambda t: t.update(ticket_id=_OTHER))
edit(_TICKETS, "another project's", "ticket.project_id", lambda t: t.update(project_id=_OTHER))
edit(
    _TICKETS,
    "an environment by name",
    "ticket.environment_id ulid",
    lambda t: t.update(environment_id="dev"),
)


@wrong("the ticket before in the next answer", "ticket.once")
class TheTicketBefore(Tampering):
    def __init__(self) -> None:
        self._before = ""

    def after(self, exchange: Exchange) -> None:
        if exchange.ok and at(exchange, _TICKETS):
            now = exchange.json
            url, now["revoked"] = now["redeem_url"], self._before
            if self._before:
                exchange.json = now
            self._before = url


class OpensAlways(Tampering):
    """Opens the dev origin to tickets that are of no use, as it does to good ones."""

    def __init__(self) -> None:
        self.issued: list[str] = []
        self.opened: set[str] = set()

    def after(self, exchange: Exchange) -> None:
        if exchange.ok and at(exchange, _TICKETS):
            self.issued.append(exchange.json["redeem_url"].rpartition("=")[2])
        if "/dev-access/redeem" not in exchange.path:
            return
        ticket = exchange.path.rpartition("=")[2]
        if exchange.status == 303:
            self.opened.add(ticket)
        elif ticket not in self.opened and self.opens(ticket):
            exchange.status = 303
            exchange.headers["Location"] = f"https://{exchange.sent['Host']}/"
            exchange.headers["Set-Cookie"] = "dev_access=let-in; Path=/"

    def opens(self, ticket: str) -> bool:
        raise NotImplementedError


@wrong("a ticket that was never issued", "states.ticket-once limit.ticket")
class ATicketNeverIssued(OpensAlways):
    def opens(self, ticket: str) -> bool:
        return ticket not in self.issued


@wrong("a ticket after ten minutes", "states.ticket-once limit.ticket")
class ATicketAfterTenMinutes(OpensAlways):
    def opens(self, ticket: str) -> bool:
        return ticket == self.issued[-1]


# --- Compute --------------------------------------------------------------------------------------


@requests("every environment is dev", "compute.query")
def _(exchange: Exchange) -> None:
    exchange.path = exchange.path.replace("environment=prod", "environment=dev")


def _on_another_day(days: int) -> Callable[[dict[str, Any]], None]:
    return lambda found: found.update(observed_at=later(found["observed_at"], days=days))


edit(_COMPUTE, "observed yesterday", "compute.observed_at", _on_another_day(-1))
edit(_COMPUTE, "observed tomorrow", "compute.observed_at", _on_another_day(1))


def _database(**more: Any) -> Callable[[dict[str, Any]], None]:
    return lambda found: (found["database"] or {}).update(more)


edit(
    _COMPUTE,
    "where the database is",
    "compute.no-identifiers",
    _database(connection="postgres://app:hunter22@db.example/main"),
)
edit(
    _COMPUTE,
    "the provider's id",
    "compute.no-identifiers",
    _database(endpoint_id="ep-cool-darkness-123456"),
)
edit(
    _COMPUTE,
    "another project's compute",
    "compute.project_id",
    lambda found: found.update(project_id=_OTHER),
)


def _shared(found: dict[str, Any]) -> None:
    found["data_mode"] = "shared"


edit(_COMPUTE, "shared, and not the same", "compute.data_mode", _shared)
edit(_COMPUTE, "disabled as text", "compute.placement", _database(disabled="false"))
edit(_COMPUTE, "no pending state is null", "compute.placement", _database(pending_state=None))
edit(
    _COMPUTE,
    "suspended after half a second",
    "compute.placement",
    _database(suspend_timeout_seconds=0.5),
)
edit(
    _COMPUTE,
    "databases in a list",
    "compute.database",
    lambda f: f.update(database=[f["database"]]),
)
edit(
    _COMPUTE,
    "an id without its last letter",
    "compute.project_id ulid",
    lambda f: f.update(project_id=f["project_id"][:25]),
)


# --- A second round, written after the check had found all of the first ------------------------------

edit(
    _LIST,
    "a cursor by another name",
    "deployments.page-through",
    lambda page: page.update(nextCursor=page.pop("next_cursor", None)),
)
edit(
    _FLAG,
    "a time by another name",
    "flag.enabled_at flag.closed flag.on",
    lambda flag: flag.update(enabledAt=flag.pop("enabled_at")),
)
edit(
    _KEYS, "key ids with a prefix", "key.metadata ulid", lambda made: made["key"].update(id="key_1")
)
edit(
    _LIST,
    "ids with I, L, O and U",
    "deployment.id ulid deployments.page-through",
    lambda page: last(page).update(id="01LOUI" + "0" * 20),
)


@answers("the page before is the next", "deployments.page-through")
def _(exchange: Exchange) -> None:
    if exchange.ok and "cursor=" in exchange.path:
        page = exchange.json
        page["items"] = page["items"][:1] * 2 + page["items"][2:]
        exchange.json = page


@answers("a cursor that was given is refused", "deployments.page-through deployments.query")
def _(exchange: Exchange) -> None:
    if exchange.ok and "cursor=" in exchange.path:
        refused(exchange, 400, "invalid_request")


class ReusedWithoutChange(Tampering):
    """The second request under a key is refused, although it is the same."""

    def __init__(self, ending: str) -> None:
        self._ending, self._keys = ending, set[str]()

    def after(self, exchange: Exchange) -> None:
        if not exchange.ok or not at(exchange, self._ending):
            return
        key = exchange.sent.get("Idempotency-Key", "")
        if key in self._keys:
            refused(exchange, 409, "idempotency_key_reused")
        self._keys.add(key)


people("a flag's retry is a reuse", "flag.retry flag.replay", lambda _: ReusedWithoutChange(_FLAG))
people(
    "a key's retry is a reuse",
    "keys.replay keys.uncertainty",
    lambda _: ReusedWithoutChange(_KEYS),
)
people("a source's retry is a reuse", "condition.reused", lambda _: ReusedWithoutChange(_SOURCE))
people("a domain's retry is a reuse", "domains.idempotent", lambda _: ReusedWithoutChange(_DOMAINS))


def _before_it_was_made(found: dict[str, Any]) -> None:
    found["updated_at"] = "2025-01-01T00:00:00Z"


operation("changed before it was made", "operation.times", _before_it_was_made)
edit(
    _LIST,
    "a deployment changed before it was made",
    "deployment.times",
    lambda page: _before_it_was_made(last(page)),
)


def _last_year(made: dict[str, Any]) -> None:
    made["key"] |= {"created_at": "2025-03-01T12:00:00Z", "expires_at": "2025-05-30T12:00:00Z"}


edit(_KEYS, "a key of last year", "keys.days limit.key key.metadata", _last_year)


@answers("an operation of last year", "operation.times")
def _(exchange: Exchange) -> None:
    if exchange.ok and (at(exchange, _DOMAINS) or polls(exchange)):
        found = exchange.json
        found["created_at"] = "2025-03-01T12:00:00Z"
        exchange.json = found


@wrong("what was deployed is not listed", "operation.deployment_id")
class NotListed(Tampering):
    def __init__(self) -> None:
        self._deployed = ""

    def after(self, exchange: Exchange) -> None:
        if exchange.ok and at(exchange, _SOURCE):
            self._deployed = exchange.json["deployment_id"]
        elif exchange.ok and at(exchange, _LIST):
            page = exchange.json
            page["items"] = [item for item in page["items"] if item["id"] != self._deployed]
            exchange.json = page


edit(
    _KEYS,
    "a value without its end",
    "key.value auth.kinds",
    lambda made: made.update(value=made["value"] and made["value"][:-3]),
)


class SignedByNobody(Tampering):
    """A token whose header says that it is not signed is believed."""

    def __init__(self, options: CheckOptions) -> None:
        self._token = options.token

    def before(self, exchange: Exchange) -> None:
        sent = exchange.sent.get("Authorization", "").removeprefix("Bearer ")
        if sent.endswith(".") and sent.split(".")[1] == self._token.split(".")[1]:
            exchange.sent["Authorization"] = f"Bearer {self._token}"


people("signed by nobody", "auth.bearer auth.kinds", SignedByNobody)


@answers("the token in a header", "ticket.once")
def _(exchange: Exchange) -> None:
    if exchange.ok and at(exchange, _LIST):
        exchange.headers["X-Debug-Caller"] = exchange.sent["Authorization"]


edit(
    _KEYS,
    "a secret beside the key",
    "ticket.once",
    lambda made: made["key"].update(client_secret="c8Jd02mQx7VtLwPz"),
)
operation(
    "the provider's id of an operation",
    "compute.no-identifiers",
    lambda found: found.update(provider_operation_id="op-7f3a"),
)
edit(
    _LIST,
    "a private key in a deployment",
    "ticket.once",
    lambda page: last(page).update(note="-----BEGIN RSA PRIVATE KEY-----\nMIIE"),
)
edit(
    _DNS,
    "the provider's account",
    "dns.no-credentials",
    lambda found: found.update(account_id="023e105f4ecef8ad9ca31a8372d0c353"),
)


@answers("dev and prod are swapped", "compute.query")
def _(exchange: Exchange) -> None:
    if exchange.ok and at(exchange, _COMPUTE):
        found = exchange.json
        found["environment"] = {"dev": "prod", "prod": "dev"}[found["environment"]]
        exchange.json = found


@wrong("another origin for each ticket", "ticket.origin")
class AnotherOrigin(Tampering):
    def __init__(self) -> None:
        self._issued = 0

    def after(self, exchange: Exchange) -> None:
        if exchange.ok and at(exchange, _TICKETS):
            self._issued += 1
            word = "abcdefghi"[self._issued]
            changed = re.sub("dev-[a-z]+-", f"dev-{word}-", exchange.body.decode())
            exchange.body = changed.encode()


@requests("an X-Request-Id of 1 is too short", "request-id limit.request-id")
def _(exchange: Exchange) -> None:
    if len(exchange.sent.get("X-Request-Id", "")) == 1:
        exchange.sent["X-Request-Id"] = "x" * 129


@requests("an Idempotency-Key of 1 is too short", "idempotency-key limit.idempotency-key")
def _(exchange: Exchange) -> None:
    if len(exchange.sent.get("Idempotency-Key", "")) == 1:
        exchange.sent["Idempotency-Key"] = "x" * 129


@answers("nobody's request is not in order", "auth.unauthenticated")
def _(exchange: Exchange) -> None:
    if exchange.status == 401 and at(exchange, _SOURCE):
        refused(exchange, 400, "invalid_request")


edit(
    _KEYS,
    "names in small letters",
    "key.metadata",
    lambda made: made["key"].update(name=made["key"]["name"].upper()),
)
problem("resource_not_found", "an instance with spaces", "problem.instance", instance="no such")
problem("unauthenticated", "200 in the document", "problem.status", status=200)
waits("half a second", "problem.retry_after_seconds", 0.5, "1")
waits("no seconds are null", "problem.retry_after_seconds", None, "30")
operation("a result in words", "operation.result", lambda found: found.update(result="done"))
edit(_TICKETS, "a ticket of other characters", "ticket.redeem_url", lambda t: t.update(
    redeem_url=t["redeem_url"][:-1] + "+"))  # fmt: skip
edit(_DNS, "a zone with an underscore", "dns.zone", lambda d: d.update(zone="my_shop.example"))
edit(_DNS, "a zone for all names", "dns.zone", lambda d: d.update(zone="*.shop.example"))


@answers("a packed body", "json dns.response")
def _(exchange: Exchange) -> None:
    if exchange.ok and at(exchange, _DNS):
        exchange.body = gzip.compress(exchange.body)


@answers("the list by reference", "deployments.response page.items")
def _(exchange: Exchange) -> None:
    if exchange.ok and at(exchange, _LIST):
        exchange.json = {"items": {"href": "/v1/items"}}


@answers("missing with 400", "condition.missing condition.statuses problem.status")
def _(exchange: Exchange) -> None:
    if exchange.status == 404 and at(exchange, _COMPUTE):
        exchange.status = 400


@answers("outsiders are forbidden to list", "condition.missing")
def _(exchange: Exchange) -> None:
    if exchange.status == 404 and at(exchange, _LIST):
        refused(exchange, 403, "forbidden")


waits("until a day long ago", "problem.retry_after_seconds", 30, "Thu, 01 Jan 2026 00:00:30 GMT")


@requests("no body shows the flag", "flag.body flag.request")
def _(exchange: Exchange) -> None:
    if at(exchange, _FLAG) and not exchange.content:
        exchange.sent_json = {"enabled": True}


@answers("a page of as many as there are", "deployments.query limit.page-size")
def _(exchange: Exchange) -> None:
    if exchange.ok and exchange.path.endswith(_LIST):
        page = exchange.json
        page["items"] = (page["items"] * 6)[:101]
        exchange.json = page


@wrong(
    "any ticket of 43 characters",
    "states.ticket-once states.ticket-revoked limit.ticket tickets.revokes",
)
class AnyTicket(OpensAlways):
    def after(self, exchange: Exchange) -> None:
        self.opened = set()
        super().after(exchange)

    def opens(self, ticket: str) -> bool:
        return True
