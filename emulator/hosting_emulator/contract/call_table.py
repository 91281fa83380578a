"""The calls as determined by a world's assumptions: paths, statuses, codes and roles.

Where a row in `calls.py` names an assumption instead of a value, this module takes the value from
the world's assumptions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

from msgspec import Struct
from msgspec.structs import replace

from hosting_emulator.contract.access import AssumedRole
from hosting_emulator.contract.assumptions import CONDITIONS, DEFAULTS, Assumptions
from hosting_emulator.contract.calls import (
    COMMON_CODES,
    ROWS,
    AssumedStatus,
    CallSpec,
    QueryParameter,
    ReadStatus,
    StatedStatus,
    Subject,
)
from hosting_emulator.contract.nearest_path import path_hint
from hosting_emulator.contract.problems import PROBLEMS, Refused
from hosting_emulator.contract.resources import RESOURCES

_NO_PATH = "The API has no such path."
_CHECK_THE_PATH = "Check the method and the path of the request."


class Match(Struct, frozen=True):
    """The call that a request's path matches, and the id of its subject, taken from the path."""

    spec: CallSpec
    subject_id: str


class MethodRefused(Refused):
    """A refusal with status 405.

    The path exists, but does not support the method. `allow` lists the methods that it supports.
    """

    def __init__(self, method: str, allow: list[str], subject: Subject, subject_id: str) -> None:
        super().__init__(
            "invalid_request",
            f"This path does not allow {method[:32]}; it allows {', '.join(allow)}.",
            status=405,
        )
        self.assumption = "wrong_method"
        self.allow = ", ".join(allow)
        self.subject = subject
        self.subject_id = subject_id

    def as_unknown_path(self) -> Refused:
        """Return a refusal with status 404 instead, as if the path did not exist."""
        why = f"the path allows {self.allow}"
        return Refused(
            "resource_not_found",
            _NO_PATH,
            why=why,
            assumption="wrong_method",
            action=_CHECK_THE_PATH,
        )


class PathRefused(Refused):
    """A refusal with status 404, because no call has this path. `hint` names the most similar call,
    if any.
    """

    def __init__(self, hint: str) -> None:
        super().__init__(
            "resource_not_found",
            _NO_PATH,
            why=f"no call has this path{hint}",
            action=_CHECK_THE_PATH,
        )
        self.hint = hint


class _Route(Struct, frozen=True):
    """A call, with its path as a regular expression.

    `fixed_characters` is the number of characters in the path, not counting ids.
    """

    spec: CallSpec
    pattern: re.Pattern[str]
    fixed_characters: int


def _route(spec: CallSpec) -> _Route:
    pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(spec.path))
    return _Route(spec, re.compile(pattern), len(re.sub(r"\{\w+\}", "", spec.path)))


class CallTable:
    """The calls as determined by a world's assumptions, with lookup by method and path.

    A match covers the whole path, including any suffix after an id, such as `:cancel`. If several
    paths match, the one with the most characters outside its ids wins. Lookups are cached, because
    clients request the same few paths again and again.
    """

    def __init__(self, assumptions: Assumptions = DEFAULTS) -> None:
        self.specs = tuple(_with_assumed_path(spec, assumptions) for spec in ROWS)
        self.by_id: dict[str, CallSpec] = {spec.call_id: spec for spec in self.specs}
        self._routes = [_route(spec) for spec in self.specs]
        #: Returns the call and the id for a method and a path. Raises PathRefused (404) or
        #: MethodRefused (405).
        self.find = lru_cache(maxsize=1024)(self._find)

    def __iter__(self) -> Iterator[CallSpec]:
        return iter(self.specs)

    def recognize(self, method: str, path: str) -> Match | None:
        """Return the call and the id from the path, or None if no call has this method and path."""
        try:
            return self.find(method, path)
        except Refused:
            return None

    def _find(self, method: str, path: str) -> Match:
        # An escaped slash does not end a segment, so keep it escaped.
        text = unquote(re.sub("%2f", "%252F", path, flags=re.IGNORECASE))
        matches: list[tuple[int, Match]] = []
        for route in self._routes:
            path_match = route.pattern.fullmatch(text)
            if path_match:
                subject_id = path_match[f"{route.spec.subject}_id"]
                matches.append((route.fixed_characters, Match(route.spec, subject_id)))
        longest = max((length for length, _ in matches), default=0)
        by_method = {match.spec.method: match for length, match in matches if length == longest}
        if method in by_method:
            return by_method[method]
        if matches:
            first = next(iter(by_method.values()))
            raise MethodRefused(method, [*by_method], first.spec.subject, first.subject_id)
        raise PathRefused(path_hint(text, self.specs))


def _with_assumed_path(spec: CallSpec, assumptions: Assumptions) -> CallSpec:
    if spec.path_assumption is None:
        return spec
    return replace(spec, path=getattr(assumptions, spec.path_assumption))


@lru_cache(maxsize=16)
def calls_at(operation_path: str) -> CallTable:
    """Return the call table for worlds in which operations are polled at `operation_path`."""
    return CallTable(Assumptions(operation_path=operation_path))


# --- What assumptions decide about a call --------------------------------------------------------


def success_status(spec: CallSpec, assumptions: Assumptions) -> int:
    """Return the status of a successful response that is not a replay."""
    if isinstance(spec.success, StatedStatus):
        return spec.success.status
    if isinstance(spec.success, ReadStatus):
        return 200
    return assumed_status(spec.success, assumptions)


def assumed_status(status: AssumedStatus, assumptions: Assumptions) -> int:
    """Return the value that a world assumes for a status that the contract leaves open."""
    return int(getattr(assumptions, status.assumption))


def least_role(spec: CallSpec, assumptions: Assumptions) -> str:
    """Return the minimum project role for a call, or `member` for a call on an organization."""
    if isinstance(spec.role, AssumedRole):
        return str(getattr(assumptions, spec.role.assumption))
    return spec.role


def problem_codes(spec: CallSpec, assumptions: Assumptions) -> list[str]:
    """Return the problem codes that a call can return, including those set by `condition_codes`."""
    codes = [*COMMON_CODES]
    if spec.idempotent:
        codes.append("idempotency_key_reused")
    codes += spec.codes
    for condition, code in assumptions.condition_codes.items():
        if CONDITIONS[condition] in codes:
            codes.append(code)
    return list(dict.fromkeys(codes))


def problem_status(
    code: str, assumptions: Assumptions, spec: CallSpec | None = None, own: int | None = None
) -> int:
    """Return the status of a problem with this code in a response to a call.

    `own` is a status that was chosen for this response and overrides the assumption. If the
    contract lists a call's error statuses, the call returns no others, unless the `listed_statuses`
    assumption is `open`.
    """
    usual = PROBLEMS[code].status
    status = assumptions.problem_statuses.get(code, usual)
    if own is not None:
        status = own
    if spec is None or assumptions.listed_statuses == "open":
        return status
    for candidate in (status, usual, 400):
        if candidate in spec.listed_statuses:
            return candidate
    return status


def parameter_name(parameter: QueryParameter, assumptions: Assumptions) -> str:
    """Return the name of a query parameter in requests."""
    return str(getattr(assumptions, parameter.name_assumption))


def parameter_default(parameter: QueryParameter, assumptions: Assumptions) -> Any:
    """Return the default value of a query parameter: `refused` if it is required, or None if it has
    no default.
    """
    if parameter.default_assumption is None:
        return None
    return getattr(assumptions, parameter.default_assumption)


def is_required(parameter: QueryParameter, assumptions: Assumptions) -> bool:
    """Return whether a query parameter is required."""
    return bool(parameter_default(parameter, assumptions) == "refused")


# --- Descriptions of the calls -------------------------------------------------------------------


def describe_calls(assumptions: Assumptions = DEFAULTS) -> list[dict[str, Any]]:
    """Return a description of each call: its path, inputs, required access and responses."""
    return [_describe_call(spec, assumptions) for spec in CallTable(assumptions)]


def _describe_call(spec: CallSpec, assumptions: Assumptions) -> dict[str, Any]:
    return {
        "call_id": spec.call_id,
        "operation_id": spec.operation_id,
        "method": spec.method,
        "path": spec.path,
        "subject": spec.subject,
        "summary": spec.summary,
        "description": spec.description,
        "idempotent": spec.idempotent,
        "interactive": spec.interactive,
        "response": spec.response,
        "body": [
            {
                "name": field.name,
                "type": field.kind.schema["type"],
                "required": not field.optional,
                "example": field.keywords["examples"][0],
            }
            for field in (RESOURCES[spec.body].fields if spec.body else ())
        ],
        "query": [
            {
                "name": parameter_name(parameter, assumptions),
                "required": is_required(parameter, assumptions),
                "description": parameter.description,
                "pattern": parameter.pattern,
                "schema": dict(parameter.schema),
            }
            for parameter in spec.query
        ],
        "role": least_role(spec, assumptions),
        "permission": spec.permission or None,
        "success": success_status(spec, assumptions),
        "codes": problem_codes(spec, assumptions),
    }
