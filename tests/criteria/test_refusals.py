"""An expectation that can never match is refused, and a word of another tool gets ours as a hint."""

from __future__ import annotations

import re
from typing import Any

import pytest

from hosting_emulator.criteria.checks import check
from hosting_emulator.criteria.comparisons import COMPARISONS
from hosting_emulator.criteria.compound_types import Array
from hosting_emulator.criteria.request_filters import request_filters
from hosting_emulator.criteria.simple_types import Boolean, Ulid
from hosting_emulator.criteria.value_types import ANY, Impossible, ValueType
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


@pytest.mark.parametrize(
    ("kind", "expected"),
    [(Boolean(), "true or false"), (Ulid(), "a Ulid"), (Array(item=ANY), "a list")],
)
def test_a_mapping_is_never_the_same_as_another_kind_of_value(kind: ValueType, expected: str):
    with pytest.raises(Impossible) as refusal:
        check(kind, {"same_as": {"a": 1}})

    assert refusal.value.path == ("same_as",)
    assert re.fullmatch(f"it must be {expected}.*, not a mapping", str(refusal.value))


#: Paths that no request can have, with the end of the reason, and paths that a request can have.
PATH_MISTAKES = {
    "http://x/v1/projects": "; it must not have a scheme or a host",
    "/v1/projects?limit=1": "; it must not have a query",
    "/v1/projects#top": "; it must not have a query",
    "/worlds/ci/v1/projects": "; it must not have the prefix of a world",
    "v1/projects": "; it must start with / or *, and must not contain spaces",
    "/v1/a project": "; it must start with / or *, and must not contain spaces",
    "/v1/projects/{}": "; the braces must contain a name, such as {project_id}",
    "/v1/projects/{project_id": "; the braces must contain a name, such as {project_id}",
}


@pytest.mark.parametrize(("path", "reason"), PATH_MISTAKES.items())
def test_a_path_that_no_request_has_is_refused_with_the_reason(path: str, reason: str):
    with pytest.raises(Impossible) as refusal:
        check(request_filters()["path"], path)

    assert str(refusal.value).endswith(reason)


@pytest.mark.parametrize("path", ["/v1/projects/*/domains", "*", "{base}/x", "/v1/{project_id}/x"])
def test_a_path_with_wildcards_and_names_is_accepted(path: str):
    check(request_filters()["path"], path)


def test_a_request_without_a_response_has_the_status_0() -> None:
    check(request_filters()["status"], {"below": 1})
