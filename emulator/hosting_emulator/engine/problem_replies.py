"""Turns refusals into responses that contain a problem document (contract, section Errors; RFC 9457)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from hosting_emulator.calls.request import NO_STORE, Reply
from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.call_table import problem_status
from hosting_emulator.contract.calls import CallSpec
from hosting_emulator.contract.problems import PROBLEMS, Refused


def retry_after_s(headers: Iterable[tuple[str, str]]) -> int | None:
    """Return the number of seconds in a response's Retry-After header, or None if there is no valid
    number.

    Numbers with ten or more digits are ignored, because no client waits that long.
    """
    for name, value in headers:
        if name.lower() != "retry-after":
            continue
        if value.isascii() and value.isdigit() and len(value) < 10:
            return int(value)
    return None


def too_large(limit: int, assumptions: Assumptions) -> Refused:
    """Return the refusal for a request body that is longer than `limit` bytes."""
    return Refused(
        assumptions.code_of("body_too_long"),
        f"The request body is larger than {limit} bytes.",
        assumption="body_limit_bytes",
    )


def problem_reply(
    refused: Refused,
    request_id: str,
    own_docs_url: str,
    assumptions: Assumptions,
    spec: CallSpec | None = None,
) -> Reply:
    """Return the response to a refused request, which contains a problem document.

    `spec` is the call that the request matched, if any. `own_docs_url` is the URL of our own
    documentation, without a trailing slash.
    """
    problem = PROBLEMS[refused.code]
    status = problem_status(refused.code, assumptions, spec, refused.status)
    docs_url = own_docs_url if assumptions.docs_url == "own" else assumptions.docs_url
    document: dict[str, Any] = {
        "type": f"{docs_url}/errors/{problem.slug}",
        "title": problem.title,
        "status": status,
        "detail": refused.detail,
        "code": refused.code,
        "request_id": request_id,
        "retryable": problem.retryable,
        "suggested_action": refused.action,
    }
    headers = [("X-Request-Id", request_id), *NO_STORE]
    if refused.retry_after_seconds is not None:
        document["retry_after_seconds"] = refused.retry_after_seconds
        headers.append(("Retry-After", str(refused.retry_after_seconds)))
    if status == 401:
        headers.append(("WWW-Authenticate", "Bearer"))
    allow = getattr(refused, "allow", None)
    if allow:
        headers.append(("Allow", allow))
    return Reply(
        status,
        msgspec.json.encode(document),
        content_type="application/problem+json",
        headers=headers,
    )
