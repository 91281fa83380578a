"""What each call answers, for the OpenAPI document: successes, problems, headers and links."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.calls import COMMON_CODES, CallSpec, CallTable
from hosting_emulator.contract.openapi_schemas import REF
from hosting_emulator.contract.problems import PROBLEMS

_PROBLEM_JSON = "application/problem+json"
HEADERS: dict[str, Any] = {
    "X-Request-Id": {
        "description": "Correlation identifier, equal to request_id.",
        "required": True,
        "schema": {"type": "string", "minLength": 1, "maxLength": 128},
    },
    "Retry-After": {
        "description": "Seconds to wait, equal to retry_after_seconds.",
        "schema": {"type": "integer", "minimum": 1, "maximum": 86400},
    },
    "WWW-Authenticate": {
        "description": "The scheme that the call wants.",
        "schema": {"type": "string"},
    },
    "Allow": {
        "description": "The methods that the path takes.",
        "schema": {"type": "string"},
    },
}
_HEADERS_OF = {401: "WWW-Authenticate", 405: "Allow", 429: "Retry-After", 503: "Retry-After"}


class _Row(NamedTuple):
    """A problem that a call may answer with, by the name of its example."""

    name: str
    code: str
    status: int
    title: str


def status_of(code: str, assumptions: Assumptions) -> int:
    """Return the HTTP status of a problem code under these assumptions."""
    return assumptions.problem_statuses.get(code, PROBLEMS[code].status)


def _rows(spec: CallSpec, assumptions: Assumptions) -> Iterator[_Row]:
    for code in (*COMMON_CODES, *spec.own_codes):
        yield _Row(code, code, status_of(code, assumptions), PROBLEMS[code].title)
    yield _Row("wrong_method", "invalid_request", 405, "Wrong method, see Allow")
    if status_of("invalid_request", assumptions) != 400:
        # Such a request reaches no world, so no world's assumptions apply to it.
        yield _Row("broken_request", "invalid_request", 400, "Not valid HTTP")


def responses(spec: CallSpec, assumptions: Assumptions) -> dict[str, Any]:
    """Return the Responses Object of a call: its successes, then its problems by status."""
    found = _successes(spec, assumptions)
    by_status: dict[int, list[_Row]] = {}
    for row in _rows(spec, assumptions):
        by_status.setdefault(row.status, []).append(row)
    for status in sorted(by_status):
        found[str(status)] = _problem(spec, status, by_status[status])
    return found


def _successes(spec: CallSpec, assumptions: Assumptions) -> dict[str, Any]:
    success: dict[str, Any] = {
        "description": spec.summary,
        "content": {"application/json": {"schema": {"$ref": REF + spec.response}}},
    }
    if assumptions.request_id_on_success == "echoed":
        header = HEADERS["X-Request-Id"] | {"x-assumption": "request_id_on_success"}
        success["headers"] = {"X-Request-Id": header}
    if links := _links(spec, assumptions):
        success["links"] = links
    if isinstance(spec.success, str):
        success["x-assumption"] = spec.success
    found = {str(spec.success_status(assumptions)): success}
    if spec.replayed is not None:
        replayed = success | {
            "description": "Exact replay: metadata, no value",
            "x-assumption": spec.replayed,
        }
        found.setdefault(str(getattr(assumptions, spec.replayed)), replayed)
    return found


def _problem(spec: CallSpec, status: int, rows: list[_Row]) -> dict[str, Any]:
    headers = {"X-Request-Id": _header("X-Request-Id")}
    if name := _HEADERS_OF.get(status):
        headers[name] = _header(name)
    examples = {row.name: {"$ref": f"#/components/examples/{row.name}"} for row in rows}
    schema = {"$ref": REF + "ProblemDetails"}
    response: dict[str, Any] = {
        "description": "; ".join(f"{row.title} (`{row.code}`)" for row in rows),
        "headers": headers,
        "content": {_PROBLEM_JSON: {"schema": schema, "examples": examples}},
    }
    specified = status in spec.listed_statuses
    if not (specified or any("status" in PROBLEMS[row.code].specified for row in rows)):
        response["x-assumption"] = "problem_statuses"
    return response


def _header(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/headers/{name}"}


def problem_examples(assumptions: Assumptions, server_url: str) -> dict[str, Any]:
    """Return an Example Object for each problem that the document names."""
    docs_url = assumptions.docs_url
    if docs_url == "own":
        docs_url = urlsplit(server_url)._replace(path="/_emulator/docs").geturl()
    rows = {row.name: row for spec in CallTable(assumptions) for row in _rows(spec, assumptions)}
    return {name: _example(rows[name], docs_url) for name in sorted(rows)}


def _example(row: _Row, docs_url: str) -> dict[str, Any]:
    problem = PROBLEMS[row.code]
    value: dict[str, Any] = {
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
    found: dict[str, Any] = {"summary": row.title, "value": value}
    if "status" not in problem.specified:
        found["x-assumption"] = "problem_statuses"
    return found


def _links(spec: CallSpec, assumptions: Assumptions) -> dict[str, Any]:
    """Return where an answer leads: to the poll of its operation, to the next page."""
    if spec.response == "Operation":
        return {
            "poll": _poll("Poll the operation until it has ended.", "id"),
            "pollBlocking": _poll("Poll the operation it waits for.", "blocking_operation_id"),
        }
    if spec.call_id == "list_deployments":
        following = {
            "project_id": "$request.path.project_id",
            assumptions.cursor_parameter: "$response.body#/next_cursor",
        }
        return {
            "nextPage": {
                "operationId": spec.operation_id,
                "description": "The next page, unless next_cursor is null or absent.",
                "parameters": following,
            },
            "operation": _poll(
                "The operation that created the first deployment.", "items/0/operation_id"
            ),
        }
    return {}


def _poll(description: str, pointer: str) -> dict[str, Any]:
    return {
        "operationId": "getOperation",
        "description": description,
        "parameters": {"operation_id": f"$response.body#/{pointer}"},
    }
