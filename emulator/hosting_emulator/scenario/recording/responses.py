"""Writes the expectations of recorded steps."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from hosting_emulator.contract.calls import ALL_CALLS
from hosting_emulator.criteria.response_types import resource_type
from hosting_emulator.criteria.value_types import ANY, ValueType
from hosting_emulator.engine.exchange import Entry
from hosting_emulator.engine.request_views import document_of
from hosting_emulator.scenario.recording.heads import Document

#: Matches words from the contract, which are the same in every run. Other strings can differ
#: between runs.
_CONTRACT_WORD = re.compile(r"[a-z][a-z_]*")


def any_response() -> Document:
    """Return an expectation that every response meets unless it is lost."""
    return {"status": {"at_least": 200}}


def expected_response(entry: Entry, name_value: Callable[[str], str]) -> Document:
    """Return a recorded step's expectation, based on the recorded response.

    Values that can differ between runs, such as ids and times, are left out. So are the unknown
    fields that a variation adds, because no step can expect them. `name_value` returns the variable
    for a value from an earlier response, and returns any other value unchanged.
    """
    if entry.lost is not None:
        return {"lost": entry.lost}
    if entry.code is not None:
        return {"status": entry.status, "code": entry.code}
    if entry.content_type.startswith("text/html"):
        return {"status": entry.status, "html": True}
    expect: Document = {"status": entry.status}
    document = None
    if entry.response_bytes == len(entry.response_body):
        document = document_of(entry.response_body)
    if not isinstance(document, dict):
        return expect
    kind = _body_type(entry)
    items = document.pop("items", None)
    if isinstance(items, list) and kind.field("items") is not None:
        expect["items"] = len(items)
    body = _repeatable_fields(document, kind, name_value)
    if body:
        expect["body"] = body
    return expect


def _body_type(entry: Entry) -> ValueType:
    """Return the type of a successful response's body, or ANY if a step can expect any field."""
    if entry.world.variation is None or entry.call not in ALL_CALLS:
        return ANY
    return resource_type(ALL_CALLS[entry.call].response)


def _repeatable_fields(
    document: Mapping[str, Any], kind: ValueType, name_value: Callable[[str], str]
) -> Document:
    """Return those fields of a body that are the same in every run and that its type has."""
    fields: Document = {}
    for name, value in document.items():
        field_kind = kind.field(name)
        if field_kind is None:
            continue
        if isinstance(value, dict):
            inner_fields = _repeatable_fields(value, field_kind, name_value)
            if inner_fields:
                fields[name] = inner_fields
        elif isinstance(value, bool | int | float):
            fields[name] = value
        elif isinstance(value, str):
            text = name_value(value)
            if text != value or _CONTRACT_WORD.fullmatch(value):
                fields[name] = text
    return fields
