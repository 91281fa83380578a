"""A report groups the differences of a wrong server by cause."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import count
from random import Random
from typing import Any

import pytest

from hosting_emulator_lab.contract_check import Report, check
from hosting_emulator_lab.contract_check.causes import ServerCause, causes_of
from hosting_emulator_lab.contract_check.evidence import ContractDifference, Evidence
from hosting_emulator_lab.contract_check.response import ServerResponse
from tests.lab.contract_check import mutations as mutations
from tests.lab.contract_check import people as people
from tests.lab.contract_check.check_run import differing
from tests.lab.contract_check.deviations import DEVIATIONS, Deviation
from tests.lab.contract_check.mutations import path_ends_with
from tests.lab.contract_check.tampered_world import TamperedWorld
from tests.lab.contract_check.tampering_proxy import Exchange, Tampering
from tests.support.sampling import rotating


def planted(name: str) -> Deviation:
    return next(deviation for deviation in DEVIATIONS if deviation.name == name)


class MakesMistakes(Tampering):
    """A server with several mistakes."""

    def __init__(self, mistakes: list[Tampering]) -> None:
        self._mistakes = mistakes

    def before(self, exchange: Exchange) -> None:
        for mistake in self._mistakes:
            mistake.before(exchange)

    def after(self, exchange: Exchange) -> None:
        for mistake in self._mistakes:
            mistake.after(exchange)


def checked(*deviations: Deviation) -> Report:
    served = TamperedWorld()
    options = served.options()
    served.tampering = MakesMistakes([deviation.make(options) for deviation in deviations])
    return check(options)


def test_a_mistake_in_the_responses_of_many_calls_is_one_cause() -> None:
    report = checked(planted("problems without X-Request-Id"))

    (cause,) = report["causes"]
    assert cause["cause"] == "it has no header X-Request-Id"
    assert set(cause["sentences"]) == differing(report).keys() == {"problem", "request-id"}
    assert len(cause["calls"]) == 9
    assert cause["responses"] > 100
    assert len(cause["examples"]) == 1


def test_two_mistakes_are_two_causes() -> None:
    report = checked(planted("problems without X-Request-Id"), planted("three scopes"))

    assert [(cause["cause"], cause["sentences"]) for cause in report["causes"]] == [
        ("scopes: out of bounds: the array has 3 entries", ["dns.scopes", "limit.scopes"]),
        ("it has no header X-Request-Id", ["request-id", "problem"]),
    ]


def test_a_conforming_server_has_no_causes() -> None:
    assert TamperedWorld().checked()["causes"] == []


class LosesItsDatabase(Tampering):
    """Responds 500 to three calls."""

    def after(self, exchange: Exchange) -> None:
        for ending in ("/deployments", "/dev-access-tickets", "/powered-by-flag"):
            if exchange.ok and path_ends_with(exchange, ending):
                exchange.status = 500
                exchange.json = {"title": "x"}
                exchange.headers["X-Request-Id"] = "r"


def test_the_same_status_of_several_calls_is_one_cause() -> None:
    report = TamperedWorld(LosesItsDatabase()).checked()

    causes = [cause for cause in report["causes"] if "flag.call" in cause["sentences"]]
    assert len(causes) == 1
    assert {"flag.call", "deployments.call", "tickets.call"} <= set(causes[0]["sentences"])


@pytest.mark.parametrize("deviation", rotating(DEVIATIONS, 25), ids=lambda row: row.name)
def test_the_causes_explain_exactly_the_sentences_that_differ(deviation: Deviation) -> None:
    report = checked(deviation)

    explained = {key for cause in report["causes"] for key in cause["sentences"]}
    assert explained == differing(report).keys()


def test_a_server_with_a_dozen_mistakes_has_about_a_dozen_causes() -> None:
    counts = []
    for seed in range(3):
        report = checked(*Random(seed).sample(DEVIATIONS, 12))
        counts.append(len(report["causes"]))

    assert all(8 <= count <= 15 for count in counts), counts


def test_the_examples_of_a_cause_contain_no_secret() -> None:
    served = TamperedWorld()
    options = served.options()
    served.tampering = planted("the token in a header").make(options)

    report = check(options)

    assert [cause["sentences"] for cause in report["causes"]] == [["ticket.once"]]
    assert options.token not in json.dumps(report)


# --- The rules ------------------------------------------------------------------------------------


_NUMBERS = count(1)


def response(title: str, **members: Any) -> ServerResponse:
    return ServerResponse(title, 200, call_id="list_deployments", number=next(_NUMBERS), **members)


def difference(
    keys: tuple[str, ...], observed: ServerResponse | str, fault: str, field: str = ""
) -> ContractDifference:
    evidence = Evidence()
    evidence.differs(keys, observed, fault, field=field)
    return evidence.differences[0]


def faults(causes: list[ServerCause]) -> list[str]:
    return [cause.fault for cause in causes]


def test_the_same_fault_in_several_fields_of_a_type_is_one_cause() -> None:
    causes = causes_of(
        [
            difference(("key.key", "ulid"), response("a"), "key.id: '1' is not a Ulid", "Key.id"),
            difference(
                ("operation.id", "ulid"), response("b"), "operation_id: 'x' is not a Ulid", "Op.id"
            ),
        ]
    )

    (cause,) = causes
    assert cause.count == 2
    assert set(cause.keys) == {"key.key", "operation.id", "ulid"}


def test_faults_in_the_values_of_one_field_are_one_cause() -> None:
    causes = causes_of(
        [
            difference(("dns.status",), response("a"), "status: 'x' is not one of a, b", "Dns.a"),
            difference(("dns.status",), response("b"), "status is null", "Dns.a"),
        ]
    )

    assert faults(causes) == ["status: 'x' is not one of a, b, and 1 other fault"]


def test_faults_in_two_fields_of_the_same_responses_are_two_causes() -> None:
    page = response("a")
    causes = causes_of(
        [
            difference(("key.metadata",), page, "name: 7 is not a string", "Key.name"),
            difference(("key.metadata",), page, "created_at is null", "Key.created_at"),
        ]
    )

    assert faults(causes) == ["name: 7 is not a string", "created_at is null"]


def test_missing_fields_of_a_resource_are_one_cause() -> None:
    problem = response("a")
    causes = causes_of(
        [
            difference(("problem.title",), problem, "title is missing", "Problem.title"),
            difference(("problem.code",), problem, "code is missing", "Problem.code"),
            difference(("dns.zone",), response("b"), "zone is missing", "Dns.zone"),
        ]
    )

    assert faults(causes) == ["title is missing, and 1 other fault", "zone is missing"]


def test_missing_fields_do_not_explain_a_wrong_value_of_another_field() -> None:
    creation = response("a")
    causes = causes_of(
        [
            difference(("key.metadata",), creation, "name is missing", "Key.name"),
            difference(("key.metadata",), creation, "permissions is missing", "Key.permissions"),
            difference(("key.metadata",), creation, "created_at is null", "Key.created_at"),
        ]
    )

    assert faults(causes) == ["name is missing, and 1 other fault", "created_at is null"]


def test_faults_that_break_the_same_sentences_are_one_cause() -> None:
    causes = causes_of(
        [
            difference(("bearer", "auth.bearer"), response("a"), "it has no token"),
            difference(("bearer", "auth.bearer"), "two responses", "they differ"),
        ]
    )

    (cause,) = causes
    assert cause.calls == ("list_deployments",)
    assert cause.examples == ("a: 200: it has no token", "two responses: they differ")


def test_accepted_requests_are_one_cause_if_one_breaks_all_sentences_of_the_others() -> None:
    fault = "it should have been refused"
    causes = causes_of(
        [
            difference(("keys.body",), response("a", purpose="no name"), fault),
            difference(
                ("keys.body", "limit.key-name"), response("b", purpose="a name of 65"), fault
            ),
            difference(("source.body",), response("c", purpose="half a body"), fault),
        ]
    )

    assert faults(causes) == [
        "it should have been refused: a name of 65; no name",
        "it should have been refused: half a body",
    ]


@pytest.mark.parametrize(
    ("status", "code", "count"),
    [
        (400, "invalid_request", 2),
        (422, "invalid_request", 2),
        (400, "other", 1),
        (500, "other", 1),
    ],
)
def test_the_purposes_tell_requests_apart_that_were_refused_as_invalid(
    status: int, code: str, count: int
) -> None:
    body = json.dumps({"code": code}).encode()
    refusals = [
        replace(response("a", purpose=purpose, body=body), status=status)
        for purpose in ("a name of 64", "an additional field", "a name of 1")
    ]
    keys = (("keys.call",), ("flag.call",), ("dns.call",))
    causes = causes_of(
        difference(key, refusal, "it should have succeeded")
        for key, refusal in zip(keys, refusals, strict=True)
    )

    # Numbers do not tell purposes apart.
    assert len(causes) == count


def test_a_difference_can_show_that_two_faults_have_one_cause() -> None:
    causes = causes_of(
        [
            difference(("dns.call",), response("a"), "the first fault"),
            difference(("flag.call",), response("b"), "the second fault"),
            difference(("json",), response("c"), "the third fault"),
            difference(("dns.call",), response("d"), "the second fault"),
        ]
    )

    assert faults(causes) == ["the first fault, and 1 other fault", "the third fault"]
    assert (set(causes[0].keys), causes[0].count) == ({"flag.call", "dns.call"}, 3)


def test_an_accepted_request_without_a_response_of_its_own_is_described_by_its_observation() -> (
    None
):
    (cause,) = causes_of(
        [difference(("keys.body",), "two keys without a name", "it should have been refused")]
    )

    assert cause.fault == "it should have been refused: two keys without a name"


def test_a_fault_of_responses_that_all_have_another_fault_is_the_same_cause() -> None:
    page = response("a")
    causes = causes_of(
        [
            difference(("json", "problem"), page, "its body is not JSON"),
            difference(("json", "problem"), response("b"), "its body is not JSON"),
            difference(("problem-media", "problem"), page, "its media type is text/html"),
        ]
    )

    assert faults(causes) == ["its body is not JSON, and 1 other fault"]
    assert causes[0].keys == ("json", "problem-media", "problem")


def test_the_cause_of_the_most_differences_comes_first() -> None:
    causes = causes_of(
        [
            difference(("json",), response("a"), "first"),
            difference(("dns.scopes", "limit.scopes"), response("b"), "second"),
        ]
    )

    assert faults(causes) == ["second", "first"]


@pytest.mark.parametrize(
    ("statuses", "fault"),
    [((301, 301, 302), ""), ((500, 500, 501), "it should have succeeded")],
)
def test_two_unexpected_statuses_are_two_causes(statuses: tuple[int, ...], fault: str) -> None:
    keys = (("dns.call",), ("flag.call",), ("tickets.call",))
    causes = causes_of(
        difference(key, replace(response("a"), status=status), fault)
        for key, status in zip(keys, statuses, strict=True)
    )

    assert sorted(cause.count for cause in causes) == [1, 2]


def test_wrong_values_of_two_types_are_two_causes() -> None:
    causes = causes_of(
        [
            difference(("key.key",), response("a"), "key.id: '1' is not a Ulid", "Key.id"),
            difference(("dns.expires_at",), response("b"), "at: '1' is not a timestamp", "Dns.at"),
        ]
    )

    assert len(causes) == 2


@pytest.mark.parametrize(("count", "ending"), [(3, "; body 3"), (4, "; body 3; and 1 more")])
def test_a_cause_lists_at_most_three_requests_that_were_accepted(count: int, ending: str) -> None:
    purposes = ("body one", "body two", "body three", "body four")[:count]
    (cause,) = causes_of(
        difference(
            ("keys.body",), response(purpose, purpose=purpose), "it should have been refused"
        )
        for purpose in purposes
    )

    assert cause.fault.endswith(ending.replace("3", "three"))


def test_causes_of_equally_many_differences_have_the_order_of_the_contract() -> None:
    causes = causes_of(
        [
            difference(("paths", "v1"), response("a"), "the later"),
            difference(("json", "limit.scopes"), response("b"), "the earlier"),
            difference(("dns.scopes", "problem"), response("c"), "the middle"),
        ]
    )

    assert faults(causes) == ["the earlier", "the middle", "the later"]


def test_a_cause_shows_at_most_three_examples_and_counts_all_responses() -> None:
    (cause,) = causes_of(
        difference(("json",), response(f"request {letter}"), f"fault {letter}")
        for letter in "abcde"
    )

    assert cause.count == 5
    assert cause.fault == "fault a, and 4 other faults"
    assert cause.examples == tuple(f"request {letter}: 200: fault {letter}" for letter in "abc")
