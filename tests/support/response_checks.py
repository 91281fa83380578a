"""Holding every answer against the contract, read independently of the emulator's own tables.

Only the resources are taken from the emulator; codes, paths and statuses are written down
here a second time, so that a slip in one copy is seen.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import unquote

from hosting_emulator.contract.resources import model
from tests.support.calls import Response

#: The codes of the contract's Errors part, in its order.
CODES = """
    invalid_request unauthenticated forbidden organization_required resource_not_found
    idempotency_key_reused project_handle_unavailable project_identity_unavailable
    deployment_plan_expired deployment_plan_incompatible confirmation_expired confirmation_invalid
    etag_mismatch promotion_source_stale promotion_target_stale promotion_invalid_target
    mail_domain_conflict mail_domain_required mail_capacity_unavailable
    storage_jurisdiction_conflict shared_data_requires_promotion production_deployment_required
    framework_conversion_required repository_configuration_missing migration_filename_noncanonical
    environment_secret_mutation_blocked workers_runtime_incompatible project_handle_invalid
    project_handle_taken project_handle_unchanged project_rename_blocked payload_too_large
    rate_limited insufficient_organization_credits paid_plan_required project_budget_exceeded
    compute_performance_paid_required compute_performance_unavailable database_write_pending
    database_access_limit compute_change_pending compute_change_conflict billing_purchase_conflict
    billing_recharge_conflict git_host_connection_required git_host_connection_revoked
    repository_not_installed edge_zone_not_bound edge_authorization_closed project_notes_conflict
    project_export_not_ready powered_by_flag_required interactive_login_required
    api_key_creation_uncertain api_key_permissions_unavailable reconciliation_exhausted
    service_unavailable
""".split()

RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
ULID = re.compile("[0-9A-HJKMNP-TV-Z]{26}")
#: Fields that may be null: where the contract writes "or null".
_NULLABLE = {"enabled_at", "value", "zone", "expires_at", "database"}
_REQUIRED_OF_A_PROBLEM = {
    "type",
    "title",
    "status",
    "code",
    "request_id",
    "retryable",
    "suggested_action",
}


class Shape(NamedTuple):
    """What a successful answer of a call looks like."""

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


def hold(method: str, path: str, answer: Response, *, null_cursor: bool = False) -> None:
    """Fail if an answer of the public API breaks the contract, whatever was asked.

    `null_cursor` lets the last page write null, as the assumption `last_page_cursor` may say.
    """
    if answer.status >= 400:
        hold_problem(answer)
        return
    target = unquote(path.partition("?")[0])
    shape = next(s for s in SHAPES if s.method == method and s.path.fullmatch(target))
    assert answer.status in shape.statuses, f"{method} {path} answered {answer.status}"
    assert answer.headers["Content-Type"] == "application/json"
    document = answer.json
    if null_cursor and document.get("next_cursor", "") is None:
        del document["next_cursor"]
    model(shape.resource).model_validate(document, strict=True)
    hold_values(document)


def hold_problem(answer: Response) -> dict[str, Any]:
    """Fail unless an answer is a problem with every field and header the contract asks for."""
    assert answer.headers["Content-Type"] == "application/problem+json"
    document: dict[str, Any] = json.loads(answer.body)
    model("ProblemDetails").model_validate(document, strict=True)
    assert document.keys() >= _REQUIRED_OF_A_PROBLEM
    assert document["status"] == answer.status
    assert document["code"] in CODES
    slug = document["code"].replace("_", "-")
    assert document["type"].endswith(f"/errors/{slug}"), document["type"]
    assert answer.header_values("X-Request-Id") == [document["request_id"]]
    retry_after = answer.header_values("Retry-After")
    assert answer.headers["Cache-Control"] == "no-store"
    assert ("WWW-Authenticate" in answer.headers) == (answer.status == 401)
    told = document.get("retry_after_seconds")
    assert retry_after == ([] if told is None else [str(told)])
    return document


def hold_values(found: Any, *, name: str = "") -> None:
    """Fail on an unexpected null, a timestamp that is not RFC 3339 or an id that is not a Ulid."""
    if isinstance(found, dict):
        for key, value in found.items():
            hold_values(value, name=key)
    elif isinstance(found, list):
        for item in found:
            hold_values(item, name=name)
    elif found is None:
        assert name in _NULLABLE, f"{name} is null"
    elif name.endswith("_at"):
        assert RFC3339.fullmatch(found), f"{name} is {found!r}"
        datetime.fromisoformat(found)
    elif name == "id" or (name.endswith("_id") and name != "request_id"):
        assert ULID.fullmatch(found), f"{name} is {found!r}"


def moment(text: str) -> datetime:
    """Read a timestamp."""
    assert RFC3339.fullmatch(text), text
    return datetime.fromisoformat(text)


def problem(answer: Response, status: int, code: str) -> dict[str, Any]:
    """Expect one problem, and return its document."""
    document = hold_problem(answer)
    assert (answer.status, document["code"]) == (status, code), document.get("detail")
    return document


def without_request_id(answer: Response) -> tuple[int, dict[str, str], bytes]:
    """Return all a client can see of a problem, but for the id of the request and the second."""
    request_id = answer.json["request_id"]
    headers = {
        name: value
        for name, value in answer.headers.items()
        if name not in ("X-Request-Id", "Date")
    }
    return answer.status, headers, answer.body.replace(request_id.encode(), b"<request id>")
