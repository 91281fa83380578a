"""Compares the response that a step receives with the step's expectation.

To support a new key of `expect`, write a comparison function and add it to `_WORD_COMPARISONS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET

from hosting_emulator.criteria.checks import check
from hosting_emulator.criteria.mismatches import Mismatch, compare
from hosting_emulator.criteria.response_types import EXPECTED, HEADER, allows_a_code, allows_no_code
from hosting_emulator.criteria.value_types import ABSENT, MISSING, Impossible, ValueType
from hosting_emulator.faults.matching import value_at
from hosting_emulator.scenario.arrival import Arrival
from hosting_emulator.scenario.document import ExpectPart, StepPart
from hosting_emulator.scenario.expectations import ResponseTypes
from hosting_emulator.scenario.variable_syntax import saved_response_name
from hosting_emulator.scenario.variables import Variables


def compare_value(kind: ValueType, expected: Any, actual: Any, at: str) -> list[Mismatch]:
    """Return the differences between an actual value and an expected value.

    The expected value must not contain variables. An expected value that can never match is
    reported as a difference. `at` is the actual value's path in the reported differences.
    """
    try:
        check(kind, expected)
    except Impossible as error:
        path = ".".join([at, *map(str, error.path)])
        return [Mismatch(path, str(error), actual, error.path)]
    return compare(kind, expected, actual, at)


@dataclass(frozen=True, slots=True)
class _Response:
    """A response that arrived, and the data that the comparisons need."""

    step: StepPart
    expect: ExpectPart
    arrival: Arrival
    #: The parsed JSON body, or MISSING if the body is not JSON.
    body: Any
    variables: Variables
    types: ResponseTypes

    def field(self, name: str) -> Any:
        """Return a top-level field of the body, or MISSING if the body has no such field."""
        if isinstance(self.body, dict):
            return self.body.get(name, MISSING)
        return MISSING


def compare_response(
    step: StepPart, arrival: Arrival, variables: Variables, types: ResponseTypes
) -> list[Mismatch]:
    """Return the differences between a response and its step's expectation.

    The paths of the differences are relative to the step.
    """
    expect = step.expect or ExpectPart()
    if arrival.gave_up:
        return []  # the client received no response to compare
    expected_loss = None if expect.lost is UNSET else variables.fill(expect.lost)
    differences = compare_value(EXPECTED["lost"], expected_loss, arrival.lost, "lost")
    if differences or arrival.lost:
        return [difference.within("expect", "lost") for difference in differences]
    body = _decode(arrival.reply.body)
    response = _Response(step, expect, arrival, body, variables, types)
    if expect.status is UNSET:
        differences = [difference.within("expect") for difference in _compare_success(response)]
    for word, compare_word in _WORD_COMPARISONS.items():
        expected = getattr(expect, word)
        if expected is not UNSET:
            # `same_as` contains the name of a saved response, so variables in it must not be filled
            # in.
            filled = expected if word == "same_as" else variables.fill(expected)
            word_differences = compare_word(response, filled)
            differences += [difference.within("expect", word) for difference in word_differences]
    return differences


def _compare_success(response: _Response) -> list[Mismatch]:
    """If an expectation has no `status`, check for a success or an error, whichever it implies.

    Without `code`, the response must be a success. With `code`, it must be an error with a problem
    code, unless `code` also allows a response without one.
    """
    expected_code = MISSING
    if response.expect.code is not UNSET:
        expected_code = response.variables.fill(response.expect.code)
    status = response.arrival.reply.status
    if status < 400:
        if allows_no_code(expected_code):
            return []
        return [Mismatch("status", "an error status", status)]
    if not allows_a_code(expected_code):
        return [Mismatch("status", "a success status", status)]
    if response.field("code") is MISSING:
        # If a code is expected, an error must have one, although a success need not.
        return [Mismatch("status", "an error status, with a problem code in the body", status)]
    return []


def _compare_delayed(response: _Response, expected: Any) -> list[Mismatch]:
    return compare_value(EXPECTED["delayed"], expected, response.arrival.is_delayed, "delayed")


def _compare_status(response: _Response, expected: Any) -> list[Mismatch]:
    return compare_value(EXPECTED["status"], expected, response.arrival.reply.status, "status")


def _compare_html(response: _Response, expected: Any) -> list[Mismatch]:
    is_html = response.arrival.reply.content_type.startswith("text/html")
    return compare_value(EXPECTED["html"], expected, is_html, "html")


def _compare_code(response: _Response, expected: Any) -> list[Mismatch]:
    return compare_value(EXPECTED["code"], expected, response.field("code"), "code")


def _compare_items(response: _Response, expected: Any) -> list[Mismatch]:
    """Compare the number of items in a page."""
    items = response.field("items")
    count = len(items) if isinstance(items, list) else MISSING
    return compare_value(EXPECTED["items"], expected, count, "items")


def _compare_headers(response: _Response, expected: dict[str, Any]) -> list[Mismatch]:
    differences = []
    for name, expected_value in expected.items():
        value = response.arrival.header(name)
        actual = MISSING if value is None else value
        header_differences = compare_value(HEADER, expected_value, actual, f"headers.{name}")
        differences += [difference.within(name) for difference in header_differences]
    return differences


def _compare_same_as(response: _Response, saved_name: str) -> list[Mismatch]:
    """Compare the body with a saved response's body, byte by byte."""
    saved_name = saved_response_name(saved_name)
    body = response.arrival.reply.body
    if body == response.variables.saved_body(saved_name):
        return []
    return [Mismatch("body", f"the bytes of {saved_name}", body.decode("utf-8", "replace"))]


def _compare_body(response: _Response, expected: Any) -> list[Mismatch]:
    body_type = response.types.body(response.step, response.expect)
    return compare_value(body_type, expected, response.body, "body")


def _compare_absent(response: _Response, paths: list[Any]) -> list[Mismatch]:
    differences = []
    for index, path in enumerate(map(str, paths)):
        value = value_at(response.body, path)
        if value is not UNSET:
            differences.append(Mismatch(f"body.{path}", ABSENT, value, (index,)))
    return differences


_WordComparison: TypeAlias = Callable[[_Response, Any], list[Mismatch]]
#: The comparison functions for the keys of `expect`, in the order in which differences are
#: reported. `lost` is compared in `compare_response`, because a lost response has nothing else to
#: compare.
_WORD_COMPARISONS: dict[str, _WordComparison] = {
    "delayed": _compare_delayed,
    "status": _compare_status,
    "html": _compare_html,
    "code": _compare_code,
    "items": _compare_items,
    "headers": _compare_headers,
    "same_as": _compare_same_as,
    "body": _compare_body,
    "absent": _compare_absent,
}


def _decode(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return MISSING
