"""Problem documents: a refusal as the contract's Errors part writes it (RFC 9457)."""

from __future__ import annotations

from typing import Any

import msgspec

from hosting_emulator.calls.request import NO_STORE, Reply
from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.calls import CallSpec, is_retryable, problem_status
from hosting_emulator.contract.problems import PROBLEMS, Refused

CONTENT_TYPE = "application/problem+json"


def problem_reply(
    refused: Refused,
    request_id: str,
    own_docs_url: str,
    assumptions: Assumptions,
    spec: CallSpec | None = None,
) -> Reply:
    """Return the answer that a refusal is, of a call if it found one.

    `own_docs_url` is where our own documentation is, without a slash at its end.
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
        "retryable": is_retryable(problem.code, assumptions),
        "suggested_action": refused.action,
    }
    headers = [("X-Request-Id", request_id), *NO_STORE]
    if refused.retry_after_seconds is not None:
        document["retry_after_seconds"] = refused.retry_after_seconds
        headers.append(("Retry-After", str(refused.retry_after_seconds)))
    if refused.code == "unauthenticated":
        headers.append(("WWW-Authenticate", "Bearer"))
    if allow := getattr(refused, "allow", None):
        headers.append(("Allow", allow))
    return Reply(status, msgspec.json.encode(document), content_type=CONTENT_TYPE, headers=headers)
