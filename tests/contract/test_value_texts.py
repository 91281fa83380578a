"""Values in messages are written as users write them, never in Python's notation."""

from __future__ import annotations

import pytest

from hosting_emulator.contract.value_texts import quoted_value, value_text

VALUES: list[tuple[object, str]] = [
    (True, "true"),
    (None, "null"),
    (5, "5"),
    (0.5, "0.5"),
    (["a", None], '["a", null]'),
    (("a", 1), '["a", 1]'),
    ({"short": False, "name": "é"}, '{"short": false, "name": "é"}'),
]


@pytest.mark.parametrize(("value", "text"), VALUES)
def test_a_value_is_shown_as_json(value: object, text: str) -> None:
    assert value_text(value) == text
    assert quoted_value(value) == text


def test_a_string_is_shown_unchanged_or_in_quotes() -> None:
    assert value_text("a b") == "a b"
    assert quoted_value("a b") == "'a b'"
