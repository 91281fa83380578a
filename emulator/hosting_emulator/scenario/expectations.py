"""Checks whether a response to a step's call can possibly meet the step's expectation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from msgspec import UNSET

from hosting_emulator.contract.assumptions import DEFAULTS
from hosting_emulator.contract.call_table import calls_at
from hosting_emulator.contract.calls import ALL_CALLS, GET_OPERATION, call_named
from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.criteria.checks import check, has_variable
from hosting_emulator.criteria.response_types import (
    CONNECTION_HEADERS,
    EXPECTED,
    HEADER,
    KNOWN_HEADERS,
    OpenWords,
    allows_loss,
    allows_no_code,
    body_type,
    find_field,
    open_words,
    possible_statuses,
    response_document_type,
)
from hosting_emulator.criteria.simple_types import Text
from hosting_emulator.criteria.value_types import ANY, MISSING, Impossible, ValueType
from hosting_emulator.scenario.document import ExpectPart, ScenarioPart, StepPart
from hosting_emulator.scenario.variable_syntax import (
    EACH_ITEM,
    VARIABLE,
    WHOLE_RESPONSE,
    SavedValue,
)

#: Every status that a response can have.
_ALL_STATUSES = range(200, 600)
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
#: The id that is substituted for variables in a path when the path is checked.
_ANY_ID = "0" * 26


@dataclass(frozen=True, slots=True)
class _Expectation:
    """A step's expectation, and the possible statuses and type of the response."""

    expect: ExpectPart
    #: The expectation as written in the file.
    words: Mapping[str, Any]
    #: The statuses that the expectation allows.
    statuses: list[int]
    #: The resource that the call returns, or None if any response is possible.
    resource: str | None


class ResponseTypes:
    """The types of the responses in a scenario."""

    def __init__(self, part: ScenarioPart) -> None:
        steps = list(_all_steps(part))
        assumptions = [part.assumptions, *(step.assume for step in steps if step.assume)]
        # If responses are varied or altered, a field with an open set of values can contain any
        # word.
        has_any_word = part.vary is not None or _alters_responses(part, steps)
        self._words: OpenWords = {} if has_any_word else open_words(*assumptions)
        self._operation_path = _operation_path(assumptions)
        #: The calls whose responses a fault can replace or extend with unknown fields. If the set
        #: contains None, this applies to all calls.
        self._altered_calls = set(_altered_calls(part, steps))
        self._headers = {*KNOWN_HEADERS, *_header_names(part, steps)}

    def check(self, step: StepPart, expect: ExpectPart, words: Mapping[str, Any]) -> None:
        """Raise Impossible if no response to a step can meet the step's expectation.

        `words` is the expectation as it is written in the file.
        """
        _check_loss(step, expect, words)
        for name, kind in EXPECTED.items():
            if name in words:
                check(kind, words[name], (name,), variables=True)
        expectation = _Expectation(expect, words, _statuses(expect), self._resource(step))
        _check_status_and_code(expectation)
        self._check_body(expectation)
        self._check_absent(expectation)
        for name, value in expect.headers.items():
            self._check_header(name, value)

    def body(self, step: StepPart, expect: ExpectPart) -> ValueType:
        """Return the type of the response body that a step expects, based on the expected status and code."""
        return self._body(self._resource(step), _statuses(expect))

    def collected(self, step: StepPart, value: SavedValue) -> ValueType:
        """Return the type of a value that a step collects.

        Raises Impossible if no response to the step can contain such a value.
        """
        if value.pattern is not None:
            return Text()
        body = self.body(step, step.expect or ExpectPart())
        first, _, rest = value.path.partition(".")
        if first == "headers":
            return HEADER
        if first == WHOLE_RESPONSE:
            return _type_at(response_document_type(body), rest)
        return _type_at(body, value.path)

    def _body(self, resource: str | None, statuses: Iterable[int]) -> ValueType:
        if resource is None:
            return ANY
        return body_type(resource, self._words, statuses)

    def _check_body(self, expectation: _Expectation) -> None:
        words = expectation.words
        body = self._body(expectation.resource, expectation.statuses)
        if "body" in words:
            self._check_other_fields(expectation, body)
            check(body, words["body"], ("body",), variables=True)
        if "items" in words and body is not ANY and body.field("items") is None:
            raise Impossible("the response to this call has no items", ("items",), key=True)

    def _check_other_fields(self, expectation: _Expectation, body: ValueType) -> None:
        """Raise Impossible if the expected body has a field that cannot occur with the expected
        statuses.

        The fields of a problem cannot occur with a success status, and the fields of the call's
        resource cannot occur with an error status.
        """
        expected_fields = expectation.words["body"]
        if body is ANY or not isinstance(expected_fields, Mapping):
            return
        other_statuses = set(_ALL_STATUSES).difference(expectation.statuses)
        other_body = self._body(expectation.resource, other_statuses)
        for name in expected_fields:
            if body.field(str(name)) is not None or other_body.field(str(name)) is None:
                continue
            message = (
                f"{name!r} is a field of a problem, but the step expects a success: add code or "
                "status"
            )
            if expectation.statuses[0] >= 400:
                message = f"{name!r} is a field of a success, but the step expects a problem"
            raise Impossible(message, ("body", name), key=True)

    def _check_absent(self, expectation: _Expectation) -> None:
        """Raise Impossible for a path in `absent` that no response to the call can contain."""
        if not expectation.expect.absent:
            return
        body = self._body(expectation.resource, _ALL_STATUSES)
        for index, path in enumerate(expectation.expect.absent):
            try:
                find_field(body, path)
            except Impossible as error:
                raise Impossible(str(error), ("absent", index)) from None

    def _check_header(self, name: str, value: Any) -> None:
        path = ("headers", name)
        lower_name = name.lower()
        if lower_name in CONNECTION_HEADERS:
            message = (
                f"in a story, responses have no header {name}, because no connection is opened"
            )
            raise Impossible(message, path, key=True)
        if not _HEADER_NAME.fullmatch(name):
            raise Impossible(f"{name!r} is not a valid header name", path, key=True)
        headers = {header.lower(): header for header in self._headers}
        if lower_name not in headers:
            nearest_names = get_close_matches(
                lower_name.replace("_", "-"), headers, n=1, cutoff=0.8
            )
            if nearest_names:
                suggestion = headers[nearest_names[0]]
                message = f"no response in this scenario has the header {name!r}; did you mean {suggestion}?"
                raise Impossible(message, path, key=True)
        check(HEADER, value, path, variables=True)

    def _resource(self, step: StepPart) -> str | None:
        """Return the name of the resource in the response to a step, or None if any body is possible."""
        call = self._call(step)
        if call is None or None in self._altered_calls or call in self._altered_calls:
            return None
        if call not in ALL_CALLS:  # this mistake is reported when the call is checked
            return None
        return ALL_CALLS[call].response

    def _call(self, step: StepPart) -> str | None:
        """Return the call that a step makes, or None if its request is not a call from the contract."""
        if step.poll is not None:
            return GET_OPERATION.call_id
        if step.request is None:
            return step.call
        method, _, target = step.request.partition(" ")
        path = VARIABLE.sub(_ANY_ID, target.partition("?")[0])
        match = calls_at(self._operation_path).recognize(method, path)
        return None if match is None else match.spec.call_id


def _type_at(kind: ValueType, path: str) -> ValueType:
    """Return the type at a dotted path. In the path, `*` means every item of a list.

    Raises Impossible if there is no value at the path.
    """
    first, star, rest = f".{path}".partition(f".{EACH_ITEM}")
    path_to_list = first.removeprefix(".")
    inner = find_field(kind, path_to_list) if path_to_list else kind
    if not star:
        return inner
    items = inner.items()
    if items is None:
        raise Impossible(f"* stands for the items of a list, but this is {inner.form}")
    return _type_at(items, rest.removeprefix("."))


def _may_be_lost(expect: ExpectPart) -> bool:
    """Return whether an expectation requires or allows the response to be lost."""
    return allows_loss(MISSING if expect.lost is UNSET else expect.lost)


def _check_loss(step: StepPart, expect: ExpectPart, words: Mapping[str, Any]) -> None:
    """Raise Impossible if the response may be lost but the step expects or saves anything else."""
    if "lost" in words:
        check(EXPECTED["lost"], words["lost"], ("lost",), variables=True)
    if not _may_be_lost(expect):
        return
    other_words = [name for name in words if name != "lost"]
    if other_words:
        message = (
            f"a response that may be lost allows no other expectation: remove {other_words[0]}"
        )
        raise Impossible(message, (other_words[0],), key=True)
    if step.save:
        message = "a response that may be lost has no values to save: remove `save` from this step"
        raise Impossible(message, ("lost",), key=True)


def _check_status_and_code(expectation: _Expectation) -> None:
    """Raise Impossible if no response can have both the expected status and the expected code."""
    statuses = expectation.statuses
    if not statuses:
        raise Impossible("no possible problem code matches this expectation", ("code",))
    code = expectation.expect.code
    if expectation.resource is None or code is UNSET:
        return
    can_succeed = has_variable(code) or allows_no_code(code)
    if statuses[-1] < 400 and not can_succeed:
        raise Impossible("a response with a success status has no problem code", ("code",))


def _statuses(expect: ExpectPart) -> list[int]:
    """Return the statuses that an expectation allows."""
    status = MISSING if expect.status is UNSET else expect.status
    if has_variable(status):
        return list(_ALL_STATUSES)
    code = MISSING if expect.code is UNSET else expect.code
    return possible_statuses(status, code)


# --- The effects of a scenario's faults and assumptions -----------------------------------------


def _all_steps(part: ScenarioPart) -> Iterator[StepPart]:
    """Yield the steps of the story and of all parts."""
    yield from part.story
    for shared in part.parts:
        yield from shared.steps


def _operation_path(assumptions: list[dict[str, Any]]) -> str:
    """Return the first operation path that the scenario sets in its assumptions, or the default path."""
    for values in assumptions:
        path = values.get("operation_path")
        if path:
            return str(path)
    return DEFAULTS.operation_path


def _fault_documents(part: ScenarioPart, steps: list[StepPart]) -> Iterator[Mapping[str, Any]]:
    yield from part.faults
    for entry in part.timeline:
        if entry.fault is not None:
            yield entry.fault
    for step in steps:
        if step.fault is not None:
            yield step.fault


def _altered_calls(part: ScenarioPart, steps: list[StepPart]) -> Iterator[str | None]:
    """Yield the calls whose responses a fault can replace or extend. None stands for all calls."""
    for document in _fault_documents(part, steps):
        if "respond" not in document and not _adds_fields(document):
            continue
        call = document.get("call")
        if isinstance(call, str) and not has_variable(call):
            yield call_named(call)
        else:
            yield None


def _alters_responses(part: ScenarioPart, steps: list[StepPart]) -> bool:
    """Return whether any of the scenario's faults alters responses."""
    return any("alter" in document for document in _fault_documents(part, steps))


def _adds_fields(document: Mapping[str, Any]) -> bool:
    """Return whether a fault can add fields to a response that the contract does not define."""
    options = document.get("alter")
    if not isinstance(options, Mapping):
        return False
    if options.get("breaking") or options.get("rename"):
        return True
    written = options.get("set")
    names = {field.name for resource in RESOURCES.values() for field in resource.fields}
    pointers = written if isinstance(written, Mapping) else ()
    return any(str(pointer).rpartition("/")[2] not in names for pointer in pointers)


def _header_names(part: ScenarioPart, steps: list[StepPart]) -> Iterator[str]:
    """Yield the names of the response headers that faults set."""
    for document in _fault_documents(part, steps):
        options = document.get("respond", document.get("alter"))
        if not isinstance(options, Mapping):
            continue
        headers = options.get("headers")
        if isinstance(headers, Mapping):
            yield from headers
