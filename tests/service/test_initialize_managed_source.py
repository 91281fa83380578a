"""Call 2: start the operation that initializes a project's managed Git source."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.checked_world import CheckedCalls
from tests.support.response_checks import expect_problem

HUGE = 10**30


@pytest.mark.over_http
def test_the_operation_is_accepted_and_queued(world: CheckedCalls) -> None:
    now = world.timestamp()

    response = world.initialize(1)

    operation = response.json
    assert response.status == 202
    assert operation["state"] == "queued"
    assert operation["created_at"] == operation["updated_at"] == now
    assert operation.keys() == {
        "id",
        "state",
        "created_at",
        "updated_at",
        "deployment_id",
        "progress",
    }
    assert operation["progress"] == {
        "phase": "queued",
        "project_id": world.project_id(),
        "deployment_id": operation["deployment_id"],
        "observed_at": now,
        "next_poll_after_seconds": 2,
        "suggested_action": operation["progress"]["suggested_action"],
    }


def test_initializing_creates_a_deployment_that_is_listed_first(world: CheckedCalls) -> None:
    operation = world.initialize(1).json

    newest = world.deployments("?limit=1").json["items"][0]

    assert newest["id"] == operation["deployment_id"]
    assert newest["operation_id"] == operation["id"]
    assert newest["project_id"] == world.project_id()
    assert newest["status"] == "queued"
    assert newest["created_at"] == operation["created_at"]
    assert newest.keys().isdisjoint({"url", "artifact_digest"})


def test_each_success_raises_the_generation_by_one_from_zero(world: CheckedCalls) -> None:
    # given a project that was never initialized
    for generation in (0, 1, 2):
        operation = world.initialize(generation, project="labs").json

        world.finish(operation["id"])

        assert world.poll(operation["id"]).json["result"] == {"source_generation": generation + 1}
        expect_problem(world.initialize(generation, project="labs"), 409, "etag_mismatch")


@pytest.mark.over_http
@pytest.mark.parametrize("generation", [0, 2, HUGE])
def test_a_stale_or_future_generation_is_refused(world: CheckedCalls, generation: int) -> None:
    # given a project at generation 1
    refused = expect_problem(world.initialize(generation, project="shop"), 409, "etag_mismatch")

    assert refused["retryable"] is False


def test_an_accepted_operation_does_not_raise_the_generation_yet(world: CheckedCalls) -> None:
    first = world.initialize(0, project="labs").json

    second = world.initialize(0, project="labs")

    assert second.status == 202
    assert second.json["id"] != first["id"]


@pytest.mark.over_http
@pytest.mark.parametrize("generation", [-1, 1.5, True, False, "1", None, [1], {}])
def test_a_generation_that_is_not_an_integer_from_zero_is_refused_by_name(
    world: CheckedCalls, generation: Any
) -> None:
    refused = expect_problem(world.initialize(generation), 400, "invalid_request")

    assert "expected_source_generation" in refused["detail"]


def test_the_generation_is_required(world: CheckedCalls) -> None:
    response = world.call(
        "POST", world.project_path("source:initialize"), key="k", body={"other": 1}
    )

    assert (
        "expected_source_generation" in expect_problem(response, 400, "invalid_request")["detail"]
    )


def test_unknown_fields_are_ignored(world: CheckedCalls) -> None:
    body = {"expected_source_generation": 1, "hurry": True}

    response = world.call("POST", world.project_path("source:initialize"), key="k", body=body)

    assert response.status == 202


@pytest.mark.over_http
def test_the_colon_of_the_path_may_be_escaped(world: CheckedCalls) -> None:
    # given a client library that escapes every reserved character of a path
    path = world.project_path("source%3Ainitialize")

    response = world.call("POST", path, key="k", body={"expected_source_generation": 1})

    assert response.status == 202


@pytest.mark.parametrize("body", [{}, {"expected_source_generation": 99}])
def test_an_ignored_generation_can_be_left_out(world: CheckedCalls, body: Any) -> None:
    world.set_assumptions(source_generation="ignored")

    response = world.call("POST", world.project_path("source:initialize"), key="k", body=body)

    assert response.status == 202


@pytest.mark.parametrize(
    ("generation", "body"),
    [("any_integer", {"expected_source_generation": -1, "hurry": True}), ("ignored", {"hurry": 1})],
)
def test_an_unknown_field_is_refused_beside_any_accepted_generation(
    world: CheckedCalls, generation: str, body: Any
) -> None:
    world.set_assumptions(source_generation=generation, unknown_body_fields="refused")

    response = world.call("POST", world.project_path("source:initialize"), key="k", body=body)

    assert "hurry" in expect_problem(response, 400, "invalid_request")["detail"]
