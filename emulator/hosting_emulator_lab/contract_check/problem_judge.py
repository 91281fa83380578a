"""Judges error responses: the media type, the X-Request-Id header, and the problem document."""

from __future__ import annotations

from typing import Any

from hosting_emulator.contract.calls import CallSpec
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract.value_checks import brief, is_integer
from hosting_emulator_lab.contract_check.document_judge import DocumentJudge
from hosting_emulator_lab.contract_check.evidence import Evidence
from hosting_emulator_lab.contract_check.response import ServerResponse, http_date
from hosting_emulator_lab.contract_check.server_behavior import ServerBehavior

#: Statuses for too large and too many requests, with which a server refuses a request before the
#: request reaches a call.
_LIMIT_STATUSES = (413, 429)
#: Statuses that are about HTTP, and do not show which status the server uses for a problem code.
_HTTP_STATUSES = (405, 413, 415)
#: The sentences about the codes whose status the contract states.
_CONDITION_KEYS = {
    "resource_not_found": "condition.missing",
    "idempotency_key_reused": "condition.reused",
}
_RETRY_AFTER_KEYS = ("problem.retry_after_seconds", "limit.retry-after")
#: How far apart the Date header and the date in Retry-After may be from `retry_after_seconds`, in
#: milliseconds.
_RETRY_AFTER_TOLERANCE_MS = 60_000


class ProblemJudge:
    """Judges error responses. It does not judge whether the request deserved an error."""

    def __init__(
        self, evidence: Evidence, behavior: ServerBehavior, documents: DocumentJudge
    ) -> None:
        self._evidence = evidence
        self._behavior = behavior
        self._documents = documents

    def judge(self, spec: CallSpec, call_key: str, response: ServerResponse) -> None:
        """Judge an error response to a call.

        `call_key` is the key of the sentence with the call's address.
        """
        self._evidence.judge(
            ("problem-media", "problem"),
            response.media_type == "application/problem+json",
            response,
            f"its media type is {response.media_type or 'missing'}",
        )
        if response.status in _LIMIT_STATUSES:
            self._skip_limited(spec, response)
        elif spec.listed_statuses:
            is_listed = response.status in spec.listed_statuses
            self._evidence.judge(
                "flag.statuses",
                is_listed,
                response,
                "the contract does not list its status",
                call=call_key,
            )
        self._judge_request_id(response)
        problem = self._documents.read_object(response, "problem")
        if problem is None:
            return
        self._compare_request_ids(response, problem)
        self._documents.judge_fields(response, problem, "ProblemDetails")
        self._judge_status_field(response, problem)
        self._judge_type(response, problem)
        self._judge_retry_after(response, problem)
        self._judge_condition(call_key, response, problem)
        self._record_status(spec, response)

    def _skip_limited(self, spec: CallSpec, response: ServerResponse) -> None:
        if spec.listed_statuses:
            reason = f"{response}: a limit on all requests, not a response of this call"
            self._evidence.skips("flag.statuses", reason)
            self._behavior.record("listed_statuses", "open")
        self._evidence.skips(_RETRY_AFTER_KEYS, f"{response}: without retry_after_seconds")

    def _judge_request_id(self, response: ServerResponse) -> None:
        request_id = response.header("X-Request-Id")
        if request_id is None:
            self._evidence.differs(
                ("problem", "request-id"), response, "it has no header X-Request-Id"
            )
            return
        self._evidence.judge(
            "request-id",
            1 <= len(request_id) <= 128,
            response,
            f"X-Request-Id has {len(request_id)} characters",
        )

    def _compare_request_ids(self, response: ServerResponse, problem: dict[str, Any]) -> None:
        request_id = response.header("X-Request-Id")
        if request_id is not None and request_id != problem.get("request_id"):
            self._behavior.note(
                "a problem's request_id differs from its X-Request-Id: "
                "the contract does not forbid it"
            )

    def _judge_status_field(self, response: ServerResponse, problem: dict[str, Any]) -> None:
        status = problem.get("status")
        if is_integer(status) and status != response.status:
            self._evidence.differs(
                "problem.status", response, f"status in the document is {status}"
            )

    def _judge_type(self, response: ServerResponse, problem: dict[str, Any]) -> None:
        code = problem.get("code")
        link = problem.get("type")
        if isinstance(code, str) and isinstance(link, str):
            ending = f"/errors/{code.replace('_', '-')}"
            self._evidence.judge(
                "problem.type",
                link.endswith(ending),
                response,
                f"type is {brief(link)}, which does not end in {ending}",
            )

    def _judge_retry_after(self, response: ServerResponse, problem: dict[str, Any]) -> None:
        seconds = problem.get("retry_after_seconds")
        if seconds is None:
            return
        header = (response.header("Retry-After") or "").strip()
        self._evidence.judge(
            "problem.retry_after_seconds",
            _matches_retry_after(seconds, header, response.header("Date") or ""),
            response,
            f"retry_after_seconds is {brief(seconds)}, and Retry-After {header or 'missing'}",
        )

    def _judge_condition(
        self, call_key: str, response: ServerResponse, problem: dict[str, Any]
    ) -> None:
        code = problem.get("code")
        if not isinstance(code, str) or code not in _CONDITION_KEYS:
            return
        key = _CONDITION_KEYS[code]
        status = PROBLEMS[code].status
        self._evidence.judge(
            (key, "condition.statuses"),
            response.status == status,
            response,
            f"its status should be {status}",
            call=call_key,
        )
        retryable = problem.get("retryable")
        if isinstance(retryable, bool):
            self._evidence.judge(key, not retryable, response, "retryable is true", call=call_key)

    def _record_status(self, spec: CallSpec, response: ServerResponse) -> None:
        if response.code is None or response.code not in PROBLEMS:
            return
        # Allow 400, because a call that lists its statuses may have to use it for a code whose own
        # status is not listed.
        is_forced = bool(spec.listed_statuses) and response.status == 400
        if response.status not in _HTTP_STATUSES and not is_forced:
            self._behavior.record_status(response.code, response.status)


def _matches_retry_after(seconds: Any, header: str, date_header: str) -> bool:
    """Return whether the Retry-After header and `retry_after_seconds` ask for the same delay.

    HTTP also allows a date in Retry-After, which is compared with the Date header if there is one.
    """
    until_ms = http_date(header)
    now_ms = http_date(date_header)
    if is_integer(seconds) and header.isascii() and header.isdigit() and len(header) < 10:
        return bool(int(header) == seconds)
    if is_integer(seconds) and until_ms is not None and now_ms is not None:
        return bool(abs(until_ms - now_ms - seconds * 1000) <= _RETRY_AFTER_TOLERANCE_MS)
    return until_ms is not None
