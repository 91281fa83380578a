"""What an unfinished operation waits for, in the short form that lists of operations show."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hosting_emulator.engine.explanations.wait_reasons import wait_reason
from tests.engine.waiting_operations import (
    hold_claim,
    start_and_complete,
    start_and_require_reconciliation,
    start_and_stick,
    start_operation,
)
from tests.support.in_process import InProcess, fresh_world


def reason(world: InProcess, operation_id: str) -> str | None:
    return wait_reason(world.world, world.record("operations", operation_id))


def held_for_an_hour(world: InProcess) -> str:
    world.add_outcome(stick={"phase": "queued", "for": "1h"})
    operation_id = start_operation(world)
    world.advance("1m")
    return operation_id


def held_by_a_condition(world: InProcess) -> str:
    world.add_outcome(stick={"phase": "building"}, while_={"dns": "authorized"})
    operation_id = start_operation(world)
    world.advance("10m")
    return operation_id


@pytest.mark.parametrize(
    ("profile", "play", "text"),
    [
        ("timed 2s 8s", start_operation, "its next step, due at 2026-01-01T00:00:02.000Z"),
        ("per_poll 2", start_operation, "polls of the operation"),
        ("manual", start_operation, "the step_operation intervention"),
        ("timed 2s 8s", start_and_complete, None),
        ("timed 2s 8s", hold_claim, "the release_claim intervention"),
        (
            "timed 2s 8s",
            start_and_stick,
            "the release_operation intervention, because stick_operation stopped it",
        ),
        ("timed 2s 8s", start_and_require_reconciliation, "its reconciliation, which is required"),
        (
            "timed 2s 8s",
            held_for_an_hour,
            "the time 2026-01-01T01:00:00.000Z (outcome-1 holds it)",
        ),
        (
            "timed 2s 8s",
            held_by_a_condition,
            "a change that ends this condition: dns is authorized (outcome-1 holds it)",
        ),
    ],
)
def test_an_operation_says_in_a_few_words_what_it_waits_for(
    profile: str, play: Callable[[InProcess], str], text: str | None
) -> None:
    world = InProcess(fresh_world(source_profile=profile))

    assert reason(world, play(world)) == text


def test_an_operation_in_the_queue_waits_for_the_operation_that_holds_the_claim() -> None:
    world = InProcess()
    first = start_operation(world)
    second = str(world.apply_domains().json["id"])

    assert reason(world, second) == (f"the project's mutation claim, which operation {first} holds")
