"""Checks of each response against the contract, independent of the emulator's own tables.

Only the resource models come from the emulator. Codes, paths and statuses are repeated here, so
that a wrong value in the emulator's tables makes tests fail.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import unquote

from hosting_emulator.contract.models import model
from tests.support.calls import Response

#: The problem codes of the contract, in the order of its section on errors.
CODES = [
    "invalid_request",
    "unauthenticated",
    "forbidden",
    "organization_required",
    "resource_not_found",
    "idempotency_key_reused",
    "project_handle_unavailable",
    "project_identity_unavailable",
    "deployment_plan_expired",
    "deployment_plan_incompatible",
    "confirmation_expired",
    "confirmation_invalid",
    "etag_mismatch",
    "promotion_source_stale",
    "promotion_target_stale",
    "promotion_invalid_target",
    "mail_domain_conflict",
    "mail_domain_required",
    "mail_capacity_unavailable",
    "storage_jurisdiction_conflict",
    "shared_data_requires_promotion",
    "production_deployment_required",
    "framework_conversion_required",
    "repository_configuration_missing",
    "migration_filename_noncanonical",
    "environment_secret_mutation_blocked",
    "workers_runtime_incompatible",
    "project_handle_invalid",
    "project_handle_taken",
    "project_handle_unchanged",
    "project_rename_blocked",
    "payload_too_large",
    "rate_limited",
    "insufficient_organization_credits",
    "paid_plan_required",
    "project_budget_exceeded",
    "compute_performance_paid_required",
    "compute_performance_unavailable",
    "database_write_pending",
    "database_access_limit",
    "compute_change_pending",
    "compute_change_conflict",
    "billing_purchase_conflict",
    "billing_recharge_conflict",
    "git_host_connection_required",
    "git_host_connection_revoked",
    "repository_not_installed",
    "edge_zone_not_bound",
    "edge_authorization_closed",
    "project_notes_conflict",
    "project_export_not_ready",
    "powered_by_flag_required",
    "interactive_login_required",
    "api_key_creation_uncertain",
    "api_key_permissions_unavailable",
    "reconciliation_exhausted",
    "service_unavailable",
]

RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
#: Matches text that starts and ends like a sentence.
_SENTENCES = re.compile(r"([A-Z][a-z]*\b|[`'\"]).*[\w)`'\"…][.!?]", re.S)
ULID = re.compile("[0-9A-HJKMNP-TV-Z]{26}")
#: Fields that may be null, because the contract says "or null".
_NULLABLE = {"enabled_at", "value", "zone", "expires_at", "database"}
_REQUIRED_FIELDS = {
    "type",
    "title",
    "status",
    "code",
    "request_id",
    "retryable",
    "suggested_action",
}


class Shape(NamedTuple):
    """A successful response of a call: its path, its resource and its possible statuses."""

    method: str
    path: re.Pattern[str]
    resource: str
    statuses: frozenset[int]


def _shape(method: str, path: str, resource: str, *statuses: int) -> Shape:
    return Shape(method, re.compile(path), resource, frozenset(statuses))


_PROJECT = "/v1/projects/[^/]+"
SHAPES = (
    _shape("PUT", f"{_PROJECT}/powered-by-flag", "PoweredByFlag", 200),
    _shape("POST", f"{_PROJECT}/source:initialize", "Operation", 200, 201, 202),
    _shape("POST", "/v1/organizations/[^/]+/user-api-keys", "UserApiKeyCreation", 200, 201),
    _shape("PUT", f"{_PROJECT}/domains", "Operation", 200, 201, 202),
    _shape("GET", f"{_PROJECT}/edge-dns", "DnsAuthorization", 200),
    _shape("GET", f"{_PROJECT}/deployments", "DeploymentPage", 200),
    _shape("POST", f"{_PROJECT}/dev-access-tickets", "DevAccessTicket", 200, 201),
    _shape("GET", f"{_PROJECT}/database/compute", "DatabaseCompute", 200),
    _shape("GET", "/v1/(projects/[^/]+/)?operations/[^/]+", "Operation", 200),
)


def check_response(
    method: str, path: str, response: Response, *, null_cursor: bool = False
) -> None:
    """Fail if a response of the public API breaks the contract.

    With `null_cursor`, the last page of a list may have a null cursor, according to the assumption
    `last_page_cursor`.
    """
    if response.status >= 400:
        check_problem(response)
        return
    target = unquote(path.partition("?")[0])
    shape = next(s for s in SHAPES if s.method == method and s.path.fullmatch(target))
    assert response.status in shape.statuses, (
        f"the response to {method} {path} has status {response.status}"
    )
    assert response.headers["Content-Type"] == "application/json"
    document = response.json
    if null_cursor and document.get("next_cursor", "") is None:
        del document["next_cursor"]
    model(shape.resource).model_validate(document, strict=True)
    check_values(document)


def check_problem(response: Response) -> dict[str, Any]:
    """Fail unless a response is a problem with every field and header that the contract requires."""
    assert response.headers["Content-Type"] == "application/problem+json"
    document: dict[str, Any] = json.loads(response.body)
    model("ProblemDetails").model_validate(document, strict=True)
    assert document.keys() >= _REQUIRED_FIELDS
    assert document["status"] == response.status
    assert document["code"] in CODES
    detail = document.get("detail", "A problem needs no detail.")
    assert _SENTENCES.fullmatch(detail), f"the detail is not a whole sentence: {detail!r}"
    slug = document["code"].replace("_", "-")
    assert document["type"].endswith(f"/errors/{slug}"), document["type"]
    assert response.header_values("X-Request-Id") == [document["request_id"]]
    retry_after = response.header_values("Retry-After")
    assert response.headers["Cache-Control"] == "no-store"
    assert ("WWW-Authenticate" in response.headers) == (response.status == 401)
    retry_after_seconds = document.get("retry_after_seconds")
    assert retry_after == ([] if retry_after_seconds is None else [str(retry_after_seconds)])
    return document


def check_values(value: Any, *, name: str = "") -> None:
    """Fail on an unexpected null, a timestamp that is not RFC 3339, or an id that is not a ULID."""
    if isinstance(value, dict):
        for field, inner_value in value.items():
            check_values(inner_value, name=field)
    elif isinstance(value, list):
        for item in value:
            check_values(item, name=name)
    elif value is None:
        assert name in _NULLABLE, f"{name} is null"
    elif name.endswith("_at"):
        assert RFC3339.fullmatch(value), f"{name} is {value!r}"
        datetime.fromisoformat(value)
    elif name == "id" or (name.endswith("_id") and name != "request_id"):
        assert ULID.fullmatch(value), f"{name} is {value!r}"


def read_timestamp(text: str) -> datetime:
    """Parse an RFC 3339 timestamp. Fails on any other text."""
    assert RFC3339.fullmatch(text), text
    return datetime.fromisoformat(text)


def expect_problem(response: Response, status: int, code: str) -> dict[str, Any]:
    """Fail unless a response is a problem with this status and code. Return its document."""
    document = check_problem(response)
    assert (response.status, document["code"]) == (status, code), document.get("detail")
    return document


def without_request_id(response: Response) -> tuple[int, dict[str, str], bytes]:
    """Return the status, headers and body of a problem, without the request id and the Date."""
    request_id = response.json["request_id"]
    headers = {
        name: value
        for name, value in response.headers.items()
        if name not in ("X-Request-Id", "Date")
    }
    return response.status, headers, response.body.replace(request_id.encode(), b"<request id>")
