"""Partial effects: an operation that fails or is cancelled leaves something behind that a client sees."""

from __future__ import annotations

from typing import Any, Final

import pytest

from hosting_emulator.sdk import ControlRefused
from tests.support.checked_world import WAYS_TO_CONTINUE, CheckedWorld, continue_world

DOMAINS: Final = "apply_project_domains"
SOURCE: Final = "initialize_managed_source"


def ended(api: CheckedWorld, operation: str) -> dict[str, Any]:
    """Let an operation end, and return it."""
    api.finish(operation)
    document: dict[str, Any] = api.poll(operation).json
    return document


def all_hosts(api: CheckedWorld) -> dict[str, str]:
    hosts: dict[str, str] = ended(api, api.apply_domains().json["id"])["result"]["hostnames"]
    return hosts


# --- hosts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["fail", "cancel"])
@pytest.mark.parametrize("hosts", [["development"], ["mail", "production"]])
def test_the_result_of_an_operation_that_did_not_succeed_names_the_applied_hosts(
    api: CheckedWorld, kind: str, hosts: list[str]
) -> None:
    names = all_hosts(api)
    api.emulator.outcome(kind, leaves={"hosts": hosts}, call=DOMAINS)

    document = ended(api, api.apply_domains().json["id"])

    assert document["state"] == {"fail": "failed", "cancel": "cancelled"}[kind]
    assert document["result"] == {"hostnames": {host: names[host] for host in hosts}}


def test_an_operation_that_fails_without_effects_has_no_result(api: CheckedWorld) -> None:
    api.emulator.outcome("fail")

    assert "result" not in ended(api, api.apply_domains().json["id"])


def test_an_outcome_that_leaves_hosts_passes_over_operations_without_hosts(
    api: CheckedWorld,
) -> None:
    outcome = api.emulator.outcome("fail", leaves={"hosts": ["mail"]})

    assert ended(api, api.initialize(1).json["id"])["state"] == "succeeded"
    assert outcome.seen == 0
    assert outcome.unused is not None
    assert "do not apply hosts" in outcome.unused
    assert ended(api, api.apply_domains().json["id"])["state"] == "failed"


# --- source and deployment ------------------------------------------------------------------------


def test_a_source_is_initialized_although_its_deployment_failed(api: CheckedWorld) -> None:
    api.emulator.outcome("fail", leaves={"source": "initialized"}, call=SOURCE)

    document = ended(api, api.initialize(1).json["id"])

    assert (document["state"], document["result"]) == ("failed", {"source_generation": 2})
    newest = api.deployments().json["items"][0]
    assert (newest["id"], newest["status"]) == (document["deployment_id"], "failed")
    assert api.initialize(1).status == 409
    assert api.initialize(2).status == 202


def test_a_deployment_is_ready_although_its_operation_failed(api: CheckedWorld) -> None:
    api.emulator.outcome("fail", phase="verifying", leaves={"deployment": "ready"}, call=SOURCE)

    document = ended(api, api.initialize(1).json["id"])

    newest = api.deployments().json["items"][0]
    assert document["state"] == "failed"
    assert "result" not in document
    assert (newest["id"], newest["status"]) == (document["deployment_id"], "ready")
    assert newest["url"].startswith("https://")
    assert api.initialize(1).status == 202


def test_with_a_condition_a_deployment_is_left_ready_only_once_it_is_deploying(
    api: CheckedWorld,
) -> None:
    api.intervene("set_plan", organization="acme", plan="free")
    api.emulator.outcome(
        "cancel", leaves={"deployment": "ready"}, call=SOURCE, while_={"plan": "free"}
    )
    operation = api.initialize(1).json["id"]

    api.advance("5s")
    assert api.poll(operation).json["progress"]["phase"] == "building"
    api.advance("1s")

    assert api.poll(operation).json["state"] == "cancelled"
    assert api.deployments().json["items"][0]["status"] == "ready"


@pytest.mark.parametrize("way", WAYS_TO_CONTINUE)
def test_what_is_left_behind_is_the_same_after_a_restart_fork_or_rewind(
    api: CheckedWorld, way: str
) -> None:
    api.emulator.outcome("fail", leaves={"source": "initialized", "deployment": "ready"})
    operation = api.initialize(1).json["id"]
    api.advance("7s")

    api = continue_world(api, way, lambda: api.intervene("cancel_operation", operation=operation))
    document = ended(api, operation)

    assert (document["state"], document["result"]) == ("failed", {"source_generation": 2})
    assert api.deployments().json["items"][0]["status"] == "ready"
    assert api.initialize(1, key="again").status == 409


# --- DNS ------------------------------------------------------------------------------------------


def test_a_failed_application_of_domains_leaves_the_dns_authorization_revoked(
    api: CheckedWorld,
) -> None:
    api.emulator.outcome("fail", leaves={"dns": "revoked", "hosts": ["mail"]})

    document = ended(api, api.apply_domains().json["id"])

    assert list(document["result"]["hostnames"]) == ["mail"]
    assert api.dns().json["status"] == "revoked"


def test_a_dns_authorization_stays_if_its_lifecycle_excludes_the_effect(api: CheckedWorld) -> None:
    api.emulator.outcome("fail", leaves={"dns": "pending"}, project="shop")

    ended(api, api.apply_domains().json["id"])

    assert api.dns().json["status"] == "authorized"


@pytest.mark.parametrize(
    ("project", "leaves", "reason"),
    [
        ("shop", {"dns": "pending"}, "The DNS authorization stayed authorized, because"),
        ("labs", {"dns": "revoked"}, "The DNS authorization stayed not_authorized, because"),
        ("blog", {"dns": "pending"}, "The DNS authorization was already pending"),
    ],
)
def test_why_says_that_the_dns_authorization_stayed_unchanged(
    api: CheckedWorld, project: str, leaves: dict[str, Any], reason: str
) -> None:
    outcome = api.emulator.outcome("fail", leaves={**leaves, "hosts": ["mail"]}, project=project)
    operation = api.apply_domains(project=project).json["id"]
    ended(api, operation)

    why = str(api.emulator.why(operation))

    assert "if its lifecycle allows the change" in str(outcome.now.note)
    assert reason in why
    assert (
        "The partial effect is the mail host: a client sees this in the operation's result." in why
    )


# --- interventions --------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["fail_operation", "cancel_operation"])
def test_an_intervention_leaves_hosts_behind(api: CheckedWorld, word: str) -> None:
    names = all_hosts(api)
    operation = api.apply_domains().json["id"]
    api.advance("3s")

    message = api.intervene(word, project="shop", leaves={"hosts": ["production"]})

    result = api.poll(operation).json["result"]
    assert result == {"hostnames": {"production": names["production"]}}
    assert "leaves the production host" in message
    assert "in the operation's result" in message


def test_an_intervention_refuses_what_the_operation_cannot_leave_yet(api: CheckedWorld) -> None:
    api.initialize(1)

    with pytest.raises(ControlRefused, match="queued operation has not started its work"):
        api.intervene("fail_operation", project="shop", leaves={"source": "initialized"})
    api.advance("3s")
    with pytest.raises(ControlRefused, match="building can only become"):
        api.intervene("fail_operation", project="shop", leaves={"deployment": "ready"})


def test_an_intervention_refuses_a_dns_state_that_the_lifecycle_does_not_allow(
    api: CheckedWorld,
) -> None:
    operation = api.apply_domains().json["id"]
    api.advance("3s")

    with pytest.raises(
        ControlRefused, match="is authorized and can only become expired or revoked"
    ):
        api.intervene("cancel_operation", project="shop", leaves={"dns": "pending"})

    assert api.poll(operation).json["state"] == "running"


def test_an_intervention_says_why_it_leaves_nothing_else(api: CheckedWorld) -> None:
    api.apply_domains()

    with pytest.raises(ControlRefused, match="responses show nothing else"):
        api.intervene("cancel_operation", project="shop", leaves={"certificate": "issued"})


# --- what is said, and what is refused ------------------------------------------------------------


@pytest.mark.parametrize(
    ("leaves", "place"),
    [
        ({"hosts": ["mail"]}, "in the operation's result"),
        ({"source": "initialized"}, "when a request with the old source generation is refused"),
        ({"deployment": "ready"}, "in the list of deployments"),
        ({"dns": "expired"}, "in the DNS authorization"),
    ],
)
def test_an_outcome_and_why_say_where_a_client_sees_what_is_left(
    api: CheckedWorld, leaves: dict[str, Any], place: str
) -> None:
    outcome = api.emulator.outcome("fail", leaves=leaves)
    if "hosts" in leaves or "dns" in leaves:
        operation = api.apply_domains().json["id"]
    else:
        operation = api.initialize(1).json["id"]
    before = str(api.emulator.why(operation))
    ended(api, operation)

    assert place in str(outcome.now.note)
    assert ", and leaves " in before
    assert place in str(api.emulator.why(operation))
