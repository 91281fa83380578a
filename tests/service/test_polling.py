"""Polling an operation: what a client sees from its acceptance to its end (the usual profile)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from tests.support.calls import Response
from tests.support.checked_world import CheckedCalls, CheckedWorld
from tests.support.response_checks import expect_problem, read_timestamp

Start = Callable[[CheckedCalls], Response]


def initialize(world: CheckedCalls) -> Response:
    return world.initialize(1)


def apply_domains(world: CheckedCalls) -> Response:
    return world.apply_domains()


both = pytest.mark.parametrize("start", [initialize, apply_domains])


@both
@pytest.mark.parametrize(
    ("after", "state"),
    [
        ("0s", "queued"),
        ("1999ms", "queued"),
        ("2s", "running"),
        ("9999ms", "running"),
        ("10s", "succeeded"),
        ("365d", "succeeded"),
    ],
)
def test_an_operation_is_queued_for_two_seconds_and_runs_for_eight(
    world: CheckedCalls, start: Start, after: str, state: str
) -> None:
    operation = start(world).json

    world.advance(after)

    polled = world.poll(operation["id"])
    assert polled.status == 200
    assert polled.json["state"] == state
    assert polled.json["id"] == operation["id"]
    assert polled.json["created_at"] == operation["created_at"]
    assert ("result" in polled.json) == (state == "succeeded")
    assert "error" not in polled.json


def follow(world: CheckedCalls, operation: dict[str, Any]) -> list[dict[str, Any]]:
    """Poll an operation exactly when each response advises."""
    seen = [operation]
    while "next_poll_after_seconds" in seen[-1]["progress"]:
        world.advance(f"{seen[-1]['progress']['next_poll_after_seconds']}s")
        seen.append(world.poll(operation["id"]).json)
    return seen


@pytest.mark.over_http
@both
def test_polling_as_advised_sees_every_state_up_to_the_end(
    world: CheckedCalls, start: Start
) -> None:
    seen = follow(world, start(world).json)

    states = list(dict.fromkeys(response["state"] for response in seen))
    phases = list(dict.fromkeys(response["progress"]["phase"] for response in seen))
    known_phases = ["queued", "building", "deploying", "verifying", "done"]
    assert states == ["queued", "running", "succeeded"]
    assert [phases[0], phases[-1]] == ["queued", "done"]
    assert phases == [phase for phase in known_phases if phase in phases]
    assert all(response["progress"]["next_poll_after_seconds"] >= 1 for response in seen[:-1])


@both
def test_updated_at_changes_exactly_with_the_state_and_the_phase(
    world: CheckedCalls, start: Start
) -> None:
    seen = follow(world, start(world).json)

    for before, after in pairwise(seen):
        changed = (before["state"], before["progress"]["phase"]) != (
            after["state"],
            after["progress"]["phase"],
        )
        assert changed == (
            read_timestamp(before["updated_at"]) < read_timestamp(after["updated_at"])
        )


@both
def test_the_progress_is_observed_at_the_time_of_the_poll(
    world: CheckedCalls, start: Start
) -> None:
    operation = start(world).json
    world.advance("900ms")

    progress = world.poll(operation["id"]).json["progress"]

    assert progress["observed_at"] == world.timestamp()
    assert progress["project_id"] == world.project_id()
    assert progress["next_poll_after_seconds"] == 2  # 1.1 s are left: whole seconds, rounded up


@both
def test_polling_changes_nothing(world: CheckedCalls, start: Start) -> None:
    operation = start(world).json
    world.advance("3s")
    before = world.state()

    responses = {world.poll(operation["id"]).body for _ in range(3)}

    assert len(responses) == 1
    assert world.state() == before


@both
def test_a_terminal_operation_never_changes_again(world: CheckedCalls, start: Start) -> None:
    operation = start(world).json
    world.advance("10s")
    ended = world.poll(operation["id"]).json
    world.advance("90d")

    later = world.poll(operation["id"]).json

    ended["progress"].pop("observed_at")
    later["progress"].pop("observed_at")
    assert later == ended


@both
def test_the_course_of_an_operation_does_not_depend_on_polling(
    api: CheckedWorld, start: Start
) -> None:
    """Each event happens at its own moment, however late a client polls."""
    operation = start(api).json
    control = api.emulator.control
    name = api.emulator.name
    fork = api.emulator.copy().name

    try:
        for _ in range(24):  # one world is polled all the time, the other only at the end
            api.advance("500ms")
            api.poll(operation["id"])
        control.world(fork).clock.move(by="12s")
        looked, unlooked = (control.world(copy).export()["tables"] for copy in (name, fork))
    finally:
        control.world(fork).delete()

    for table in ("operations", "deployments", "projects", "schedule", "streams"):
        if table == "deployments":
            _drop_urls(looked[table], unlooked[table])  # hosts contain the name of their world
        if table != "operations":
            assert looked[table] == unlooked[table], table
    mine = looked["operations"][operation["id"]]
    theirs = unlooked["operations"][operation["id"]]
    assert {**mine, "result": None} == {**theirs, "result": None}


def _drop_urls(*tables: dict[str, Any]) -> None:
    for table in tables:
        for row in table.values():
            row.pop("url", None)


def test_the_deployment_moves_with_its_operation(world: CheckedCalls) -> None:
    operation = world.initialize(1).json
    seen = [("queued", "queued")]
    deployment: dict[str, Any] = {}

    while seen[-1][0] != "succeeded":
        world.advance("1s")
        polled = world.poll(operation["id"]).json
        deployment = world.deployments("?limit=1").json["items"][0]
        assert deployment["id"] == polled["deployment_id"] == operation["deployment_id"]
        seen.append((polled["state"], deployment["status"]))

    assert list(dict.fromkeys(seen)) == [
        ("queued", "queued"),
        ("running", "building"),
        ("running", "deploying"),
        ("succeeded", "ready"),
    ]
    assert deployment["updated_at"] == polled["updated_at"]
    assert deployment["artifact_digest"]
    assert deployment["url"].startswith("https://")


def test_build_completed_at_is_set_at_the_end_of_the_build_and_stays(world: CheckedCalls) -> None:
    seen = follow(world, world.initialize(1).json)

    built = [response["progress"].get("build_completed_at") for response in seen]
    phases = [response["progress"]["phase"] for response in seen]
    first = phases.index("deploying")
    assert built[:first] == [None] * first
    assert set(built[first:]) == {seen[first]["updated_at"]}


def test_applying_domains_has_no_build_and_no_deployment(world: CheckedCalls) -> None:
    seen = follow(world, world.apply_domains().json)

    assert all("build_completed_at" not in response["progress"] for response in seen)
    assert all("deployment_id" not in response for response in seen)


def test_advancing_until_an_operation_ends_stops_at_its_end(world: CheckedCalls) -> None:
    operation = world.initialize(1).json
    began = world.now()

    world.finish(operation["id"])

    assert world.now() - began == timedelta(seconds=10)
    assert world.poll(operation["id"]).json["updated_at"] == world.timestamp()


@pytest.mark.over_http
@pytest.mark.parametrize(
    "operation_id", ["01JGFJJZ000000000000000000", "nonsense", "%00", "01jgfjjz000000000000000000"]
)
def test_an_unknown_operation_is_not_found(world: CheckedCalls, operation_id: str) -> None:
    expect_problem(world.poll(operation_id), 404, "resource_not_found")
