"""`why` names the cause of every way in which an operation can end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.http_world import HttpWorld

#: The start of the sentence about an outcome that decided.
OUTCOME = "outcome-1 decided how the operation ended"


def started(api: HttpWorld) -> str:
    return str(api.initialize(1).json["id"])


def says(api: HttpWorld, operation: str) -> str:
    explanation = api.emulator.why(operation)
    assert explanation.finished
    return " ".join(explanation.sentences)


def by_time(api: HttpWorld) -> str:
    operation = started(api)
    api.advance("1h")
    return operation


def by_polls(api: HttpWorld) -> str:
    api.emulator.set_assumptions({"source_profile": "per_poll 1"})
    operation = started(api)
    for _ in range(10):
        api.poll(operation)
    return operation


def at_once(api: HttpWorld) -> str:
    api.emulator.set_assumptions({"source_profile": "immediate"})
    return started(api)


def by_hand(api: HttpWorld) -> str:
    api.emulator.set_assumptions({"source_profile": "manual"})
    operation = started(api)
    while not api.emulator.why(operation).finished:
        api.intervene("step_operation", operation=operation)
    return operation


def stale(api: HttpWorld) -> str:
    first = started(api)
    second = started(api)
    api.advance("1h")
    assert api.poll(first).json["state"] == "succeeded"
    assert api.poll(second).json["error"]["code"] == "etag_mismatch"
    return second


def intervened(word: str) -> Callable[[HttpWorld], str]:
    def end(api: HttpWorld) -> str:
        operation = started(api)
        if word == "exhaust_reconciliation":
            api.intervene("require_reconciliation", operation=operation)
            api.intervene("run_reconciliation", operation=operation)
        api.intervene(word, operation=operation)
        return operation

    return end


def released(api: HttpWorld) -> str:
    api.intervene("hold_claim", project="shop")
    held = api.emulator.control.get(f"worlds/{api.emulator.name}/operations?unfinished=true")
    api.intervene("release_claim", project="shop")
    return str(held["items"][0]["id"])


def seeded(api: HttpWorld) -> str:
    api.intervene("add_deployments", project="shop", status="failed")
    return str(api.deployments().json["items"][0]["operation_id"])


INTERVENTIONS = (
    "fail_operation",
    "cancel_operation",
    "exhaust_reconciliation",
    "fail_deployment",
)
WAYS: dict[str, tuple[Callable[[HttpWorld], str], str]] = {
    "time": (by_time, "completed its plan under its profile, timed 2s 8s"),
    "polls": (by_polls, "completed its plan under its profile, per_poll 1"),
    "immediate": (at_once, "completed its plan under its profile, immediate"),
    "steps": (by_hand, "The step_operation intervention completed the last step"),
    "stale generation": (stale, "source_generation"),
    "released claim": (released, "The release_claim intervention ended the operation"),
    "seeded": (seeded, "No call started the operation"),
    **{
        word: (intervened(word), f"The {word} intervention ended the operation")
        for word in INTERVENTIONS
    },
}
each_way = pytest.mark.parametrize("way", WAYS)


@each_way
def test_why_names_the_cause_of_the_end(api: HttpWorld, way: str) -> None:
    end, words = WAYS[way]

    explanation = says(api, end(api))

    assert words in explanation
    for other, (_, other_words) in WAYS.items():
        if other != way:
            assert other_words not in explanation


#: Outcomes that would decide the end, if nothing else did before.
ARMED: dict[str, dict[str, Any]] = {
    "succeed": {"running": "2h"},
    "fail": {"phase": "verifying"},
    "cancel": {"phase": "verifying"},
    "stick": {"phase": "verifying"},
    "reconcile": {"phase": "verifying", "then": "exhaust"},
}


@pytest.mark.parametrize("kind", ARMED)
@pytest.mark.parametrize("way", ["stale generation", *INTERVENTIONS])
def test_why_does_not_name_an_outcome_that_did_not_decide_as_the_cause(
    api: HttpWorld, way: str, kind: str
) -> None:
    end, words = WAYS[way]
    if way == "stale generation":
        # Only the second operation is stale, and only it gets the outcome.
        api.emulator.outcome(kind, skip_first=1, **ARMED[kind])
    else:
        api.emulator.outcome(kind, **ARMED[kind])

    explanation = says(api, end(api))

    assert words in explanation
    assert OUTCOME not in explanation
    assert "outcome-1" in explanation  # that it was set, but did not decide, is still reported


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("fail", {"phase": "queued"}),
        ("fail", {"phase": "deploying"}),
        ("cancel", {"phase": "building"}),
        ("reconcile", {"then": "exhaust"}),
    ],
)
@pytest.mark.parametrize("move", ["time", "steps"])
def test_why_names_the_outcome_that_decided(
    api: HttpWorld, kind: str, options: dict[str, Any], move: str
) -> None:
    api.emulator.outcome(kind, **options)
    end, words = WAYS[move]

    explanation = says(api, end(api))

    assert OUTCOME in explanation
    assert words not in explanation


@pytest.mark.parametrize("kind", ["stick", "reconcile"])
def test_why_tells_an_earlier_outcome_from_the_cause_of_the_end(api: HttpWorld, kind: str) -> None:
    api.emulator.outcome(kind, phase="building")
    operation = started(api)
    api.advance("1h")
    if kind == "stick":
        api.intervene("release_operation", operation=operation)
        api.advance("1h")

    explanation = says(api, operation)

    assert "completed its plan" in explanation
    assert OUTCOME not in explanation
    assert "Before the end, outcome-1 had acted in building" in explanation


def test_why_names_an_outcome_that_only_set_times(api: HttpWorld) -> None:
    api.emulator.outcome("succeed", running="40s")

    explanation = says(api, by_time(api))

    assert OUTCOME not in explanation
    assert "outcome-1 determined how long the operation took" in explanation


@pytest.mark.parametrize("way", ["fork", "import"])
def test_why_names_the_cause_in_a_copy_of_the_world(api: HttpWorld, way: str) -> None:
    api.emulator.outcome("fail")
    operation = intervened("cancel_operation")(api)
    before = says(api, operation)
    world = api.emulator

    if way == "fork":
        world = world.fork()
    else:
        world.import_state(world.export())

    assert says(HttpWorld(world), operation) == before
