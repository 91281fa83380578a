"""The default world: what it contains before the first request."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from msgspec import to_builtins
from ulid import ULID

from hosting_emulator.sdk import ControlClient
from tests.support.checked_world import CheckedCalls, CheckedWorld
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


def test_the_databases_of_the_default_world_have_these_sizes(world: CheckedCalls) -> None:
    small = {
        "min_cu": 0.25,
        "max_cu": 1.0,
        "min_memory_gb": 1.0,
        "max_memory_gb": 4.0,
        "suspend_timeout_seconds": 300,
        "disabled": False,
        "region": "eu-central-1",
        "state": "ready",
    }
    large = small | {"max_cu": 2.0, "max_memory_gb": 8.0, "suspend_timeout_seconds": 0}

    assert world.compute("?environment=dev").json["database"] == small
    assert world.compute("?environment=prod").json["database"] == large
    shared = world.compute("?environment=dev", project="blog").json["database"]
    assert shared == large | {"state": "suspended"}


def test_the_dns_authorizations_of_the_default_world_expire_after_these_days(
    world: CheckedCalls,
) -> None:
    days = {}
    for project, user in [
        ("shop", "owner"),
        ("blog", "owner"),
        ("docs", "owner"),
        ("garden", "outsider"),
    ]:
        expires_at = world.dns(project=project, user=user).json["expires_at"]
        days[project] = (read_timestamp(expires_at) - world.now()) / timedelta(days=1)

    assert days == {"shop": 30, "blog": 1, "docs": -3, "garden": 12}


@pytest.mark.parametrize(
    ("status", "state", "ending"),
    [
        ("ready", "succeeded", {"result": {"source_generation": 1}}),
        ("cancelled", "cancelled", {}),
        (
            "failed",
            "failed",
            {
                "error": {
                    "code": "operation_failed",
                    "message": "The build exited with status 1.",
                    "retryable": True,
                    "suggested_action": "Read the deployment logs, fix the build and deploy again.",
                }
            },
        ),
    ],
)
def test_the_operation_of_a_past_deployment_has_ended_like_the_deployment(
    world: CheckedCalls, status: str, state: str, ending: dict[str, Any]
) -> None:
    items = world.deployments("?limit=100").json["items"]
    deployment = next(item for item in items if item["status"] == status)

    operation = world.poll(deployment["operation_id"]).json

    progress = operation.pop("progress")
    assert operation == {
        "id": deployment["operation_id"],
        "state": state,
        "created_at": deployment["created_at"],
        "updated_at": deployment["updated_at"],
        "deployment_id": deployment["id"],
        **ending,
    }
    assert progress["phase"] == "done"
    completed_at = deployment["updated_at"] if status == "ready" else None
    assert progress.get("build_completed_at") == completed_at


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


# --- Ids and times ------------------------------------------------------------------------------


def time_in(id_: str) -> Any:
    """Return the time that an id contains."""
    return ULID.from_str(id_).datetime


def test_the_ids_of_deployments_and_their_operations_contain_their_creation_time(
    api: CheckedWorld,
) -> None:
    api.intervene("add_deployments", project="shop", count=2)
    for item in api.deployments("?limit=100").json["items"]:
        operation = api.poll(item["operation_id"]).json

        assert time_in(item["id"]) == read_timestamp(item["created_at"])
        assert time_in(operation["id"]) == read_timestamp(operation["created_at"])


@pytest.mark.parametrize("time", [{"ago": "3h"}, {"at": "2025-12-31T23:00:00.250Z"}])
def test_the_id_of_a_deployment_that_is_added_with_a_time_contains_this_time(
    api: CheckedWorld, time: dict[str, str]
) -> None:
    api.intervene("add_deployments", project="shop", **time)

    [latest] = api.deployments("?limit=1").json["items"]

    assert time_in(latest["id"]) == time_in(latest["operation_id"])
    assert time_in(latest["id"]) == read_timestamp(latest["created_at"])


def test_the_ids_of_new_operations_deployments_and_keys_contain_their_creation_time(
    api: CheckedWorld,
) -> None:
    api.advance("12345ms")
    operation = api.initialize(1).json
    key = api.create_key().json["key"]

    assert time_in(operation["id"]) == read_timestamp(operation["created_at"])
    assert time_in(operation["deployment_id"]) == read_timestamp(operation["created_at"])
    assert time_in(key["id"]) == read_timestamp(key["created_at"])


def test_the_id_of_a_key_of_a_world_file_contains_its_creation_time(api: CheckedWorld) -> None:
    value = "phk_AKeyOfThisTestThatOpensNothingElsewhere0000"
    api.intervene("add", keys=[{"user": "member", "value": value}])
    [key] = api.emulator.control.get(api.emulator.control_path("keys"))["items"]

    assert time_in(key["id"]) == read_timestamp(key["created_at"])


@pytest.mark.parametrize(
    "clock",
    [
        {"mode": "real"},
        {"mode": "skip", "at": "2031-07-01T12:00:00Z"},
        {"mode": "frozen", "at": "1970-01-01T00:00:00Z"},
    ],
)
def test_the_ids_of_organizations_users_and_projects_are_the_same_whenever_a_world_starts(
    api: CheckedWorld, clock: dict[str, str]
) -> None:
    control: ControlClient = api.emulator.control

    other = control.create_world(clock=clock)  # type: ignore[arg-type]
    control.world(other.name).delete()

    summary = api.emulator.summary
    assert other.organizations == summary.organizations
    assert other.users == summary.users
    assert [project.id for project in other.projects] == [
        project.id for project in summary.projects
    ]


def test_the_deployments_of_the_default_world_ran_on_working_days_before_its_start(
    api: CheckedWorld,
) -> None:
    for project, user in projects(api):
        items = api.deployments("?limit=100", project=project, user=user).json["items"]
        times = [read_timestamp(item["created_at"]) for item in items]

        assert times == sorted(times, reverse=True)
        assert {time.weekday() for time in times} <= {0, 1, 2, 3, 4}
        assert {time.hour for time in times} <= {9, 10, 11, 14, 15, 16}
        assert all(read_timestamp(item["updated_at"]) <= api.now() for item in items)
        assert [item["id"] for item in items] == sorted(
            (item["id"] for item in items), reverse=True
        )


def test_the_zone_of_an_authorization_is_that_of_the_projects_domain_or_organization(
    api: CheckedWorld,
) -> None:
    zones = {
        project: api.dns(project=project, user=user).json["zone"] for project, user in projects(api)
    }

    assert zones == {
        "shop": "acme.example",
        "blog": "acme.example",
        "docs": "acme.example",
        "labs": None,
        "garden": "garden.example",
        "notes": None,
    }
