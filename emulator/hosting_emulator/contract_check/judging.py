"""Holding any one answer against the contract, whatever it was asked for.

Stories ask and compare answers with each other; this looks at each answer alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from email.utils import parsedate_to_datetime
from typing import Any

from hosting_emulator.contract_check import kinds, shapes
from hosting_emulator.contract_check.kinds import Kind
from hosting_emulator.contract_check.ledger import Ledger
from hosting_emulator.contract_check.observing import Observed
from hosting_emulator.contract_check.shapes import Field
from hosting_emulator.contract_check.wire import Answer

#: The sentence of each call's address, and of what it answers.
ENDPOINTS = {
    "set_project_powered_by_flag": ("flag.call", "flag.200"),
    "initialize_managed_source": ("source.call", "source.accepted"),
    "create_user_api_key": ("keys.call", "keys.response"),
    "apply_project_domains": ("domains.call", "domains.accepted"),
    "get_dns_authorization": ("dns.call", "dns.response"),
    "list_deployments": ("deployments.call", "deployments.response"),
    "create_dev_access_ticket": ("tickets.call", "tickets.response"),
    "read_database_compute": ("compute.call", "compute.response"),
    "get_operation": ("durable", "durable"),
}
_FLAG_STATUSES = (400, 401, 403, 404, 409, 503)
#: What limits requests before they reach a call, and so belongs to no call: too large, too many.
_LIMIT_STATUSES = (413, 429)
#: Kinds that the contract defines once for all fields.
_COMMON: dict[Kind, str] = {kinds.ulid: "ulid", kinds.timestamp: "timestamp"}


class Judge:
    """Looks at answers and notes in a ledger what they bear out or break, and what is observed."""

    def __init__(self, ledger: Ledger, observed: Observed) -> None:
        self._ledger = ledger
        self._observed = observed

    def answer(self, call_id: str, answer: Answer) -> None:
        """Judge one answer of a call."""
        call, response = ENDPOINTS[call_id]
        if not 200 <= answer.status < 600 or 300 <= answer.status < 400:
            told = (answer.header("Location") or "").partition("?")[0]
            self._ledger.differs(call, answer.said + (f" to {told}" if told else ""))
        elif answer.status >= 400:
            self._problem(call_id, call, answer)
        else:
            self._success(call_id, call, response, answer)

    # --- Failures ----------------------------------------------------------------------------

    def _problem(self, call_id: str, call: str, answer: Answer) -> None:
        ledger, said = self._ledger, answer.said
        media = answer.media_type
        ledger.judge(
            "problem-media problem",
            media == "application/problem+json",
            said,
            f"its media type is {media or 'not said'}",
        )
        if call_id == "set_project_powered_by_flag":
            self._flag_status(call, answer)
        told = answer.header("X-Request-Id")
        if told is None:
            ledger.differs("problem request-id", f"{said}: it has no header X-Request-Id")
        else:
            ledger.judge(
                "request-id",
                kinds.request_id(told) is None,
                said,
                f"X-Request-Id has {len(told)} characters",
            )
        problem = self._json_object(answer, "problem")
        if problem is None:
            return
        self._fields(said, problem, shapes.PROBLEM)
        self._problem_as_a_whole(call, answer, problem)
        self._observed.problem(answer)

    def _flag_status(self, call: str, answer: Answer) -> None:
        if answer.status in _LIMIT_STATUSES:
            why = f"{answer.said}: a limit on all requests, not an answer of this call"
            self._ledger.skips("flag.statuses", why)
        else:
            listed = answer.status in _FLAG_STATUSES
            self._refusal("flag.statuses", call, listed, answer.said, "not listed")

    def _problem_as_a_whole(self, call: str, answer: Answer, problem: dict[str, Any]) -> None:
        ledger, said = self._ledger, answer.said
        status, code = problem.get("status"), problem.get("code")
        if kinds.integer(status) is None and status != answer.status:
            ledger.differs("problem.status", f"{said}: the document says {status}")
        if isinstance(code, str) and isinstance(problem.get("type"), str):
            ending = f"/errors/{code.replace('_', '-')}"
            ledger.judge(
                "problem.type",
                problem["type"].endswith(ending),
                said,
                f"type is {kinds.shown(problem['type'])}, which does not end in {ending}",
            )
        self._retry_after(answer, problem)
        if code in ("resource_not_found", "idempotency_key_reused"):
            self._fixed(call, answer, problem)

    def _retry_after(self, answer: Answer, problem: dict[str, Any]) -> None:
        seconds, header = problem.get("retry_after_seconds"), answer.header("Retry-After")
        if seconds is None:
            return
        self._ledger.judge(
            "problem.retry_after_seconds",
            _is_wait(header, seconds),
            answer.said,
            f"retry_after_seconds is {kinds.shown(seconds)}, and Retry-After {header or 'missing'}",
        )

    def _fixed(self, call: str, answer: Answer, problem: dict[str, Any]) -> None:
        """Hold the two codes whose status the contract fixes."""
        missing = problem["code"] == "resource_not_found"
        key, status = ("condition.missing", 404) if missing else ("condition.reused", 409)
        fixed, right = f"{key} condition.statuses", answer.status == status
        self._refusal(fixed, call, right, answer.said, f"not {status}")
        if isinstance(problem.get("retryable"), bool):
            final = not problem["retryable"]
            self._refusal(key, call, final, answer.said, "it is retryable")

    def _refusal(self, keys: str, call: str, right: bool, said: str, wrong: str) -> None:
        """Judge what only a call that works can show by refusing."""
        if right:
            self._ledger.refusal(keys, call, said)
        else:
            self._ledger.differs(keys, f"{said}: {wrong}")

    # --- Successes ---------------------------------------------------------------------------

    def _success(self, call_id: str, call: str, response: str, answer: Answer) -> None:
        ledger, said = self._ledger, answer.said
        ledger.holds(f"{call} paths v1", said)
        if call_id == "set_project_powered_by_flag":
            ledger.judge("flag.200", answer.status == 200, said, "not 200")
        self._observed.success(call_id, answer)
        document = self._json_object(answer, response)
        if document is None:
            return
        ledger.works(call)
        ledger.holds(response, said)
        _READ[call_id](self, said, document)

    def _flag(self, said: str, flag: dict[str, Any]) -> None:
        self._fields(said, flag, shapes.FLAG)
        more = sorted(flag.keys() - {field.name for field in shapes.FLAG})
        self._ledger.judge("flag.closed", not more, said, f"it also has {', '.join(more)}")
        if flag.get("enabled") is False and "enabled_at" in flag:
            hidden = flag["enabled_at"] is None
            self._ledger.judge("flag.enabled_at", hidden, said, "enabled_at is set while hidden")

    def _operation(self, said: str, operation: dict[str, Any]) -> None:
        self._fields(said, operation, shapes.OPERATION)
        for name, fields in (
            ("error", shapes.ERROR),
            ("progress", shapes.PROGRESS),
            ("reconciliation", shapes.RECONCILIATION),
        ):
            if isinstance(operation.get(name), dict):
                self._fields(said, operation[name], fields, f"{name}.")
        self._observed.operation(operation)

    def _page(self, said: str, page: dict[str, Any]) -> None:
        shown = {name: page[name] for name in page if (name, page[name]) != ("next_cursor", "")}
        self._fields(said, shown, shapes.PAGE)
        items = page.get("items")
        for item in items if isinstance(items, list) else ():
            if isinstance(item, dict):
                self._fields(said, item, shapes.DEPLOYMENT, "items[].")
                self._observed.deployment(item)

    def _key(self, said: str, creation: dict[str, Any]) -> None:
        self._fields(said, creation, shapes.KEY_CREATION)
        if isinstance(creation.get("key"), dict):
            self._fields(said, creation["key"], shapes.KEY, "key.")

    def _dns(self, said: str, dns: dict[str, Any]) -> None:
        self._fields(said, dns, shapes.DNS)
        if dns.get("status") != "not_authorized":
            return
        for name, keys in (("zone", "dns.zone"), ("expires_at", "dns.expires_at")):
            if name in dns:
                wrong = f"{name} is not null although status is not_authorized"
                self._ledger.judge(keys, dns[name] is None, said, wrong)
        if isinstance(dns.get("scopes"), list):
            wrong = "scopes are not empty although status is not_authorized"
            self._ledger.judge("dns.scopes", not dns["scopes"], said, wrong)

    def _ticket(self, said: str, ticket: dict[str, Any]) -> None:
        self._fields(said, ticket, shapes.TICKET)
        origin, url = ticket.get("origin"), ticket.get("redeem_url")
        if isinstance(origin, str) and isinstance(url, str):
            wrong = "redeem_url does not begin with the origin"
            self._ledger.judge("ticket.redeem_url", url.startswith(origin + "/"), said, wrong)

    def _compute(self, said: str, compute: dict[str, Any]) -> None:
        self._fields(said, compute, shapes.COMPUTE)
        if isinstance(compute.get("database"), dict):
            self._fields(said, compute["database"], shapes.PLACEMENT, "database.")

    # --- Fields ------------------------------------------------------------------------------

    def _json_object(self, answer: Answer, keys: str) -> dict[str, Any] | None:
        document = answer.document
        if document is None:
            self._ledger.differs(f"json {keys}", f"{answer.said}: its body is no JSON")
            return None
        self._ledger.holds("json", answer.said)
        if not isinstance(document, dict):
            self._ledger.differs(keys, f"{answer.said}: its body is no JSON object")
            return None
        return document

    def _fields(
        self, said: str, found: dict[str, Any], fields: Sequence[Field], inside: str = ""
    ) -> None:
        for field in fields:
            name = inside + field.name
            value = found.get(field.name)
            if value is None and not (field.nullable and field.name in found):
                if field.required:
                    how = "null" if field.name in found else "missing"
                    self._ledger.differs(field.keys, f"{said}: {name} is {how}")
                else:
                    self._observed.empty(field.name in found, name)
                continue
            self._field(said, name, value, field)

    def _field(self, said: str, name: str, value: Any, field: Field) -> None:
        wrong = None if value is None else field.kind(value)
        keys = f"{field.keys} {field.bound}"
        if wrong is not None:
            keys = keys if wrong.startswith(kinds.BOUNDS) else field.keys
            self._ledger.differs(keys, f"{said}: {name}: {wrong}")
        else:
            self._ledger.holds(field.keys if value is None else keys, said)
        common = _COMMON.get(field.kind)
        if common is None or value is None:
            return
        if wrong is None:
            self._ledger.holds(common, said)
            if common == "timestamp":
                self._observed.timestamp(value)
        else:
            self._ledger.differs(common, f"{said}: {name}: {wrong}")


def _is_wait(header: str | None, seconds: Any) -> bool:
    """Whether Retry-After says so many seconds; or it is a date, which HTTP allows there."""
    told = (header or "").strip()
    if told.isascii() and told.isdigit() and len(told) < 10:
        return kinds.integer(seconds) is not None or int(told) == seconds
    try:
        return parsedate_to_datetime(told) is not None
    except ValueError:
        return False


_READ = {
    "set_project_powered_by_flag": Judge._flag,
    "initialize_managed_source": Judge._operation,
    "create_user_api_key": Judge._key,
    "apply_project_domains": Judge._operation,
    "get_dns_authorization": Judge._dns,
    "list_deployments": Judge._page,
    "create_dev_access_ticket": Judge._ticket,
    "read_database_compute": Judge._compute,
    "get_operation": Judge._operation,
}
