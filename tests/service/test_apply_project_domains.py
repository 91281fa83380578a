"""Call 4: apply the server-derived hostnames."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support.checked_world import CheckedWorld


def apply(api: CheckedWorld, project: str = "shop", who: str = "owner") -> dict[str, Any]:
    operation = api.apply_domains(project=project, who=who)
    assert operation.status == 202
    api.emulator.clock.until(operation.json["id"])
    done: dict[str, Any] = api.poll(operation.json["id"], who=who).json
    return done


def test_the_operation_is_accepted_without_a_body(api: CheckedWorld) -> None:
    now = api.emulator.clock.now

    response = api.apply_domains()

    assert response.status == 202
    assert response.json["state"] == "queued"
    assert response.json["created_at"] == response.json["updated_at"] == now
    assert response.json.keys() == {"id", "state", "created_at", "updated_at", "progress"}


def test_the_result_names_the_development_production_and_mail_hosts(api: CheckedWorld) -> None:
    done = apply(api)

    hosts = done["result"]["hostnames"]
    assert done["state"] == "succeeded"
    assert hosts.keys() == {"development", "production", "mail"}
    assert len(set(hosts.values())) == 3
    assert all(host == host.lower() and "." in host for host in hosts.values())


def test_the_development_host_is_where_tickets_are_redeemed(api: CheckedWorld) -> None:
    hosts = apply(api)["result"]["hostnames"]

    assert urlsplit(api.ticket().json["origin"]).hostname == hosts["development"]


def test_the_url_of_a_deployment_is_at_the_production_host(api: CheckedWorld) -> None:
    hosts = apply(api)["result"]["hostnames"]
    operation = api.initialize(1).json
    api.emulator.clock.until(operation["id"])

    assert api.deployments("?limit=1").json["items"][0]["url"] == f"https://{hosts['production']}"


def test_the_hosts_depend_on_the_project_alone(api: CheckedWorld) -> None:
    first, again = apply(api)["result"], apply(api)["result"]
    blog = apply(api, "blog")["result"]
    garden = apply(api, "garden", "outsider")["result"]

    assert first == again
    hosts = [host for result in (first, blog, garden) for host in result["hostnames"].values()]
    assert len(set(hosts)) == 9


def test_applying_domains_creates_no_deployment(api: CheckedWorld) -> None:
    before = api.deployments().body

    done = apply(api)

    assert "deployment_id" not in done
    assert "deployment_id" not in done["progress"]
    assert api.deployments().body == before


@pytest.mark.parametrize("body", [{"hostnames": ["evil.example"]}, [], None])
def test_hosts_cannot_be_supplied(api: CheckedWorld, body: Any) -> None:
    # given a client that sends a body although the call takes none
    sent = api.apply_domains(body=body) if body is not None else api.apply_domains(raw=b"{broken")
    api.emulator.clock.until(sent.json["id"])

    assert "evil" not in str(api.poll(sent.json["id"]).json)
