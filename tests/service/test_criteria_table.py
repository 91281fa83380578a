"""Every word of the language of filters and expectations: a true, a false and an impossible value.

The tables must have a row for each declared word, so a new word without a row fails here. The test
`tests/criteria/test_bodies.py` generates claims about response bodies.
"""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator.sdk import ControlRefused, Filters, HostingEmulator
from tests.support.http_world import HttpWorld
from tests.support.stories import Verdict, schema_check, verdict_of

Step = dict[str, Any]
FAULTS = [
    {
        "abort": {"code": "rate_limited", "retry_after_seconds": 7},
        "call": "get_dns_authorization",
        "optional": True,
    },
    {"gateway_error": {"status": 502}, "call": "read_database_compute", "optional": True},
    {"timeout": {}, "call": "create_dev_access_ticket", "optional": True},
]


def schema_words(part: str) -> set[str]:
    """Return the words that the schema of scenarios allows in a part of a step."""
    return set(schema_check().schema["$defs"][part]["properties"])


# --- What a step expects -------------------------------------------------------------------------

LIST: Step = {"call": "list_deployments"}
#: Refused with 429 and a Retry-After of 7.
LIMITED: Step = {"call": "get_dns_authorization"}
#: An HTML page with the status 502.
GATEWAY: Step = {"call": "read_database_compute", "query": {"environment": "prod"}}
LOST: Step = {"call": "create_dev_access_ticket"}
DOMAINS: Step = {"call": "apply_project_domains"}
SAVED: Step = {**LIST, "save": {"first": "response"}}
REFUSED: Step = {**LIST, "user": "outsider"}

EXPECTATIONS: dict[str, list[tuple[Step, Any, Verdict]]] = {
    "status": [
        (LIMITED, {"status": 429}, "green"),
        (LIMITED, {"status": "4xx"}, "green"),
        (LIMITED, {"status": [200, 429]}, "green"),
        (LIMITED, {"status": {"not": 200}}, "green"),
        (LIMITED, {"status": {"one_of": ["4xx", 500]}}, "green"),
        (LIMITED, {"status": 200}, "red"),
        (LIMITED, {"status": "5xx"}, "red"),
        (LIMITED, {"status": {"not": "4xx"}}, "red"),
        (LIMITED, {"status": {"not": [429, 500]}}, "red"),
        (LIMITED, {"status": {"not": "200"}}, "refused"),
        (LIMITED, {"status": "429"}, "refused"),
        (LIMITED, {"status": 999}, "refused"),
        (LIMITED, {"status": None}, "refused"),
        (LIMITED, {"status": []}, "refused"),
        (LIMITED, {"status": True}, "refused"),
        (LIMITED, {"status": {"below": 200}}, "refused"),
        (LIMITED, {"status": {"one_of": [200], "not": 200}}, "refused"),
        (LIST, {}, "green"),
        (REFUSED, {}, "red"),
        (GATEWAY, {}, "red"),
    ],
    "code": [
        (LIMITED, {"code": "rate_limited"}, "green"),
        (LIMITED, {"code": ["rate_limited", "forbidden"]}, "green"),
        (LIST, {"code": None}, "green"),
        (GATEWAY, {"status": 502, "code": None}, "green"),
        (LIMITED, {"code": "forbidden"}, "red"),
        (LIMITED, {"code": None}, "red"),
        (LIMITED, {"status": 429, "code": {"not": "rate_limited"}}, "red"),
        (GATEWAY, {"code": None}, "red"),
        (LIST, {"code": [None]}, "green"),
        (LIST, {"code": [None, "rate_limited"]}, "green"),
        (LIMITED, {"code": [None, "rate_limited"]}, "green"),
        (GATEWAY, {"code": [None]}, "red"),
        (GATEWAY, {"code": {"one_of": [None]}}, "red"),
        (GATEWAY, {"code": [None, "rate_limited"]}, "red"),
        (GATEWAY, {"code": {"optional": "forbidden"}}, "red"),
        (LIST, {"code": {"not": "*"}}, "refused"),
        (LIST, {"code": "forbidden"}, "red"),
        (LIMITED, {"code": "ratelimited"}, "refused"),
        (LIST, {"status": 200, "code": "forbidden"}, "refused"),
    ],
    "body": [
        (LIST, {"body": {}}, "green"),
        (LIST, {"body": {"items": {"has": {"status": "ready"}}}}, "green"),
        (DOMAINS, {"body": {"state": {"not": ["running", "failed"]}}}, "green"),
        (DOMAINS, {"body": {"state": {"not": ["queued", "failed"]}}}, "red"),
        (REFUSED, {"body": {"code": "resource_not_found"}}, "refused"),
        (REFUSED, {"status": 404, "body": {"code": "resource_not_found"}}, "green"),
        (GATEWAY, {"status": 502, "body": {}}, "red"),
        (LIST, {"body": None}, "refused"),
        (LIST, {"body": {"item": "*"}}, "refused"),
        (LIST, {"body": {"items": {"00": "*"}}}, "refused"),
        (LIST, {"body": {"not": {}}}, "refused"),
        (DOMAINS, {"body": {"state": {"one_of": ["queued"], "not": "queued"}}}, "refused"),
    ],
    "absent": [
        (DOMAINS, {"absent": ["blocking_operation_id", "error.code"]}, "green"),
        (DOMAINS, {"absent": ["progress.phase"]}, "red"),
        (LIST, {"absent": ["items.0.id"]}, "red"),
        (REFUSED, {"absent": ["next_cursor"]}, "red"),
        (GATEWAY, {"absent": ["database"]}, "red"),
        (DOMAINS, {"absent": ["progress.fase"]}, "refused"),
        (LIMITED, {"absent": ["next_cursor"]}, "refused"),
    ],
    "items": [
        (LIST, {"items": 20}, "green"),
        (LIST, {"items": {"not": 3}}, "green"),
        (LIST, {"items": {"not": 20}}, "red"),
        (REFUSED, {"items": {"not": 3}}, "red"),
        (LIST, {"items": "20"}, "refused"),
        (LIST, {"items": 101}, "refused"),
        (LIST, {"items": {"at_least": 20, "at_most": 20, "not": 20}}, "refused"),
        (LIMITED, {"items": {"not": 3}}, "refused"),
    ],
    "headers": [
        (LIMITED, {"status": 429, "headers": {"Retry-After": 7}}, "green"),
        (LIMITED, {"status": 429, "headers": {"retry-after": "7"}}, "green"),
        (LIMITED, {"status": 429, "headers": {"Retry-After": {"not": 8}}}, "green"),
        (LIST, {"headers": {"Retry-After": None}}, "green"),
        (LIMITED, {"status": 429, "headers": {"Retry-After": {"not": 7}}}, "red"),
        (LIMITED, {"status": 429, "headers": {"Retry-After": None}}, "red"),
        (LIST, {"headers": {"Retry-After": {"not": 7}}}, "red"),
        (LIST, {"headers": {"Retry-Aftr": None}}, "refused"),
        (LIST, {"headers": {"Date": "2026-01-01T00:00:00Z"}}, "green"),
        (LIST, {"headers": {"Date": "Thu, 01 Jan 2026 00:00:00 GMT"}}, "green"),
        (LIST, {"headers": {"Date": {"below": "${now+1s}", "at_least": "${now}"}}}, "green"),
        (LIST, {"headers": {"Date": {"above": "${now}"}}}, "red"),
        (LIST, {"headers": {"Server": "*"}}, "refused"),
    ],
    "html": [
        (GATEWAY, {"status": 502, "html": True}, "green"),
        (GATEWAY, {"status": 502, "html": False}, "red"),
        (GATEWAY, {"html": True}, "red"),
        (LIST, {"html": "no"}, "refused"),
        (LIST, {"html": {"not": [True, False]}}, "refused"),
        (LIST, {"html": None}, "refused"),
    ],
    "lost": [
        (LOST, {"lost": "timeout"}, "green"),
        (LOST, {"lost": ["timeout", "truncate"]}, "green"),
        (LOST, {"lost": True}, "green"),
        (LIST, {"lost": None}, "green"),
        (LOST, {"lost": "truncate"}, "red"),
        (LOST, {"lost": {"not": "timeout"}}, "red"),
        (LOST, {"lost": False}, "red"),
        (LIST, {"lost": [False]}, "green"),
        (LIST, {"lost": {"not": "timeout"}}, "green"),
        (REFUSED, {"lost": [None], "status": 404}, "green"),
        (REFUSED, {"lost": [False]}, "red"),
        (REFUSED, {"lost": [None, "timeout"]}, "red"),
        (REFUSED, {"lost": {"not": "timeout"}}, "red"),
        (GATEWAY, {"lost": {"not": True}}, "red"),
        (GATEWAY, {"lost": {"one_of": [False, None]}}, "red"),
        (LOST, {"lost": [False]}, "red"),
        (LOST, {"lost": {"not": "truncate"}, "status": 201}, "refused"),
        (LOST, {}, "red"),
        (LOST, {"lost": "timeot"}, "refused"),
        (LOST, {"lost": "timeout", "status": 418}, "refused"),
        (LOST, {"lost": "timeout", "body": {"enabled": "nonsense"}}, "refused"),
    ],
    "delayed": [
        (LIST, {"delayed": False}, "green"),
        (LIST, {"delayed": True}, "red"),
        (LIST, {"delayed": "no"}, "refused"),
    ],
    "same_as": [
        (LIST, {"same_as": "first"}, "green"),
        ({**LIST, "query": {"limit": 1}}, {"same_as": "first"}, "red"),
        (LIST, {"same_as": "frist"}, "refused"),
        (LIST, {"same_as": None}, "refused"),
    ],
}


def test_every_expectation_has_a_true_a_false_and_an_impossible_row():
    assert set(EXPECTATIONS) == schema_words("ExpectPart")
    for rows in EXPECTATIONS.values():
        assert {verdict for _, _, verdict in rows} == {"green", "red", "refused"}


@pytest.mark.parametrize(
    ("step", "expect", "verdict"),
    [row for rows in EXPECTATIONS.values() for row in rows],
    ids=lambda value: value["call"] if isinstance(value, dict) and "call" in value else str(value),
)
def test_an_expectation_is_green_only_if_it_is_true(step: Step, expect: Any, verdict: Verdict):
    assert verdict_of([SAVED, {**step, "expect": expect}], FAULTS) == verdict


# --- What a story finds in the log ---------------------------------------------------------------

#: Nine requests: seven by the owner, one without a token, one by an outsider.
REQUESTS: list[Step] = [
    LIST,
    {**REFUSED, "expect": {"status": 404}},
    {**DOMAINS, "key": "k", "save": {"op": "id"}},
    {**DOMAINS, "key": "k"},
    {**LOST, "expect": {"lost": "timeout"}},
    {**LIMITED, "expect": {"status": 429}},
    {"poll": "${op}"},
    {"request": "GET /v1/nowhere", "expect": {"status": 404}},
    {**LIST, "user": "nobody", "expect": {"status": 401}},
]
UNKNOWN_ID = "01JGFJJZ00WJ23PB5JRWGKGJQK"
LOGS: dict[str, list[tuple[Any, int | None, Verdict]]] = {
    "call": [
        ("list_deployments", 3, "green"),
        ("listDeployments", 3, "green"),
        ("none", 1, "green"),
        (None, 1, "green"),
        (["list_deployments", "get_operation"], 4, "green"),
        ({"not": "list_deployments"}, 6, "green"),
        ("/list/", 3, "green"),
        ("list_deployments", 0, "red"),
        ("list_deployment", 0, "refused"),
        ("/lsit/", 0, "refused"),
        ({"nott": "list_deployments"}, 0, "refused"),
    ],
    "method": [
        ("PUT", 2, "green"),
        (["put"], 2, "green"),
        ("DELETE", 0, "green"),
        ({"one_of": ["PUT"], "not": "put"}, 0, "refused"),
        (["put"], 0, "red"),
        ("PUTT", 0, "refused"),
    ],
    "path": [
        ("/v1/projects/*/domains", 2, "green"),
        ("/v1/projects/{project_id}/domains", 2, "green"),
        ("/domains$/", 2, "green"),
        ({"not": "*/domains"}, 7, "green"),
        ("/v1/projects/{}/domains", 0, "refused"),
        ("/v1/projects/{project-id}/domains", 0, "refused"),
        ("/v1/projects/*/domains", 0, "red"),
        ("http://127.0.0.1/v1/projects/*/domains", 0, "refused"),
        ("/v1/projects/*/domains?limit=1", 0, "refused"),
        ("/worlds/w/v1/projects/*/domains", 0, "refused"),
    ],
    "user": [
        ("owner", 7, "green"),
        ("${user.owner}", 7, "green"),
        ("nobody", 1, "green"),
        (["owner", "outsider"], 8, "green"),
        ({"not": "owner"}, 2, "green"),
        ("owner", 0, "red"),
        ({"not": "owner"}, 9, "red"),
        ("onwer", 0, "refused"),
    ],
    "project": [
        ("shop", 8, "green"),
        ("${project.shop}", 8, "green"),
        ({"not": "shop"}, 1, "green"),
        ("shop", 0, "red"),
        ("shpo", 0, "refused"),
    ],
    "operation": [
        ("${op}", 3, "green"),
        ("${op}", 0, "red"),
        (UNKNOWN_ID, 0, "red"),
        ("nonsense", 0, "refused"),
    ],
    "status": [
        ("4xx", 4, "green"),
        (404, 2, "green"),
        (0, 1, "green"),
        ([401, 404], 3, "green"),
        ({"at_least": 400, "below": 404}, 1, "green"),
        ("4xx", 0, "red"),
        ("404", 0, "refused"),
        (999, 0, "refused"),
    ],
    "code": [
        ("rate_limited", 1, "green"),
        (None, 5, "green"),
        ("rate_limited", 0, "red"),
        ("ratelimited", 0, "refused"),
    ],
    "key": [("k", 2, "green"), (None, 7, "green"), ("k", 0, "red"), (5, 0, "refused")],
    "replayed": [
        (True, 1, "green"),
        ({"not": True}, 8, "green"),
        ({"not": [True, False]}, 0, "refused"),
        (True, 0, "red"),
        ("yes", 0, "refused"),
    ],
    "lost": [
        ("timeout", 1, "green"),
        (True, 1, "green"),
        (False, 8, "green"),
        (None, 8, "green"),
        ("timeout", 0, "red"),
        ("conection_reset", 0, "refused"),
    ],
    "failed": [(True, 5, "green"), (False, 5, "red"), ("no", 0, "refused")],
    "fault": [
        ("abort", 1, "green"),
        ("fault-1", 1, "green"),
        (None, 7, "green"),
        ({"not": "abort"}, 8, "green"),
        ("abort", 0, "red"),
        ({"not": "abort"}, 9, "red"),
        ("fault-9", 0, "red"),
        ("abrt", 0, "refused"),
    ],
    "why": [
        ("/no call has this path/", 1, "green"),
        (None, None, "green"),
        ("/no call has this path/", 0, "red"),
        (7, 0, "refused"),
    ],
}
COUNTS: list[tuple[Any, Verdict]] = [
    (9, "green"),
    ([8, 9], "green"),
    ({"above": 8, "below": 10}, "green"),
    (8, "red"),
    ({"not": 9}, "red"),
    (-1, "refused"),
    ("9", "refused"),
    (None, "refused"),
    ({"below": 0}, "refused"),
    ({"above": 8, "below": 9}, "refused"),
]


def test_every_filter_of_the_log_has_a_true_a_false_and_an_impossible_row():
    assert {*LOGS, "count"} == schema_words("LogPart")
    for rows in LOGS.values():
        assert {verdict for _, _, verdict in rows} == {"green", "red", "refused"}


@pytest.mark.parametrize(
    ("name", "expected", "count", "verdict"),
    [(name, *row) for name, rows in LOGS.items() for row in rows],
    ids=str,
)
def test_a_filter_of_the_log_is_green_only_if_it_is_true(
    name: str, expected: Any, count: int | None, verdict: Verdict
):
    log = {name: expected} | ({} if count is None else {"count": count})

    assert verdict_of([*REQUESTS, {"log": log}], FAULTS) == verdict


@pytest.mark.parametrize(("count", "verdict"), COUNTS, ids=str)
def test_a_count_is_green_only_if_it_is_true(count: Any, verdict: Verdict):
    assert verdict_of([*REQUESTS, {"log": {"count": count}}], FAULTS) == verdict


# --- Steps that contradict themselves ------------------------------------------------------------


@pytest.mark.parametrize(
    "step",
    [
        {**LIST, "user": "owner", "token": "x"},
        {**LIST, "headers": {"Authorization": "Bearer x"}, "user": "owner"},
        {**DOMAINS, "headers": {"Idempotency-Key": "a"}, "key": "b"},
        {**LIST, "body": {}, "text": "{}"},
        {"clear_faults": False},
        {"clear_outcomes": False},
        {**LOST, "expect": {"lost": "timeout"}, "save": {"id": "ticket_id"}},
        {**LIST, "token": "x", "interactive": False},
        {**LIST, "token": "x", "organization": "hobby"},
        {**LIST, "user": "nobody", "interactive": False},
        {"call": "create_user_api_key", "body": {"name": "ci"}, "project": "blog"},
        {**LIST, "pause": "5s"},
        {"together": [{**LIST, "tries": 3}, LIST]},
        {"together": [LIST, {**LIST, "tries": 2, "pause": "5s"}]},
        {**LIST, "query": {"limit": None}},
        {**LIST, "query": {"limit": [1]}},
        {"api_key": "owner", "body": {"nmae": "ci"}},
        {"until": "nonsense"},
        {"remove_fault": "falut-1"},
        {"remove_outcome": "fault-1"},
    ],
    ids=str,
)
def test_a_step_that_contradicts_itself_is_refused(step: Step):
    assert verdict_of([step], FAULTS) == "refused"


def test_a_value_that_a_variable_makes_impossible_fails():
    story = [
        {**LIST, "save": {"status": "items.0.status"}},
        {**DOMAINS, "expect": {"body": {"id": {"not": "${status}"}}}},
    ]

    assert verdict_of(story) == "red"


@pytest.mark.parametrize(
    ("expected", "verdict"),
    [
        (["ready", "failed"], "green"),
        ({"not": ["failed"]}, "green"),
        (["failed"], "red"),
        ({"not": ["ready", "failed"]}, "red"),
        ([], "red"),
        ({}, "red"),
        ({"at_leest": 3, "not": 5}, "refused"),
    ],
    ids=str,
)
def test_a_check_of_a_saved_value_is_green_only_if_it_is_true(expected: Any, verdict: Verdict):
    saved = {**LIST, "query": {"limit": 1}, "save": {"status": "items.0.status"}}

    assert verdict_of([saved, {"check": {"status": expected}}]) == verdict


# --- The SDK -------------------------------------------------------------------------------------


@pytest.fixture
def world_with_requests(api: HttpWorld) -> HostingEmulator:
    """A world with six requests; the third and fourth are about an operation."""
    emulator = api.emulator
    api.deployments()
    api.deployments(user="outsider")
    operation = api.apply_domains(key="k").json
    api.apply_domains(key="k")
    api.call("GET", "/v1/nowhere")
    api.call("GET", api.project_path("deployments"), token="wrong")
    emulator.operation_document = operation  # type: ignore[attr-defined]
    return emulator


#: Values of each filter, and how many requests match; None stands for an impossible value.
SDK: dict[str, list[tuple[Any, int | None]]] = {
    "call": [
        ("list_deployments", 3),
        ("applyProjectDomains", 2),
        (["list_deployments", "apply_project_domains"], 5),
        ("/list/", 3),
        ("/lsit/", None),
        ("none", 1),
        ("list_deployment", None),
        (7, None),
    ],
    "user": [
        ("owner", 4),
        ("nobody", 1),
        (["owner", "outsider"], 5),
        ({"not": "owner"}, 2),
        ("onwer", None),
        (["onwer"], None),
        (7, None),
    ],
    "project": [
        ("shop", 5),
        ("blog", 0),
        (["shop", "blog"], 5),
        ({"not": "shop"}, 1),
        ({"one_of": ["shop"]}, 5),
        ("/^shop$/", 5),
        ("shpo", None),
        (["shpo"], None),
    ],
    "operation": [
        ("DOCUMENT", 2),
        ("ID", 2),
        ("nonsense", None),
        ({"one_of": ["ID"]}, 2),
        ({"not": "DOCUMENT"}, 4),
        (UNKNOWN_ID, None),
        ({"not": UNKNOWN_ID}, None),
        ({"one_of": [UNKNOWN_ID]}, None),
        ({"state": "queued"}, None),
    ],
    "method": [("PUT", 2), ("get", 4), ("DELETE", 0), ("PUTT", None), (["PUTT"], None)],
    "path": [
        ("/v1/projects/*/domains", 2),
        ("*/domains", 2),
        ("/v1/projects/{project_id}/domains", 2),
        ("/v1/projects", 0),
        ("URL", None),
        ("/v1/projects/*/domains?x=1", None),
        ("domains", None),
        (7, None),
    ],
    "key": [("k", 2), ("other", 0), (5, None)],
    "status": [
        (404, 2),
        ("4xx", 3),
        ([401, 404], 3),
        ({"at_least": 400}, 3),
        (500, 0),
        ("200", None),
        (999, None),
        (True, None),
        ("9xx", None),
        (range(400, 405), 3),
        ({"one_of": [404], "not": 404}, None),
    ],
    "code": [("unauthenticated", 1), ("forbidden", 0), ("forbiden", None), (401, None)],
    "replayed": [
        (True, 1),
        (False, 5),
        ("yes", None),
        (1, None),
        ({"not": [True, False]}, None),
    ],
    "lost": [(True, 0), (False, 6), ("timeout", 0), ("timeot", None), (1, None)],
    "failed": [(True, 3), (False, 3), ("no", None)],
}


def with_names(value: Any, replacements: dict[str, Any]) -> Any:
    """Replace names such as DOCUMENT in a filter's value."""
    if isinstance(value, dict):
        return {word: with_names(inner, replacements) for word, inner in value.items()}
    if isinstance(value, list):
        return [with_names(inner, replacements) for inner in value]
    return replacements.get(value, value) if isinstance(value, str) else value


def test_every_filter_of_the_sdk_has_true_false_and_impossible_values():
    assert set(SDK) == {"call", *Filters.__annotations__}
    for rows in SDK.values():
        assert None in {count for _, count in rows}
        assert any(count for _, count in rows)


@pytest.mark.parametrize("name", SDK)
def test_an_assertion_of_the_sdk_passes_only_if_it_is_true(
    world_with_requests: HostingEmulator, name: str
):
    operation = world_with_requests.operation_document  # type: ignore[attr-defined]
    replacements = {
        "DOCUMENT": operation,
        "ID": operation["id"],
        "URL": world_with_requests.url("/v1/projects/{project}/domains"),
    }
    for value, count in SDK[name]:
        filters: Any = {name: with_names(value, replacements)}
        if count is None:
            for refused in (
                world_with_requests.requests.assert_not_made,
                world_with_requests.requests.assert_made,
            ):
                with pytest.raises((TypeError, ValueError)):
                    refused(**filters)
            continue
        world_with_requests.requests.assert_made(**filters, times=count)
        for other_count in (count + 1, max(0, count - 1) if count else 2):
            with pytest.raises(AssertionError):
                world_with_requests.requests.assert_made(**filters, times=other_count)
        if count:
            with pytest.raises(AssertionError):
                world_with_requests.requests.assert_not_made(**filters)
        else:
            world_with_requests.requests.assert_not_made(**filters)


@pytest.mark.parametrize(
    "counts",
    [{"times": "2"}, {"times": -1}, {"at_least": True}, {"at_least": 3, "at_most": 1}],
    ids=str,
)
def test_an_impossible_count_in_the_sdk_raises_a_type_error(
    hosting_emulator: HostingEmulator, counts: Any
):
    with pytest.raises(TypeError):
        hosting_emulator.requests.assert_made(**counts)


@pytest.mark.parametrize("name", [name for name in SDK if name != "key"])
def test_the_sdk_has_no_variables(world_with_requests: HostingEmulator, name: str):
    filters: Any = {name: ["${x}"]}

    for refused in (
        world_with_requests.requests.assert_not_made,
        world_with_requests.requests.assert_made,
    ):
        with pytest.raises((TypeError, ValueError)):
            refused(**filters)


@pytest.mark.parametrize(
    "filters",
    [
        {"status": "*"},
        {"status": "${x}"},
        {"status": "/4/"},
        {"status": "0404"},
        {"status": "999"},
        {"call": "*"},
        {"call": "/list/"},
        {"call": "${x}"},
        {"call": "list_deployment"},
    ],
    ids=str,
)
def test_the_control_api_refuses_a_filter_that_can_never_match(
    world_with_requests: HostingEmulator, filters: Any
):
    with pytest.raises(ControlRefused) as refused:
        world_with_requests.requests.page(**filters)

    assert refused.value.status == 400
