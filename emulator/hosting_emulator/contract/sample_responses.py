"""Sample responses to a call: a successful response with every field, and a problem for each code.

Each sample has two variants with different values. The two have only the status, the request id and
the values that follow from a problem's code in common.
"""

from __future__ import annotations

from typing import Any

import msgspec

from hosting_emulator.contract.allowed_changes import SentResponse
from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.call_table import problem_status, success_status
from hosting_emulator.contract.calls import CallSpec
from hosting_emulator.contract.fields import Field, Kind
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract.resources import RESOURCES

#: Two values for each kind whose schema does not provide any.
_VALUES: dict[str, tuple[Any, Any]] = {
    "ulid": ("0" * 26, "1" * 26),
    "timestamp": ("2026-01-01T00:00:00.000Z", "2027-01-01T00:00:00.000Z"),
    "uri_reference": ("/sample", "/other"),
    "secret": ("sample", "other"),
    "text": ("sample", "other"),
    "cursor": ("sample", "other"),
    "zone": ("sample.example", "other.example"),
    "origin": ("https://dev-a-b-c.sample.example", "https://dev-a-b-d.sample.example"),
    "redeem_url": (
        f"https://dev-a-b-c.sample.example/.service/dev-access/redeem?stage=dev&ticket={'A' * 43}",
        f"https://dev-a-b-d.sample.example/.service/dev-access/redeem?stage=dev&ticket={'B' * 43}",
    ),
    "boolean": (True, False),
    "object": ({"sample": 1}, {"other": 1}),
}
_REQUEST_ID = "sample"
_NO_BOUND = 10**12


def sample_success(spec: CallSpec, assumptions: Assumptions, variant: int = 0) -> SentResponse:
    """Return a successful response to a call, with every possible field. `variant` is 0 or 1."""
    headers = [("Cache-Control", "no-store"), ("Content-Type", "application/json")]
    if assumptions.request_id_on_success == "echoed":
        headers.append(("X-Request-Id", _REQUEST_ID))
    document = _sample_object(spec.response, variant)
    if "request_id" in document:
        document["request_id"] = _REQUEST_ID
    status = success_status(spec, assumptions)
    return SentResponse(status, tuple(headers), msgspec.json.encode(document))


def sample_problem(
    spec: CallSpec, code: str, assumptions: Assumptions, variant: int = 0
) -> SentResponse:
    """Return a problem response to a call, with every possible field. `variant` is 0 or 1."""
    problem = PROBLEMS[code]
    status = problem_status(code, assumptions, spec)
    document = _sample_object("ProblemDetails", variant) | {
        "type": f"https://sample.example/errors/{problem.slug}",
        "status": status,
        "code": code,
        "request_id": _REQUEST_ID,
        "retryable": problem.retryable,
        "suggested_action": problem.suggested_action,
    }
    headers = [("X-Request-Id", _REQUEST_ID), ("Content-Type", "application/problem+json")]
    del document["retry_after_seconds"]
    if code == "rate_limited":
        document["retry_after_seconds"] = 1
        headers.append(("Retry-After", "1"))
    return SentResponse(status, tuple(headers), msgspec.json.encode(document))


def _sample_object(name: str, variant: int) -> dict[str, Any]:
    return {field.name: _sample_field(field, variant) for field in RESOURCES[name].fields}


def _sample_field(field: Field, variant: int) -> Any:
    # Keep the bounds of a range far apart, so that an alteration can set either of them to any
    # value.
    if field.name.startswith("max_"):
        return _NO_BOUND + variant
    if field.name.startswith("min_"):
        return -_NO_BOUND - variant
    return _sample_value(field.kind, variant)


def _sample_value(kind: Kind, variant: int) -> Any:
    if kind.name == "array":
        assert kind.items is not None
        return [_sample_value(kind.items, variant), _sample_value(kind.items, 1 - variant)]
    if kind.part:
        return _sample_object(kind.part, variant)
    if "enum" in kind.schema:
        return kind.schema["enum"][variant]
    if kind.name in ("integer", "number"):
        return kind.schema.get("minimum", 0) + variant
    return _VALUES[kind.name][variant]
