"""Values in messages are written as users write them, never in Python's notation."""

from __future__ import annotations

import pytest

from hosting_emulator.contract.value_texts import count_text, list_text, quoted_value, value_text

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


@pytest.mark.parametrize(
    ("parts", "text"), [(["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_the_parts_of_a_list_are_joined_as_in_a_sentence(parts: list[str], text: str) -> None:
    assert list_text(parts) == text


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 hosts"), (1, "1 host"), (2, "2 hosts"), (1200, "1,200 hosts")]
)
def test_a_count_has_its_noun_in_the_singular_or_plural(count: int, text: str) -> None:
    assert count_text(count, "host") == text
