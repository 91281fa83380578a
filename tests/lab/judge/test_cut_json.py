"""The beginning of a cut JSON document has all objects and lists that are complete."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hosting_emulator_lab.judge.cut_json import read_beginning

PAGE = {"items": [{"id": "A", "tags": ["]", '\\"}']}, {"id": "B", "tags": []}], "next_cursor": "c"}


@pytest.mark.parametrize(
    ("text", "document"),
    [
        ('{"items": [{"id": "A"}, {"id": "B"}, {"id": "C', {"items": [{"id": "A"}, {"id": "B"}]}),
        (
            '{"items": [{"id": "A", "tags": ["x", "y"], "n',
            {"items": [{"id": "A", "tags": ["x", "y"]}]},
        ),
        ('{"items": [{"id": "A"}], "next_cur', {"items": [{"id": "A"}]}),
        ('["}", {"id": "]"}, "[', ["}", {"id": "]"}]),
        ('{"zone": "a.example", "sco', None),
        ("no JSON } at all", None),
        ("}", None),
        ("", None),
    ],
)
def test_what_is_cut_off_is_left_out(text: str, document: Any) -> None:
    assert read_beginning(text) == document


@pytest.mark.parametrize("indent", [None, 2])
def test_a_document_that_is_cut_anywhere_can_be_read(indent: int | None) -> None:
    text = json.dumps(PAGE, indent=indent)
    for length in range(len(text)):
        document = read_beginning(text[:length])
        if document is not None:
            items = document["items"]
            assert items[:1] in (PAGE["items"][:1], [{"id": "A", "tags": ["]", '\\"}']}])
    assert read_beginning(text) == PAGE
