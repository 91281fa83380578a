"""The OpenAPI 3.1 document, generated from the models, the call table and the problem table.

What the contract leaves open is marked `x-assumption`, with the name of the assumption that decides
it. This module holds the calls and their parameters; `openapi_responses` what they answer,
`openapi_schemas` the resources. Nothing here is needed to answer a request.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

from hosting_emulator.contract.assumptions import PERMISSIONS, Assumptions
from hosting_emulator.contract.calls import CallSpec, CallTable, QueryParameter
from hosting_emulator.contract.openapi_responses import HEADERS, problem_examples, responses
from hosting_emulator.contract.openapi_schemas import REF, schemas

#: The version the machine-readable contract carries (contract, Versioning).
CONTRACT_VERSION = "0.0.0"
_TAGS = {
    "projects": "What belongs to one project.",
    "organizations": "What belongs to one organization.",
    "operations": "Accepted asynchronous mutations.",
}


def openapi_document(
    assumptions: Assumptions,
    server_url: str = "http://127.0.0.1:4620",
    absent: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return the document for a world with these assumptions, served at `server_url`.

    Members in `absent`, by schema, may be missing there from what else would hold them.
    """
    paths: dict[str, dict[str, Any]] = {}
    for spec in CallTable(assumptions):
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
        "tags": [{"name": name, "description": about} for name, about in _TAGS.items()],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "An access JWT or a user-owned API key.",
                }
            },
            "schemas": schemas(assumptions, absent),
            "headers": HEADERS,
            "examples": problem_examples(assumptions, server_url),
        },
    }


def _operation(spec: CallSpec, assumptions: Assumptions) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": spec.operation_id,
        "tags": [f"{spec.subject}s"],
        "summary": spec.summary,
        "description": spec.description,
        "parameters": _parameters(spec, assumptions),
        "responses": responses(spec, assumptions),
        "x-requires": _requires(spec, assumptions),
    }
    if spec.body:
        schema = {"$ref": REF + spec.body}
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": schema}},
        }
    if spec.path_from:
        operation["x-assumption"] = spec.path_from
    return operation


def _requires(spec: CallSpec, assumptions: Assumptions) -> dict[str, Any]:
    """Return who may make the call: the least role, and the permission an API key needs."""
    role = spec.least_role(assumptions)
    found: dict[str, Any] = {
        "organization_role" if spec.subject == "organization" else "project_role": role
    }
    if spec.permission:
        place = PERMISSIONS.index(spec.permission)
        found["key_permission"] = assumptions.key_permissions[place]
    if spec.interactive:
        found["interactive_session"] = True
    if hasattr(assumptions, spec.role):
        found["x-assumption"] = spec.role
    return found


def _parameters(spec: CallSpec, assumptions: Assumptions) -> list[dict[str, Any]]:
    found = [_path_parameter(spec.subject)]
    if spec.idempotent:
        found.append(
            _header(
                "Idempotency-Key",
                required=True,
                description="New for each request, the same for its retries.",
                example="3f7c1f0e-5f0a-4a53-9f0e-0d7f6f9f5b1a",
            )
        )
    found.append(
        _header(
            "X-Request-Id",
            required=False,
            description="Correlation identifier of the request.",
            example="checkout-42",
        )
    )
    return found + [_query_parameter(parameter, assumptions) for parameter in spec.query]


def _path_parameter(subject: str) -> dict[str, Any]:
    return {
        "name": f"{subject}_id",
        "in": "path",
        "required": True,
        "description": f"The {subject}.",
        "schema": {"$ref": REF + "Ulid"},
    }


def _header(name: str, *, required: bool, description: str, example: str) -> dict[str, Any]:
    return {
        "name": name,
        "in": "header",
        "required": required,
        "description": description,
        "schema": {"type": "string", "minLength": 1, "maxLength": 128, "examples": [example]},
    }


def _query_parameter(parameter: QueryParameter, assumptions: Assumptions) -> dict[str, Any]:
    required, description = parameter.required(assumptions), parameter.description
    schema = dict(parameter.schema)
    if parameter.default is not None:
        schema["x-assumption"] = parameter.default
        if not required:
            default = getattr(assumptions, parameter.default)
            description += parameter.default_description.format(default)
    return {
        "name": parameter.name(assumptions),
        "in": "query",
        "required": required,
        "description": description,
        "schema": schema,
        "x-assumption": parameter.named_by,
    }
