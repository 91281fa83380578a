"""An expectation that can never match is refused, and a word of another tool gets ours as a hint."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator.criteria.checks import check
from hosting_emulator.criteria.comparisons import COMPARISONS
from hosting_emulator.criteria.compound_types import Array
from hosting_emulator.criteria.request_filters import request_filters
from hosting_emulator.criteria.value_types import ANY, Impossible
from hosting_emulator.criteria.word_hints import comparison_hint

#: Words of MongoDB, JSONPath, Jest, SQL and other tools, and the comparison that means the same.
WORDS_OF_OTHER_TOOLS = {
    "all": "each",
    "every": "each",
    "any": "has",
    "some": "has",
    "contains": "has",
    "includes": "has",
    "none": "not",
    "in": "one_of",
    "any_of": "one_of",
    "is": "same_as",
    "eq": "same_as",
    "equals": "same_as",
    "ne": "not",
    "nin": "not_in",
    "none_of": "not_in",
    "count": "item_count",
    "length": "item_count",
    "size": "item_count",
    "unique": "distinct",
    "order_by": "sorted_by",
    "gt": "above",
    "after": "above",
    "gte": "at_least",
    "min": "at_least",
    "lt": "below",
    "before": "below",
    "lte": "at_most",
    "max": "at_most",
}


@pytest.mark.parametrize(("word", "comparison"), WORDS_OF_OTHER_TOOLS.items())
def test_a_word_of_another_tool_gets_our_comparison_as_a_hint(word: str, comparison: str) -> None:
    assert comparison in COMPARISONS
    assert comparison_hint(word) == f"; did you mean {comparison}?"


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        ({"item_count": -1}, "a number of items from 0"),
        ({"sorted_by": "-created_at"}, "write {created_at: descending} instead of -created_at"),
        ({"sorted_by": {"created_at": "down"}}, "created_at must be ascending or descending"),
        (["*"] * 4, "never has more than 3 items"),
        ({"3": "*"}, "3"),
    ],
)
def test_an_impossible_expectation_of_a_list_is_refused(expected: Any, words: str) -> None:
    with pytest.raises(Impossible) as refusal:
        check(Array(item=ANY, most=3), expected)

    assert words in str(refusal.value) or words in map(str, refusal.value.path)


def test_a_list_may_have_as_many_items_as_its_type_allows() -> None:
    check(Array(item=ANY, most=3), ["*"] * 3)
    check(Array(item=ANY, most=3), {"2": "*"})
    check(Array(item=ANY, most=3), {"item_count": 0})


@pytest.mark.parametrize(
    "expected", [{"below": 0}, {"at_most": -1}, {"above": 599}, {"at_least": 600}]
)
def test_a_status_outside_its_limits_is_refused_at_its_comparison(expected: dict[str, Any]) -> None:
    status = request_filters()["status"]

    with pytest.raises(Impossible) as refusal:
        check(status, expected)

    assert refusal.value.path == tuple(expected)


def test_a_request_without_a_response_has_the_status_0() -> None:
    check(request_filters()["status"], {"below": 1})
