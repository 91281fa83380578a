"""`why` says why an unfinished operation waits, and each command that it names works."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from hosting_emulator.sdk import ControlRefused
from tests.support.http_world import HttpWorld


def assume(api: HttpWorld, **assumptions: Any) -> None:
    api.emulator.set_assumptions(assumptions)


def started(api: HttpWorld) -> str:
    return str(api.initialize(1).json["id"])


def says(api: HttpWorld, operation: str) -> str:
    return " ".join(api.emulator.why(operation).sentences)


def commands(api: HttpWorld, operation: str) -> list[list[str]]:
    """Return the words of each command that `why` names, without the program and its address."""
    lines = [shlex.split(command) for command in api.emulator.why(operation).commands]
    return [line[1 : line.index("--world")] for line in lines]


def carry_out(api: HttpWorld, command: list[str]) -> None:
    """Do what a command of `why` does. Raises ControlRefused."""
    word, *rest = command
    if word == "intervene":
        options = dict(option.split("=", 1) for option in rest[1:])
        api.intervene(rest[0], **options)
    elif rest[1] == "--until-operation":
        api.emulator.clock.until(rest[2])
    else:
        assert (word, rest[0]) == ("clock", "advance")
        api.advance(rest[1])


def follow(api: HttpWorld, operation: str) -> None:
    """Do what `why` names until the operation has ended, and poll it where it asks for that."""
    for _ in range(40):
        explanation = api.emulator.why(operation)
        if explanation.finished:
            return
        named_commands = commands(api, operation)
        for command in named_commands:
            carry_out(api, command)
        if not named_commands:
            assert "advances when it is polled" in says(api, operation)
            api.poll(explanation.waits_for or operation)
    raise AssertionError(f"the operation did not end: {says(api, operation)}")


def test_why_names_the_faults_that_may_show_a_poll_another_state(api: HttpWorld) -> None:
    operation = started(api)
    fault = api.add_fault(abort={"code": "service_unavailable"}, call="get_operation", times=1)
    other_project = api.add_fault(timeout={}, call="get_operation", project="blog")
    other_call = api.add_fault(timeout={}, call="list_deployments")

    sentence = f"{fault} (abort) is armed for polls, so a client may see a different state."
    assert sentence in api.emulator.why(operation).sentences
    assert ["fault", "remove", fault] in commands(api, operation)
    assert other_project not in says(api, operation)
    assert other_call not in says(api, operation)
    api.poll(operation)
    assert fault not in says(api, operation)


PROFILES = ("timed 2s 8s", "per_poll 1", "per_poll 3", "manual")


@pytest.mark.parametrize("second", PROFILES)
@pytest.mark.parametrize("first", PROFILES)
def test_the_commands_lead_to_the_end_of_an_operation_that_waits(
    api: HttpWorld, first: str, second: str
) -> None:
    assume(api, source_profile=first, domains_profile=second)
    started(api)
    waiting = api.apply_domains().json["id"]
    last = api.apply_domains().json["id"]

    follow(api, waiting)
    follow(api, last)

    assert api.poll(last).json["state"] == "succeeded"


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("stick", {"phase": "queued"}),
        ("stick", {"phase": "deploying"}),
        ("reconcile", {"phase": "building", "attempts": 2}),
        ("reconcile", {"phase": "verifying", "then": "exhaust"}),
        ("fail", {"phase": "building"}),
        ("cancel", {"phase": "queued"}),
        ("succeed", {"running": "40s"}),
    ],
)
def test_the_commands_lead_to_the_end_under_an_outcome(
    api: HttpWorld, profile: str, kind: str, options: dict[str, Any]
) -> None:
    assume(api, source_profile=profile)
    api.emulator.outcome(kind, **options)
    operation = started(api)

    follow(api, operation)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    "interventions",
    [
        ["stick_operation"],
        ["require_reconciliation"],
        ["stick_operation", "require_reconciliation"],
        ["require_reconciliation", "run_reconciliation"],
    ],
)
@pytest.mark.parametrize("is_waiting", [False, True])
def test_the_commands_lead_to_the_end_after_interventions(
    api: HttpWorld, profile: str, interventions: list[str], is_waiting: bool
) -> None:
    assume(api, source_profile=profile, domains_profile=profile)
    if is_waiting:
        api.apply_domains()
    operation = started(api)
    for intervention in interventions:
        api.intervene(intervention, operation=operation)

    follow(api, operation)


@pytest.mark.parametrize("profile", PROFILES)
def test_why_names_the_intervention_that_stopped_an_operation(api: HttpWorld, profile: str) -> None:
    """Only a timed operation has a step on the schedule; no profile moves a stuck one."""
    assume(api, source_profile=profile)
    operation = started(api)

    api.intervene("stick_operation", operation=operation)

    assert "stick_operation intervention stopped it" in says(api, operation)
    assert "schedule" not in says(api, operation)
    before = api.poll(operation).json["state"]
    api.advance("1h")
    assert api.poll(operation).json["state"] == before
    with pytest.raises(ControlRefused, match="stuck"):
        api.intervene("step_operation", operation=operation)


def test_why_names_both_reasons_of_a_stuck_operation_that_waits(api: HttpWorld) -> None:
    first = started(api)
    operation = api.apply_domains().json["id"]
    api.intervene("stick_operation", operation=operation)

    explanation = api.emulator.why(operation)

    assert explanation.waits_for == first
    assert "stick_operation intervention stopped it" in says(api, operation)
    assert first in says(api, operation)


def test_why_names_hold_claim_although_its_operation_is_stuck_too(api: HttpWorld) -> None:
    api.intervene("hold_claim", project="shop")
    waiting = api.initialize(1).json
    holder = waiting["blocking_operation_id"]
    api.intervene("stick_operation", operation=holder)

    assert "hold_claim" in says(api, holder)
    follow(api, waiting["id"])


def stale(api: HttpWorld, profile: str) -> str:
    """Return an operation that has just got the claim and has a stale generation."""
    assume(api, source_profile=profile)
    first = started(api)
    second = started(api)
    while not api.emulator.why(first).finished:
        api.intervene("step_operation", operation=first)
    return second


@pytest.mark.parametrize("profile", ["timed 60s 8s", "per_poll 2", "manual"])
def test_why_announces_that_the_next_step_fails_the_operation(api: HttpWorld, profile: str) -> None:
    operation = stale(api, profile)

    explanation = says(api, operation)

    assert "The operation will fail in its next step" in explanation
    assert "becomes running" not in explanation
    if profile.startswith("timed"):
        assert "fails at" in explanation
        following = api.emulator.why(operation).next
        assert following is not None
        assert following.event == "it changes from queued to failed"
    api.intervene("step_operation", operation=operation)
    assert api.poll(operation).json["state"] == "failed"


def test_why_does_not_announce_outcome_steps_that_can_no_longer_happen(api: HttpWorld) -> None:
    api.emulator.outcome("reconcile", phase="building", each="5s")
    operation = started(api)
    api.advance("6s")
    assert "its reconciliation becomes running" in says(api, operation)
    api.intervene("stick_operation", operation=operation)
    assert "stick_operation intervention stopped it" in says(api, operation)
    for word in ("run_reconciliation", "complete_reconciliation"):
        api.intervene(word, operation=operation)

    assert "applies to the operation" not in says(api, operation)

    api.advance("1h")
    assert "The operation ended before outcome-1 took its remaining steps" in says(api, operation)


@pytest.mark.parametrize("profile", ["manual", "per_poll 2", "immediate"])
def test_why_attributes_times_of_an_outcome_to_the_outcome(api: HttpWorld, profile: str) -> None:
    assume(api, source_profile=profile)
    api.emulator.outcome("succeed", queued="5s")
    operation = started(api)

    api.advance("1h")

    assert "under its profile" not in says(api, operation)
    assert "outcome-1 determined how long the operation took" in says(api, operation)


# --- the Idempotency-Key in the trail -------------------------------------------------------------


def key_step(api: HttpWorld, number: int) -> str:
    entry = api.emulator.control.get(api.emulator.control_path("requests", number))
    [sentence] = [step["text"] for step in entry["trail"] if step["step"] == "idempotency"]
    return str(sentence)


def test_the_trail_of_a_replay_names_the_first_request_of_its_own_call(api: HttpWorld) -> None:
    assume(api, idempotency_scope="principal_and_call")
    for _ in range(2):
        api.set_flag(False, key="k")
        api.apply_domains(key="k")

    assert "first used by #1" in key_step(api, 3)
    assert "first used by #2" in key_step(api, 4)


def test_the_trail_says_that_the_response_of_a_key_was_forgotten(api: HttpWorld) -> None:
    assume(api, idempotency_retention="1h")
    api.set_flag(False, key="k")
    api.advance("2h")
    api.set_flag(True, key="k")

    assert "the key k was unused" in key_step(api, 1)
    assert "the response to #1 is no longer remembered" in key_step(api, 2)
