"""Interventions on tickets, API keys, organizations and their members."""

from typing import Any

import pytest

from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.faults.interventions import read_intervention
from tests.faults.interventions.conftest import Stage
from tests.support.in_process import new_change
from tests.support.response_checks import expect_problem

HOUR_MS = 3_600_000

# --- Tickets -------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["ticket", "user"])
@pytest.mark.parametrize("end", ["expire", "revoke"])
def test_a_ticket_can_be_expired_or_revoked_early(stage: Stage, by: str, end: str):
    ticket = stage.ticket().json["ticket_id"]
    field = {"ticket": ticket} if by == "ticket" else {"user": "owner"}

    sentence = stage.intervene(f"{end}_ticket", **field)

    record = stage.ticket_record(ticket)
    assert ticket in sentence
    if end == "expire":
        assert (record.state, record.expires_ms) == ("unused", stage.engine.now_ms())
    else:
        assert record.state == "revoked"


@pytest.mark.parametrize(
    ("first", "second", "state"),
    [
        ("expire", "revoke", "expired"),
        ("expire", "expire", "expired"),
        ("revoke", "expire", "revoked"),
        ("revoke", "revoke", "revoked"),
    ],
)
def test_a_ticket_that_was_ended_cannot_be_ended_again(
    stage: Stage, first: str, second: str, state: str
):
    ticket = stage.ticket().json["ticket_id"]
    stage.intervene(f"{first}_ticket", ticket=ticket)

    with pytest.raises(DocumentRefused, match=f"ticket {ticket} is already {state}"):
        stage.intervene(f"{second}_ticket", ticket=ticket)
    assert stage.ticket().status == 201


def test_an_expired_ticket_cannot_be_revoked(stage: Stage):
    stage.ticket()
    stage.advance_ms(600_000)

    with pytest.raises(DocumentRefused, match="is already expired"):
        stage.intervene("revoke_ticket", user="owner")


def test_the_ticket_of_a_user_is_their_latest(stage: Stage):
    stage.ticket()
    last = stage.ticket(project="blog").json["ticket_id"]

    assert last in stage.intervene("expire_ticket", user="owner")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "name either the ticket"),
        ({"ticket": "x", "user": "owner"}, "name either the ticket"),
        ({"ticket": "x"}, "there is no ticket 'x'"),
        ({"user": "owner"}, "owner has no ticket"),
        ({"user": "owenr"}, "did you mean owner"),
    ],
)
def test_a_ticket_that_does_not_exist_is_refused(stage: Stage, fields: dict[str, Any], words: str):
    with pytest.raises(DocumentRefused, match=words):
        stage.intervene("expire_ticket", **fields)


# --- API keys ------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["id", "name"])
@pytest.mark.parametrize("end", ["expire", "revoke"])
def test_a_key_that_was_ended_early_is_refused(stage: Stage, by: str, end: str):
    key = stage.create_key("nightly").json
    assert stage.deployments(token=key["value"]).status == 200

    stage.intervene(f"{end}_key", key=key["key"]["id"] if by == "id" else "nightly")

    expect_problem(stage.deployments(token=key["value"]), 401, "unauthenticated")


@pytest.mark.parametrize(("word", "state"), [("revoke_key", "revoked"), ("expire_key", "expired")])
def test_a_key_named_by_its_name_is_the_active_key(stage: Stage, word: str, state: str):
    first = stage.create_key("ci").json["key"]
    last = stage.create_key("ci", user="member").json

    with pytest.raises(
        DocumentRefused,
        match=f"2 active API keys are named 'ci'.* {first['id']}, {last['key']['id']}",
    ):
        stage.intervene(word, key="ci")

    stage.intervene(word, key=first["id"])
    stage.intervene(word, key="ci")
    expect_problem(stage.dns(token=last["value"]), 401, "unauthenticated")
    with pytest.raises(DocumentRefused, match=f"API key {last['key']['id']} is already {state}"):
        stage.intervene(word, key="ci")


def test_a_key_that_was_ended_cannot_be_ended_again(stage: Stage):
    stage.create_key("ci")
    stage.intervene("expire_key", key="ci")

    with pytest.raises(DocumentRefused, match="is already expired"):
        stage.intervene("revoke_key", key="ci")
    with pytest.raises(DocumentRefused, match="there is no API key with the id or name 'cd'"):
        stage.intervene("revoke_key", key="cd")


def test_interventions_in_one_change_see_each_other(stage: Stage):
    stage.create_key("ci")
    change = stage.engine.begin_change()
    read_intervention({"expire_key": {"key": "ci"}}).apply(change)

    with pytest.raises(DocumentRefused, match="is already expired"):
        read_intervention({"revoke_key": {"key": "ci"}}).apply(change)

    read_intervention(
        {"add_member": {"organization": "acme", "user": "outsider", "role": "owner"}}
    ).apply(change)
    with pytest.raises(DocumentRefused, match="outsider already owns acme"):
        read_intervention({"transfer_ownership": {"organization": "acme", "to": "outsider"}}).apply(
            change
        )


def test_an_uncertain_creation_is_replayed_by_the_same_key(stage: Stage):
    stage.intervene("leave_key_creation_uncertain")

    lost = stage.create_key("ci", key="k")
    replay = stage.create_key("ci", key="k")
    next_one = stage.create_key("cd")

    expect_problem(lost, 503, "api_key_creation_uncertain")
    assert replay.json["replayed"] is True
    assert replay.json["value"] is None
    assert replay.json["key"]["name"] == "ci"
    assert next_one.status == 201


def test_a_replay_does_not_use_up_an_uncertain_creation(stage: Stage):
    stage.create_key("first", key="first")
    stage.intervene("leave_key_creation_uncertain")

    assert stage.create_key("first", key="first").status == 200
    expect_problem(stage.create_key("second", key="second"), 503, "api_key_creation_uncertain")
    assert stage.create_key("second", key="second").json["replayed"] is True


# --- Organizations and users ---------------------------------------------------------------------


def test_the_plan_decides_whether_the_flag_may_be_hidden(stage: Stage):
    assert stage.set_flag(False).status == 200
    stage.set_flag(True)

    assert (
        stage.intervene("set_plan", organization="acme", plan="free") == "acme is on the free plan"
    )

    expect_problem(stage.set_flag(False), 409, "powered_by_flag_required")


def test_keys_can_be_created_at_zero_credits(stage: Stage):
    stage.intervene("set_credits", organization="acme", credits=0)

    assert stage.create_key("ci").status == 201


def test_the_permissions_of_an_organization_restrict_its_keys(stage: Stage):
    key = stage.create_key("ci").json["value"]

    stage.intervene("set_permissions", organization="acme", permissions=["dns.read"])

    assert stage.dns(token=key).status == 200
    expect_problem(stage.deployments(token=key), 403, "forbidden")
    assert stage.create_key("cd").json["key"]["permissions"] == ["dns.read"]


def test_an_unknown_permission_is_refused_with_the_nearest_name(stage: Stage):
    with pytest.raises(DocumentRefused, match=r"'dns\.raed'; did you mean dns\.read"):
        stage.intervene("set_permissions", organization="acme", permissions=["dns.raed"])


def test_a_removed_member_has_no_access_until_added_again(stage: Stage):
    assert stage.apply_domains(user="member").status == 202

    message = stage.intervene("remove_member", organization="acme", user="member")
    assert message == "member no longer belongs to acme"
    expect_problem(stage.apply_domains(user="member"), 404, "resource_not_found")
    with pytest.raises(DocumentRefused, match="member does not belong to acme"):
        stage.intervene("remove_member", organization="acme", user="member")

    stage.intervene("add_member", organization="acme", user="member")
    assert stage.apply_domains(user="member").status == 202


@pytest.mark.parametrize("user", ["", "nobody"])
def test_an_unknown_user_is_refused_before_a_missing_organization(stage: Stage, user: str):
    message = f"there is no user with the alias or id '{user}'"
    with pytest.raises(DocumentRefused, match=message):
        stage.intervene("remove_member", user=user)
    change = new_change(stage.world)
    with pytest.raises(DocumentRefused, match=message):
        read_intervention({"remove_member": {"user": user}}).check_names(change)


def test_a_user_added_as_an_owner_can_read_every_project(stage: Stage):
    expect_problem(stage.deployments(user="reader", project="labs"), 404, "resource_not_found")
    stage.intervene("remove_member", organization="acme", user="reader")

    stage.intervene("add_member", organization="acme", user="reader", role="owner")

    assert stage.deployments(user="reader", project="labs").status == 200


@pytest.mark.parametrize(
    ("role", "reads", "writes"),
    [("owner", 200, 202), ("maintainer", 200, 202), ("reader", 200, 403), ("none", 404, 404)],
)
def test_a_role_in_a_project_decides_what_a_member_may_do(
    stage: Stage, role: str, reads: int, writes: int
):
    stage.intervene("set_role", project="shop", user="reader", role=role)

    assert stage.dns(user="reader").status == reads
    assert stage.apply_domains(user="reader").status == writes
    assert stage.dns(user="reader", project="blog").status == 200


def test_a_member_without_a_role_can_be_given_a_role(stage: Stage):
    stage.intervene("set_role", project="shop", user="reader", role="none")
    expect_problem(stage.deployments(user="reader"), 404, "resource_not_found")

    stage.intervene("set_role", project="shop", user="reader", role="maintainer")

    assert stage.apply_domains(user="reader").status == 202


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"user": "outsider", "role": "reader"}, "use add_member first"),
        ({"user": "owner", "role": "reader"}, "owns the organization of shop"),
        ({"user": "member", "role": "none", "project": "labs"}, "member has no role in labs"),
    ],
)
def test_a_role_without_effect_is_refused(stage: Stage, fields: dict[str, Any], words: str):
    with pytest.raises(DocumentRefused, match=words):
        stage.intervene("set_role", **{"project": "shop", **fields})


def test_ownership_can_be_transferred_to_a_member(stage: Stage):
    stage.intervene("transfer_ownership", organization="acme", to="member")

    assert stage.set_flag(True, user="member").status == 200
    # The former owner is now a member without a role in the project.
    expect_problem(stage.set_flag(True, user="owner"), 404, "resource_not_found")
    with pytest.raises(DocumentRefused, match="member already owns acme"):
        stage.intervene("transfer_ownership", organization="acme", to="member")
