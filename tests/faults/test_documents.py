"""Documents of faults: a mistake is refused with a suggestion, and a fault is shown as written."""

from typing import Any

import pytest
from msgspec.structs import replace

from hosting_emulator.contract.calls import CALLS
from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.faults.arming import invalid_reason
from hosting_emulator.faults.categories import FAULT, OUTCOME, RULE_FIELDS, RuleCategory
from hosting_emulator.faults.kinds import fault_kinds
from hosting_emulator.faults.views import describe_kinds
from hosting_emulator.faults.written_effects import read_effect
from tests.faults.conftest import Desk
from tests.support.in_process import InProcess

REFUSED: list[tuple[dict[str, Any], str, list[str]]] = [
    ({}, "", ["exactly one effect", "abort", "; none is given"]),
    ({"call": "list_deployments"}, "", ["exactly one effect", "none is given"]),
    ({"timeout": {}, "abort": {"code": "forbidden"}}, "", ["timeout and abort are given"]),
    ({"time_out": {}}, "time_out", ["'time_out'", "did you mean timeout"]),
    ({"timeout": {}, "tims": 1}, "tims", ["'tims'", "did you mean times"]),
    ({"timeout": {}, "skip": 1}, "skip", ["'skip'"]),
    ({"timeout": 5}, "timeout", ["object of options"]),
    ({"timeout": []}, "timeout", ["object of options"]),
    ({"timeout": {"seconds": 1}}, "timeout.seconds", ["'seconds'", "it takes nothing"]),
    (
        {"nonsense": {}},
        "nonsense",
        ["there is no fault 'nonsense'; the kinds are abort, ", "timeout"],
    ),
    (
        {"list_deployments": {"abort": {}}},
        "list_deployments",
        ["list_deployments is a call: write call: list_deployments beside one of the kinds"],
    ),
    ({"latenci": {}}, "latenci", ["there is no fault 'latenci'; did you mean latency?"]),
    ({"timeout": {}, "tims": 2}, "tims", ["a fault has no field 'tims'; did you mean times?"]),
    ({"timeout": {}, "user": "reader"}, "user", ["did you mean principal?"]),
    ({"timeout": {}, "count": 2}, "count", ["did you mean times?"]),
    ({"timeout": {}, "before_commit": True}, "before_commit", ["unless after_commit is true"]),
    ({"delay": {"ms": 5}}, "delay", ["there is no fault 'delay'; did you mean latency?"]),
    ({"effect": "timeout"}, "effect", ["the kind is itself a key, as in timeout: {}"]),
    ({"type": "reset"}, "type", ["the kind is itself a key, as in connection_reset: {}"]),
    ({"truncate": None, "bytes": 5}, "bytes", ["an option of truncate", "truncate: {bytes: …}"]),
    ({"abort": 503}, "abort", ['such as {"code": "service_unavailable"}']),
    ({"abort": {}}, "abort", ["'code' is missing", 'as in {"code": "service_unavailable"}']),
    ({"timeout": {"call": "get_operation"}}, "timeout.call", ["next to the kind", "use --call)"]),
    ({"alter": {"user": "ada"}}, "alter.user", ["write principal next to the kind", "use --user)"]),
    ({"abort": {"code": "rate_limit"}}, "abort.code", ["did you mean rate_limited"]),
    ({"abort": {"cod": "forbidden"}}, "abort.cod", ["'cod'", "did you mean code"]),
    ({"abort": {"code": "forbidden", "status": 200}}, "abort.status", [">= 400"]),
    (
        {"abort": {"code": "forbidden", "status": 410}, "call": "set_project_powered_by_flag"},
        "abort.status",
        ["never returns 410", "400, 401, 403, 404, 409, 503", "leave out `status` to send 403"],
    ),
    (
        {
            "abort": {"code": "rate_limited", "status": 429},
            "path": "/v1/projects/*/powered-by-flag",
        },
        "abort.status",
        ["set_project_powered_by_flag never returns 429", "leave out `status` to send 400"],
    ),
    (
        {"abort": {"code": "forbidden", "status": "403"}},
        "abort.status",
        ["abort status must be"],
    ),
    (
        {"abort": {"code": "rate_limited", "retry_after_seconds": 0}},
        "abort.retry_after_seconds",
        [">= 1"],
    ),
    (
        {"gateway_error": {"status": 501}},
        "gateway_error.status",
        ["501 is not allowed; did you mean 50"],
    ),
    (
        {"gateway_error": {"status": 9}},
        "gateway_error.status",
        ["the allowed values are 500, 502, 503, 504"],
    ),
    ({"latency": {}}, "latency", ["delay_ms"]),
    ({"latency": {"delay_ms": -1}}, "latency.delay_ms", ["delay_ms must be a whole number >= 0"]),
    ({"latency": {"delay_ms": 600_001}}, "latency.delay_ms", ["<= 600000"]),
    (
        {"latency": {"delay_ms": "200ms"}},
        "latency.delay_ms",
        ["latency delay_ms must be a whole"],
    ),
    ({"latency": {"delay_ms": 1, "distribution": "flat"}}, "latency.distribution", ["flat"]),
    ({"truncate": {"bytes": -1}}, "truncate.bytes", [">= 0"]),
    ({"slow_response": {"bytes_per_second": 0}}, "slow_response.bytes_per_second", [">= 1"]),
    ({"rate_limit": {"limit": 1, "window": "1 fortnight"}}, "rate_limit.window", ["fortnight"]),
    ({"rate_limit": {"limit": 1, "window": "999ms"}}, "rate_limit.window", ["between 1s and 24h"]),
    ({"timeout": {}, "call": "list_deployment"}, "call", ["did you mean list_deployments"]),
    ({"timeout": {}, "call": "zzz"}, "call", ["use one of", *CALLS, "get_operation"]),
    ({"timeout": {}, "while": 5}, "while", ["must contain conditions, such as {dns: expired}"]),
    ({"timeout": {}, "while": {}}, "while", ["must contain conditions"]),
    ({"timeout": {}, "while": {"not": {}}}, "while.not", ["while.not must contain conditions"]),
    ({"timeout": {}, "project": "shap"}, "project", ["'shap'", "did you mean shop"]),
    ({"timeout": {}, "project": "zzz"}, "project", ["the projects are", "blog", "shop"]),
    ({"timeout": {}, "principal": "ownr"}, "principal", ["did you mean owner"]),
    ({"timeout": {}, "principal": "zzz"}, "principal", ["the users are", "reader"]),
    ({"timeout": {}, "method": "GOT"}, "method", ["'GOT'", "GET"]),
    ({"timeout": {}, "path": "v1/*"}, "path", ["never match", "/v1/projects/*/domains"]),
    ({"timeout": {}, "path": "/.service/*"}, "path", ["never match", "'/.service/*'"]),
    ({"timeout": {}, "path": "/worlds/default/v1/*"}, "path", ["never match"]),
    ({"timeout": {}, "path": "/v1/projects/*/deployments?limit=5"}, "path", ["without a query"]),
    ({"timeout": {}, "path": "/v1/*?limit=5"}, "path", ["without a query"]),
    ({"timeout": {}, "path": "/v1/projects/a/b/domains"}, "path", ["never match"]),
    (
        {"timeout": {}, "path": "/v1/projects/*/domains", "call": "list_deployments"},
        "path",
        ["does not match GET /v1/projects/{project_id}/deployments"],
    ),
    (
        {"timeout": {}, "method": "POST", "path": "/v1/nothing"},
        "path",
        [
            "does not match POST /v1/projects/{project_id}/source:initialize or POST ",
            "or POST /v1/projects/{project_id}/dev-access-tickets",
        ],
    ),
    (
        {"timeout": {}, "method": "GET", "path": "/v1/nothing"},
        "path",
        ["does not match any call; write a path such as"],
    ),
    ({"timeout": {}, "method": "DELETE"}, "method", ["'DELETE'", "GET, POST, PUT"]),
    (
        {"timeout": {}, "method": "PUT", "call": "list_deployments"},
        "method",
        ["does not match GET"],
    ),
    ({"timeout": {}, "project": "shop", "call": "create_user_api_key"}, "project", ["never match"]),
    ({"timeout": {}, "header": ["X"]}, "header", ["header must be a mapping"]),
    ({"timeout": {}, "header": {"X": 1}}, "header", ["header: each value must be a string"]),
    ({"timeout": {}, "times": 0}, "times", [">= 1"]),
    ({"timeout": {}, "times": "2"}, "times", ["times must be a whole number"]),
    ({"timeout": {}, "skip_first": -1}, "skip_first", [">= 0"]),
    ({"timeout": {}, "every": 0}, "every", [">= 1"]),
    ({"timeout": {}, "probability": 0}, "probability", ["> 0"]),
    ({"timeout": {}, "probability": 1.1}, "probability", ["<= 1"]),
    ({"timeout": {}, "from": "soon"}, "from", ["'soon'", "timestamp", "duration"]),
    ({"timeout": {}, "until": "2026-13-01T00:00:00Z"}, "until", ["timestamp"]),
    ({"timeout": {}, "until": "2020-01-01T00:00:00Z"}, "until", ["is not after the world's time"]),
    (
        {"timeout": {}, "from": "10m", "until": "5m"},
        "until",
        ["until (5m) is not after from (10m)"],
    ),
    (
        {"timeout": {}, "from": "10m", "until": "10m"},
        "until",
        ["until (10m) is not after from (10m)"],
    ),
    ({"timeout": {}, "until": "0s"}, "until", ["until (0s) is not after the world's time"]),
    ({"timeout": {}, "until": 5}, "until", ["a duration such as 5s"]),
    (
        {"timeout": {}, "from": 5},
        "from",
        ["from must be a timestamp such as", "a duration such as 5s"],
    ),
    (
        {"rate_limit": {"limit": 1, "window": 60}},
        "rate_limit.window",
        ["rate_limit window must be a duration, such as 5s"],
    ),
    ({"timeout": {}, "until": "long"}, "until", ["'long'", "10m"]),
    ({"timeout": {}, "after_commit": "yes"}, "after_commit", ["true or false"]),
    ({"sliced_response": {}}, "sliced_response", ["bytes"]),
    ({"sliced_response": {"bytes": 0}}, "sliced_response.bytes", [">= 1"]),
    ({"sliced_response": {"bytes": 1, "pause_ms": 0}}, "sliced_response.pause_ms", [">= 1"]),
    ({"stalled_response": {}}, "stalled_response", ["either pause_ms", "or world_pause"]),
    (
        {"stalled_response": {"pause_ms": 1, "world_pause": "1s"}},
        "stalled_response",
        ["either pause_ms", "or world_pause"],
    ),
    (
        {"stalled_response": {"world_pause": "0s"}},
        "stalled_response.world_pause",
        ["'0s' is not between 1ms and 365d"],
    ),
    (
        {"stalled_response": {"world_pause": "366d"}},
        "stalled_response.world_pause",
        ["'366d' is not between 1ms and 365d"],
    ),
    (
        {"stalled_response": {"world_pause": "soon"}},
        "stalled_response.world_pause",
        ["'soon' is not a duration"],
    ),
    ({"slow_upload": {"bytes_per_second": 0}}, "slow_upload.bytes_per_second", [">= 1"]),
    (
        {"reset_in_upload": {}, "after_commit": True},
        "after_commit",
        ["leave out after_commit"],
    ),
    ({"reset_in_upload": {}, "body": {"name": "x"}}, "body", ["before the request body", "known"]),
    ({"reset_in_upload": {}, "call": "idp_token"}, "call", ["idp_token is not one of them"]),
    (
        {"reset_in_upload": {}, "call": "apply_project_domains"},
        "call",
        ["never act: apply_project_domains has no request body"],
    ),
    ({"bad_certificate": {}}, "bad_certificate", ["'reason' is missing"]),
    ({"bad_certificate": {"reason": "old"}}, "bad_certificate.reason", ["expired, wrong_host"]),
    (
        {"bad_certificate": {"reason": "expired"}, "call": "list_deployments"},
        "call",
        ["before the call is known"],
    ),
    (
        {"bad_certificate": {"reason": "expired"}, "principal": "owner"},
        "principal",
        ["before the principal is known"],
    ),
    (
        {"bad_certificate": {"reason": "expired"}, "after_commit": True},
        "after_commit",
        ["leave out after_commit"],
    ),
    ({"timeout": {}, "pauses": ["30s"]}, "pauses", ["a start and an end"]),
    ({"timeout": {}, "pauses": ["30s", "20s"]}, "pauses", ["later than the previous time"]),
    ({"timeout": {}, "pauses": ["30s", "soon"]}, "pauses", ["'soon' is neither a timestamp"]),
    (
        {"timeout": {}, "from": "40s", "pauses": ["30s", "50s"]},
        "pauses",
        ["the first pause must begin after from (40s)"],
    ),
    (
        {"timeout": {}, "until": "50s", "pauses": ["30s", "50s"]},
        "pauses",
        ["the last pause must end before the fault ends"],
    ),
    ({"admission_window": {}}, "admission_window", ["'limit' is missing"]),
    ({"admission_window": {"limit": 0}}, "admission_window.limit", [">= 1"]),
    (
        {"admission_window": {"limit": 1, "window": "25h"}},
        "admission_window.window",
        ["'25h' is not between 1ms and 24h"],
    ),
    (
        {"admission_queue": {"limit": 1}},
        "admission_queue",
        ["the world's clock is frozen", "Use admission_window", "real or scaled"],
    ),
    ({"stale_read": {}}, "stale_read", ["'age' is missing"]),
    ({"stale_read": {"age": "0s"}}, "stale_read.age", ["'0s' is not between 1ms and 365d"]),
    ({"stale_read": {"age": "soon"}}, "stale_read.age", ["'soon' is not a duration"]),
    (
        {"stale_read": {"age": "1s"}, "after_commit": False},
        "after_commit",
        ["stale_read takes no after_commit", "a read is not committed"],
    ),
    (
        {"stale_read": {"age": "1s"}, "call": "apply_project_domains"},
        "call",
        ["never act", "list_deployments", "writes always see the current state"],
    ),
    ({"stale_read": {"age": "1s"}, "method": "PUT"}, "method", ["never act", "reads"]),
    (
        {"stale_read": {"age": "1s"}, "call": "redeem_ticket"},
        "call",
        ["redeem_ticket is not one of them"],
    ),
    (
        {"stale_read": {"age": "1s"}, "call": "read_database_compute"},
        "call",
        ["fresh, tenant-scoped observation", "breaking: true"],
    ),
    ({"deliver_twice": {}}, "deliver_twice", ["'response' is missing"]),
    ({"deliver_twice": {"response": "third"}}, "deliver_twice.response", ["first, second"]),
    (
        {"deliver_twice": {"response": "first"}, "after_commit": False},
        "after_commit",
        ["deliver_twice takes no after_commit", "the whole request is handled twice"],
    ),
    (
        {"deliver_twice": {"response": "first"}, "call": "idp_token"},
        "call",
        ["idp_token belongs to the identity provider"],
    ),
    (
        {"reset_in_upload": {}, "method": "GET"},
        "method",
        ["no matching call has a request body"],
    ),
    (
        {"reset_in_upload": {}, "path": "/v1/projects/*/edge-dns"},
        "path",
        ["get_dns_authorization has no request body"],
    ),
]


@pytest.mark.parametrize(("document", "field", "words"), REFUSED, ids=[str(r[0]) for r in REFUSED])
def test_a_fault_that_cannot_be_right_is_refused_with_its_field(
    desk: Desk, document: dict[str, Any], field: str, words: list[str]
):
    before = desk.world

    with pytest.raises(DocumentRefused) as caught:
        desk.arm(**document)

    assert caught.value.field == field
    for word in words:
        assert word in str(caught.value)
    assert "\n" not in str(caught.value)
    assert desk.world is before


@pytest.mark.parametrize(
    ("kind", "word"),
    [("alter", "user"), ("abort", "credentials"), ("redirect", "organization"), ("fail", "pauses")],
)
def test_the_hint_to_write_a_field_next_to_the_kind_suggests_no_similar_option(
    kind: str, word: str
):
    category = FAULT if kind in FAULT.kinds else OUTCOME

    with pytest.raises(DocumentRefused) as caught:
        read_effect(kind, {word: "ada"}, category)

    assert "next to the kind" in str(caught.value)
    assert "did you mean" not in str(caught.value)


def test_an_option_whose_singular_is_a_field_is_suggested_as_well(desk: Desk):
    with pytest.raises(DocumentRefused, match=r"did you mean headers\?; write header next to"):
        desk.arm(alter={"header": {"etag": "x"}})


#: Names that other tools or natural language suggest, and the field or kind that is meant.
OTHER_WORDS = {
    "user": "principal",
    "actor": "principal",
    "caller": "principal",
    "org": "organization",
    "endpoint": "call",
    "operation": "call",
    "operation_id": "call",
    "url": "path",
    "headers": "header",
    "params": "query",
    "auth": "credentials",
    "count": "times",
    "hits": "times",
    "repeat": "times",
    "skip": "skip_first",
    "nth": "every",
    "chance": "probability",
    "percent": "probability",
    "percentage": "probability",
    "rate": "probability",
    "start": "from",
    "since": "from",
    "end": "until",
    "duration": "until",
    "lasts": "until",
    "ttl": "until",
    "when": "while",
    "if": "while",
    "commit": "after_commit",
    "commit_phase": "after_commit",
    "phase": "after_commit",
    "stage": "after_commit",
    "delay": "latency",
    "error": "abort",
    "problem": "abort",
    "reset": "connection_reset",
    "disconnect": "connection_reset",
    "response": "respond",
    "reply": "respond",
}
WORDS_OF_OUTCOMES = {
    "stuck": "stick",
    "failure": "fail",
    "canceled": "cancel",
    "cancelled": "cancel",
}


@pytest.mark.parametrize(("word", "field"), OTHER_WORDS.items())
def test_another_word_for_a_field_or_a_kind_gets_ours_as_a_hint(desk: Desk, word: str, field: str):
    with pytest.raises(DocumentRefused, match=rf"; did you mean {field}\?$"):
        desk.arm(**{"timeout": {}, word: 1})


@pytest.mark.parametrize(("word", "kind"), WORDS_OF_OUTCOMES.items())
def test_another_word_for_an_outcome_gets_its_kind_as_a_hint(word: str, kind: str):
    with pytest.raises(DocumentRefused, match=rf"; did you mean {kind}\?"):
        InProcess().add_outcome(**{word: {}})


@pytest.mark.parametrize(
    "path",
    [
        "*",
        "/*",
        "/v1/*",
        "/v1/*/domains",
        "*:initialize",
        "/v1/projects/*",
        "*/deployments",
        "/v1/projects/01JGFJJZ00000000000000000A/domains",
        "/v1/projects/01*Z/d*s",
        "/v1/op*/01*",
    ],
)
def test_a_path_that_a_call_can_have_is_accepted(desk: Desk, path: str):
    desk.arm(timeout={}, path=path)


@pytest.mark.parametrize(
    "rule",
    [{}, {"method": "PUT"}, {"call": "get_dns_authorization"}],
)
def test_abort_accepts_a_status_that_one_of_its_calls_may_return(desk: Desk, rule: dict[str, Any]):
    desk.arm(abort={"code": "forbidden", "status": 410}, **rule)


def test_abort_accepts_the_listed_statuses_of_call_1(desk: Desk):
    for status in (400, 401, 403, 404, 409, 503):
        desk.arm(
            abort={"code": "rate_limited", "status": status}, call="set_project_powered_by_flag"
        )


def test_abort_accepts_every_problem_code(desk: Desk):
    for code in PROBLEMS:
        desk.arm(abort={"code": code})


@pytest.mark.parametrize("options", [{}, None, True])
def test_an_effect_without_options_can_be_written_as_null_or_true(desk: Desk, options: object):
    desk.arm(connection_reset=options)

    assert desk.acts()


def test_the_id_of_a_removed_fault_is_not_used_again(desk: Desk):
    assert desk.arm(timeout={}) == "fault-1"
    desk.remove("fault-1")

    assert desk.arm(timeout={}) == "fault-2"


@pytest.mark.parametrize(("category", "noun"), [(FAULT, "fault"), (OUTCOME, "outcome")])
def test_a_stored_fault_of_an_unknown_kind_is_invalid(
    desk: Desk, category: RuleCategory, noun: str
):
    desk.arm(abort={"code": "rate_limited"})
    [fault] = desk.world.tables["faults"].values()

    reason = invalid_reason(replace(fault, kind="abrot"), category)

    assert reason == f"there is no kind of {noun} 'abrot'"


def test_effects_and_fields_of_a_rule_share_no_name():
    from msgspec.structs import fields

    options = {field.encode_name for kind in fault_kinds().values() for field in fields(kind)}

    assert not options & set(RULE_FIELDS)
    assert not set(fault_kinds()) & set(RULE_FIELDS)


def test_the_sdk_offers_every_field_of_a_rule():
    from inspect import signature

    from hosting_emulator.sdk import HostingEmulator

    offered = {name.rstrip("_") for name in signature(HostingEmulator.fault).parameters}

    assert offered - {"self", "effect", "options"} == set(RULE_FIELDS)


def test_a_fault_is_shown_as_it_was_written(desk: Desk):
    fault = desk.arm(
        abort={"code": "rate_limited", "retry_after_seconds": 5},
        call="apply_project_domains",
        project=desk.project_id("shop"),
        principal="member",
        method="PUT",
        path="/v1/*",
        header={"X": "1"},
        times=2,
        skip_first=1,
        every=3,
        probability=0.5,
        from_="1m",
        until="2m",
        after_commit=True,
    )

    assert desk.view(fault) == {
        "id": "fault-1",
        "order": 0,
        "abort": {"code": "rate_limited", "retry_after_seconds": 5},
        "call": "apply_project_domains",
        "project": "shop",
        "principal": "member",
        "method": "PUT",
        "path": "/v1/*",
        "header": {"X": "1"},
        "times": 2,
        "skip_first": 1,
        "every": 3,
        "probability": 0.5,
        "from": "2026-03-01T12:01:00.000Z",
        "until": "2026-03-01T12:02:00.000Z",
        "after_commit": True,
        "armed_at": "2026-03-01T12:00:00.000Z",
        "considered": 0,
        "seen": 0,
        "hits": 0,
        "spent": False,
        "unused": "there was no request while the fault was armed",
    }


def test_a_fault_is_shown_without_fields_that_were_omitted(desk: Desk):
    assert desk.view(desk.arm(timeout={})).keys() == {
        "id",
        "order",
        "timeout",
        "after_commit",
        "armed_at",
        "considered",
        "seen",
        "hits",
        "spent",
        "unused",
    }


@pytest.mark.parametrize("kind", fault_kinds())
def test_a_fault_can_be_armed_again_as_it_is_shown(kind: str):
    desk = Desk(mode="real")
    first = desk.view(desk.arm(**{kind: dict(fault_kinds()[kind].example)}))

    copy = desk.view(desk.arm(**{kind: first[kind]}))

    assert copy[kind] == first[kind]


def test_the_description_of_a_fault_kind_is_one_line():
    assert not [kind for kind in describe_kinds().effects if "\n" in kind.about]


def test_every_fault_kind_has_an_example_of_its_options():
    for kind in describe_kinds().effects:
        assert kind.about
        assert set(kind.example) <= set(kind.options)


def test_every_field_of_a_rule_is_described():
    description = describe_kinds()

    assert all([*description.matches.values(), *description.conditions.values()])
    assert [*description.matches, *description.conditions] == list(RULE_FIELDS)
