"""One run of the check, which sends requests, judges each response, and holds the state that checks share."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple
from urllib.parse import quote

from hosting_emulator.contract.calls import CALLS, GET_OPERATION, CallName, CallSpec
from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.contract.value_checks import moment
from hosting_emulator_lab.contract_check.address import Address, Unreachable
from hosting_emulator_lab.contract_check.created_records import CreatedRecords
from hosting_emulator_lab.contract_check.evidence import Evidence
from hosting_emulator_lab.contract_check.expectations import Expectations
from hosting_emulator_lab.contract_check.options import TOKENS, CheckOptions
from hosting_emulator_lab.contract_check.response import ServerResponse, http_date
from hosting_emulator_lab.contract_check.response_judge import ResponseJudge
from hosting_emulator_lab.contract_check.server_behavior import ServerBehavior
from hosting_emulator_lab.contract_check.service_times import ServiceTime, ServiceTimes

#: The prefix of every name that a check creates or sends.
PREFIX = "hosting-emulator-check-"
#: A Ulid that no service assigned to anything: its time is thousands of years ahead.
UNUSED_ID = "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"
#: A call that only reads and needs no query. Many checks use it.
PLAIN_READ = next(
    spec.call_id for spec in CALLS.values() if spec.method == "GET" and not spec.query
)
#: A call whose response contains the service's time.
_TIME_CALL = next(
    spec.call_id for spec in CALLS.values() if "observed_at" in RESOURCES[spec.response].names
)
#: The values in valid bodies, by the kind of the field.
_BODY_VALUES = {"boolean": True, "integer": 0, "text": PREFIX.rstrip("-")}
#: The minimum length of a token that counts as a secret. Shorter tokens can occur in ordinary
#: words.
_SHORTEST_SECRET = 8
#: The number of requests in a row without a response after which the server counts as unreachable.
_MAX_UNANSWERED = 3
#: The maximum number of times to send a request if the server keeps asking for a delay.
_MAX_ATTEMPTS = 5
#: The maximum number of digits of a delay that the check obeys, and the longest such delay in seconds.
_MAX_DELAY_DIGITS = 5
_MAX_DELAY_S = 10**_MAX_DELAY_DIGITS - 1


class AcceptedOperation(NamedTuple):
    """An operation that the check started.

    `response` is the response that accepted the operation. `repeat` sends the same request again.
    `waited_s` is the time, in seconds, that the check had waited before this response.
    """

    id: str
    response: ServerResponse
    repeat: Callable[..., ServerResponse]
    waited_s: float


class UsedKey(NamedTuple):
    """An Idempotency-Key under which a call succeeded."""

    key: str
    call_id: str


class CheckRun:
    """A run of the check against one server. Methods that send requests raise Unreachable.

    `world` is the name of the emulator's world in the base URL, or an empty string for other
    servers.
    """

    def __init__(self, options: CheckOptions, server: Address, world: str) -> None:
        self.options = options
        self.world = world
        self._server = server
        self.evidence = Evidence()
        self.behavior = ServerBehavior()
        self.times = ServiceTimes(self.evidence)
        self.expect = Expectations(self.evidence, self.behavior)
        self._judge = ResponseJudge(options.project_id, self.evidence, self.behavior, self.times)
        #: Credentials that no response may contain, with the sentences that forbid it.
        self.secrets = self._judge.secrets
        for name in TOKENS:
            token = getattr(options, name) or ""
            if len(token) >= _SHORTEST_SECRET:
                self.secrets[token] = "ticket.once"
        self.created = CreatedRecords()
        #: The number of requests that were sent.
        self.requests = 0
        #: The time that the check has waited between requests, in seconds.
        self.waited_s = 0.0
        self._unanswered = 0
        self._key_count = 0
        #: A user API key that checks may use: the key in the options, or the key that the check
        #: created.
        self.api_key = options.api_key
        #: The latest observed state of each operation, by id.
        self.states: dict[str, str] = {}
        #: The signs by which a dev origin shows that it accepted a ticket, or None until a ticket
        #: is accepted.
        self.entrance: tuple[object, ...] | None = None
        self.accepted: list[AcceptedOperation] = []
        #: The path of operations, with {operation_id}, or an empty string until it is discovered.
        self.operation_path = ""
        #: A key that one of the calls accepted, which a check reuses for another call.
        self.used_key: UsedKey | None = None
        #: An Idempotency-Key of one character that a call accepted, or an empty string before that.
        self.short_key = ""
        #: The reason why PLAIN_READ shows nothing, or an empty string if it works.
        self.unreadable = ""

    # --- Requests ----------------------------------------------------------------------------

    def call(
        self,
        call_id: CallName,
        purpose: str = "",
        query: str | None = None,
        *,
        subject: str | None = None,
        **request: Any,
    ) -> ServerResponse:
        """Make a call with everything that it requires.

        `subject` replaces the id in the path. `request` contains other options of `send`.
        """
        spec = CALLS[call_id]
        if spec.idempotent and "key" not in request:
            request["key"] = self.new_key()
        if spec.body and "body" not in request:
            fields = RESOURCES[spec.body].fields
            request["body"] = {field.name: _BODY_VALUES[field.kind.name] for field in fields}
        if query is None:
            query = self._required_query(spec)
        path = spec.path.replace("{project_id}", subject or self.options.project_id)
        path = path.replace("{organization_id}", subject or self.options.organization_id)
        return self.send(call_id, spec.method, path + query, purpose=purpose, **request)

    def _required_query(self, spec: CallSpec) -> str:
        """Return the query with the required parameter of a call, or an empty string if there is none."""
        query = ""
        for parameter in spec.query:
            if parameter.missing_complaint:
                name = self.name_of(parameter.name_assumption) or parameter.value
                query = f"?{name}={parameter.pattern.partition('|')[0]}"
        return query

    def read(self, purpose: str = "", **request: Any) -> ServerResponse:
        """Make the PLAIN_READ call."""
        return self.call(PLAIN_READ, purpose, **request)

    def poll(self, operation_id: str, purpose: str, **request: Any) -> ServerResponse:
        """Poll an operation."""
        path = self.operation_path.replace("{operation_id}", quote(operation_id, safe=""))
        path = path.replace("{project_id}", self.options.project_id)
        return self.send(GET_OPERATION.call_id, "GET", path, purpose=purpose, **request)

    def send(
        self,
        call_id: str,
        method: str,
        path: str,
        *,
        purpose: str,
        token: str | None = None,
        key: str | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        judged: bool = True,
    ) -> ServerResponse:
        """Send a request and judge its response.

        If the server asks for a delay, wait and send the request again.

        `token` is the owner's token by default, and an empty `token` sends none. `key` is the
        Idempotency-Key, or None to send none. `body` is sent as JSON, or unchanged if it consists
        of bytes. If `judged` is false, only responses that limit requests are judged.
        """
        title = self._title(method, path, purpose)
        request_headers = self._headers(token, key, headers)
        content = _encode(body)
        if content is not None:
            request_headers.setdefault("Content-Type", "application/json")
        for _ in range(_MAX_ATTEMPTS):
            self.requests += 1
            response = self._server.exchange(title, method, path, request_headers, content)
            response = replace(response, call_id=call_id, purpose=purpose, number=self.requests)
            if method != "GET":  # even if the request should have been refused
                self.created.add(response, key)
            self._count_unanswered(response)
            is_limited = response.status in (429, 503) or response.code == "rate_limited"
            if judged or is_limited:
                self._judge.judge(response)
            delay_s = _requested_delay_s(response)
            if not is_limited or delay_s == 0 or not self.wait(delay_s):
                break
        return response

    def _title(self, method: str, path: str, purpose: str) -> str:
        """Return the name of a request in reports, without the ids that are the same each time."""
        template = path.replace(self.options.project_id, "{project_id}")
        template = template.replace(self.options.organization_id, "{organization_id}")
        if purpose:
            return f"{method} {template} ({purpose})"
        return f"{method} {template}"

    def _headers(
        self, token: str | None, key: str | None, headers: Mapping[str, str] | None
    ) -> dict[str, str]:
        request_headers = {
            "Accept": "application/json, application/problem+json",
            **(headers or {}),
        }
        if token is None:
            token = self.options.token
        if token:
            request_headers["Authorization"] = f"Bearer {token}"
        if key is not None:
            request_headers["Idempotency-Key"] = key
        return request_headers

    def _count_unanswered(self, response: ServerResponse) -> None:
        """Raise Unreachable if this is one of too many requests in a row without a response."""
        if response.status:
            self._unanswered = 0
        else:
            self._unanswered += 1
        if self._unanswered >= _MAX_UNANSWERED:
            raise Unreachable(f"the server did not respond to {_MAX_UNANSWERED} requests in a row")

    # --- What requests need ------------------------------------------------------------------

    def new_key(self) -> str:
        """Return a new Idempotency-Key with the prefix of this check."""
        self._key_count += 1
        return f"{PREFIX}{self.options.run_id}-{self._key_count}"

    def new_long_key(self) -> str:
        """Return a new Idempotency-Key of 128 characters, the maximum length."""
        return f"{self.new_key()}-".ljust(128, "x")

    def wait(self, seconds: float) -> bool:
        """Wait if the rest of the patience is long enough. Return whether it was."""
        if self.waited_s + seconds > self.options.patience_s:
            return False
        self.waited_s += seconds
        if seconds > 0:
            self.options.pause(seconds)
        return True

    def name_of(self, assumption: str) -> str | None:
        """Return the name or path that is an assumption's value, or None if it is unknown.

        The value comes from the options, or an earlier check discovered it.
        """
        value = self.options.assumed.get(assumption, self.behavior.values.get(assumption))
        if isinstance(value, str):
            return value
        return None

    def callable_ids(self) -> list[CallName]:
        """Return the calls that can be made. The name of a required query parameter may be unknown."""
        return [spec.call_id for spec in CALLS.values() if self._has_names_for(spec)]

    def _has_names_for(self, spec: CallSpec) -> bool:
        return all(
            self.name_of(parameter.name_assumption)
            for parameter in spec.query
            if parameter.missing_complaint
        )

    def now(self) -> ServiceTime:
        """Request the service's time."""
        call_id = PLAIN_READ
        if _TIME_CALL in self.callable_ids():
            call_id = _TIME_CALL
        response = self.call(call_id, "for the time of the service")
        return ServiceTime(
            moment(response["observed_at"]), http_date(response.header("Date") or "")
        )

    def accept(self, response: ServerResponse, repeat: Callable[..., ServerResponse]) -> None:
        """Remember an operation that was just started, if it has an id, so that it can be polled."""
        self.times.judge_new_record(response, moment(response["created_at"]), "operation.times")
        operation_id = response.text("id")
        if operation_id:
            self.accepted.append(AcceptedOperation(operation_id, response, repeat, self.waited_s))


def _encode(body: Any) -> bytes | None:
    """Return a body as bytes: bytes as they are, None for no body, and anything else as JSON."""
    if body is None or isinstance(body, bytes):
        return body
    return json.dumps(body).encode()


def _requested_delay_s(response: ServerResponse) -> int:
    """Return the delay that Retry-After asks for, in seconds, or 0 if it asks for none.

    A date counts from the date of the response. Delays that are too long are ignored.
    """
    header = (response.header("Retry-After") or "").strip()
    delay_s = 0
    if header.isascii() and header.isdigit() and len(header) <= _MAX_DELAY_DIGITS:
        delay_s = int(header)
    until_ms = http_date(header)
    now_ms = http_date(response.header("Date") or "")
    if until_ms is not None and now_ms is not None:
        delay_s = (until_ms - now_ms) // 1000
    return delay_s if 0 <= delay_s <= _MAX_DELAY_S else 0
