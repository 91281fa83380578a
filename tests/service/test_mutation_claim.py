"""The project mutation claim: one operation of a project moves, the others wait their turn."""

from __future__ import annotations

from typing import Any

from tests.support.checked_world import CheckedCalls


def states(world: CheckedCalls, *operations: dict[str, Any]) -> list[str]:
    return [world.poll(operation["id"]).json["state"] for operation in operations]


def blockers(world: CheckedCalls, *operations: dict[str, Any]) -> list[str | None]:
    return [world.poll(o["id"]).json.get("blocking_operation_id") for o in operations]


def test_a_second_operation_names_the_operation_that_blocks_it(world: CheckedCalls) -> None:
    first = world.apply_domains().json

    second = world.initialize(1).json

    assert "blocking_operation_id" not in first
    assert second["state"] == "queued"
    assert second["blocking_operation_id"] == first["id"]


def test_a_second_operation_stays_queued_while_the_first_runs(world: CheckedCalls) -> None:
    first = world.apply_domains().json
    second = world.initialize(1).json

    world.advance("9999ms")

    assert states(world, first, second) == ["running", "queued"]
    assert blockers(world, first, second) == [None, first["id"]]


def test_the_claim_passes_on_at_the_moment_the_first_operation_ends(world: CheckedCalls) -> None:
    first = world.apply_domains().json
    second = world.initialize(1).json

    world.advance("10s")

    # the second has been queued for longer than its two seconds: it starts at once
    assert states(world, first, second) == ["succeeded", "running"]
    assert world.poll(second["id"]).json["updated_at"] == world.timestamp()
    assert blockers(world, first, second) == [None, None]


def test_an_operation_that_gets_the_claim_early_stays_queued_for_two_seconds(
    world: CheckedCalls,
) -> None:
    first = world.apply_domains().json
    world.advance("9s")
    second = world.apply_domains().json

    world.advance("1s")
    assert states(world, first, second) == ["succeeded", "queued"]
    assert blockers(world, second) == [None]
    world.advance("999ms")
    assert states(world, second) == ["queued"]
    world.advance("1ms")
    assert states(world, second) == ["running"]


def test_waiting_operations_get_the_claim_in_the_order_of_arrival(world: CheckedCalls) -> None:
    waiting = [
        world.apply_domains().json,
        world.initialize(1).json,
        world.apply_domains().json,
        world.apply_domains().json,
    ]
    ids = [operation["id"] for operation in waiting]
    assert blockers(world, *waiting) == [None, ids[0], ids[0], ids[0]]
    order = []

    for at, operation in enumerate(waiting):
        world.finish(operation["id"])
        order.append(states(world, *waiting))
        following = ids[at + 1] if at + 1 < len(ids) else None
        assert blockers(world, *waiting[at + 2 :]) == [following] * len(waiting[at + 2 :])

    assert order == [
        ["succeeded", "running", "queued", "queued"],
        ["succeeded", "succeeded", "running", "queued"],
        ["succeeded", "succeeded", "succeeded", "running"],
        ["succeeded"] * 4,
    ]


def test_operations_that_join_while_others_wait_keep_the_order(world: CheckedCalls) -> None:
    first = world.apply_domains().json
    second = world.apply_domains().json
    world.finish(first["id"])

    third = world.apply_domains().json

    assert third["blocking_operation_id"] == second["id"]
    world.finish(third["id"])
    assert states(world, first, second, third) == ["succeeded"] * 3
    assert "blocking_operation_id" not in world.apply_domains().json


def test_projects_do_not_wait_for_each_other(world: CheckedCalls) -> None:
    shop = world.apply_domains(project="shop").json
    blog = world.apply_domains(project="blog").json

    assert "blocking_operation_id" not in blog
    world.advance("2s")
    assert states(world, shop, blog) == ["running", "running"]


def test_a_waiting_operation_is_polled_when_its_blocker_moves(world: CheckedCalls) -> None:
    first = world.apply_domains().json
    second = world.apply_domains().json

    assert second["progress"]["next_poll_after_seconds"] == 2
    assert second["progress"]["phase"] == "queued"
    assert first["progress"]["next_poll_after_seconds"] == 2


def test_the_flag_does_not_need_the_claim(world: CheckedCalls) -> None:
    world.apply_domains()

    assert world.set_flag(False).status == 200


def test_only_the_first_of_two_initializations_of_one_generation_succeeds(
    world: CheckedCalls,
) -> None:
    """The generation is compared when an operation is accepted and again when it is carried out."""
    first = world.initialize(1).json
    second = world.initialize(1).json
    third = world.apply_domains().json

    world.finish(second["id"])

    failed = world.poll(second["id"]).json
    assert states(world, first) == ["succeeded"]
    assert failed["state"] == "failed"
    assert failed["error"]["code"] == "etag_mismatch"
    assert failed["error"]["retryable"] is False
    assert failed["error"].keys() == {"code", "message", "retryable", "suggested_action"}
    assert "result" not in failed
    assert "next_poll_after_seconds" not in failed["progress"]
    # and the generation was raised once, the deployment failed, the claim went on
    projects = world.state()["tables"]["projects"]
    assert projects[world.project_id()]["source_generation"] == 2
    newest = {item["id"]: item for item in world.deployments("?limit=2").json["items"]}
    assert newest[first["deployment_id"]]["status"] == "ready"
    assert newest[second["deployment_id"]]["status"] == "failed"
    assert "url" not in newest[second["deployment_id"]]
    assert blockers(world, third) == [None]
    world.finish(third["id"])
    assert states(world, third) == ["succeeded"]


def test_an_initialization_of_the_next_generation_is_refused_in_advance(
    world: CheckedCalls,
) -> None:
    world.initialize(1)

    assert world.initialize(2).status == 409
