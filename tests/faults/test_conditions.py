"""Conditions on the world: a fault acts while its condition holds, and otherwise says why not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hosting_emulator.faults.decisions import idle_reason
from tests.support.in_process import InProcess

Do = Callable[[InProcess], None]


def intervention(name: str, **fields: Any) -> Do:
    """Return a function that carries out an intervention."""

    def intervene(api: InProcess) -> None:
        api.intervene(name, **fields)

    return intervene


def flag(enabled: bool) -> Do:
    """Return a function that shows or hides the flag of the project shop."""

    def set_flag(api: InProcess) -> None:
        assert api.set_flag(enabled).status == 200

    return set_flag


def nothing(_: InProcess) -> None:
    """Leave the world unchanged."""


#: A condition, a function that makes it hold, and a function that ends it.
CASES: list[tuple[dict[str, Any], Do, Do]] = [
    (
        {"dns": "authorized"},
        nothing,
        intervention("move_dns", project="shop", to="revoked"),
    ),
    (
        {"dns": ["revoked", "expired"]},
        intervention("move_dns", project="shop", to="revoked"),
        intervention("move_dns", project="shop", to="pending", zone="shop.example"),
    ),
    (
        {"plan": "free"},
        intervention("set_plan", organization="acme", plan="free"),
        intervention("set_plan", organization="acme", plan="paid"),
    ),
    (
        {"credits_below": 1},
        intervention("set_credits", organization="acme", credits=0),
        intervention("set_credits", organization="acme", credits=1),
    ),
    (
        {"claim": "held"},
        intervention("hold_claim", project="shop"),
        intervention("release_claim", project="shop"),
    ),
    ({"flag": True}, flag(True), flag(False)),
    (
        {"domain": True},
        intervention("connect_domain", project="shop", domain="shop.example"),
        intervention("disconnect_domain", project="shop"),
    ),
    (
        {"not": {"plan": "free", "flag": False}},
        flag(True),
        flag(False),
    ),
]


def armed(api: InProcess, condition: dict[str, Any], **fault: Any) -> None:
    """Arm a fault that refuses requests while a condition holds."""
    api.add_fault(abort={"code": "service_unavailable"}, while_=condition, **fault)


@pytest.mark.parametrize(("condition", "begin", "end"), CASES, ids=[str(case[0]) for case in CASES])
def test_a_fault_acts_exactly_while_its_condition_holds(condition, begin: Do, end: Do):
    api = InProcess()
    begin(api)
    armed(api, condition, call="get_dns_authorization")

    while_it_holds = api.dns().status
    end(api)
    afterwards = api.dns().status

    assert (while_it_holds, afterwards) == (503, 200)


#: The facts about projects of a fresh world that a condition can name.
FACTS: dict[str, dict[str, Any]] = {
    "shop": {"zone": True, "deployed": True, "database": "ready", "data_mode": "separate"},
    "labs": {"zone": False, "deployed": False, "database_change": False},
}


@pytest.mark.parametrize(
    ("alias", "name", "value"),
    [(alias, name, value) for alias, facts in FACTS.items() for name, value in facts.items()],
)
def test_a_condition_is_about_the_project_of_the_request(alias: str, name: str, value: Any):
    for condition, status in (({name: value}, 503), ({"not": {name: value}}, 200)):
        api = InProcess()
        armed(api, condition)

        assert api.dns(project=alias).status == status


def test_every_part_of_a_condition_must_hold():
    api = InProcess()
    armed(api, {"plan": "paid", "credits_below": 1})
    assert api.dns().status == 200

    api.intervene("set_credits", organization="acme", credits=0)

    assert api.dns().status == 503


def test_a_fault_acts_while_none_of_the_conditions_in_not_holds():
    api = InProcess()
    armed(api, {"not": {"plan": "free", "dns": "expired"}}, call="get_dns_authorization")
    assert api.dns().status == 503

    api.intervene("move_dns", project="shop", to="expired")
    assert api.dns().status == 200

    fault = next(iter(api.world.tables["faults"].values()))
    reason = idle_reason(fault, api.world.at_ms, api.world, api.project_id("shop"), None)
    assert reason == (
        "`while` (none of (dns is expired, plan is free)) does not hold: "
        "dns is expired, which `not` excludes"
    )


def test_a_condition_of_a_fault_after_commit_is_about_the_state_after_the_change():
    api = InProcess()
    armed(api, {"flag": True}, after_commit=True, call="set_project_powered_by_flag")

    statuses = [api.set_flag(False).status, api.set_flag(True).status]

    assert statuses == [200, 503]


def test_a_condition_on_a_project_fails_for_a_request_without_a_project():
    api = InProcess()
    armed(api, {"dns": "authorized"})
    assert api.create_key().status == 201

    armed(api, {"plan": "paid"})
    assert api.create_key().status == 503


def test_a_condition_on_a_plan_fails_for_a_request_without_an_organization():
    api = InProcess()
    armed(api, {"plan": "paid"})
    assert api.call("GET", "/v1/projects", user=None).status == 401

    fault = next(iter(api.world.tables["faults"].values()))
    reason = idle_reason(fault, api.world.at_ms, api.world, None, None)

    assert reason == (
        "`while` (plan is paid) does not hold: the plan condition needs an organization, but the "
        "request names none"
    )


def test_a_fault_counts_matched_requests_and_says_why_it_did_not_act():
    api = InProcess()
    armed(api, {"dns": "expired"})
    api.dns()

    fault = next(iter(api.world.tables["faults"].values()))
    reason = idle_reason(fault, api.world.at_ms, api.world, api.project_id("shop"), None)

    assert (fault.seen, fault.hits) == (1, 0)
    assert reason == "`while` (dns is expired) does not hold: dns is authorized"
