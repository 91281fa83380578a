"""The types of responses, and of the keys with which a story describes an expected response.

The types of response bodies are derived from the contract's resources.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import msgspec

from hosting_emulator.contract.assumptions import DEFAULTS
from hosting_emulator.contract.fields import Field, Kind
from hosting_emulator.contract.ids import ULID_PATTERN
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.contract.suggestions import nearest
from hosting_emulator.criteria.checks import has_variable
from hosting_emulator.criteria.comparisons import match
from hosting_emulator.criteria.compound_types import Array, Fields, either, or_null
from hosting_emulator.criteria.request_filters import GAVE_UP, LOST_WORDS, LostWord, Status
from hosting_emulator.criteria.simple_types import (
    Boolean,
    HeaderText,
    Number,
    Text,
    Timestamp,
    Ulid,
    Word,
)
from hosting_emulator.criteria.value_types import ANY, MISSING, Impossible, ValueType

PROBLEM = "ProblemDetails"
#: The possible words of open sets, by the name of the assumption that lists them.
OpenWords = Mapping[str, Iterable[str]]
EXPECTED_STATUS = Status()


@dataclass(frozen=True)
class ResponseCode(Word):
    """The problem code of a response, or null if the response has no code."""

    form: str = "a problem code"
    nullable: bool = True
    words: tuple[str, ...] = tuple(PROBLEMS)

    def is_null_when_absent(self) -> bool:
        return True


EXPECTED: dict[str, ValueType] = {
    "status": EXPECTED_STATUS,
    "code": ResponseCode(),
    "items": Number("a number of items from 0 to 100", whole=True, least=0, greatest=100),
    "html": Boolean(),
    "delayed": Boolean(),
    "lost": LostWord(),
}
#: The type of an expected header.
HEADER = HeaderText()
#: Headers that depend on the connection. A story cannot expect these headers, because a story runs
#: without HTTP connections.
CONNECTION_HEADERS = ("connection", "content-length", "server", "transfer-encoding")
#: Headers that responses of the emulator can have.
KNOWN_HEADERS = (
    "Allow",
    "Cache-Control",
    "Content-Type",
    "Date",
    "Location",
    "Retry-After",
    "Set-Cookie",
    "WWW-Authenticate",
    "X-Request-Id",
)


def resource_type(name: str, words: OpenWords | None = None) -> ValueType:
    """Return the type of a resource.

    `words` maps the assumption behind each open set to the words that the set can contain. If
    `words` is None, the fields with an open set accept any string.
    """
    if words is None:
        return _resource_type(name)
    return _fields_of(name, words)


@cache
def _resource_type(name: str) -> ValueType:
    return _fields_of(name, {})


def _fields_of(name: str, words: OpenWords) -> ValueType:
    fields = {field.name: _field_type(field, words) for field in RESOURCES[name].fields}
    return Fields("an object", fields=fields)


def _field_type(field: Field, words: OpenWords) -> ValueType:
    kind = _kind_type(field.name, field.kind, field.keywords, words, field.assumption)
    # The `last_page_cursor` assumption can make the field null.
    is_nullable = field.nullable or field.assumption == "last_page_cursor"
    if is_nullable:
        return or_null(kind)
    return kind


def _kind_type(
    name: str, kind: Kind, keywords: Mapping[str, Any], words: OpenWords, assumption: str = ""
) -> ValueType:
    schema = {**kind.schema, **keywords}
    if kind.items is not None:
        item = _kind_type(name.removesuffix("s"), kind.items, {}, words, assumption)
        return Array(item=item, most=schema.get("maxItems"))
    if kind.part:
        return _fields_of(kind.part, words)
    if "enum" in schema:
        return Word(f"a {name}", words=tuple(schema["enum"]))
    if schema.get("type") == "boolean":
        return Boolean()
    if schema.get("type") in ("integer", "number"):
        is_whole = schema["type"] == "integer"
        least = schema.get("minimum", float("-inf"))
        greatest = schema.get("maximum", float("inf"))
        return Number(_number_form(is_whole, schema), False, is_whole, least, greatest)
    if schema.get("format") == "date-time":
        return Timestamp()
    if schema.get("pattern") == ULID_PATTERN:
        return Ulid()
    if schema.get("type") == "string":
        open_set = tuple(words.get(assumption, ()))
        if open_set:
            return Word(f"a {name}", words=open_set)
        return Text()
    return ANY


def _number_form(is_whole: bool, schema: Mapping[str, Any]) -> str:
    noun = "a whole number" if is_whole else "a number"
    bounds = [
        f"{word} {schema[name]}"
        for name, word in (("minimum", "at least"), ("maximum", "at most"))
        if name in schema
    ]
    if not bounds:
        return noun
    return f"{noun} of {' and '.join(bounds)}"


def open_words(*sets: Mapping[str, Any]) -> OpenWords:
    """Return the words that each open set can contain, by the name of its assumption.

    The result contains the words of the default assumptions and the words in the mappings `sets`.
    """
    words: dict[str, tuple[str, ...]] = {}
    for resource in RESOURCES.values():
        for field in resource.fields:
            usual = getattr(DEFAULTS, field.assumption, None)
            if not isinstance(usual, tuple) or field.kind.schema.get("type") not in (
                "string",
                "array",
            ):
                continue
            listed = [words_by_name.get(field.assumption) for words_by_name in sets]
            more = [word for words_of_one in listed for word in words_of_one or ()]
            words[field.assumption] = tuple(dict.fromkeys([*map(str, usual), *map(str, more)]))
    return words


def body_type(resource: str, words: OpenWords, statuses: Iterable[int]) -> ValueType:
    """Return the type of a response body.

    The possible statuses determine whether the body is a resource, a problem, or either.
    """
    allowed_statuses = list(statuses)
    types = []
    if min(allowed_statuses, default=400) < 400:
        types.append(resource_type(resource, words))
    if max(allowed_statuses, default=0) >= 400:
        types.append(resource_type(PROBLEM))
    return either(types) or ANY


def response_document_type(body: ValueType) -> ValueType:
    """Return the type of a response that a story collects.

    `body` is the type of the response's body. The body of a lost response is null.
    """
    fields = {name: EXPECTED[name] for name in ("code", "delayed")}
    fields["lost"] = LostWord(words=(*LOST_WORDS, GAVE_UP))
    fields |= {"status": or_null(EXPECTED_STATUS), "body": or_null(body)}
    return Fields("a response", fields=fields)


def possible_statuses(status: Any, code: Any) -> list[int]:
    """Return the statuses that an expectation allows.

    If the expectation has a status, the status alone determines the result. An expectation with
    neither a status nor a problem code allows success statuses. An expectation with only a problem
    code allows error statuses or, if the code may also be missing, all statuses.
    """
    if status is not MISSING:
        return list(_matching_statuses(msgspec.json.encode(status)))
    statuses: list[int] = []
    if allows_no_code(code):
        statuses += range(200, 400)
    if allows_a_code(code):
        statuses += range(400, 600)
    return statuses


@lru_cache(maxsize=256)
def _matching_statuses(encoded: bytes) -> tuple[int, ...]:
    """Return the statuses that match an expected status.

    The expected status is encoded as JSON, because the cache needs a hashable argument.
    """
    expected = msgspec.json.decode(encoded)
    return tuple(
        status for status in range(200, 600) if match(EXPECTED_STATUS, expected, status) is True
    )


def allows_no_code(code: Any) -> bool:
    """Tell whether an expected code allows a response without a problem code."""
    return code is MISSING or match(EXPECTED["code"], code, MISSING) is True


def allows_a_code(code: Any) -> bool:
    """Tell whether an expected code may allow a problem code.

    The result is true for a string with a variable, because the value is not known yet.
    """
    if code is MISSING:
        return False
    return has_variable(code) or any(
        match(EXPECTED["code"], code, problem) is True for problem in PROBLEMS
    )


def allows_loss(lost: Any) -> bool:
    """Tell whether an expected `lost` may allow a lost response.

    The result is true for a string with a variable, because the value is not known yet.
    """
    if lost is MISSING:
        return False
    return has_variable(lost) or any(
        match(EXPECTED["lost"], lost, word) is True for word in LOST_WORDS
    )


def find_field(kind: ValueType, path: str) -> ValueType:
    """Return the type at a dotted path. Raises Impossible if the type has no field at this path."""
    inner = kind
    for name in path.split("."):
        field_type = inner.field(name)
        if field_type is None:
            names = inner.field_names()
            hint = nearest(name, names)
            if names and not hint:
                hint = f"; the fields are {', '.join(names)}"
            raise Impossible(f"the response cannot have the field {path!r}{hint}")
        inner = field_type
    return inner
