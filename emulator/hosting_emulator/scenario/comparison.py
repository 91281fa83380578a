"""How a response of a story differs from what its step expects."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

from hosting_emulator.criteria.comparisons import Mismatch
from hosting_emulator.criteria.response_types import EXPECTED, HEADER, allows_a_code, allows_no_code
from hosting_emulator.criteria.value_types import ABSENT, MISSING
from hosting_emulator.faults.matching import value_at
from hosting_emulator.scenario.arrival import Arrival
from hosting_emulator.scenario.document import ExpectPart, StepPart
from hosting_emulator.scenario.expectations import ResponseTypes, judge
from hosting_emulator.scenario.variables import Variables


def compare_response(
    step: StepPart, arrival: Arrival, variables: Variables, types: ResponseTypes
) -> list[Mismatch]:
    """Return the differences between a response and what its step expects."""
    expect = step.expect or ExpectPart()
    expected_loss = None if expect.lost is UNSET else variables.fill(expect.lost)
    differences = judge(EXPECTED["lost"], expected_loss, arrival.lost, "lost")
    if differences or arrival.lost:
        return differences
    body = _json_of(arrival.reply.body)
    actual_values = _actual_values(arrival, body)
    if expect.status is UNSET:
        code = MISSING if expect.code is UNSET else variables.fill(expect.code)
        differences += _status_differences(code, arrival.reply.status, actual_values["code"])
    for name, actual in actual_values.items():
        expected = getattr(expect, name)
        if expected is not UNSET:
            differences += judge(EXPECTED[name], variables.fill(expected), actual, name)
    for name, expected in expect.headers.items():
        header = arrival.header(name)
        actual = MISSING if header is None else header
        differences += judge(HEADER, variables.fill(expected), actual, f"headers.{name}")
    if expect.same_as is not UNSET:
        differences += _body_differences(expect.same_as, arrival, variables)
    if expect.body is not UNSET:
        body_type = types.body(step, expect)
        differences += judge(body_type, variables.fill(expect.body), body, "body")
    for path in map(str, variables.fill(expect.absent)):
        value = value_at(body, path)
        if value is not UNSET:
            differences.append(Mismatch(f"body.{path}", ABSENT, value))
    return differences


def _actual_values(arrival: Arrival, body: Any) -> dict[str, Any]:
    """Return the values of a response that plain expectations compare."""
    fields = body if isinstance(body, dict) else {}
    items = fields.get("items")
    return {
        "delayed": arrival.is_delayed,
        "status": arrival.reply.status,
        "html": arrival.reply.content_type.startswith("text/html"),
        "code": fields.get("code", MISSING),
        "items": len(items) if isinstance(items, list) else MISSING,
    }


def _body_differences(name: str, arrival: Arrival, variables: Variables) -> list[Mismatch]:
    body = arrival.reply.body
    if body == variables.saved_body(name):
        return []
    return [Mismatch("body", f"the bytes of {name}", body.decode("utf-8", "replace"))]


def _status_differences(expected_code: Any, status: int, code: Any) -> list[Mismatch]:
    """Return how a status differs from the one that an expectation without a status means."""
    if status < 400:
        if allows_no_code(expected_code):
            return []
        return [Mismatch("status", "a refusal", status)]
    if not allows_a_code(expected_code):
        return [Mismatch("status", "success", status)]
    if code is MISSING:
        # An expected code means a refusal with a code, even if the code is optional.
        return [Mismatch("status", "a problem with a code", status)]
    return []


def _json_of(body: bytes) -> Any:
    """Return a body as JSON. MISSING: it is no JSON."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return MISSING
