"""The OpenAPI 3.1 document, generated from the models, the call table and the problem table.

What the contract leaves open is marked `x-assumption`, with the name of the assumption.
"""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import models_json_schema

from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.calls import CallSpec, call_table
from hosting_emulator.contract.ids import ULID_PATTERN
from hosting_emulator.contract.models import all_models
from hosting_emulator.contract.problems import PROBLEMS

#: The version the machine-readable contract carries (contract, Versioning).
CONTRACT_VERSION = "0.0.0"
_REF = "#/components/schemas/"
_PROBLEM_JSON = "application/problem+json"
#: Codes that any call may answer with, and those of single calls (beyond them).
_COMMON = (
    "invalid_request",
    "unauthenticated",
    "forbidden",
    "organization_required",
    "resource_not_found",
    "rate_limited",
    "service_unavailable",
)
_OWN: dict[str, tuple[str, ...]] = {
    "set_project_powered_by_flag": (
        "idempotency_key_reused",
        "powered_by_flag_required",
        "payload_too_large",
    ),
    "initialize_managed_source": ("idempotency_key_reused", "etag_mismatch", "payload_too_large"),
    "create_user_api_key": (
        "idempotency_key_reused",
        "interactive_login_required",
        "api_key_permissions_unavailable",
        "api_key_creation_uncertain",
        "payload_too_large",
    ),
    "apply_project_domains": ("idempotency_key_reused", "payload_too_large"),
    "create_dev_access_ticket": ("payload_too_large",),
    "get_dns_authorization": ("payload_too_large",),
    "list_deployments": ("payload_too_large",),
    "read_database_compute": ("payload_too_large", "compute_performance_unavailable"),
    "get_operation": ("payload_too_large",),
}
#: Statuses the contract itself lists for call 1.
_LISTED = frozenset({400, 401, 403, 404, 409, 503})


def openapi_document(
    assumptions: Assumptions, server_url: str = "http://127.0.0.1:4620"
) -> dict[str, Any]:
    """Return the document for a world with these assumptions, served at `server_url`."""
    paths: dict[str, dict[str, Any]] = {}
    for spec in call_table(assumptions):
        paths.setdefault(spec.path, {})[spec.method.lower()] = _operation(spec, assumptions)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Project Hosting Control API",
            "version": CONTRACT_VERSION,
            "description": (
                "REST control API for hosting web projects, as hosting-emulator serves it. "
                "`x-assumption` marks what the contract leaves open: do not depend on it."
            ),
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": server_url, "description": "This emulator"}],
        "security": [{"bearer": []}],
        "tags": [{"name": "control", "description": "The calls of the contract"}],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "An access JWT or a user-owned API key.",
                }
            },
            "schemas": _schemas(assumptions),
            "headers": _HEADERS,
        },
    }


_HEADERS: dict[str, Any] = {
    "X-Request-Id": {
        "description": "Correlation identifier, equal to request_id.",
        "required": True,
        "schema": {"type": "string", "minLength": 1, "maxLength": 128},
    },
    "Retry-After": {
        "description": "Seconds to wait, equal to retry_after_seconds.",
        "schema": {"type": "integer", "minimum": 1, "maximum": 86400},
    },
}


def _operation(spec: CallSpec, assumptions: Assumptions) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": spec.operation_id,
        "tags": ["control"],
        "summary": spec.summary,
        "description": spec.description,
        "parameters": _parameters(spec, assumptions),
        "responses": _responses(spec, assumptions),
    }
    if spec.body:
        schema = {"$ref": _REF + spec.body}
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": schema}},
        }
    if spec.call_id == "get_operation":
        operation["x-assumption"] = "operation_path"
    return operation


def _parameters(spec: CallSpec, assumptions: Assumptions) -> list[dict[str, Any]]:
    found = [_path_parameter(f"{spec.subject}_id")]
    if spec.idempotent:
        found.append(_header("Idempotency-Key", True, "New for each request that is not a retry."))
    found.append(_header("X-Request-Id", False, "Correlation identifier of the request."))
    if spec.call_id == "list_deployments":
        found += _page_parameters(assumptions)
    if spec.call_id == "read_database_compute":
        found.append(_environment_parameter(assumptions))
    return found


def _path_parameter(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": {"$ref": _REF + "Ulid"}}


def _header(name: str, required: bool, description: str) -> dict[str, Any]:
    return {
        "name": name,
        "in": "header",
        "required": required,
        "description": description,
        "schema": {"type": "string", "minLength": 1, "maxLength": 128},
    }


def _page_parameters(assumptions: Assumptions) -> list[dict[str, Any]]:
    return [
        {
            "name": assumptions.cursor_parameter,
            "in": "query",
            "required": False,
            "description": "The opaque next_cursor of the preceding page.",
            "schema": {"type": "string", "pattern": "^[A-Za-z0-9_-]+$"},
            "x-assumption": "cursor_parameter",
        },
        {
            "name": assumptions.limit_parameter,
            "in": "query",
            "required": False,
            "description": f"Most items on the page; {assumptions.default_page_size} if left out.",
            "schema": {"type": "integer", "minimum": 1, "maximum": 100},
            "x-assumption": "limit_parameter",
        },
    ]


def _environment_parameter(assumptions: Assumptions) -> dict[str, Any]:
    return {
        "name": assumptions.environment_parameter,
        "in": "query",
        "required": assumptions.missing_environment == "refused",
        "schema": {"type": "string", "enum": ["dev", "prod"]},
        "x-assumption": "environment_parameter",
    }


def _responses(spec: CallSpec, assumptions: Assumptions) -> dict[str, Any]:
    success: dict[str, Any] = {
        "description": spec.summary,
        "content": {"application/json": {"schema": {"$ref": _REF + spec.response}}},
    }
    if isinstance(spec.success, str):
        success["x-assumption"] = spec.success
    responses = {str(spec.success_status(assumptions)): success}
    if spec.call_id == "create_user_api_key":
        replayed = success | {
            "description": "Exact replay: metadata, no value",
            "x-assumption": "key_replayed_status",
        }
        responses.setdefault(str(assumptions.key_replayed_status), replayed)
    by_status: dict[int, list[str]] = {}
    for code in (*_COMMON, *_OWN[spec.call_id]):
        by_status.setdefault(status_of(code, assumptions), []).append(code)
    for status in sorted(by_status):
        responses[str(status)] = _problem_response(spec, status, by_status[status])
    responses["405"] = _problem_response(spec, 405, ["invalid_request"]) | {
        "description": "The path exists, the method does not: see Allow"
    }
    return responses


def status_of(code: str, assumptions: Assumptions) -> int:
    """Return the HTTP status of a problem code under these assumptions."""
    return assumptions.problem_statuses.get(code, PROBLEMS[code].status)


def _problem_response(spec: CallSpec, status: int, codes: list[str]) -> dict[str, Any]:
    response: dict[str, Any] = {
        "description": "; ".join(f"{PROBLEMS[code].title} (`{code}`)" for code in codes),
        "headers": {"X-Request-Id": {"$ref": "#/components/headers/X-Request-Id"}},
        "content": {_PROBLEM_JSON: {"schema": {"$ref": _REF + "ProblemDetails"}}},
    }
    if status in (429, 503):
        response["headers"]["Retry-After"] = {"$ref": "#/components/headers/Retry-After"}
    if spec.call_id != "set_project_powered_by_flag" or status not in _LISTED:
        response["x-assumption"] = "problem_statuses"
    return response


def _schemas(assumptions: Assumptions) -> dict[str, Any]:
    _, definitions = models_json_schema(
        [(model, "validation") for model in all_models()], ref_template=_REF + "{model}"
    )
    schemas: dict[str, Any] = {
        name: _tidied(schema) for name, schema in sorted(definitions["$defs"].items())
    }
    schemas["Ulid"] = {"type": "string", "minLength": 26, "maxLength": 26, "pattern": ULID_PATTERN}
    schemas["ProblemDetails"]["properties"]["code"]["enum"] = list(PROBLEMS)
    if assumptions.empty_fields == "null":
        for schema in schemas.values():
            _allow_null(schema)
    return schemas


def _tidied(found: Any) -> Any:
    """Drop generated titles, and defaults of null, which generators turn into required fields."""
    if isinstance(found, dict):
        kept = {
            name: _tidied(value)
            for name, value in found.items()
            if not (name == "title" and isinstance(value, str))
            and not (name == "default" and value is None)
        }
        if kept.get("additionalProperties") is True and "properties" in kept:
            del kept["additionalProperties"]
        return kept
    return [_tidied(item) for item in found] if isinstance(found, list) else found


def _allow_null(schema: dict[str, Any]) -> None:
    required = set(schema.get("required", ()))
    for name, found in schema.get("properties", {}).items():
        if name not in required and "anyOf" not in found:
            description = (
                {"description": found.pop("description")} if "description" in found else {}
            )
            schema["properties"][name] = {"anyOf": [found, {"type": "null"}], **description}
