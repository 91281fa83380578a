"""Generates the OpenAPI 3.1 document from the tables of calls, resources and problems.

In the document, `x-assumption` marks each point that the contract leaves open, and names the
assumption that settles it. The server uses this module only for the document, not to respond to
calls.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from msgspec import Struct

from hosting_emulator.contract.access import PERMISSIONS, AssumedRole
from hosting_emulator.contract.assumptions import CONDITIONS, Assumptions
from hosting_emulator.contract.call_table import (
    CallTable,
    assumed_status,
    is_required,
    least_role,
    parameter_default,
    parameter_name,
    problem_codes,
    problem_status,
    success_status,
)
from hosting_emulator.contract.calls import AssumedStatus, CallSpec, QueryParameter, ReadStatus
from hosting_emulator.contract.fields import Field, Kind, Resource
from hosting_emulator.contract.ids import ULID_PATTERN
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract.resources import RESOURCES

#: The version number of the machine-readable contract (contract, section Versioning).
CONTRACT_VERSION = "0.0.0"
#: Example values from a world, by the name of a parameter or field, and then by the alias of the
#: record to which the value belongs.
_Values: TypeAlias = Mapping[str, Mapping[str, Any]]
_Object: TypeAlias = dict[str, Any]
_REF = "#/components/schemas/"
_TAGS = {
    "projects": "Calls on a project.",
    "organizations": "Calls on an organization.",
    "operations": "Accepted asynchronous mutations.",
}
_HEADERS: _Object = {
    "X-Request-Id": {
        "description": "Correlation identifier, equal to `request_id` in the body.",
        "required": True,
        "schema": {"type": "string", "minLength": 1, "maxLength": 128},
    },
    "Retry-After": {
        "description": (
            "The number of seconds to wait, equal to `retry_after_seconds` in the body."
        ),
        "schema": {"type": "integer", "minimum": 1, "maximum": 86400},
    },
    "WWW-Authenticate": {
        "description": "The authentication scheme that the call requires.",
        "schema": {"type": "string"},
        "x-assumption": "response_headers",
    },
    "Allow": {
        "description": "The methods that the path allows.",
        "schema": {"type": "string"},
        "x-assumption": "response_headers",
    },
}
_HEADERS_OF = {401: ["WWW-Authenticate"], 405: ["Allow"]}


def openapi_document(
    assumptions: Assumptions,
    server_url: str = "http://127.0.0.1:4620",
    absent: Mapping[str, Collection[str]] = MappingProxyType({}),
    values: _Values = MappingProxyType({}),
) -> _Object:
    """Return the OpenAPI document for a world with these assumptions that is served at `server_url`.

    `absent` maps the names of schemas to the members that responses can lack. `values` maps the
    names of parameters and fields to values from the world, which the document uses as examples.
    """
    paths: dict[str, _Object] = {}
    for spec in CallTable(assumptions):
        methods = paths.setdefault(spec.path, {})
        methods[spec.method.lower()] = _operation(spec, assumptions, values)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Project Hosting Control API",
            "version": CONTRACT_VERSION,
            "description": (
                "REST control API for hosting web projects, emulated by hosting-emulator. "
                "`x-assumption` marks whatever the contract leaves open. Clients must not depend "
                "on anything that is marked in this way."
            ),
            "contact": {"name": "hosting-emulator", "url": _docs_url(server_url)},
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
            "schemas": _schemas(assumptions, absent),
            "headers": _HEADERS,
            "examples": _problem_examples(assumptions, server_url),
        },
    }


def _operation(spec: CallSpec, assumptions: Assumptions, values: _Values) -> _Object:
    operation: _Object = {
        "operationId": spec.operation_id,
        "tags": [f"{spec.subject}s"],
        "summary": spec.summary,
        "description": spec.description,
        "parameters": _parameters(spec, assumptions, values),
        "responses": responses(spec, assumptions),
        "x-requires": _requires(spec, assumptions),
    }
    if spec.body:
        operation["requestBody"] = _request_body(spec.body, values)
    if spec.path_assumption:
        operation["x-assumption"] = spec.path_assumption
    return operation


def _request_body(resource_name: str, values: _Values) -> _Object:
    """Return the Request Body Object for a call, with an example based on the world's values."""
    fields = RESOURCES[resource_name].fields
    example = {}
    for field in fields:
        world_values = list(values.get(field.name, {}).values())
        example[field.name] = world_values[0] if world_values else field.keywords["examples"][0]
    content = {"schema": {"$ref": _REF + resource_name}, "example": example}
    body: _Object = {"required": True, "content": {"application/json": content}}
    if not any(field.required for field in fields):
        body["x-assumption"] = "required_body"
    return body


def _requires(spec: CallSpec, assumptions: Assumptions) -> _Object:
    """Return what a call requires: a role and, where applicable, a permission and an interactive
    session.
    """
    role_member = "organization_role" if spec.subject == "organization" else "project_role"
    requirements: _Object = {role_member: least_role(spec, assumptions)}
    if spec.permission:
        permission = assumptions.key_permissions[PERMISSIONS.index(spec.permission)]
        assumption = "keys_on_owner_calls" if spec.role == "owner" else "call_permissions"
        requirements["api_key"] = {"permission": permission, "x-assumption": assumption}
    if spec.interactive:
        requirements["interactive_session"] = True
    if isinstance(spec.role, AssumedRole):
        requirements["x-assumption"] = spec.role.assumption
    elif spec.role == "owner":
        requirements["x-assumption"] = "organization_owner"
    elif spec.subject == "organization":
        requirements["x-assumption"] = "key_creation_role"
    return requirements


def _parameters(spec: CallSpec, assumptions: Assumptions, values: _Values) -> list[_Object]:
    ids = [
        _path_parameter(name, values.get(name, {})) for name in re.findall(r"\{(\w+)\}", spec.path)
    ]
    headers = [
        {
            "name": name,
            "in": "header",
            "required": required,
            "description": about,
            "schema": {"type": "string", "minLength": 1, "maxLength": 128, "examples": [example]},
        }
        for name, required, about, example in _REQUEST_HEADERS
        if spec.idempotent or not required
    ]
    query = [_query_parameter(parameter, assumptions) for parameter in spec.query]
    return [*ids, *headers, *query]


def _path_parameter(name: str, values: Mapping[str, Any]) -> _Object:
    """Return the Parameter Object for an id in the path, with the world's values as examples."""
    parameter: _Object = {
        "name": name,
        "in": "path",
        "required": True,
        "description": f"The id of the {name.removesuffix('_id')}.",
        "schema": {"$ref": _REF + "Ulid"},
    }
    if values:
        parameter["examples"] = {owner: {"value": value} for owner, value in values.items()}
    return parameter


#: The request headers, as (name, is required, description, example).
_REQUEST_HEADERS = (
    (
        "Idempotency-Key",
        True,
        "A key that is unique to each intended change. Send the same key when you retry the "
        "request.",
        "3f7c1f0e-5f0a-4a53-9f0e-0d7f6f9f5b1a",
    ),
    ("X-Request-Id", False, "Correlation identifier of the request.", "checkout-42"),
)


def _query_parameter(parameter: QueryParameter, assumptions: Assumptions) -> _Object:
    required = is_required(parameter, assumptions)
    description = parameter.description
    schema = dict(parameter.schema)
    if parameter.default_assumption is not None:
        schema["x-assumption"] = parameter.default_assumption
        if not required:
            default = parameter_default(parameter, assumptions)
            description += parameter.default_description.format(default)
    return {
        "name": parameter_name(parameter, assumptions),
        "in": "query",
        "required": required,
        "description": description,
        "schema": schema,
        "x-assumption": parameter.name_assumption,
    }


class _ProblemRow(Struct, frozen=True):
    """A problem that a call can return. `name` is the name of its example in the document."""

    name: str
    code: str
    status: int
    title: str


def responses(spec: CallSpec, assumptions: Assumptions) -> _Object:
    """Return the Responses Object for a call: its success responses, then its problems by status."""
    rows = [*_rows(spec, assumptions)]
    problems = {
        str(status): _problem(
            spec, assumptions, status, [row for row in rows if row.status == status]
        )
        for status in sorted({row.status for row in rows})
    }
    return _successes(spec, assumptions) | problems


def _rows(spec: CallSpec, assumptions: Assumptions) -> Iterator[_ProblemRow]:
    for code in problem_codes(spec, assumptions):
        status = problem_status(code, assumptions, spec)
        name = code
        if status != problem_status(
            code, assumptions
        ):  # for this call, the contract does not list the code's usual status
            name = f"{code}_{status}"
        yield _ProblemRow(name, code, status, PROBLEMS[code].title)
    if spec.listed_statuses and assumptions.listed_statuses == "closed":
        return
    if assumptions.wrong_method == "method_not_allowed":
        yield _ProblemRow(
            "wrong_method", "invalid_request", 405, "Wrong method (see the Allow header)"
        )
    if problem_status("invalid_request", assumptions) != 400:
        # A request that is not valid HTTP never reaches a world, so no assumptions apply to it.
        yield _ProblemRow("broken_request", "invalid_request", 400, "Not valid HTTP")


def _successes(spec: CallSpec, assumptions: Assumptions) -> _Object:
    success: _Object = {
        "description": spec.summary,
        "content": {"application/json": {"schema": {"$ref": _REF + spec.response}}},
    }
    if assumptions.request_id_on_success == "echoed":
        header = _HEADERS["X-Request-Id"] | {"x-assumption": "request_id_on_success"}
        success["headers"] = {"X-Request-Id": header}
    links = _links(spec, assumptions)
    if links:
        success["links"] = links
    if isinstance(spec.success, AssumedStatus):
        success["x-assumption"] = spec.success.assumption
    elif isinstance(spec.success, ReadStatus):
        success["x-assumption"] = "read_status"
    successes = {str(success_status(spec, assumptions)): success}
    replay = spec.replay_status
    if replay is not None:
        status = str(assumed_status(replay, assumptions))
        about = {
            "description": "An exact replay, with the metadata but without the value",
            "x-assumption": replay.assumption,
        }
        successes.setdefault(status, success | about)
    return successes


def _problem(
    spec: CallSpec, assumptions: Assumptions, status: int, rows: list[_ProblemRow]
) -> _Object:
    names = ["X-Request-Id", *_HEADERS_OF.get(status, ())]
    if any(row.code in ("rate_limited", assumptions.code_of("rate_exceeded")) for row in rows):
        names.append("Retry-After")
    examples = {row.name: {"$ref": f"#/components/examples/{row.name}"} for row in rows}
    content = {"schema": {"$ref": _REF + "ProblemDetails"}, "examples": examples}
    response: _Object = {
        "description": "; ".join(f"{row.title} (`{row.code}`)" for row in rows),
        "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in names},
        "content": {"application/problem+json": content},
    }
    if spec.listed_statuses:
        has_other_status = any(row.name == f"{row.code}_{status}" for row in rows)
        if has_other_status or status not in spec.listed_statuses:
            response["x-assumption"] = "listed_statuses"
    elif status == 405:
        response["x-assumption"] = "wrong_method"
    elif not all("status" in PROBLEMS[row.code].specified for row in rows):
        response["x-assumption"] = "problem_statuses"
    return response


def _docs_url(server_url: str) -> str:
    return urlsplit(server_url)._replace(path="/_emulator/docs").geturl()


def _problem_examples(assumptions: Assumptions, server_url: str) -> _Object:
    docs_url = _docs_url(server_url) if assumptions.docs_url == "own" else assumptions.docs_url
    rows = {row.name: row for spec in CallTable(assumptions) for row in _rows(spec, assumptions)}
    examples = {}
    for name, row in sorted(rows.items()):
        problem = PROBLEMS[row.code]
        value: _Object = {
            "type": f"{docs_url}/errors/{problem.slug}",
            "title": problem.title,
            "status": row.status,
            "code": row.code,
            "request_id": "req_01JGFJJZ000000000000000002",
            "retryable": problem.retryable,
            "suggested_action": problem.suggested_action,
        }
        if row.code == "rate_limited":
            value["retry_after_seconds"] = 30
        examples[name] = {"summary": row.title, "value": value}
        if problem.code in CONDITIONS.values():
            examples[name]["x-assumption"] = "condition_codes"
        elif "status" not in problem.specified:
            examples[name]["x-assumption"] = "problem_statuses"
    return examples


def _links(spec: CallSpec, assumptions: Assumptions) -> _Object:
    """Return the links from a call's response to the calls that poll operations or get the next page."""
    poll = partial(_poll, "{project_id}" in assumptions.operation_path)
    if spec.response == "Operation":
        return {
            "poll": poll("Poll the operation until it ends.", "id"),
            "pollBlocking": poll(
                "Poll the operation that this operation is waiting for.", "blocking_operation_id"
            ),
        }
    if spec.response == "DeploymentPage":
        following = {
            "operationId": spec.operation_id,
            "description": "The next page, if the response has a next_cursor.",
            "parameters": {
                "project_id": "$request.path.project_id",
                assumptions.cursor_parameter: "$response.body#/next_cursor",
            },
        }
        creator = poll(
            "The operation that created the first deployment on the page.", "items/0/operation_id"
        )
        return {"nextPage": following, "operation": creator}
    return {}


def _poll(of_project: bool, description: str, pointer: str) -> _Object:
    project = {"project_id": "$request.path.project_id"} if of_project else {}
    return {
        "operationId": "getOperation",
        "description": description,
        "parameters": project | {"operation_id": f"$response.body#/{pointer}"},
    }


def _schemas(assumptions: Assumptions, absent: Mapping[str, Collection[str]]) -> _Object:
    """Return the Schema Objects sorted by name.

    `absent` maps the names of schemas to members that become optional.
    """
    schemas: _Object = {
        "Ulid": {
            "description": "Identifier: 26 characters of the ULID alphabet.",
            "type": "string",
            "minLength": 26,
            "maxLength": 26,
            "pattern": ULID_PATTERN,
            "examples": ["01JGFJJZ000000000000000001"],
        }
    }
    for resource in RESOURCES.values():
        for field in resource.fields:
            kind = field.kind.items or field.kind
            if kind.component and not kind.part:
                schemas[kind.component] = dict(sorted(kind.schema.items()))
        schemas[resource.name] = _object(resource, assumptions, absent.get(resource.name, ()))
    schemas["ProblemCode"] = {
        "description": "The machine-readable kind of the problem.",
        "type": "string",
        "enum": list(PROBLEMS),
    }
    return dict(sorted(schemas.items()))


def _object(resource: Resource, assumptions: Assumptions, absent: Collection[str]) -> _Object:
    fields = sorted(resource.fields, key=lambda field: field.optional)
    schema: _Object = {"additionalProperties": False} if resource.closed else {}
    schema["description"] = resource.description
    schema["properties"] = {field.name: _property(field, assumptions) for field in fields}
    schema["required"] = [
        field.name
        for field in fields
        if not (field.optional or field.name in absent)
        and getattr(assumptions, field.assumption, None) not in ("optional", "ignored")
    ]
    schema["type"] = "object"
    if resource.presence_is_open:
        schema["x-assumption"] = "optional_fields"
    if resource.is_request and not resource.closed:
        schema["x-assumption"] = "unknown_body_fields"
        if assumptions.unknown_body_fields == "refused":
            schema["additionalProperties"] = False
    return schema


def _property(field: Field, assumptions: Assumptions) -> _Object:
    value = getattr(assumptions, field.assumption, None)
    schema = dict(sorted((_schema(field.kind) | field.keywords).items()))
    if field.nullable or value == "null":
        schema = {"anyOf": [schema, {"type": "null"}]}
    if field.description:
        schema = dict(sorted({**schema, "description": field.description}.items()))
    if field.assumption:
        schema["x-assumption"] = field.assumption
    if isinstance(value, tuple):
        schema.get("items", schema)["examples"] = list(value)
    elif field.assumption == "deployment_order":
        schema["description"] = f"{value}.".replace("_", " ").capitalize()
    elif value == "null":
        schema["description"] = "Opaque continuation cursor; null on the last page."
    elif value == "ignored":
        schema["description"] = "The value is ignored."
    elif value == "any_integer":
        del schema["minimum"]
    return schema


def _schema(kind: Kind) -> _Object:
    if kind.component:
        return {"$ref": _REF + kind.component}
    items = {} if kind.items is None else {"items": _schema(kind.items)}
    return dict(sorted((kind.schema | items).items()))
