"""Interventions with `all`: on every matching operation, ticket or API key."""

import pytest

from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.faults.interventions import INTERVENTIONS
from tests.faults.interventions.conftest import Stage


def test_all_operations_of_a_project_can_stick_including_waiting_ones(stage: Stage):
    first = stage.begin()
    second = stage.begin()
    elsewhere = stage.apply_domains(project="labs").json["id"]

    sentence = stage.intervene("stick_operation", all=True, project="shop")

    assert sentence == f"operation {first} is stuck while queued, and 1 more"
    stuck = [stage.operation(operation).stuck for operation in (first, second, elsewhere)]
    assert stuck == [True, True, False]


def test_all_without_a_project_means_all_operations_of_the_world(stage: Stage):
    operations = [stage.begin(), stage.begin(), stage.apply_domains(project="labs").json["id"]]

    stage.intervene("cancel_operation", all=True)

    assert {stage.operation(operation).state for operation in operations} == {"cancelled"}
    assert stage.project_record().claim is None


def test_an_intervention_on_all_skips_and_names_those_that_refuse_it(stage: Stage):
    first = stage.begin()
    second = stage.begin()
    stage.intervene("stick_operation", operation=first)

    sentence = stage.intervene("stick_operation", all=True)

    assert sentence == (
        f"operation {second} is stuck while queued; 1 skipped: operation {first} is already stuck"
    )


def test_all_tickets_of_a_user_can_be_revoked(stage: Stage):
    mine = [stage.ticket().json["ticket_id"] for _ in range(2)]
    stage.intervene("add_member", organization="acme", user="member", role="owner")
    hers = stage.ticket(user="member").json["ticket_id"]

    stage.intervene("revoke_ticket", all=True, user="owner")

    states = [stage.ticket_record(ticket).state for ticket in (*mine, hers)]
    assert states == ["revoked", "revoked", "unused"]


@pytest.mark.parametrize("fields", [{"user": "owner"}, {"organization": "acme"}, {}])
def test_all_keys_of_a_user_an_organization_or_the_world_can_expire(
    stage: Stage, fields: dict[str, str]
):
    keys = [stage.create_key(name).json["key"]["id"] for name in ("one", "two")]

    stage.intervene("expire_key", all=True, **fields)

    assert {stage.key_record(key).expires_ms for key in keys} == {stage.engine.now_ms()}


@pytest.mark.parametrize(
    ("word", "fields", "message"),
    [
        ("stick_operation", {"all": True}, "there is no active operation"),
        ("stick_operation", {"all": True, "operation": "x"}, "give either operation or all"),
        ("stick_operation", {"all": True, "project": "shpo"}, "did you mean shop"),
        ("revoke_ticket", {"all": True, "user": "onwer"}, "did you mean owner"),
        ("revoke_key", {"all": True}, "there is no active API key"),
        ("revoke_key", {}, "name the key"),
        ("revoke_key", {"user": "owner"}, "name the key"),
        ("set_plan", {"all": True, "organization": "acme", "plan": "free"}, "no field 'all'"),
    ],
)
def test_an_intervention_on_all_that_cannot_apply_is_refused(
    stage: Stage, word: str, fields: dict[str, object], message: str
):
    with pytest.raises(DocumentRefused, match=message):
        stage.intervene(word, **fields)


def test_every_intervention_on_an_operation_ticket_or_key_takes_all():
    with_all = {word for word, kind in INTERVENTIONS.items() if "all" in kind.__struct_fields__}

    assert with_all == {
        word
        for word, kind in INTERVENTIONS.items()
        if {"operation", "ticket", "key"} & {*kind.__struct_fields__}
    }


def test_an_intervention_on_all_is_refused_if_each_of_them_refuses_it(stage: Stage):
    first = stage.begin()
    stage.begin()

    with pytest.raises(DocumentRefused, match=f"^operation {first} is not stuck$"):
        stage.intervene("release_operation", all=True)
