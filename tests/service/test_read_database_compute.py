"""Call 8: read the observed compute configuration of a database."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.checked_world import CheckedCalls
from tests.support.response_checks import expect_problem

_PLACEMENT = {
    "min_cu",
    "max_cu",
    "min_memory_gb",
    "max_memory_gb",
    "suspend_timeout_seconds",
    "state",
    "disabled",
    "region",
}


def compute(
    world: CheckedCalls, environment: str, project: str, user: str = "owner"
) -> dict[str, Any]:
    response = world.compute(f"?environment={environment}", project=project, user=user)
    assert response.status == 200
    configuration: dict[str, Any] = response.json
    return configuration


@pytest.mark.over_http
@pytest.mark.parametrize("environment", ["dev", "prod"])
def test_the_response_has_exactly_the_observed_configuration(
    world: CheckedCalls, environment: str
) -> None:
    configuration = compute(world, environment, "shop")

    assert configuration.keys() == {
        "project_id",
        "environment",
        "data_mode",
        "observed_at",
        "database",
    }
    assert configuration["project_id"] == world.project_id()
    assert configuration["environment"] == environment
    assert configuration["observed_at"] == world.timestamp()
    assert configuration["database"].keys() == _PLACEMENT
    assert configuration["database"]["min_cu"] <= configuration["database"]["max_cu"]
    assert configuration["database"]["min_memory_gb"] <= configuration["database"]["max_memory_gb"]


def test_each_observation_is_fresh(world: CheckedCalls) -> None:
    before = compute(world, "dev", "shop")
    world.advance("90s")

    after = compute(world, "dev", "shop")

    assert after == before | {"observed_at": world.timestamp()}


@pytest.mark.parametrize(("project", "user"), [("blog", "owner"), ("notes", "outsider")])
def test_shared_data_is_one_database_for_both_environments(
    world: CheckedCalls, project: str, user: str
) -> None:
    dev, prod = (compute(world, environment, project, user) for environment in ("dev", "prod"))

    assert dev["data_mode"] == prod["data_mode"] == "shared"
    assert dev["database"] == prod["database"] is not None


def test_separate_data_is_two_databases(world: CheckedCalls) -> None:
    dev = compute(world, "dev", "shop")
    prod = compute(world, "prod", "shop")

    assert dev["data_mode"] == prod["data_mode"] != "shared"
    assert dev["database"] != prod["database"]


@pytest.mark.over_http
@pytest.mark.parametrize(
    ("project", "environment"), [("docs", "prod"), ("labs", "dev"), ("labs", "prod")]
)
def test_without_a_placement_the_database_is_null(
    world: CheckedCalls, project: str, environment: str
) -> None:
    assert compute(world, environment, project)["database"] is None


def test_a_resizing_database_has_a_pending_state(world: CheckedCalls) -> None:
    resizing = compute(world, "prod", "garden", "outsider")["database"]

    assert resizing["state"] == "resizing"
    assert resizing["pending_state"]


@pytest.mark.over_http
@pytest.mark.parametrize(
    "query",
    [
        "",
        "?",
        "?environment",
        "?environment=",
        "?environment=staging",
        "?environment=DEV",
        "?environment=dev%20",
        "?environment=dev&environment=dev",
        "?environment=dev&environment=prod",
        "?Environment=dev",
        "?env=dev",
    ],
)
def test_the_environment_must_be_dev_or_prod(world: CheckedCalls, query: str) -> None:
    assert "environment" in expect_problem(world.compute(query), 400, "invalid_request")["detail"]
