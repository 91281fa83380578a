"""Problem documents: a refusal as the contract's Errors part writes it (RFC 9457)."""

from __future__ import annotations

from typing import Any

import msgspec

from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.problems import PROBLEMS, Refused

CONTENT_TYPE = "application/problem+json"


def status_of(refused: Refused, assumptions: Assumptions) -> int:
    """Return the HTTP status of a refusal under these assumptions."""
    usual = PROBLEMS[refused.code].status
    if refused.status != usual:
        return refused.status
    return assumptions.problem_statuses.get(refused.code, usual)


def problem_document(
    refused: Refused, request_id: str, docs_url: str, assumptions: Assumptions
) -> bytes:
    """Return the document's bytes. `docs_url` has no slash at its end."""
    problem = PROBLEMS[refused.code]
    document: dict[str, Any] = {
        "type": f"{docs_url}/errors/{problem.slug}",
        "title": problem.title,
        "status": status_of(refused, assumptions),
        "detail": refused.detail,
        "code": refused.code,
        "request_id": request_id,
        "retryable": problem.retryable,
        "suggested_action": problem.suggested_action,
    }
    if refused.retry_after_seconds is not None:
        document["retry_after_seconds"] = refused.retry_after_seconds
    return msgspec.json.encode(document)


def problem_headers(refused: Refused, request_id: str) -> list[tuple[str, str]]:
    """Return the headers that go with the document."""
    headers = [("X-Request-Id", request_id), ("Cache-Control", "no-store")]
    if refused.retry_after_seconds is not None:
        headers.append(("Retry-After", str(refused.retry_after_seconds)))
    if refused.code == "unauthenticated":
        headers.append(("WWW-Authenticate", "Bearer"))
    allow = getattr(refused, "allow", None)
    if allow:
        headers.append(("Allow", allow))
    return headers
