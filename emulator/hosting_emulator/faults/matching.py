"""Decides whether the rule of a fault or an outcome matches a request, and if not, which fields
differ.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qs

import msgspec

from hosting_emulator.contract.calls import DOORS
from hosting_emulator.contract.json_body import JsonRefused, read_json
from hosting_emulator.contract.value_texts import value_text
from hosting_emulator.criteria.request_filters import path_matches
from hosting_emulator.world.fault_records import Rule


class FaultSubject(msgspec.Struct, frozen=True, gc=False):
    """A request that a fault can match.

    `call` is the id of a call or of another endpoint. `headers` returns all the values of a header.
    `credentials` says what kind of credentials the request contains. `has_body` is true if the
    request has a body, even if it has not been read yet. `connection` is `new` or `reused`, or None
    if the request has no connection.
    """

    call: str
    project: str | None
    organization: str | None
    principal: str
    method: str
    path: str
    headers: Callable[[str, tuple[()]], Sequence[str]]
    query: str = ""
    body: bytes = b""
    credentials: str = "token"
    replayed: bool = False
    has_body: bool = False
    connection: str | None = None


def matches(rule: Rule, subject: FaultSubject) -> bool:
    """Return whether a rule matches a request.

    A rule without `credentials` matches only requests with valid credentials.
    """
    return next(differing_fields(rule, subject), None) is None


def differing_fields(rule: Rule, subject: FaultSubject) -> Iterator[str]:
    """Yield the fields of a rule that a request does not match.

    A rule without `call` matches all API calls, but no other endpoints.
    """
    if rule.call != subject.call and (rule.call is not None or subject.call in DOORS):
        yield "call"
    if rule.credentials is None:
        if subject.credentials not in ("token", "key"):
            yield "credentials"
    elif rule.credentials not in ("any", subject.credentials):
        yield "credentials"
    if rule.project is not None and rule.project != subject.project:
        yield "project"
    if rule.organization is not None and rule.organization != subject.organization:
        yield "organization"
    if rule.principal is not None and rule.principal != subject.principal:
        yield "principal"
    if rule.connection is not None and rule.connection != subject.connection:
        yield "connection"
    if rule.method is not None and rule.method != subject.method:
        yield "method"
    if rule.path is not None and not path_matches(subject.path, rule.path):
        yield "path"
    for name in ("header", "query", "body"):
        patterns = getattr(rule, name)
        if patterns is not None and not _has(_values(rule, subject, name), patterns):
            yield name


def _values(rule: Rule, subject: FaultSubject, name: str) -> Mapping[str, Sequence[Any]]:
    """Return the request's headers, query parameters or body fields, to be matched against the rule."""
    if name == "header":
        return {header: subject.headers(header, ()) for header in rule.header or ()}
    if name == "query":
        return parse_qs(subject.query, keep_blank_values=True)
    return _members(subject.body, rule.body or ())


def request_value(rule: Rule, subject: FaultSubject, name: str) -> Any:
    """Return the value that a request has for a rule's field, for use in messages."""
    if name not in ("header", "query", "body"):
        return getattr(subject, name)
    values = _values(rule, subject, name)
    return {
        key: " and ".join(map(value_text, values.get(key, ()))) or "none"
        for key in getattr(rule, name)
    }


def _has(values: Mapping[str, Sequence[Any]], expected: Mapping[str, Any]) -> bool:
    """Return whether each name has its expected value. In an expected string, `*` matches any text."""
    return all(
        any(_value_matches(value, pattern) for value in values.get(name, ()))
        for name, pattern in expected.items()
    )


def _value_matches(value: Any, pattern: Any) -> bool:
    if isinstance(value, str) and isinstance(pattern, str):
        return text_matches(value, pattern)
    return type(value) is type(pattern) and bool(value == pattern)


def _members(body: bytes, paths: Iterable[str]) -> Mapping[str, Sequence[Any]]:
    """Return the values at `paths`, such as `items.0`, in a JSON body.

    If the body is not JSON, parse it as a form and return all of the form's fields.
    """
    try:
        document = read_json(body)
    except JsonRefused:
        return parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)
    values = {path: value_at(document, path.removeprefix("$.")) for path in paths}
    return {path: (value,) for path, value in values.items() if value is not msgspec.UNSET}


def value_at(document: Any, path: str) -> Any:
    """Return the value at a path, such as `items.0.name`, in a JSON document, or UNSET if there is none."""
    for part in path.split("."):
        if isinstance(document, dict) and part in document:
            document = document[part]
        elif (
            isinstance(document, list)
            and re.fullmatch("[0-9]{1,9}", part)
            and int(part) < len(document)
        ):
            document = document[int(part)]
        else:
            return msgspec.UNSET
    return document


def text_matches(text: str, pattern: str) -> bool:
    """Return whether a string matches a pattern, in which `*` matches any text."""
    return _expression(pattern).fullmatch(text) is not None


@lru_cache(maxsize=256)
def _expression(pattern: str) -> re.Pattern[str]:
    first, *parts = map(re.escape, pattern.split("*"))
    # Match each part at its first possible position only. The time to try all positions would grow
    # exponentially with the number of stars.
    between = "".join(f"(?>.*?{part})" for part in parts[:-1])
    return re.compile(first + between + "".join(f".*{part}" for part in parts[-1:]), re.DOTALL)
