"""The project mutation claim: one operation of a project moves, the others wait their turn."""

from __future__ import annotations

from typing import Any

from tests.support.checked_world import CheckedWorld


def states(api: CheckedWorld, *operations: dict[str, Any]) -> list[str]:
    return [api.poll(operation["id"]).json["state"] for operation in operations]


def blockers(api: CheckedWorld, *operations: dict[str, Any]) -> list[str | None]:
    return [api.poll(o["id"]).json.get("blocking_operation_id") for o in operations]


def test_a_second_operation_names_the_operation_that_blocks_it(api: CheckedWorld) -> None:
    first = api.apply_domains().json

    second = api.initialize(1).json

    assert "blocking_operation_id" not in first
    assert second["state"] == "queued"
    assert second["blocking_operation_id"] == first["id"]


def test_a_second_operation_stays_queued_while_the_first_runs(api: CheckedWorld) -> None:
    first, second = api.apply_domains().json, api.initialize(1).json

    api.advance("9999ms")

    assert states(api, first, second) == ["running", "queued"]
    assert blockers(api, first, second) == [None, first["id"]]


def test_the_claim_passes_on_at_the_moment_the_first_operation_ends(api: CheckedWorld) -> None:
    first, second = api.apply_domains().json, api.initialize(1).json

    api.advance("10s")

    # the second has been queued for longer than its two seconds: it starts at once
    assert states(api, first, second) == ["succeeded", "running"]
    assert blockers(api, first, second) == [None, None]


def test_an_operation_that_gets_the_claim_early_stays_queued_for_two_seconds(
    api: CheckedWorld,
) -> None:
    first = api.apply_domains().json
    api.advance("9s")
    second = api.apply_domains().json

    api.advance("1s")
    assert states(api, first, second) == ["succeeded", "queued"]
    assert blockers(api, second) == [None]
    api.advance("999ms")
    assert states(api, second) == ["queued"]
    api.advance("1ms")
    assert states(api, second) == ["running"]


def test_waiting_operations_get_the_claim_in_the_order_of_arrival(api: CheckedWorld) -> None:
    waiting = [
        api.apply_domains().json,
        api.initialize(1).json,
        api.apply_domains().json,
        api.apply_domains().json,
    ]
    ids = [operation["id"] for operation in waiting]
    assert blockers(api, *waiting) == [None, ids[0], ids[0], ids[0]]
    order = []

    for at, operation in enumerate(waiting):
        api.emulator.clock.until(operation["id"])
        order.append(states(api, *waiting))
        following = ids[at + 1] if at + 1 < len(ids) else None
        assert blockers(api, *waiting[at + 2 :]) == [following] * len(waiting[at + 2 :])

    assert order == [
        ["succeeded", "running", "queued", "queued"],
        ["succeeded", "succeeded", "running", "queued"],
        ["succeeded", "succeeded", "succeeded", "running"],
        ["succeeded"] * 4,
    ]


def test_operations_that_join_while_others_wait_keep_the_order(api: CheckedWorld) -> None:
    first, second = api.apply_domains().json, api.apply_domains().json
    api.emulator.clock.until(first["id"])

    third = api.apply_domains().json

    assert third["blocking_operation_id"] == second["id"]
    api.emulator.clock.until(third["id"])
    assert states(api, first, second, third) == ["succeeded"] * 3
    assert "blocking_operation_id" not in api.apply_domains().json


def test_projects_do_not_wait_for_each_other(api: CheckedWorld) -> None:
    shop, blog = api.apply_domains(project="shop").json, api.apply_domains(project="blog").json

    assert "blocking_operation_id" not in blog
    api.advance("2s")
    assert states(api, shop, blog) == ["running", "running"]


def test_a_waiting_operation_is_polled_when_its_blocker_moves(api: CheckedWorld) -> None:
    first = api.apply_domains().json
    second = api.apply_domains().json

    assert second["progress"]["next_poll_after_seconds"] == 2
    assert second["progress"]["phase"] == "queued"
    assert first["progress"]["next_poll_after_seconds"] == 2


def test_the_flag_does_not_need_the_claim(api: CheckedWorld) -> None:
    api.apply_domains()

    assert api.set_flag(False).status == 200


def test_only_the_first_of_two_initializations_of_one_generation_succeeds(
    api: CheckedWorld,
) -> None:
    """The generation is compared when an operation is accepted and again when it is carried out."""
    first, second, third = api.initialize(1).json, api.initialize(1).json, api.apply_domains().json

    api.emulator.clock.until(second["id"])

    failed = api.poll(second["id"]).json
    assert states(api, first) == ["succeeded"]
    assert failed["state"] == "failed"
    assert failed["error"]["code"] == "etag_mismatch"
    assert failed["error"]["retryable"] is False
    assert failed["error"].keys() == {"code", "message", "retryable", "suggested_action"}
    assert "result" not in failed
    assert "next_poll_after_seconds" not in failed["progress"]
    # and the generation was raised once, the deployment failed, the claim went on
    assert api.project()["source_generation"] == 2
    newest = {item["id"]: item for item in api.deployments("?limit=2").json["items"]}
    assert newest[first["deployment_id"]]["status"] == "ready"
    assert newest[second["deployment_id"]]["status"] == "failed"
    assert "url" not in newest[second["deployment_id"]]
    assert blockers(api, third) == [None]
    api.emulator.clock.until(third["id"])
    assert states(api, third) == ["succeeded"]


def test_an_initialization_of_the_next_generation_is_refused_in_advance(
    api: CheckedWorld,
) -> None:
    api.initialize(1)

    assert api.initialize(2).status == 409
