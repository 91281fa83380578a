"""An expectation that can never match is refused, and a word of another tool gets ours as a hint."""

from __future__ import annotations

import re
from typing import Any

import pytest

from hosting_emulator.criteria.checks import check
from hosting_emulator.criteria.comparisons import COMPARISONS
from hosting_emulator.criteria.compound_types import Array, Fields, either
from hosting_emulator.criteria.request_filters import request_filters
from hosting_emulator.criteria.response_types import HEADER
from hosting_emulator.criteria.simple_types import Boolean, Number, Timestamp, Ulid, Word
from hosting_emulator.criteria.value_types import ANY, Impossible, Path, ValueType
from hosting_emulator.criteria.word_hints import comparison_hint
from tests.criteria.refusals import GOLDEN_FILE, golden_text


def test_each_type_accepts_or_refuses_the_same_expectations_as_before():
    """Compare all verdicts and messages. After an intended change, run `make record`."""
    assert golden_text() == GOLDEN_FILE.read_text(encoding="utf-8")


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


STATE = Word("a state", words=("queued", "failed"))
PERCENTAGE = Number("a percentage", least=0, greatest=100)
SIZE = Fields("a size", fields={"bytes": Number()})
ITEM = Fields(
    "an item", fields={"id": Ulid(), "state": STATE, "created_at": Timestamp(), "size": SIZE}
)
#: A value that is a state or a percentage, and a list of states or of percentages.
STATE_OR_PERCENTAGE = either([STATE, PERCENTAGE]) or ANY
PERCENTAGE_OR_STATE = either([PERCENTAGE, STATE]) or ANY
STATES_OR_PERCENTAGES = either([Array(item=STATE), Array(item=PERCENTAGE)]) or ANY
#: A value of a third type, whose numbers are greater than a percentage.
STATE_OR_STATUS = either([STATE_OR_PERCENTAGE, Number("a status", least=200, greatest=599)]) or ANY

NEVER_NULL = "because the value is never null"
NO_ITEM_FIELD = "; the fields are id, state, created_at, size"
NO_STATE = "there is no state 'x'; the possible values are queued, failed"
NO_SORT_KEY = (
    "sorted_by needs a field such as created_at, or {created_at: descending}. For a list of plain "
    "values, use ascending or descending"
)
NO_DISTINCT_FIELD = "distinct must be a field, such as id, or true to compare whole items"


@pytest.mark.parametrize(
    ("kind", "expected", "path", "message"),
    [
        (STATE, None, (), f"it must be a state, {NEVER_NULL}"),
        (STATE, {"not": "*"}, ("not",), f"it must be a state, {NEVER_NULL}"),
        (STATE, {"same_as": None}, ("same_as",), f"it must be a state, {NEVER_NULL}"),
        (STATE, {"one_of": []}, ("one_of",), "one_of needs a list of allowed values"),
        (STATE, {"one_of": "queued"}, ("one_of",), "one_of needs a list of allowed values"),
        (STATE, {"a": 1, "at_least": 1}, ("a",), "'a' is not a comparison, but at_least in"),
        (ITEM, {"same_as": {"stat": 1}}, ("same_as", "stat"), "'stat' here; did you mean state?"),
        (ITEM, {"same_as": {"zzz": 1}}, ("same_as", "zzz"), f"'zzz' here{NO_ITEM_FIELD}"),
        (
            HEADER,
            {"at_least": 3, "below": "2026-01-01T00:00:00Z"},
            (),
            "these limits are of different kinds and cannot be compared",
        ),
        (HEADER, True, (), "it must be a string or a number, not true"),
        (
            HEADER,
            {"above": "Sat, 31 Feb 2026 09:30:00 GMT"},
            ("above",),
            "above needs a limit that can be compared with numbers or timestamps, not "
            "'Sat, 31 Feb 2026 09:30:00 GMT'",
        ),
        (SIZE, {"bytes": {"at_least": None}}, ("bytes", "at_least"), "with numbers, not null"),
        (SIZE, {"bytes": {"at_least": {}}}, ("bytes", "at_least"), "with numbers, not a mapping"),
        (SIZE, {"bytes": {"at_least": [1]}}, ("bytes", "at_least"), "with numbers, not a list"),
        (STATE_OR_PERCENTAGE, "x", (), NO_STATE),
        (STATE_OR_PERCENTAGE, 101, (), "it must be a percentage, so it can never be 101"),
        (PERCENTAGE_OR_STATE, 101, (), "it must be a percentage, so it can never be 101"),
        (PERCENTAGE_OR_STATE, "x", (), NO_STATE),
        (PERCENTAGE_OR_STATE, "/x/", (), "/x/ matches none of the possible words: queued"),
        (
            STATE_OR_PERCENTAGE,
            "/x/",
            (),
            "/x/ matches none of the possible words: queued, failed",
        ),
        (
            STATE_OR_PERCENTAGE,
            {"above": 100},
            ("above",),
            "it must be a state or a percentage, so no value is above 100",
        ),
        (
            STATE_OR_PERCENTAGE,
            {"below": "x"},
            ("below",),
            "below needs a limit that can be compared with numbers, not 'x'",
        ),
        (STATE_OR_STATUS, {"above": 599}, ("above",), "so no value is above 599"),
        (STATE_OR_STATUS, {"below": 0}, ("below",), "so no value is below 0"),
        (STATES_OR_PERCENTAGES, {"has": "x"}, ("has",), NO_STATE),
        (STATES_OR_PERCENTAGES, ["queued", "x"], (1,), NO_STATE),
    ],
)
def test_an_expectation_that_no_value_meets_is_refused_with_the_reason(
    kind: ValueType, expected: Any, path: Path, message: str
):
    with pytest.raises(Impossible) as refusal:
        check(kind, expected)

    assert refusal.value.path == path
    assert message in str(refusal.value)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (STATE_OR_PERCENTAGE, "queued"),
        (STATE_OR_PERCENTAGE, 50),
        (STATE_OR_PERCENTAGE, "/que/"),
        (STATE_OR_PERCENTAGE, {"above": 99, "at_most": 100}),
        (STATE_OR_STATUS, {"above": 100}),
        (STATE_OR_STATUS, {"below": 200}),
        (STATES_OR_PERCENTAGES, ["queued", "failed"]),
        (STATES_OR_PERCENTAGES, {"has": 100}),
    ],
)
def test_an_expectation_may_have_the_form_of_any_of_several_types(kind: ValueType, expected: Any):
    check(kind, expected)


def test_a_field_with_a_variable_is_the_same_as_any_value_until_the_variable_has_one():
    expected = {"same_as": {"state": "${state}"}}

    check(ITEM, expected, variables=True)
    with pytest.raises(Impossible, match="there is no state"):
        check(ITEM, expected)


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ({"sorted_by": "ascending"}, "by which the items are sorted: id, created_at"),
        (
            {"sorted_by": "creatd_at"},
            "there is no field 'creatd_at' here; did you mean created_at?",
        ),
        ({"sorted_by": "zzz.x.y"}, f"there is no field 'zzz.x.y' here{NO_ITEM_FIELD}"),
        (
            {"sorted_by": "state"},
            "state is a state, but only numbers, timestamps and ids can be sorted; the fields you "
            "can sort by are id, created_at",
        ),
        ({"sorted_by": 7}, NO_SORT_KEY),
        ({"sorted_by": {}}, NO_SORT_KEY),
        ({"sorted_by": ""}, NO_SORT_KEY),
        (
            {"distinct": False},
            "distinct must be true or a field. To expect repeated items, use {not: {distinct: …}}",
        ),
        ({"distinct": 7}, NO_DISTINCT_FIELD),
        ({"distinct": ""}, NO_DISTINCT_FIELD),
        ({"distinct": "stat"}, "there is no field 'stat' here; did you mean state?"),
        ({"distinct": "zzz.x"}, f"there is no field 'zzz.x' here{NO_ITEM_FIELD}"),
    ],
    ids=str,
)
def test_a_claim_about_the_order_of_items_needs_a_field_that_they_have(
    claim: dict[str, Any], message: str
):
    with pytest.raises(Impossible) as refusal:
        check(Array(item=ITEM), claim)

    assert (refusal.value.path, refusal.value.key) == (tuple(claim), False)
    assert str(refusal.value).endswith(message)


@pytest.mark.parametrize(("count", "ending"), [(12, "word-12"), (13, "word-12, …")])
def test_a_pattern_that_matches_no_word_lists_at_most_twelve_words(count: int, ending: str):
    words = tuple(f"word-{number}" for number in range(1, count + 1))

    with pytest.raises(Impossible) as refusal:
        check(Word("a word", words=words), "/zzz/")

    assert str(refusal.value).endswith(f": {', '.join(words[:11])}, {ending}")


@pytest.mark.parametrize("pattern", ["/^fault-[12]$/", "/time/"])
def test_a_pattern_of_a_fault_may_match_an_id_or_a_kind(pattern: str):
    check(request_filters(fault_kinds=["timeout"])["fault"], pattern)


def test_a_pattern_that_matches_no_fault_lists_the_kinds():
    with pytest.raises(Impossible, match=r"none of the possible words: timeout, truncate$"):
        check(request_filters(fault_kinds=["timeout", "truncate"])["fault"], "/zzz/")
