"""Columns are aligned, and values are written as people read them."""

import pytest

from hosting_emulator_cli.output import cell_text, fields, table


def test_columns_are_aligned_and_numbers_stand_right():
    text = table(("NAME", "COUNT", "NOTE"), [["a", 5, "x"], ["bcdefg", 1234, ""]])

    assert text.splitlines() == [
        "NAME    COUNT  NOTE",
        "a           5  x",
        "bcdefg   1234",
    ]


def test_long_cell_is_cut_unless_it_is_the_last():
    first, last = table(("A", "B"), [["x" * 60, "y" * 60]]).splitlines()[1].split("  ")

    assert first == "x" * 47 + "…"
    assert last == "y" * 60


def test_no_rows_leave_the_headers():
    assert table(("A", "B"), []) == "A  B"


def test_missing_field_has_no_line():
    assert fields([("a", 1), ("gone", None), ("long", "x")]) == "a     1\nlong  x"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (True, "yes"),
        (False, "no"),
        ([1, "b"], "1, b"),
        ([], "-"),
        ({}, "-"),
        ({"a": 1}, "a=1"),
        ("a\nb", "a b"),
        (1.5, "1.5"),
    ],
)
def test_value_as_text(value: object, text: str):
    assert cell_text(value) == text
