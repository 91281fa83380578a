"""Interventions on projects: DNS authorization, databases and custom domains."""

from typing import Any

import pytest

from hosting_emulator.contract.documents import DocumentRefused
from tests.faults.interventions.conftest import Stage
from tests.support.response_checks import expect_problem

DAY_MS = 86_400_000

# --- DNS -----------------------------------------------------------------------------------------

#: The steps that lead `labs`, whose state is not_authorized, to each state.
WAYS = {
    "not_authorized": [],
    "pending": ["pending"],
    "authorized": ["pending", "authorized"],
    "expired": ["pending", "authorized", "expired"],
    "revoked": ["pending", "revoked"],
}
#: The states that each state can change to.
STEPS = {
    "not_authorized": ["pending"],
    "pending": ["authorized", "revoked"],
    "authorized": ["expired", "revoked"],
    "expired": ["pending"],
    "revoked": ["pending"],
}
STATES = list(STEPS)


@pytest.mark.parametrize("to", STATES[1:])
@pytest.mark.parametrize("state", STATES)
def test_dns_authorization_takes_exactly_the_steps_of_its_lifecycle(
    stage: Stage, state: str, to: str
):
    for step in WAYS[state]:
        stage.intervene("move_dns", project="labs", to=step)
    assert stage.dns(project="labs").json["status"] == state

    if to in STEPS[state]:
        stage.intervene("move_dns", project="labs", to=to)
        assert stage.dns(project="labs").json["status"] == to
    else:
        with pytest.raises(DocumentRefused, match=f"is {state} and can only"):
            stage.intervene("move_dns", project="labs", to=to)


def test_an_authorization_has_its_zone_and_expires_in_time(stage: Stage):
    assert stage.dns(project="labs").json["zone"] is None
    stage.intervene("move_dns", project="labs", to="pending", zone="customer.example")
    assert stage.dns(project="labs").json["zone"] == "customer.example"
    stage.intervene("move_dns", project="labs", to="authorized", expires_in="1d")

    document = stage.dns(project="labs").json
    assert (document["zone"], document["scopes"]) == (
        "customer.example",
        ["dns.write", "zone.read"],
    )
    assert document["expires_at"] == "2026-01-02T00:00:00.000Z"

    stage.advance_ms(DAY_MS - 1)
    assert stage.dns(project="labs").json["status"] == "authorized"
    stage.advance_ms(1)
    expired = stage.dns(project="labs").json
    assert (expired["status"], expired["zone"]) == ("expired", "customer.example")


def test_an_authorization_cannot_expire_immediately(stage: Stage):
    stage.intervene("move_dns", project="labs", to="pending", zone="customer.example")

    words = "expires_in: 0s would end the authorization immediately; write a longer"
    with pytest.raises(DocumentRefused, match=words) as refusal:
        stage.intervene("move_dns", project="labs", to="authorized", expires_in="0s")
    assert refusal.value.field == "expires_in"


def test_a_revoked_authorization_keeps_its_zone(stage: Stage):
    stage.intervene("move_dns", project="labs", to="pending", zone="customer.example")
    stage.intervene("move_dns", project="labs", to="revoked")

    assert stage.dns(project="labs").json["zone"] == "customer.example"


def test_a_renewed_authorization_outlives_the_first_expiry(stage: Stage):
    stage.intervene("move_dns", project="labs", to="pending")
    stage.intervene("move_dns", project="labs", to="authorized", expires_in="1d")
    stage.intervene("move_dns", project="labs", to="revoked")
    stage.intervene("move_dns", project="labs", to="pending")
    stage.intervene("move_dns", project="labs", to="authorized", expires_in="2d")

    stage.advance_ms(2 * DAY_MS - 1)
    assert stage.dns(project="labs").json["status"] == "authorized"
    stage.advance_ms(1)
    assert stage.dns(project="labs").json["status"] == "expired"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"to": "not_authorized"}, "move_dns.to"),
        ({"to": "pending", "zone": "UPPER.example"}, "'UPPER.example' is not a zone"),
        ({"to": "pending", "zone": "com"}, "is not a zone"),
        ({"to": "pending", "zone": "a.b1"}, "is not a zone"),
        ({"to": "pending", "expires_in": "5m"}, "expires_in cannot be set"),
    ],
)
def test_an_impossible_dns_step_is_refused(stage: Stage, fields: dict[str, Any], words: str):
    with pytest.raises(DocumentRefused, match=words):
        stage.intervene("move_dns", project="labs", **fields)


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        ({"to": "revoked", "zone": "other.example"}, "zone", "becomes revoked keeps its zone"),
        ({"to": "expired", "zone": "other.example"}, "zone", "becomes expired keeps its zone"),
        (
            {"to": "revoked", "expires_in": "5m"},
            "expires_in",
            "an authorization that becomes revoked; leave out",
        ),
        (
            {"to": "expired", "expires_in": "5m"},
            "expires_in",
            "an authorization that becomes expired; leave out",
        ),
    ],
)
def test_an_authorization_that_ends_takes_no_zone_and_no_lifetime(
    stage: Stage, fields: dict[str, Any], field: str, words: str
):
    stage.intervene("move_dns", project="labs", to="pending", zone="customer.example")
    stage.intervene("move_dns", project="labs", to="authorized")

    with pytest.raises(DocumentRefused, match=words) as refused:
        stage.intervene("move_dns", project="labs", **fields)

    assert refused.value.field == field
    document = stage.dns(project="labs").json
    assert (document["status"], document["zone"]) == ("authorized", "customer.example")


@pytest.mark.parametrize(
    ("expires_in", "words"),
    [("0s", "would end the authorization immediately"), ("soon", "'soon' is not a duration")],
)
def test_an_authorization_needs_a_lifetime(stage: Stage, expires_in: str, words: str):
    stage.intervene("move_dns", project="labs", to="pending")

    with pytest.raises(DocumentRefused, match=words):
        stage.intervene("move_dns", project="labs", to="authorized", expires_in=expires_in)

    assert stage.dns(project="labs").json["status"] == "pending"


# --- Databases -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environment", "failing", "working"),
    [("dev", ["dev"], ["prod"]), ("prod", ["prod"], ["dev"]), ("both", ["dev", "prod"], [])],
)
def test_a_failing_database_provider_gives_a_problem_until_it_recovers(
    stage: Stage, environment: str, failing: list[str], working: list[str]
):
    stage.intervene("fail_database_provider", project="shop", environment=environment)

    for name in failing:
        expect_problem(stage.observe(name), 503, "service_unavailable")
    assert [stage.observe(name).status for name in working] == [200] * len(working)
    with pytest.raises(DocumentRefused, match=r"already fails "):
        stage.intervene("fail_database_provider", project="shop", environment=environment)

    stage.intervene("recover_database_provider", project="shop")
    assert [stage.observe(name).status for name in ("dev", "prod")] == [200, 200]
    with pytest.raises(DocumentRefused, match=r"already works \(dev and prod\)"):
        stage.intervene("recover_database_provider", project="shop")


@pytest.mark.parametrize("state", ["init", "ready", "suspended", "resizing", "failed"])
def test_a_database_can_be_set_to_each_state(stage: Stage, state: str):
    sentence = stage.intervene("set_database", project="shop", environment="dev", state=state)

    assert sentence == f"the database of shop (dev) is {state}"
    assert stage.observe("dev").json["database"]["state"] == state
    assert stage.observe("prod").json["database"]["state"] == "ready"


def test_a_resizing_database_shows_its_pending_state(stage: Stage):
    stage.intervene("set_database", project="shop", state="suspended", suspend_timeout_seconds=0)
    stage.intervene("set_database", project="shop", state="resizing", pending_state="ready")
    document = stage.observe().json["database"]
    assert (document["state"], document["pending_state"]) == ("resizing", "ready")
    assert document["suspend_timeout_seconds"] == 0

    stage.intervene("set_database", project="shop", state="ready")
    assert "pending_state" not in stage.observe().json["database"]


def test_an_absent_database_is_null_and_can_be_placed(stage: Stage):
    stage.intervene("set_database", project="shop", state="absent")
    assert stage.observe().json["database"] is None

    stage.intervene("set_database", project="shop", state="init", suspend_timeout_seconds=-1)
    document = stage.observe().json["database"]
    assert (document["state"], document["suspend_timeout_seconds"]) == ("init", -1)


def test_a_shared_database_is_the_same_in_both_environments(stage: Stage):
    stage.intervene("set_database", project="shop", environment="dev", state="suspended")

    stage.intervene("set_database", project="shop", data_mode="shared")

    dev = stage.observe("dev").json
    prod = stage.observe("prod").json
    assert (dev["data_mode"], prod["data_mode"]) == ("shared", "shared")
    assert dev["database"] == prod["database"]
    assert dev["database"]["state"] == "suspended"

    sentence = stage.intervene("set_database", project="shop", environment="prod", state="ready")
    assert sentence == "the database of shop (dev and prod) is ready"
    assert stage.observe("dev").json["database"] == stage.observe("prod").json["database"]


def test_the_provider_of_a_shared_database_fails_for_both_environments(stage: Stage):
    stage.intervene("fail_database_provider", project="notes", environment="dev")

    assert stage.database("dev", "notes").provider_failing
    assert stage.database("prod", "notes").provider_failing


def test_a_shared_database_can_become_separate(stage: Stage):
    stage.intervene("set_database", project="notes", data_mode="separate")
    stage.intervene("set_database", project="notes", environment="dev", state="suspended")

    states = [stage.database(name, "notes").placement for name in ("dev", "prod")]
    assert [placement.state for placement in states if placement] == ["suspended", "ready"]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "set at least one of state"),
        ({"environment": "dev"}, "set at least one of state"),
        ({"state": "absent", "pending_state": "ready"}, "has no properties except its state"),
        ({"data_mode": "shared", "environment": "dev"}, "leave out `environment`"),
        ({"state": "sleeping"}, "set_database.state"),
        ({"state": "ready", "suspend_timeout_seconds": -2}, "suspend_timeout_seconds"),
        ({"environment": "test", "state": "ready"}, "environment"),
    ],
)
def test_a_database_change_that_makes_no_sense_is_refused(
    stage: Stage, fields: dict[str, Any], words: str
):
    before = stage.world

    with pytest.raises(DocumentRefused, match=words):
        stage.intervene("set_database", project="shop", **fields)

    assert stage.world is before


def test_an_absent_database_can_only_be_given_a_state(stage: Stage):
    with pytest.raises(DocumentRefused, match="set the state of the database too"):
        stage.intervene("set_database", project="labs", suspend_timeout_seconds=0)


# --- Domains -------------------------------------------------------------------------------------


def test_the_domain_of_a_free_workspace_depends_on_the_flag(stage: Stage):
    key = {"user": "outsider", "project": "notes"}
    with pytest.raises(DocumentRefused, match="must show the flag"):
        stage.intervene("connect_domain", project="notes", domain="notes.example")

    assert stage.set_flag(True, **key).status == 200
    stage.intervene("connect_domain", project="notes", domain="notes.example")
    expect_problem(stage.set_flag(False, **key), 409, "powered_by_flag_required")

    stage.intervene("disconnect_domain", project="notes")
    assert stage.set_flag(False, **key).json["enabled"] is False


def test_a_paid_workspace_can_connect_a_domain_without_the_flag(stage: Stage):
    stage.intervene("connect_domain", project="blog", domain="blog.example")

    assert stage.project_record("blog").custom_domain == "blog.example"


def test_an_impossible_domain_is_refused(stage: Stage):
    with pytest.raises(DocumentRefused, match="'blog' is not a domain"):
        stage.intervene("connect_domain", project="blog", domain="blog")
    with pytest.raises(DocumentRefused, match="blog has no domain of its own"):
        stage.intervene("disconnect_domain", project="blog")
