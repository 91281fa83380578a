"""Comparisons: which fields matter, the two wildcards, and the path of each difference."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator.criteria.compound_types import Array, Either, Fields
from hosting_emulator.criteria.list_words import identity_of
from hosting_emulator.criteria.mismatches import Mismatch, compare
from hosting_emulator.criteria.request_filters import request_filters
from hosting_emulator.criteria.response_types import HEADER
from hosting_emulator.criteria.simple_types import Number, Text, Timestamp, Word
from hosting_emulator.criteria.value_types import ABSENT, ANY, ValueType


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ({}, {"more": 1}),
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": {"b": None}}, {"a": {"b": None}}),
        ("*", 0),
        ("*", ""),
        ("/^ab+$/", "abbb"),
        ("/b/", "abc"),
        (2, 2.0),
        ([1, {"a": "*"}], [1, {"a": 5, "b": 6}]),
        ({"0": 1, "2": 3}, [1, 2, 3]),
        ({"items": {"1": {"status": "failed"}}}, {"items": [{}, {"status": "failed"}]}),
        ("/", "/"),
        ({"not": 2}, 1),
        ({"not": None}, "text"),
        ({"not": "text"}, None),
        ({"not": [1, 2]}, [1, 3]),
        ({"has": [1, 2]}, [[3], [1, 2]]),
        ({"same_as": None}, None),
        ({"not": {"same_as": None}}, "text"),
        ({"not_in": [1, "x"]}, "text"),
        (
            {"sorted_by": {"a": "ascending", "b": "descending"}},
            [{"a": 1, "b": 2}, {"a": 1, "b": 1}],
        ),
    ],
)
def test_an_equal_value_has_no_difference(expected, actual):
    assert compare(ANY, expected, actual, "") == []


@pytest.mark.parametrize(
    ("expected", "actual", "at"),
    [
        ("*", None, ""),
        ("/^b/", "ab", ""),
        ("/1/", 1, ""),
        (1, True, ""),
        (True, 1, ""),
        ("1", 1, ""),
        (None, False, ""),
        ([1], [1, 2], ""),
        ([{"a": 1}], [{"a": 2}], "[0].a"),
        ({"a": {"b": 1}}, {"a": {"b": 2}}, "a.b"),
        ({"a": {}}, {"a": []}, "a"),
        ({"not": "1"}, 1, ""),
        ({"not": [1, 2]}, 1, ""),
        ({"not": {"above": 3}}, "text", ""),
        ({"a": {"b": 1}}, {"a": "text"}, "a"),
        ({"not": [1, 2]}, [1, 2], ""),
        ({"has": [1, 2]}, [[1, 3]], ""),
        ({"same_as": None}, "text", ""),
        ({"a": {"same_as": None}}, {}, "a"),
        ({"a": {"not_in": [1]}}, {}, "a"),
        (
            {"sorted_by": {"a": "ascending", "b": "descending"}},
            [{"a": 1, "b": 1}, {"a": 1, "b": 2}],
            "[1].b",
        ),
    ],
)
def test_a_different_value_has_one_difference(expected, actual, at):
    differences = compare(ANY, expected, actual, "")

    assert [difference.at for difference in differences] == [at]


def test_each_difference_names_its_path_and_both_values():
    expected = {"state": "failed", "error": {"code": "x"}, "items": {"7": "*"}}
    actual = {"state": "running", "items": [1]}

    assert compare(ANY, expected, actual, "") == [
        Mismatch("state", "failed", "running", ("state",)),
        Mismatch("error", {"code": "x"}, ABSENT, ("error",)),
        Mismatch("items.7", "*", ABSENT, ("items", "7")),
    ]


@pytest.mark.parametrize(
    ("first", "second", "are_same"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        ("1", 1, False),
        (None, False, False),
        ({"a": [1, {"b": "c"}]}, {"a": [1.0, {"b": "c"}]}, True),
        ({"a": [True]}, {"a": [1]}, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ([1, 2], [2, 1], False),
    ],
)
def test_items_are_the_same_only_if_their_types_and_values_are(first, second, are_same):
    """`distinct` and `same_as` compare whole items."""
    assert (identity_of(ANY, first) == identity_of(ANY, second)) == are_same


def test_times_are_the_same_if_they_denote_the_same_moment():
    kind = Timestamp()
    noon = identity_of(kind, "2026-01-01T12:00:00Z")
    assert noon == identity_of(kind, "2026-01-01T13:00:00.000+01:00")
    assert noon != identity_of(kind, "2026-01-01T12:00:00.001Z")
    assert identity_of(ANY, "a") != identity_of(ANY, "b")


STATE = Word("a state", words=("queued", "failed"))
STATE_OR_NUMBER = Either("a state or a number", False, (STATE, Number()))
FILTERS = request_filters()
HTTP_DATE = "Sat, 31 Jan 2026 09:30:00 GMT"


@pytest.mark.parametrize(
    ("kind", "expected", "actual"),
    [
        (FILTERS["status"], "text", 200),
        (FILTERS["path"], 7, "/v1/projects"),
        (Timestamp(), "2026-01-31T09:30:00Z", "soon"),
        (Timestamp(), "soon", "2026-01-31T09:30:00Z"),
        (HEADER, 3, "three"),
        (HEADER, 3, HTTP_DATE),
        (HEADER, {"above": "2026-01-01T00:00:00Z"}, "Sat, 31 Feb 2026 09:30:00 GMT"),
        (Array(), 7, [7]),
        (Array(), [7], 7),
        (Fields(), 7, {}),
        (Either(types=(Array(), Fields())), [7], 7),
        (STATE_OR_NUMBER, True, 1),
        (STATE_OR_NUMBER, {"above": 3}, "queued"),
        (ANY, {"same_as": {"a": 1}}, [1]),
        (ANY, {"same_as": [1]}, {"a": 1}),
        (ANY, {"same_as": [1]}, "text"),
        (ANY, {"each": 1}, "text"),
        (ANY, {"each": 1}, [1, "text"]),
        (ANY, {"item_count": 1}, "text"),
        (ANY, {"not_in": [1]}, "text"),
        (ANY, {"sorted_by": "ascending"}, [1, "2026-01-31T09:30:00Z"]),
        (ANY, {"distinct": "a.b"}, [{"a": {"b": 1}}, {"a": 1}]),
    ],
)
def test_values_that_cannot_be_compared_are_neither_equal_nor_different(
    kind: ValueType, expected: Any, actual: Any
):
    assert compare(kind, expected, actual, "") != []
    assert compare(kind, {"not": expected}, actual, "") != []


@pytest.mark.parametrize(
    ("kind", "expected", "actual"),
    [
        (STATE_OR_NUMBER, "queued", "queued"),
        (STATE_OR_NUMBER, {"above": 3}, 4),
        (HEADER, HTTP_DATE, HTTP_DATE),
        (HEADER, {"at_most": "2026-01-31T09:30:00Z"}, HTTP_DATE),
        (HEADER, 3, "3.0"),
    ],
)
def test_a_value_is_compared_as_the_type_that_it_has(kind: ValueType, expected: Any, actual: Any):
    assert compare(kind, expected, actual, "") == []
    assert compare(kind, {"not": expected}, actual, "") != []


@pytest.mark.parametrize("actual", ["POST", HTTP_DATE, "3"])
def test_a_text_in_a_header_differs_from_every_other_text(actual: str):
    assert compare(HEADER, "GET", actual, "") != []
    assert compare(HEADER, {"not": "GET"}, actual, "") == []


def test_a_missing_header_is_the_same_as_null():
    headers = Fields(fields={"Allow": HEADER})
    expected = {"Allow": {"same_as": None}}

    assert compare(headers, expected, {}, "") == []
    assert compare(headers, expected, {"Allow": "GET"}, "") != []


@pytest.mark.parametrize(
    ("expected", "actual", "difference"),
    [
        ({"each": 1}, [], ("list", "at least one item", [])),
        ({"each": {"above": 1}}, [2, 1, 0], ("list[1]", {"above": 1}, 1)),
        ({"each": {"a": 1}}, [{"a": 1}, {"a": 2}], ("list[1].a", 1, 2)),
        ({"each": 1}, None, ("list", {"each": 1}, None)),
        ({"each": 1}, 1, ("list", "a list, because each applies to the items of a list", 1)),
        ({"item_count": 2}, [5], ("list (number of items)", 2, 1)),
        ({"item_count": {"of": 5, "is": 2}}, [5, 6], ("list (number of matching items)", 2, 1)),
        (
            {"sorted_by": "ascending"},
            [1, 2, "2026-01-31T09:30:00Z"],
            (
                "list[2]",
                "a value of the same kind as in item 0 (numbers)",
                "2026-01-31T09:30:00Z",
            ),
        ),
        (
            {"sorted_by": "state"},
            [{"state": "queued"}],
            (
                "list[0].state",
                "a value that can be sorted: a number, a timestamp or an id",
                "queued",
            ),
        ),
        (
            {"sorted_by": "n"},
            [{"n": 1}, {"n": 3}, {"n": 2}],
            ("list[2].n", "at least 3, the value of item 1", 2),
        ),
        ({"sorted_by": "descending"}, [1, 2], ("list[1]", "at most 1, the value of item 0", 2)),
        ({"distinct": True}, [1, 2, 1], ("list[2]", "a value that differs from item 0", 1)),
        (
            {"distinct": "id"},
            [{"id": 1}, {}],
            (
                "list[1].id",
                "a value that can be compared with the values of other items",
                ABSENT,
            ),
        ),
    ],
)
def test_a_difference_in_a_list_names_the_item_and_what_would_be_right(
    expected: Any, actual: Any, difference: tuple[str, Any, Any]
):
    [mismatch] = compare(ANY, expected, actual, "list")

    assert (mismatch.at, mismatch.expected, mismatch.actual) == difference


def test_a_missing_list_is_a_difference_from_the_whole_comparison():
    assert compare(ANY, {"a": {"each": 1}}, {}, "") == [
        Mismatch("a", {"each": 1}, ABSENT, ("a",)),
    ]


@pytest.mark.parametrize(("kind", "repeated"), [(Timestamp(), ["times[1].at"]), (Text(), [])])
def test_times_in_different_notations_are_a_repetition_but_other_texts_are_not(
    kind: ValueType, repeated: list[str]
):
    item_kind = Fields(fields={"at": kind})
    times = [{"at": "2026-01-01T12:00:00Z"}, {"at": "2026-01-01T13:00:00+01:00"}]

    differences = compare(Array(item=item_kind), {"distinct": "at"}, times, "times")

    assert [difference.at for difference in differences] == repeated
