"""The coverage counts what clients received: responses by call, ends of operations, and pages."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from hosting_emulator.conduct.world_watch import watch_of
from tests.support.judged_world import JudgedWorld


@pytest.fixture
def world() -> JudgedWorld:
    """A world whose clock is frozen, and whose requests are counted."""
    return JudgedWorld()


def coverage(world: JudgedWorld) -> dict[str, Any]:
    """Return what the clients of a world have exercised so far."""
    document: dict[str, Any] = msgspec.to_builtins(watch_of(world.engine).current.coverage())
    return document


def test_responses_are_counted_by_call_status_code_and_role(world: JudgedWorld) -> None:
    world.set_flag(True, key="first")
    world.set_flag(True, key="first")
    world.set_flag(False, key="first")
    world.set_flag(False, user="reader")
    assert coverage(world)["calls"] == {
        "set_project_powered_by_flag": {
            "responses": 4,
            "statuses": {"200": 2, "409": 1, "403": 1},
            "codes": {"idempotency_key_reused": 1, "forbidden": 1},
            "roles": {"owner": 3, "reader": 1},
            "replays": 1,
        }
    }


def test_an_api_key_is_a_role_of_its_own(world: JudgedWorld) -> None:
    value = world.create_key().json["value"]
    world.dns(token=value)
    assert coverage(world)["calls"]["get_dns_authorization"]["roles"] == {"api_key": 1}


def test_a_request_outside_every_project_has_no_role(world: JudgedWorld) -> None:
    world.create_key()
    world.call("GET", "/v1/projects/01ARZ3NDEKTSV4RRFFQ69G5FAV/edge-dns")
    world.dns(token="unknown")
    calls = coverage(world)["calls"]
    assert calls["create_user_api_key"]["roles"] == {}
    assert calls["get_dns_authorization"]["roles"] == {}
    assert calls["get_dns_authorization"]["statuses"] == {"404": 1, "401": 1}


def test_each_poll_that_shows_the_end_of_an_operation_is_counted(world: JudgedWorld) -> None:
    operation = world.apply_domains().json["id"]
    world.poll(operation)
    assert coverage(world)["operation_ends"] == {}
    world.advance("1h")
    world.poll(operation)
    world.poll(operation)
    assert coverage(world)["operation_ends"] == {"succeeded": 2}


def test_pages_are_counted_and_so_are_those_that_follow_a_cursor(world: JudgedWorld) -> None:
    first = world.deployments("?limit=5").json
    world.deployments(f"?limit=5&cursor={first['next_cursor']}")
    world.deployments("?limit=0")
    world.dns()
    counted = coverage(world)
    assert (counted["pages"], counted["following_pages"]) == (2, 1)


def test_a_lost_response_and_a_path_without_a_call_do_not_count(world: JudgedWorld) -> None:
    world.lose_response()
    world.dns()
    world.call("GET", "/v1/nothing")
    nothing = {"calls": {}, "operation_ends": {}, "pages": 0, "following_pages": 0}
    assert coverage(world) == nothing
