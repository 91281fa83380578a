"""The complete sentences that explain why an operation waits, and how it ended."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.waiting_operations import (
    hold_claim,
    start_and_complete,
    start_and_require_reconciliation,
    start_and_stick,
    start_operation,
)
from tests.support.in_process import InProcess, fresh_world

#: The id of an operation or of an attempt at reconciliation.
_ID = re.compile(r"\b[0-9A-Z]{26}\b")


def world(**options: Any) -> InProcess:
    return InProcess(fresh_world(**options))


def in_default_world(act: Callable[[InProcess], str]) -> Callable[[], tuple[InProcess, str]]:
    """Return a function that creates a default world and lets `act` start an operation in it."""

    def arrange() -> tuple[InProcess, str]:
        api = world()
        return api, act(api)

    return arrange


def finish(api: InProcess, operation: str) -> str:
    while not api.why(operation)["finished"]:
        api.intervene("step_operation", operation=operation)
    return operation


# --- Operations that wait -------------------------------------------------------------------------


def queued_in(mode: str, rate: float | None = None) -> Callable[[], tuple[InProcess, str]]:
    def arrange() -> tuple[InProcess, str]:
        api = world(mode=mode, rate=rate)
        return api, start_operation(api)

    return arrange


def queued_under(profile: str, polls: int = 0) -> Callable[[], tuple[InProcess, str]]:
    def arrange() -> tuple[InProcess, str]:
        api = world(source_profile=profile)
        operation = start_operation(api)
        for _ in range(polls):
            api.poll(operation)
        return api, operation

    return arrange


def behind_two_others() -> tuple[InProcess, str]:
    api = world()
    start_operation(api)
    start_operation(api)
    return api, start_operation(api)


def stuck_by_an_outcome() -> tuple[InProcess, str]:
    api = world()
    api.add_outcome(stick={"phase": "building"})
    operation = start_operation(api)
    api.advance("6s")
    return api, operation


def held_for_a_time() -> tuple[InProcess, str]:
    api = world()
    api.add_outcome(stick={"phase": "building", "for": "100s"}, while_={"plan": "paid"})
    operation = start_operation(api)
    api.advance("6s")
    return api, operation


def stuck_while_reconciling() -> tuple[InProcess, str]:
    api = world()
    operation = start_and_stick(api)
    api.intervene("require_reconciliation", project="shop")
    api.intervene("run_reconciliation", project="shop")
    return api, operation


def about_to_fail() -> tuple[InProcess, str]:
    api = world(source_profile="manual")
    first = start_operation(api)
    second = start_operation(api)
    finish(api, first)
    return api, second


def after_the_removal_of_its_outcome() -> tuple[InProcess, str]:
    api = world()
    outcome = api.add_outcome(stick={"phase": "deploying"}, while_={"plan": "free"})
    operation = start_operation(api)
    api.disarm(outcome)
    return api, operation


def between_the_steps_of_an_outcome() -> tuple[InProcess, str]:
    api = world(source_profile="per_poll 3")
    api.add_outcome(reconcile={"phase": "building", "each": "5s"})
    operation = start_operation(api)
    for _ in range(4):
        api.poll(operation)
    return api, operation


WAITING: list[tuple[Callable[[], tuple[InProcess, str]], list[str]]] = [
    (
        queued_in("frozen"),
        [
            ("It is queued, and becomes running at 2026-01-01T00:00:02.000Z, in 2s of world time."),
            "The clock is frozen, so advance it.",
        ],
    ),
    (
        queued_in("real"),
        [
            ("It is queued, and becomes running at 2026-03-01T12:00:02.000Z, in 2s of world time."),
            "The clock is real, so wait.",
        ],
    ),
    (
        queued_in("scaled", 2.0),
        [
            ("It is queued, and becomes running at 2026-03-01T12:00:02.000Z, in 2s of world time."),
            "The clock is scaled, so the wait depends on the clock's rate.",
        ],
    ),
    (
        queued_in("skip"),
        [
            ("It is queued, and becomes running at 2026-01-01T00:00:02.000Z, in 2s of world time."),
            "The clock skips, so the next poll of the operation moves the clock to that time.",
        ],
    ),
    (
        queued_under("manual"),
        [
            (
                "It is queued, and its profile is manual. It does not advance with time: only the "
                "step_operation intervention advances it."
            ),
        ],
    ),
    (
        queued_under("per_poll 1"),
        [
            (
                "It is queued and advances when it is polled: each state lasts 1 poll, and the "
                "current state has had 0."
            ),
        ],
    ),
    (
        queued_under("per_poll 2", 1),
        [
            (
                "It is queued and advances when it is polled: each state lasts 2 polls, and the "
                "current state has had 1."
            ),
        ],
    ),
    (
        behind_two_others,
        [
            (
                "It is queued: operation ID holds the mutation claim of shop, with 1 more waiting "
                "ahead of it. A project runs one operation at a time."
            ),
            (
                "Blocking operation: It is queued, and becomes running at "
                "2026-01-01T00:00:02.000Z, in 2s of world time."
            ),
            "Blocking operation: The clock is frozen, so advance it.",
        ],
    ),
    (
        in_default_world(start_and_stick),
        [
            (
                "It is stuck while queued: the stick_operation intervention stopped it, so "
                "neither time nor a poll advances it."
            ),
        ],
    ),
    (
        stuck_by_an_outcome,
        [
            (
                "It is stuck while running: outcome-1 stopped it, so neither time nor a poll "
                "advances it."
            ),
        ],
    ),
    (
        held_for_a_time,
        [
            (
                "outcome-1 is holding it in the state running (building), and will let it "
                "continue at 2026-01-01T00:01:42.000Z (in 1m36s of world time), or as soon as "
                "this is no longer true: plan is paid."
            ),
        ],
    ),
    (
        in_default_world(start_and_require_reconciliation),
        [
            (
                "The operation's result is not known yet. Its reconciliation is required (attempt "
                "ID), and time alone does not end it."
            ),
        ],
    ),
    (
        stuck_while_reconciling,
        [
            (
                "The operation's result is not known yet. Its reconciliation is running (attempt "
                "ID), and time alone does not end it."
            ),
            (
                "It is stuck while queued: the stick_operation intervention stopped it, so "
                "neither time nor a poll advances it."
            ),
        ],
    ),
    (
        in_default_world(hold_claim),
        [
            (
                "No call started the operation. The hold_claim intervention created it, and it "
                "holds the mutation claim of shop until you release the claim."
            ),
        ],
    ),
    (
        about_to_fail,
        [
            (
                "It is queued, and its profile is manual. It does not advance with time: only the "
                "step_operation intervention advances it."
            ),
            (
                "The operation will fail in its next step, because the source generation that it "
                "expects is no longer current (see the source_generation assumption)."
            ),
        ],
    ),
    (
        after_the_removal_of_its_outcome,
        [
            ("It is queued, and becomes running at 2026-01-01T00:00:02.000Z, in 2s of world time."),
            "The clock is frozen, so advance it.",
            "outcome-1 applies to the operation: it stays in deploying while plan is free.",
            "outcome-1 was removed before it could act, so it will not act.",
        ],
    ),
    (
        between_the_steps_of_an_outcome,
        [
            (
                "It is running (building) and advances when it is polled: each remaining step of "
                "outcome-1 lasts 1 poll."
            ),
            (
                "outcome-1 applies to the operation: in building its reconciliation becomes "
                "running, completed."
            ),
        ],
    ),
]


# --- Operations that have ended -------------------------------------------------------------------


def ended_by_steps() -> tuple[InProcess, str]:
    api = world(source_profile="manual")
    return api, finish(api, start_operation(api))


def ended_by_an_outcome() -> tuple[InProcess, str]:
    api = world()
    api.add_outcome(fail={"phase": "building"})
    operation = start_operation(api)
    api.advance("1h")
    return api, operation


def ended_by_the_condition_of_an_outcome() -> tuple[InProcess, str]:
    api = world()
    api.add_outcome(fail={"phase": "building"}, while_={"plan": "paid"})
    operation = start_operation(api)
    api.advance("1h")
    return api, operation


def ended_by_another_generation() -> tuple[InProcess, str]:
    api = world()
    start_operation(api)
    second = start_operation(api)
    api.advance("1h")
    return api, second


def added_with_its_deployment() -> tuple[InProcess, str]:
    api = world()
    api.intervene("add_deployments", project="shop", status="failed")
    return api, str(api.deployments().json["items"][0]["operation_id"])


def ended_before_its_outcome_acted() -> tuple[InProcess, str]:
    api = world()
    api.add_outcome(stick={"phase": "building"})
    operation = start_operation(api)
    api.intervene("cancel_operation", project="shop")
    return api, operation


def ended_after_its_outcome_had_acted() -> tuple[InProcess, str]:
    api, operation = stuck_by_an_outcome()
    api.intervene("release_operation", project="shop")
    api.advance("1h")
    return api, operation


def ended_in_the_time_of_an_outcome() -> tuple[InProcess, str]:
    api = world(source_profile="manual")
    api.add_outcome(succeed={"queued": "5s"})
    operation = start_operation(api)
    api.advance("1h")
    return api, operation


ENDED: list[tuple[Callable[[], tuple[InProcess, str]], list[str]]] = [
    (
        in_default_world(start_and_complete),
        [
            "It succeeded at 2026-01-01T00:00:10.000Z. This state is final.",
            "The operation completed its plan under its profile, timed 2s 8s.",
        ],
    ),
    (
        ended_by_steps,
        [
            "It succeeded at 2026-01-01T00:00:00.000Z. This state is final.",
            "The step_operation intervention completed the last step of the operation's plan.",
        ],
    ),
    (
        ended_by_an_outcome,
        [
            "It failed at 2026-01-01T00:00:06.000Z. This state is final.",
            "outcome-1 decided how the operation ended.",
            "The error is operation_failed, which is not retryable: The operation failed.",
        ],
    ),
    (
        ended_by_the_condition_of_an_outcome,
        [
            "It failed at 2026-01-01T00:00:02.000Z. This state is final.",
            (
                "outcome-1 decided how the operation ended, because its condition held in "
                "building: plan is paid."
            ),
            "The error is operation_failed, which is not retryable: The operation failed.",
        ],
    ),
    (
        ended_by_another_generation,
        [
            "It failed at 2026-01-01T00:00:10.000Z. This state is final.",
            (
                "The operation expected a source generation that was no longer current at its "
                "start (see the source_generation assumption)."
            ),
            (
                "The error is etag_mismatch, which is not retryable: While this operation was "
                "queued, the source generation changed to 2. The operation expected 1."
            ),
        ],
    ),
    (
        added_with_its_deployment,
        [
            "It failed at 2026-01-01T00:00:00.000Z. This state is final.",
            "No call started the operation. It was added to the world with its deployment.",
            ("The error is operation_failed, which is retryable: The build exited with status 1."),
        ],
    ),
    (
        ended_before_its_outcome_acted,
        [
            "It was cancelled at 2026-01-01T00:00:00.000Z. This state is final.",
            "The cancel_operation intervention ended the operation.",
            ("The operation ended before outcome-1 took its steps: it becomes stuck in building."),
        ],
    ),
    (
        ended_after_its_outcome_had_acted,
        [
            "It succeeded at 2026-01-01T00:00:10.000Z. This state is final.",
            "The operation completed its plan under its profile, timed 2s 8s.",
            "Before the end, outcome-1 had acted in building: stuck.",
        ],
    ),
    (
        ended_in_the_time_of_an_outcome,
        [
            "It succeeded at 2026-01-01T00:00:05.000Z. This state is final.",
            "The operation completed its plan in the time that an outcome had set.",
            "outcome-1 determined how long the operation took.",
        ],
    ),
]


@pytest.mark.parametrize(("arrange", "sentences"), [*WAITING, *ENDED])
def test_why_explains_an_operation_with_these_sentences(
    arrange: Callable[[], tuple[InProcess, str]], sentences: list[str]
) -> None:
    api, operation = arrange()

    assert [_ID.sub("ID", sentence) for sentence in api.why(operation)["sentences"]] == sentences
