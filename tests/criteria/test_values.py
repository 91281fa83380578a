"""Comparisons: which fields matter, the two wildcards, and the path of each difference."""

from __future__ import annotations

import pytest

from hosting_emulator.criteria.list_words import identity_of
from hosting_emulator.criteria.mismatches import Mismatch, compare
from hosting_emulator.criteria.simple_types import Timestamp
from hosting_emulator.criteria.value_types import ABSENT, ANY


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
