"""Call 8: read the observed compute configuration of a database."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.checked_world import CheckedWorld
from tests.support.response_checks import problem

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
    api: CheckedWorld, environment: str, project: str, who: str = "owner"
) -> dict[str, Any]:
    response = api.compute(f"?environment={environment}", project=project, who=who)
    assert response.status == 200
    found: dict[str, Any] = response.json
    return found


@pytest.mark.parametrize("environment", ["dev", "prod"])
def test_the_response_has_exactly_the_observed_configuration(
    api: CheckedWorld, environment: str
) -> None:
    found = compute(api, environment, "shop")

    assert found.keys() == {"project_id", "environment", "data_mode", "observed_at", "database"}
    assert found["project_id"] == api.emulator.project
    assert found["environment"] == environment
    assert found["observed_at"] == api.emulator.clock.now
    assert found["database"].keys() == _PLACEMENT
    assert found["database"]["min_cu"] <= found["database"]["max_cu"]
    assert found["database"]["min_memory_gb"] <= found["database"]["max_memory_gb"]


def test_each_observation_is_fresh(api: CheckedWorld) -> None:
    before = compute(api, "dev", "shop")
    api.advance("90s")

    after = compute(api, "dev", "shop")

    assert after == before | {"observed_at": api.emulator.clock.now}


@pytest.mark.parametrize(("project", "who"), [("blog", "owner"), ("notes", "outsider")])
def test_shared_data_is_one_database_for_both_environments(
    api: CheckedWorld, project: str, who: str
) -> None:
    dev, prod = (compute(api, environment, project, who) for environment in ("dev", "prod"))

    assert dev["data_mode"] == prod["data_mode"] == "shared"
    assert dev["database"] == prod["database"] is not None


def test_separate_data_is_two_databases(api: CheckedWorld) -> None:
    dev, prod = compute(api, "dev", "shop"), compute(api, "prod", "shop")

    assert dev["data_mode"] == prod["data_mode"] != "shared"
    assert dev["database"] != prod["database"]


@pytest.mark.parametrize(
    ("project", "environment"), [("docs", "prod"), ("labs", "dev"), ("labs", "prod")]
)
def test_without_a_placement_the_database_is_null(
    api: CheckedWorld, project: str, environment: str
) -> None:
    assert compute(api, environment, project)["database"] is None


def test_a_resizing_database_has_a_pending_state(api: CheckedWorld) -> None:
    resizing = compute(api, "prod", "garden", "outsider")["database"]

    assert resizing["state"] == "resizing"
    assert resizing["pending_state"]


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
def test_the_environment_must_be_dev_or_prod(api: CheckedWorld, query: str) -> None:
    assert "environment" in problem(api.compute(query), 400, "invalid_request")["detail"]
