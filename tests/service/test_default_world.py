"""The default world: what it contains before the first request."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from msgspec import to_builtins

from hosting_emulator.sdk import ControlClient
from tests.support.checked_world import CheckedWorld
from tests.support.response_checks import read_timestamp

DNS = {"not_authorized", "pending", "authorized", "expired", "revoked"}


@pytest.fixture
def summary(api: CheckedWorld) -> dict[str, Any]:
    return dict(to_builtins(api.emulator.summary))


@dataclass(frozen=True)
class Contents:
    """What a project of the default world contains before the first request."""

    organization: str
    flag: bool
    domain: str | None
    dns: str
    deployments: int
    #: The mode of the databases, and the state and pending state of each.
    databases: tuple[str, str | None, str | None]
    pending: tuple[str | None, str | None] = (None, None)


CONTENTS = {
    "shop": Contents(
        "acme", True, "shop.acme.example", "authorized", 45, ("separate", "ready", "ready")
    ),
    "blog": Contents("acme", False, None, "pending", 12, ("shared", "suspended", "suspended")),
    "docs": Contents(
        "acme", False, None, "expired", 21, ("separate", "init", None), ("ready", None)
    ),
    "labs": Contents("acme", False, None, "not_authorized", 0, ("separate", None, None)),
    "garden": Contents(
        "hobby",
        True,
        "garden.example",
        "revoked",
        7,
        ("separate", "ready", "resizing"),
        (None, "ready"),
    ),
    "notes": Contents("hobby", False, None, "not_authorized", 3, ("shared", "ready", "ready")),
}


def contents_of(api: CheckedWorld, project: str, user: str) -> Contents:
    """Return what a project contains, as the public API and the control API show it."""
    states = api.emulator.control.get(api.emulator.control_path("projects"))["items"]
    (state,) = (state for state in states if state["alias"] == project)
    dev, prod = (
        api.compute(f"?environment={environment}", project=project, user=user).json
        for environment in ("dev", "prod")
    )
    placements = [dev["database"] or {}, prod["database"] or {}]
    dev_state, prod_state = (placement.get("state") for placement in placements)
    dev_pending, prod_pending = (placement.get("pending_state") for placement in placements)
    return Contents(
        state["organization"],
        state["flag"]["enabled"],
        state.get("custom_domain"),
        api.dns(project=project, user=user).json["status"],
        len(api.deployments("?limit=100", project=project, user=user).json["items"]),
        (dev["data_mode"], dev_state, prod_state),
        (dev_pending, prod_pending),
    )


def projects(api: CheckedWorld) -> Iterator[tuple[str, str]]:
    """Yield each project with a user who can read it."""
    for project in api.emulator.summary.projects:
        mine = project.organization_id == api.emulator.organization
        yield project.alias, "owner" if mine else "outsider"


def test_the_default_world_has_a_free_and_a_paid_organization(summary: dict[str, Any]) -> None:
    assert sorted(organization["plan"] for organization in summary["organizations"]) == [
        "free",
        "paid",
    ]


def test_the_default_world_has_these_projects(api: CheckedWorld) -> None:
    contents = {project: contents_of(api, project, user) for project, user in projects(api)}

    assert contents == CONTENTS


def test_the_default_world_has_a_user_for_every_role(summary: dict[str, Any]) -> None:
    users = {user["alias"] for user in summary["users"]}

    assert users == {"owner", "member", "reader", "outsider", "no-organization"}


def test_the_default_world_has_a_few_dozen_deployments_of_every_final_status(
    api: CheckedWorld,
) -> None:
    deployments = [
        item
        for project, user in projects(api)
        for item in api.deployments("?limit=100", project=project, user=user).json["items"]
    ]

    assert 24 <= len(deployments) <= 200
    assert {item["status"] for item in deployments} == {"ready", "failed", "cancelled"}


def test_the_deployments_of_the_default_world_lie_in_the_past_and_in_order(
    api: CheckedWorld,
) -> None:
    for project, user in projects(api):
        for item in api.deployments("?limit=100", project=project, user=user).json["items"]:
            assert (
                read_timestamp(item["created_at"])
                <= read_timestamp(item["updated_at"])
                <= api.now()
            )


def test_the_default_world_has_a_dns_authorization_in_every_state(api: CheckedWorld) -> None:
    statuses = {api.dns(project=p, user=user).json["status"] for p, user in projects(api)}

    assert statuses == DNS


def test_the_default_world_has_shared_separate_and_missing_databases(api: CheckedWorld) -> None:
    configurations = [
        api.compute(f"?environment={environment}", project=project, user=user).json
        for project, user in projects(api)
        for environment in ("dev", "prod")
    ]

    assert {response["data_mode"] for response in configurations} == {"shared", "separate"}
    assert any(response["database"] is None for response in configurations)
    states = {response["database"]["state"] for response in configurations if response["database"]}
    assert {"init", "ready"} <= states


def test_the_default_world_has_a_flag_that_cannot_be_hidden(api: CheckedWorld) -> None:
    responses = {p: api.set_flag(False, project=p, user=user).status for p, user in projects(api)}

    assert sorted(set(responses.values())) == [200, 409]


def test_the_default_world_has_no_unfinished_operation(
    api: CheckedWorld, summary: dict[str, Any]
) -> None:
    assert summary["counts"]["tickets"] == summary["counts"]["api_keys"] == 0
    states = {row["state"] for row in api.state()["tables"]["operations"].values()}
    assert states <= {"succeeded", "failed", "cancelled"}


def test_ids_depend_on_the_seed_alone(api: CheckedWorld) -> None:
    control: ControlClient = api.emulator.control
    worlds = [
        control.create_world(seed=seed, clock={"mode": "frozen", "at": at})
        for seed, at in (
            ("one", "2026-01-01T00:00:00Z"),
            ("one", "2031-07-01T00:00:00Z"),
            ("two", "2026-01-01T00:00:00Z"),
        )
    ]
    for world in worlds:
        control.world(world.name).delete()

    ids = [{p.alias: p.id for p in world.projects} for world in worlds]
    assert ids[0] == ids[1]
    assert not set(ids[0].values()) & set(ids[2].values())


def test_a_reset_restores_the_default_world(api: CheckedWorld) -> None:
    before = api.deployments().body
    api.initialize(1)
    api.set_flag(False)
    api.assume(default_page_size=3)
    api.advance("40d")

    api.emulator.reset()

    assert api.deployments(token=api.emulator.token()).body == before
    assert api.dns().json["status"] == "authorized"


def test_the_default_world_is_served_without_a_path_prefix(api: CheckedWorld) -> None:
    """It is served at /v1, without a prefix; other worlds are below /worlds."""
    default = api.emulator.control.world("default").summary

    assert default.base_url == api.emulator.base_url.partition("/worlds/")[0]
    assert [p.alias for p in default.projects] == list(api.emulator.projects)
