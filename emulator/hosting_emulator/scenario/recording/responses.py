"""Writes the expectations of recorded steps."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

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

    Values that can differ between runs, such as ids and times, are left out. `name_value` returns
    the variable for a value from an earlier response, and returns any other value unchanged.
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
    items = document.pop("items", None)
    if isinstance(items, list):
        expect["items"] = len(items)
    body = _repeatable_fields(document, name_value)
    if body:
        expect["body"] = body
    return expect


def _repeatable_fields(document: Mapping[str, Any], name_value: Callable[[str], str]) -> Document:
    """Return those fields of a body that are the same in every run."""
    fields: Document = {}
    for name, value in document.items():
        if isinstance(value, dict):
            inner_fields = _repeatable_fields(value, name_value)
            if inner_fields:
                fields[name] = inner_fields
        elif isinstance(value, bool | int | float):
            fields[name] = value
        elif isinstance(value, str):
            text = name_value(value)
            if text != value or _CONTRACT_WORD.fullmatch(value):
                fields[name] = text
    return fields
