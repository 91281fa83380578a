"""What a step of a story may expect: the types of its response, from its call and the scenario's faults."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from msgspec import UNSET

from hosting_emulator.contract.assumptions import DEFAULTS
from hosting_emulator.contract.call_table import calls_at
from hosting_emulator.contract.calls import ALL_CALLS, call_named
from hosting_emulator.criteria.checks import check, has_variable
from hosting_emulator.criteria.comparisons import Mismatch, compare
from hosting_emulator.criteria.request_filters import COUNT, request_filters
from hosting_emulator.criteria.response_types import (
    CONNECTION_HEADERS,
    EXPECTED,
    HEADER,
    KNOWN_HEADERS,
    allows_loss,
    allows_no_code,
    body_type,
    find_field,
    open_words,
    possible_statuses,
)
from hosting_emulator.criteria.value_types import ANY, MISSING, Impossible, ValueType
from hosting_emulator.faults.kinds import fault_kinds
from hosting_emulator.scenario.document import ExpectPart, ScenarioPart, StepPart

#: Every status that a response can have.
_ALL_STATUSES = range(200, 600)
_VARIABLE = re.compile(r"\$\{[^}]*\}")
#: Stands for a variable in a path.
_SOME_ID = "0" * 26


def may_be_lost(expect: ExpectPart) -> bool:
    """Tell whether a step expects, or allows, that its response does not arrive."""
    return allows_loss(MISSING if expect.lost is UNSET else expect.lost)


class ResponseTypes:
    """The types of the responses in one scenario."""

    def __init__(self, part: ScenarioPart) -> None:
        steps = [step for group in _groups(part) for step in group]
        assumed = [step.assume for step in steps if step.assume]
        # A varied response may have words that no list contains.
        self._words = {} if part.vary else open_words(part.assumptions, *assumed)
        paths = [one.get("operation_path") for one in (part.assumptions, *assumed)]
        self._operation_path = next(filter(None, paths), DEFAULTS.operation_path)
        #: The calls to which a fault of the scenario responds in its own words. None: all calls.
        self._own_words = set(_responders(part, steps))
        self._headers = {*KNOWN_HEADERS, *_header_names(part, steps)}

    def check(self, step: StepPart, expect: ExpectPart, raw: Mapping[str, Any]) -> None:
        """Raise Impossible if no response to a step can be as expected."""
        if "lost" in raw:
            check(EXPECTED["lost"], raw["lost"], ("lost",), variables=True)
        if may_be_lost(expect):
            others = [name for name in raw if name != "lost"]
            if others:
                message = f"nothing else can be expected of a lost response: remove {others[0]}"
                raise Impossible(message, (others[0],), key=True)
            if step.save:
                message = "nothing of a lost response can be saved: remove the save of this step"
                raise Impossible(message, ("lost",), key=True)
        for name, kind in EXPECTED.items():
            if name in raw:
                check(kind, raw[name], (name,), variables=True)
        statuses = self._statuses(expect)
        resource = self._resource(step)
        if not statuses and "status" in raw:
            raise Impossible("no status is like that", ("status",))
        if not statuses:
            raise Impossible("no response has a code like that", ("code",))
        if resource is not None:
            self._check_problem(expect, statuses)
        body = self.body(step, expect)
        if "body" in raw:
            check(body, raw["body"], ("body",), variables=True)
        if "items" in raw and body is not ANY and body.field("items") is None:
            raise Impossible("the response to this call is no list", ("items",), key=True)
        everything = ANY if resource is None else body_type(resource, self._words, _ALL_STATUSES)
        for index, path in enumerate(expect.absent):
            try:
                find_field(everything, path)
            except Impossible as error:
                raise Impossible(str(error), ("absent", index)) from None
        for name, value in expect.headers.items():
            self._check_header(name, value)

    def _check_problem(self, expect: ExpectPart, statuses: list[int]) -> None:
        if expect.code is UNSET or has_variable(expect.code) or allows_no_code(expect.code):
            return
        if statuses[-1] < 400:
            raise Impossible("a response that succeeds has no problem code", ("code",))

    def _check_header(self, name: str, value: Any) -> None:
        path = ("headers", name)
        if name.lower() in CONNECTION_HEADERS:
            message = f"a story has no connection, so its responses have no header {name}"
            raise Impossible(message, path, key=True)
        if not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name):
            raise Impossible(f"{name!r} is not the name of a header", path, key=True)
        known = {header.lower(): header for header in self._headers}
        near = get_close_matches(name.lower().replace("_", "-"), known, n=1, cutoff=0.8)
        if name.lower() not in known and near:
            raise Impossible(
                f"no response here has the header {name!r}; did you mean {known[near[0]]}?",
                path,
                key=True,
            )
        check(HEADER, value, path, variables=True)

    def _statuses(self, expect: ExpectPart) -> list[int]:
        status = MISSING if expect.status is UNSET else expect.status
        code = MISSING if expect.code is UNSET else expect.code
        return list(_ALL_STATUSES) if has_variable(status) else possible_statuses(status, code)

    def body(self, step: StepPart, expect: ExpectPart) -> ValueType:
        """Return the type of the body of a response that is as expected otherwise."""
        resource = self._resource(step)
        if resource is None:
            return ANY
        return body_type(resource, self._words, self._statuses(expect))

    def _resource(self, step: StepPart) -> str | None:
        """Return the name of the resource that a step responds with. None: it may be anything."""
        call = step.call
        if step.poll is not None:
            call = "get_operation"
        elif step.request is not None:
            method, _, target = step.request.partition(" ")
            path = _VARIABLE.sub(_SOME_ID, target.partition("?")[0])
            found = calls_at(self._operation_path).recognize(method, path)
            call = None if found is None else found.spec.call_id
        if call is None or None in self._own_words or call in self._own_words:
            return None
        if call not in ALL_CALLS:  # the check of the call itself reports this mistake
            return None
        return ALL_CALLS[call].response


def judge(kind: ValueType, wanted: Any, actual: Any, at: str) -> list[Mismatch]:
    """Compare as `compare` does. A value that can never match, once variables are filled, differs."""
    try:
        check(kind, wanted)
    except Impossible as error:
        where = ".".join([at, *map(str, error.path)])
        return [Mismatch(where, str(error), actual)]
    return compare(kind, wanted, actual, at)


def log_filters(
    users: Mapping[str, str] | None, projects: Mapping[str, str] | None
) -> dict[str, ValueType]:
    """Return the types of the filters of `log`, by the names that it gives them."""
    filters = request_filters(
        None if users is None else [*users, *users.values()],
        None if projects is None else [*projects, *projects.values()],
        fault_kinds(),
    )
    return filters | {"count": COUNT}


def _groups(part: ScenarioPart) -> Iterator[list[StepPart]]:
    """Yield the steps of the story and those of every part."""
    yield part.story
    for shared in part.parts:
        yield shared.steps


def _fault_documents(part: ScenarioPart, steps: list[StepPart]) -> Iterator[Mapping[str, Any]]:
    yield from part.faults
    for entry in part.timeline:
        if entry.fault is not None:
            yield entry.fault
    for step in steps:
        if step.fault is not None:
            yield step.fault


def _responders(part: ScenarioPart, steps: list[StepPart]) -> Iterator[str | None]:
    """Yield the calls to which a fault responds with a body of its own. None: to every call."""
    for document in _fault_documents(part, steps):
        if "respond" in document:
            call = document.get("call")
            has_call = isinstance(call, str) and "${" not in call
            yield call_named(str(call)) if has_call else None


def _header_names(part: ScenarioPart, steps: list[StepPart]) -> Iterator[str]:
    for document in _fault_documents(part, steps):
        options = document.get("respond")
        headers = options.get("headers") if isinstance(options, Mapping) else None
        yield from headers if isinstance(headers, Mapping) else ()
