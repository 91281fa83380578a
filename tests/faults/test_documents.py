"""Documents of faults: a mistake is refused with a suggestion, and a fault is shown as written."""

from typing import Any

import pytest
from msgspec.structs import replace

from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.faults.arming import invalid_reason
from hosting_emulator.faults.categories import FAULT, OUTCOME, RULE_FIELDS, RuleCategory
from hosting_emulator.faults.kinds import fault_kinds
from hosting_emulator.faults.views import describe_kinds
from hosting_emulator.faults.written_effects import read_effect
from tests.faults import armed_rules, refusals
from tests.faults.conftest import Desk
from tests.support.in_process import InProcess


def test_a_refused_document_says_which_field_is_wrong_and_what_would_be_right():
    """Compare everything that users read. After an intended change, run `make record`."""
    assert refusals.golden_text() == refusals.GOLDEN_FILE.read_text(encoding="utf-8")


def test_an_armed_rule_says_what_it_waits_for_and_why_it_has_not_acted():
    """Compare everything that users read. After an intended change, run `make record`."""
    assert armed_rules.golden_text() == armed_rules.GOLDEN_FILE.read_text(encoding="utf-8")


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
