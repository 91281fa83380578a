"""Comparing: which fields matter, what the two wildcards stand for, and where a difference is."""

from __future__ import annotations

import pytest

from hosting_emulator.scenario.compare import ABSENT, Mismatch, compare


@pytest.mark.parametrize(
    ("expected", "found"),
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
    ],
)
def test_these_are_the_same(expected, found):
    assert compare(expected, found, "") == []


@pytest.mark.parametrize(
    ("expected", "found", "at"),
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
        ({"a": {}}, {"a": []}, None),
        ({"a": {"b": 1}}, {"a": "text"}, "a"),
    ],
)
def test_these_differ(expected, found, at):
    differences = compare(expected, found, "")

    if at is None:  # nothing is said about the places of an empty list
        assert differences == []
    else:
        assert [difference.at for difference in differences] == [at]


def test_each_difference_is_told_with_its_place():
    expected = {"state": "failed", "error": {"code": "x"}, "items": {"7": "*"}}
    found = {"state": "running", "items": [1]}

    assert compare(expected, found, "") == [
        Mismatch("state", "failed", "running"),
        Mismatch("error", {"code": "x"}, ABSENT),
        Mismatch("items.7", "*", ABSENT),
    ]
