"""What a story collects of several responses, and the claims about all of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.stories import (
    Verdict,
    differences_of,
    run,
    run_story,
    scenario_error,
    verdict_of,
)

Step = dict[str, Any]
LIST: Step = {"call": "list_deployments"}
DOMAINS: Step = {"call": "apply_project_domains"}
KEY: Step = {"call": "create_user_api_key", "key": "k", "body": {"name": "ci"}}
REDEEM: list[Step] = [
    {"call": "create_dev_access_ticket", "save": {"url": "redeem_url"}},
    {
        "together": [
            {
                "redeem": "${url}",
                "times": 5,
                "expect": {"status": ["3xx", 404]},
                "collect": {"race": "response"},
            }
        ]
    },
]
#: Three pages of different deployments.
PAGES: list[Step] = [
    {
        **LIST,
        "query": {"limit": 4},
        "save": {"next": "next_cursor"},
        "collect": {"ids": "items.*.id"},
    },
    {
        **LIST,
        "query": {"limit": 4, "cursor": "${next}"},
        "times": 2,
        "save": {"next": "next_cursor"},
        "collect": {"ids": "items.*.id"},
    },
]


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ({"item_count": 5}, "green"),
        ({"item_count": {"of": {"status": 303}, "is": 1}}, "green"),
        ({"item_count": {"of": {"status": "4xx"}, "is": {"at_least": 4}}}, "green"),
        ({"each": {"lost": None, "delayed": False}}, "green"),
        ({"item_count": {"of": {"status": "3xx"}, "is": 2}}, "red"),
        ({"each": {"code": "resource_not_found"}}, "red"),
        ({"item_count": {"of": {"status": "3yx"}, "is": 1}}, "refused"),
        ({"item_count": {"of": {"status": "3xx"}}}, "refused"),
        ({"each": {"stauts": 302}}, "refused"),
        ({"each": {"code": "resource_not_fond"}}, "refused"),
    ],
    ids=str,
)
def test_exactly_one_of_five_simultaneous_requests_wins(claim: Any, verdict: Verdict):
    assert verdict_of([*REDEEM, {"check": {"race": claim}}]) == verdict


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ({"distinct": True, "item_count": 12, "sorted_by": "descending"}, "green"),
        ({"not": {"distinct": True}}, "red"),
        ({"sorted_by": "ascending"}, "red"),
        ({"distinct": "id"}, "refused"),
        ({"sorted_by": "created_at"}, "refused"),
    ],
    ids=str,
)
def test_no_id_comes_twice_over_all_pages(claim: Any, verdict: Verdict):
    assert verdict_of([*PAGES, {"check": {"ids": claim}}]) == verdict


def test_an_id_that_comes_twice_is_named_with_both_items():
    first_page = PAGES[0]

    report = run_story([first_page, first_page, {"check": {"ids": {"distinct": True}}}])

    [(at, expected, _)] = differences_of(report["steps"][-1])
    assert (at, expected) == ("ids[4]", "a value that differs from item 0")


def test_one_secret_is_among_the_responses_to_retries():
    retries = {**KEY, "times": 4, "collect": {"secrets": "value", "keys": "key"}}

    report = run_story(
        [
            retries,
            {"check": {"secrets": {"item_count": {"of": "*", "is": 1}}}},
            {"check": {"keys": {"item_count": 4, "each": {"name": "ci"}}}},
        ]
    )

    assert report["passed"]


def test_a_collected_list_can_exclude_values():
    other_page = {
        **LIST,
        "query": {"limit": 4, "cursor": "${next}"},
        "expect": {"body": {"items": {"each": {"id": {"not_in": "${ids}"}}}}},
    }
    same_page = {**other_page, "query": {"limit": 4}}

    assert verdict_of([PAGES[0], other_page]) == "green"
    assert verdict_of([PAGES[0], same_page]) == "red"


def test_a_claim_about_a_list_to_which_nothing_was_added_fails():
    refusal = {
        **DOMAINS,
        "user": "reader",
        "expect": {"status": 403},
        "collect": {"ids": "title /x/"},
    }

    report = run_story([refusal, {"check": {"ids": {"distinct": True}}}])

    [(_, _, message)] = differences_of(report["steps"][-1])
    assert message == "no values were collected as ids: no response had title"


def test_a_lost_response_is_collected_without_a_status_and_a_code():
    fault = {"truncate": {}, "times": 1}
    refused = {**LIST, "query": {"cursor": "x"}, "collect": {"all": "response"}}
    is_lost = {"lost": "truncate", "status": None, "code": None, "body": None}
    is_refused = {"lost": None, "status": 400, "code": "invalid_request"}
    story = [
        {**refused, "expect": {"lost": "truncate"}},
        {**refused, "expect": {"status": 400}},
        {"check": {"all": {"item_count": {"of": is_lost, "is": 1}}}},
        {"check": {"all": {"item_count": {"of": is_refused, "is": 1}}}},
    ]

    assert verdict_of(story, [fault]) == "green"


def test_a_lost_response_has_no_field_to_collect():
    collecting = {**LIST, "collect": {"ids": "items.*.id"}}
    story = [
        {**collecting, "expect": {"lost": "timeout"}},
        {**collecting, "query": {"limit": 2}},
        {"check": {"ids": {"item_count": 2}}},
    ]

    assert verdict_of(story, [{"timeout": {}, "times": 1}]) == "green"


@pytest.mark.parametrize(("pattern", "verdict"), [("/json/", "green"), ("/html/", "red")])
def test_headers_of_several_responses_are_collected(pattern: str, verdict: Verdict):
    listing = {**LIST, "times": 2, "collect": {"types": "headers.Content-Type"}}

    assert verdict_of([listing, {"check": {"types": {"each": pattern}}}]) == verdict


def test_the_last_of_several_tries_is_collected():
    fault = {"abort": {"code": "rate_limited"}, "times": 2}
    story = [
        {**LIST, "tries": 5, "collect": {"statuses": "response.status"}},
        {"check": {"statuses": {"item_count": 1, "each": 200}}},
    ]

    assert verdict_of(story, [fault]) == "green"


@pytest.mark.parametrize(
    ("story", "mark", "words"),
    [
        ("[{call: list_deployments, collect: {x: items.*.idd}}]", "items.*.idd", "mean id?"),
        ("[{call: list_deployments, collect: {now: items}}]", "now", "the world's time"),
        ("[{call: list_deployments, collect: {x: next_cursor.*}}]", "next_", "items of a list"),
        ("[{call: list_deployments, collect: {x: headers.A x}}]", "headers", "is not a path"),
        ("[{call: list_deployments, save: {x: items.*.id}}]", "items", "use collect"),
        (
            "[{call: list_deployments, save: {y: id}, collect: {y: items}}]",
            "y: items",
            "saved value",
        ),
        (
            "[{call: list_deployments, collect: {y: items}}, {sign_in: owner, save: {y: a}}]",
            "y: a",
            "a list",
        ),
        ("[{advance: 1s, collect: {x: items}}]", "collect", "collect is an option of call"),
        (
            "[{together: [{call: list_deployments, times: 2}], collect: {x: items}}]",
            "collect",
            "write collect in the requests",
        ),
        ("[{check: {ids: {distinct: true}}}]", "ids", "saved value 'ids'"),
    ],
)
def test_a_collection_that_cannot_be_is_refused_at_its_place(story: str, mark: str, words: str):
    line = f"story: {story}"

    error = scenario_error(line)

    assert words in error.message
    assert (error.line, error.column) == (3, line.index(mark) + 1)


# --- several requests at once --------------------------------------------------------------------


def test_a_single_request_comes_together_only_with_itself():
    error = scenario_error("story: [{together: [{call: list_deployments}]}]")

    assert "add another request, or times" in error.message
    assert verdict_of([{"together": [{**LIST, "times": 2}]}]) == "green"


def test_each_repetition_of_a_request_saves_its_values():
    report = run_story([*PAGES, {**LIST, "query": {"limit": 4, "cursor": "${next}"}}])

    assert report["passed"]


# --- saved values and responses ------------------------------------------------------------------


def test_same_as_compares_every_field_of_a_saved_value():
    story = [
        {**KEY, "save": {"key": "key"}},
        {**KEY, "expect": {"body": {"key": {"same_as": "${key}"}}}},
        {"check": {"key": {"not": {"same_as": {"name": "ci"}}}}},
    ]

    assert verdict_of(story) == "green"
    assert verdict_of([*story, {"check": {"key": {"same_as": {"name": "ci"}}}}]) == "red"


def test_a_saved_response_may_be_named_like_a_variable():
    first = {**DOMAINS, "key": "k", "save": {"first": "response", "id": "id"}}

    assert (
        verdict_of([first, {**DOMAINS, "key": "k", "expect": {"same_as": "${first}"}}]) == "green"
    )
    assert verdict_of([first, {**DOMAINS, "key": "l", "expect": {"same_as": "${first}"}}]) == "red"


@pytest.mark.parametrize(
    ("expect", "mark", "words"),
    [
        ('{same_as: "${id}"}', '"${id}"', "id is a saved value, not a whole response"),
        ('{body: {id: "${first}"}}', '"${first}"', "as in expect: {same_as: first}"),
    ],
)
def test_a_saved_value_is_no_saved_response(expect: str, mark: str, words: str):
    line = f"  - {{call: apply_project_domains, expect: {expect}}}"

    error = scenario_error(
        f"""
story:
  - {{call: apply_project_domains, save: {{first: response, id: id}}}}
{line}
"""
    )

    assert words in error.message
    assert (error.line, error.column) == (5, line.index(mark) + 1)


# --- order ---------------------------------------------------------------------------------------


def test_timestamps_are_sorted_by_the_time_for_which_they_stand():
    times = [{"at": "2026-01-01T10:00:00+02:00"}, {"at": "2026-01-01T09:00:00Z"}]
    fault = {"respond": {"content": json.dumps({"times": times})}}

    claim = {"body": {"times": {"sorted_by": "at", "distinct": "at"}}}

    assert verdict_of([{**LIST, "expect": claim}], [fault]) == "green"


@pytest.mark.parametrize(
    ("claim", "mark", "expected"),
    [
        (
            "{words: {sorted_by: status}}",
            "status",
            "a value that can be sorted: a number, a timestamp or an id",
        ),
        (
            "{word: {distinct: true}}",
            "true",
            "a list, because distinct applies to the items of a list",
        ),
        (
            "{id: {above: 2026-01-01T00:00:00Z}}",
            "2026",
            "above 2026-01-01T00:00:00Z (this value cannot be compared with timestamps)",
        ),
        (
            "{id: {above: 7}}",
            "7",
            "above 7 (this value cannot be compared with numbers)",
        ),
    ],
)
def test_a_value_without_the_order_fails_with_the_reason_and_its_place(
    claim: str, mark: str, expected: str
):
    line = f"  - check: {claim}"

    report = run(
        f"""
story:
  - {{call: list_deployments, save: {{words: items, word: items.0.status, id: items.0.id}}}}
{line}
"""
    )

    [difference] = report["steps"][-1]["differences"]
    assert difference["expected"] == expected
    assert (difference["line"], difference["column"]) == (5, line.index(mark) + 1)


@pytest.mark.parametrize(
    ("claim", "word"),
    [
        ("unique: id", "distinct"),
        ("all: {id: x}", "each"),
        ("order_by: id", "sorted_by"),
        ("size: 3", "item_count"),
        ("sortd_by: id", "sorted_by"),
    ],
)
def test_a_word_of_another_tool_is_refused_with_ours(claim: str, word: str):
    line = f"story: [{{call: list_deployments, expect: {{body: {{items: {{{claim}}}}}}}}}]"

    error = scenario_error(line)

    assert f"did you mean {word}?" in error.message
    assert (error.line, error.column) == (3, line.index(claim) + 1)


def test_each_difference_of_a_step_has_the_place_of_its_claim():
    report = run(
        """
story:
  - together:
      - {call: list_deployments}
      - call: get_dns_authorization
        expect:
          status: 204
          headers: {Retry-After: 7}
          body:
            status: expired
            scopes: {has: dns.write, item_count: 1}
          absent: [zone]
"""
    )

    places = {
        difference["at"].removeprefix("together[1]."): (difference["line"], difference["column"])
        for difference in report["steps"][-1]["differences"]
    }
    assert places == {
        "status": (8, 19),
        "headers.Retry-After": (9, 34),
        "body.status": (11, 21),
        "body.scopes (number of items)": (12, 50),
        "body.zone": (13, 20),
    }
