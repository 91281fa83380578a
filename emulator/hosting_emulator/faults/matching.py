"""Whether the rule of a fault or an outcome matches a request, and in which fields it differs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import parse_qs

import msgspec

from hosting_emulator.contract.calls import DOORS
from hosting_emulator.contract.json_body import JsonRefused, read_json
from hosting_emulator.criteria.request_filters import path_matches
from hosting_emulator.world.fault_records import Rule


class FaultSubject(NamedTuple):
    """What a fault can match: one request, once it is known who asks what.

    `call` is a call's id or a door, `headers` returns every value of a header, `credentials` are what
    a request of the API came with.
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


def matches(rule: Rule, subject: FaultSubject) -> bool:
    """Tell whether a rule matches a request. Without credentials, only one that asks for that does."""
    return next(differing_fields(rule, subject), None) is None


def differing_fields(rule: Rule, subject: FaultSubject) -> Iterator[str]:
    """Yield the fields of a rule that a request does not match. A rule without `call` matches no door."""
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
    if rule.method is not None and rule.method != subject.method:
        yield "method"
    if rule.path is not None and not path_matches(subject.path, rule.path):
        yield "path"
    for name in ("header", "query", "body"):
        patterns = getattr(rule, name)
        if patterns is not None and not _has(_values(rule, subject, name), patterns):
            yield name


def _values(rule: Rule, subject: FaultSubject, name: str) -> Mapping[str, Sequence[Any]]:
    """Return what a request has of the headers, the query or the body that a rule names."""
    if name == "header":
        return {header: subject.headers(header, ()) for header in rule.header or ()}
    if name == "query":
        return parse_qs(subject.query, keep_blank_values=True)
    return _members(subject.body, rule.body or ())


def request_value(rule: Rule, subject: FaultSubject, name: str) -> Any:
    """Return what a request has in the place of a field of a rule, to be shown to people."""
    if name not in ("header", "query", "body"):
        return getattr(subject, name)
    values = _values(rule, subject, name)
    return {
        key: " and ".join(map(str, values.get(key, ()))) or "none" for key in getattr(rule, name)
    }


def _has(found: Mapping[str, Sequence[Any]], expected: Mapping[str, Any]) -> bool:
    """Tell whether each name has a value that is as wanted; a text may have `*` for any other."""
    return all(
        any(
            text_matches(value, pattern)
            if isinstance(value, str) and isinstance(pattern, str)
            else value == pattern and type(value) is type(pattern)
            for value in found.get(name, ())
        )
        for name, pattern in expected.items()
    )


def _members(body: bytes, expected: Iterable[str]) -> Mapping[str, Sequence[Any]]:
    """Return what of a body is wanted, by its path (`key.name`, `items.0`); a form's fields likewise."""
    try:
        document = read_json(body)
    except JsonRefused:
        return parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)
    found = {path: value_at(document, path.removeprefix("$.")) for path in expected}
    return {path: (value,) for path, value in found.items() if value is not msgspec.UNSET}


def value_at(document: Any, path: str) -> Any:
    """Return what stands at a path (`items.0.name`) of a JSON document, or UNSET."""
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
    """Tell whether a text is what a pattern says, in which only `*` stands for any other."""
    return _expression(pattern).fullmatch(text) is not None


@lru_cache(maxsize=256)
def _expression(pattern: str) -> re.Pattern[str]:
    first, *parts = map(re.escape, pattern.split("*"))
    # Each part is taken where it comes first, for good: trying others takes its length to the power
    # of the stars.
    between = "".join(f"(?>.*?{part})" for part in parts[:-1])
    return re.compile(first + between + "".join(f".*{part}" for part in parts[-1:]), re.DOTALL)
