"""Call 4: apply the server-derived hostnames."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support.checked_world import CheckedCalls


def apply(world: CheckedCalls, project: str = "shop", user: str = "owner") -> dict[str, Any]:
    operation = world.apply_domains(project=project, user=user)
    assert operation.status == 202
    world.finish(operation.json["id"])
    finished: dict[str, Any] = world.poll(operation.json["id"], user=user).json
    return finished


@pytest.mark.over_http
def test_the_operation_is_accepted_without_a_body(world: CheckedCalls) -> None:
    now = world.timestamp()

    response = world.apply_domains()

    assert response.status == 202
    assert response.json["state"] == "queued"
    assert response.json["created_at"] == response.json["updated_at"] == now
    assert response.json.keys() == {"id", "state", "created_at", "updated_at", "progress"}


def test_the_result_names_the_development_production_and_mail_hosts(world: CheckedCalls) -> None:
    operation = apply(world)

    hosts = operation["result"]["hostnames"]
    assert operation["state"] == "succeeded"
    assert hosts.keys() == {"development", "production", "mail"}
    assert len(set(hosts.values())) == 3
    assert all(host == host.lower() and "." in host for host in hosts.values())
    assert hosts["production"].startswith("shop.")
    assert hosts["production"].endswith(".prod.localhost")


def test_the_development_host_is_where_tickets_are_redeemed(world: CheckedCalls) -> None:
    hosts = apply(world)["result"]["hostnames"]

    assert urlsplit(world.ticket().json["origin"]).hostname == hosts["development"]


def test_the_url_of_a_deployment_is_at_the_production_host(world: CheckedCalls) -> None:
    hosts = apply(world)["result"]["hostnames"]
    operation = world.initialize(1).json
    world.finish(operation["id"])

    assert world.deployments("?limit=1").json["items"][0]["url"] == f"https://{hosts['production']}"


def test_the_hosts_depend_on_the_project_alone(world: CheckedCalls) -> None:
    first = apply(world)["result"]
    second = apply(world)["result"]
    blog = apply(world, "blog")["result"]
    garden = apply(world, "garden", "outsider")["result"]

    assert first == second
    hosts = [host for result in (first, blog, garden) for host in result["hostnames"].values()]
    assert len(set(hosts)) == 9


def test_applying_domains_creates_no_deployment(world: CheckedCalls) -> None:
    before = world.deployments().body

    operation = apply(world)

    assert "deployment_id" not in operation
    assert "deployment_id" not in operation["progress"]
    assert world.deployments().body == before


@pytest.mark.over_http
@pytest.mark.parametrize("body", [{"hostnames": ["evil.example"]}, [], None])
def test_hosts_cannot_be_supplied(world: CheckedCalls, body: Any) -> None:
    # given a client that sends a body although the call takes none
    sent = (
        world.apply_domains(body=body) if body is not None else world.apply_domains(raw=b"{broken")
    )
    world.finish(sent.json["id"])

    assert "evil" not in str(world.poll(sent.json["id"]).json)
