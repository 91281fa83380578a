"""Outcomes that react: they act while an operation is in progress, when the world changes or time passes."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator.sdk import ControlRefused, HostingEmulator
from tests.support.checked_world import WAYS_TO_CONTINUE, CheckedWorld, continue_world

REVOKED = {"dns": "revoked"}
FAILING = {"provider": "failing"}


def state_of(api: CheckedWorld, operation: str) -> tuple[str, str]:
    """Poll an operation, and return its state and its phase."""
    document = api.poll(operation).json
    return document["state"], document["progress"]["phase"]


def revoke(api: CheckedWorld) -> None:
    api.intervene("move_dns", project="shop", to="revoked")


def explanation(api: CheckedWorld, operation: str) -> str:
    return str(api.emulator.why(operation))


def row_of(api: CheckedWorld, operation: str) -> dict[str, Any]:
    """Return an operation as the control API lists it."""
    rows = api.emulator.control.get(api.emulator.control_path("operations"))["items"]
    return next(row for row in rows if row["id"] == operation)


def wait_reason(api: CheckedWorld, operation: str) -> str | None:
    reason: str | None = row_of(api, operation)["wait_reason"]
    return reason


# --- an operation fails or is cancelled in progress --------------------------------------------------


@pytest.mark.parametrize("after", ["2s", "5s", "7s"])
def test_an_operation_fails_at_the_moment_at_which_dns_is_revoked(
    api: CheckedWorld, after: str
) -> None:
    outcome = api.emulator.outcome("fail", code="dns_lost", while_=REVOKED)
    operation = api.apply_domains().json["id"]
    api.advance(after)
    assert state_of(api, operation)[0] == "running"
    assert outcome.hits == 0

    revoke(api)

    document = api.poll(operation).json
    assert (document["state"], document["error"]["code"]) == ("failed", "dns_lost")
    assert document["updated_at"] == api.timestamp()
    assert (outcome.hits, outcome.spent, outcome.unused) == (1, True, None)


def test_an_operation_that_begins_while_the_condition_holds_fails_when_it_starts_running(
    api: CheckedWorld,
) -> None:
    revoke(api)
    api.emulator.outcome("fail", while_=REVOKED)
    operation = api.apply_domains().json

    assert operation["state"] == "queued"
    api.advance("1s")
    assert state_of(api, operation["id"])[0] == "queued"
    api.advance("1s")
    assert state_of(api, operation["id"])[0] == "failed"


def test_a_condition_that_ends_before_the_operation_runs_leaves_it_alone(
    api: CheckedWorld,
) -> None:
    outcome = api.emulator.outcome("fail", while_=REVOKED)
    revoke(api)
    operation = api.apply_domains().json["id"]
    api.intervene("move_dns", project="shop", to="pending")

    api.finish(operation)

    assert state_of(api, operation)[0] == "succeeded"
    assert outcome.hits == 0
    assert outcome.unused is not None
    assert "ended in the state succeeded" in outcome.unused
    assert "dns is pending" in outcome.unused


def test_a_written_phase_limits_where_the_condition_is_looked_at(api: CheckedWorld) -> None:
    api.emulator.outcome("fail", phase="verifying", while_=REVOKED)
    operation = api.apply_domains().json["id"]
    api.advance("3s")
    revoke(api)

    assert state_of(api, operation) == ("running", "deploying")
    api.advance("3s")

    assert state_of(api, operation)[0] == "failed"


def test_a_change_at_a_time_of_the_timeline_makes_the_operation_fail_at_that_time(
    hosting_emulator: HostingEmulator,
) -> None:
    hosting_emulator.load_scenario(
        text="""
name: revoked-mid-operation
description: The DNS authorization is revoked three seconds after the start.
outcomes: [{fail: {}, while: {dns: revoked}}]
timeline: [{at: 3s, intervene: {move_dns: {project: shop, to: revoked}}}]
story:
  - call: apply_project_domains
    save: {operation: id}
  - advance: 1h
  - poll: ${operation}
    expect: {body: {state: failed, updated_at: "2026-01-01T00:00:03Z"}}
"""
    )
    api = CheckedWorld(hosting_emulator)
    operation = api.apply_domains().json["id"]

    api.advance("1h")

    assert api.poll(operation).json["updated_at"] == "2026-01-01T00:00:03.000Z"


def test_a_queued_operation_is_cancelled_while_another_one_holds_the_claim(
    api: CheckedWorld,
) -> None:
    api.intervene("hold_claim", project="shop")
    api.emulator.outcome("cancel", while_={"plan": "free"})
    operation = api.apply_domains().json["id"]

    api.intervene("set_plan", organization="acme", plan="free")

    assert state_of(api, operation)[0] == "cancelled"


def test_a_failure_waits_until_the_operation_holds_the_claim(api: CheckedWorld) -> None:
    api.intervene("hold_claim", project="shop")
    api.emulator.outcome("fail", while_=REVOKED)
    operation = api.apply_domains().json["id"]
    revoke(api)
    assert state_of(api, operation)[0] == "queued"

    api.intervene("release_claim", project="shop")
    api.finish(operation)

    assert state_of(api, operation)[0] == "failed"


def test_a_stuck_operation_fails_when_the_condition_comes_to_hold(api: CheckedWorld) -> None:
    api.emulator.outcome("fail", while_=REVOKED)
    operation = api.apply_domains().json["id"]
    api.advance("3s")
    api.intervene("stick_operation", project="shop")

    revoke(api)

    assert state_of(api, operation)[0] == "failed"


def test_times_count_the_operations_on_which_the_outcome_acted(api: CheckedWorld) -> None:
    outcome = api.emulator.outcome("fail", while_=REVOKED)
    first = api.apply_domains().json["id"]
    api.finish(first)
    second = api.apply_domains().json["id"]
    third = api.apply_domains().json["id"]
    api.advance("3s")

    revoke(api)
    api.finish(third)

    states = [state_of(api, operation)[0] for operation in (first, second, third)]
    assert states == ["succeeded", "failed", "succeeded"]
    assert (outcome.seen, outcome.hits) == (3, 1)


def test_a_removed_outcome_no_longer_acts(api: CheckedWorld) -> None:
    outcome = api.emulator.outcome("fail", while_=REVOKED)
    operation = api.apply_domains().json["id"]
    outcome.remove()

    api.advance("3s")
    revoke(api)
    text = explanation(api, operation)
    api.finish(operation)

    assert "was removed before it could act" in text
    assert state_of(api, operation)[0] == "succeeded"


def test_a_poll_that_moves_an_operation_shows_what_its_outcome_did(api: CheckedWorld) -> None:
    api.assume(domains_profile="per_poll 1")
    api.emulator.outcome("fail", while_=REVOKED)
    revoke(api)
    operation = api.apply_domains().json["id"]

    assert state_of(api, operation)[0] == "failed"


def test_a_reconciliation_begins_when_the_condition_comes_to_hold(api: CheckedWorld) -> None:
    api.emulator.outcome("reconcile", phase="deploying", then="exhaust", each="5s", while_=FAILING)
    operation = api.apply_domains().json["id"]
    api.advance("3s")
    assert "reconciliation" not in api.poll(operation).json

    api.intervene("fail_database_provider", project="shop")

    assert api.poll(operation).json["reconciliation"]["state"] == "required"
    api.intervene("recover_database_provider", project="shop")
    api.advance("10s")
    assert api.poll(operation).json["error"]["code"] == "reconciliation_exhausted"


# --- an operation is held in a phase ---------------------------------------------------------------


def test_an_operation_stays_in_a_phase_while_the_provider_fails(api: CheckedWorld) -> None:
    outcome = api.emulator.outcome("stick", phase="verifying", while_=FAILING)
    operation = api.apply_domains().json["id"]
    api.intervene("fail_database_provider", project="shop")
    api.advance("1h")
    assert state_of(api, operation) == ("running", "verifying")
    assert outcome.hits == 1

    api.intervene("recover_database_provider", project="shop")

    document = api.poll(operation).json
    assert (document["state"], document["updated_at"]) == ("succeeded", api.timestamp())


def test_an_operation_is_not_held_if_the_condition_ends_during_the_phase(
    api: CheckedWorld,
) -> None:
    api.emulator.outcome("stick", while_=FAILING, optional=True)
    operation = api.apply_domains().json["id"]
    api.intervene("fail_database_provider", project="shop")
    api.advance("7s")
    api.intervene("recover_database_provider", project="shop")

    api.advance("3s")

    assert state_of(api, operation)[0] == "succeeded"


def test_an_operation_continues_after_its_time_in_the_phase(api: CheckedWorld) -> None:
    api.emulator.outcome("stick", phase="deploying", for_="5m")
    operation = api.apply_domains().json["id"]
    api.advance("2s")
    assert state_of(api, operation) == ("running", "deploying")

    api.advance("299s")
    assert state_of(api, operation) == ("running", "deploying")
    api.advance("1s")
    assert state_of(api, operation) == ("running", "verifying")
    api.advance("4s")
    assert state_of(api, operation)[0] == "succeeded"


@pytest.mark.parametrize("recovers_after", ["1m", "299s"])
def test_a_condition_that_ends_before_the_time_lets_the_operation_continue(
    api: CheckedWorld, recovers_after: str
) -> None:
    api.intervene("fail_database_provider", project="shop")
    api.emulator.outcome("stick", phase="deploying", for_="5m", while_=FAILING)
    operation = api.apply_domains().json["id"]
    api.advance("2s")
    api.advance(recovers_after)
    assert state_of(api, operation) == ("running", "deploying")

    api.intervene("recover_database_provider", project="shop")

    assert state_of(api, operation) == ("running", "verifying")


def test_a_time_that_ends_before_the_condition_lets_the_operation_continue(
    api: CheckedWorld,
) -> None:
    api.intervene("fail_database_provider", project="shop")
    api.emulator.outcome("stick", phase="deploying", for_="5m", while_=FAILING)
    operation = api.apply_domains().json["id"]

    api.advance("302s")

    assert state_of(api, operation) == ("running", "verifying")


def test_a_released_operation_forgets_the_rest_of_its_time(api: CheckedWorld) -> None:
    api.emulator.outcome("stick", phase="deploying", for_="5m")
    operation = api.apply_domains().json["id"]
    api.advance("10s")

    api.intervene("release_operation", operation=operation)
    api.advance("5s")

    assert state_of(api, operation)[0] == "succeeded"


def test_a_held_operation_continues_after_its_reconciliation_if_that_lasts_longer(
    api: CheckedWorld,
) -> None:
    api.emulator.outcome("stick", phase="deploying", for_="1m")
    operation = api.apply_domains().json["id"]
    api.advance("10s")
    api.intervene("require_reconciliation", operation=operation)
    api.advance("1h")
    assert state_of(api, operation) == ("running", "deploying")

    api.intervene("run_reconciliation", operation=operation)
    api.intervene("complete_reconciliation", operation=operation)
    api.finish(operation)

    assert state_of(api, operation)[0] == "succeeded"


@pytest.mark.parametrize("way", WAYS_TO_CONTINUE)
@pytest.mark.parametrize("after", ["1s", "10s"])
def test_an_operation_is_held_after_a_restart_fork_or_rewind(
    api: CheckedWorld, way: str, after: str
) -> None:
    api.emulator.outcome("stick", phase="verifying", while_=FAILING)
    api.intervene("fail_database_provider", project="shop")
    operation = api.apply_domains().json["id"]
    api.advance(after)

    api = continue_world(
        api, way, lambda: api.intervene("recover_database_provider", project="shop")
    )
    api.advance("1h")
    assert state_of(api, operation) == ("running", "verifying")
    api.intervene("recover_database_provider", project="shop")

    assert state_of(api, operation)[0] == "succeeded"


@pytest.mark.parametrize("profile", ["per_poll 1", "manual"])
def test_under_a_profile_without_time_the_next_poll_or_step_continues_it(
    api: CheckedWorld, profile: str
) -> None:
    api.assume(domains_profile=profile)
    api.emulator.outcome("stick", phase="deploying", while_=FAILING)
    api.intervene("fail_database_provider", project="shop")
    operation = api.apply_domains().json["id"]

    def move() -> None:
        if profile == "manual":
            api.intervene("step_operation", operation=operation)
        else:
            api.poll(operation)

    move()
    move()
    assert row_of(api, operation)["stuck"]
    api.intervene("recover_database_provider", project="shop")
    assert not row_of(api, operation)["stuck"]
    for _ in range(2):
        move()

    assert state_of(api, operation)[0] == "succeeded"


# --- what is said ----------------------------------------------------------------------------------


def test_why_says_for_which_condition_an_outcome_waits(api: CheckedWorld) -> None:
    api.emulator.outcome("fail", code="dns_lost", while_=REVOKED)
    operation = api.apply_domains().json["id"]
    before = explanation(api, operation)
    api.advance("3s")
    revoke(api)
    after = explanation(api, operation)

    assert "it becomes failed with dns_lost as soon as dns is revoked" in before
    assert "The condition of outcome-1 does not hold now: dns is authorized." in before
    assert "because its condition held in deploying: dns is revoked" in after


def test_why_and_the_list_say_what_ends_a_hold(api: CheckedWorld) -> None:
    api.intervene("fail_database_provider", project="shop")
    api.emulator.outcome("stick", for_="5m", while_=FAILING)
    operation = api.apply_domains().json["id"]
    assert wait_reason(api, operation) == "its next step, due at 2026-01-01T00:00:02.000Z"
    assert "it stays in verifying for at most 5m while provider is failing" in explanation(
        api, operation
    )

    api.advance("20s")

    assert "or as soon as this is no longer true: provider is failing." in explanation(
        api, operation
    )
    reason = wait_reason(api, operation)
    assert reason is not None
    assert "provider is failing" in reason
    assert "2026-01-01T00:05:06.000Z" in reason
    api.emulator.clock.until(operation)
    assert wait_reason(api, operation) is None


def test_an_outcome_applies_to_an_operation_until_it_holds_the_operation(
    api: CheckedWorld,
) -> None:
    api.emulator.outcome("stick", phase="deploying", for_="5m")
    operation = api.apply_domains().json["id"]
    words = "outcome-1 applies to the operation: it stays in deploying for 5m."

    before = api.emulator.why(operation).sentences
    api.advance("1m")
    held = api.emulator.why(operation).sentences

    assert words in before
    assert not [sentence for sentence in held if "applies to the operation" in sentence]


def test_triggers_say_what_ends_a_hold(api: CheckedWorld) -> None:
    api.intervene("fail_database_provider", project="shop")
    api.emulator.outcome("stick", for_="5m", while_=FAILING)
    operation = api.apply_domains().json["id"]
    api.advance("20s")

    (trigger,) = api.emulator.triggers
    assert trigger.waits_for == (
        "the time 2026-01-01T00:05:06.000Z or the end of provider is failing, to let operation "
        f"{operation} continue"
    )
    api.emulator.clock.until(operation)
    (trigger,) = api.emulator.triggers
    assert trigger.waits_for is None


@pytest.mark.parametrize("way", WAYS_TO_CONTINUE)
@pytest.mark.parametrize("after", ["3s", "1m"])
def test_a_hold_for_a_time_ends_at_its_time_after_a_restart_fork_or_rewind(
    api: CheckedWorld, way: str, after: str
) -> None:
    api.emulator.outcome("stick", phase="deploying", for_="5m")
    operation = api.apply_domains().json["id"]
    api.advance(after)

    api = continue_world(api, way, lambda: api.intervene("cancel_operation", operation=operation))
    api.finish(operation)

    assert api.poll(operation).json["updated_at"] == "2026-01-01T00:05:06.000Z"


def test_the_wait_reason_names_the_cause(api: CheckedWorld) -> None:
    api.assume(domains_profile="manual", source_profile="per_poll 2")
    first = api.apply_domains().json["id"]
    second = api.initialize(1).json["id"]

    assert wait_reason(api, first) == "the step_operation intervention"
    assert wait_reason(api, second) == (
        f"the project's mutation claim, which operation {first} holds"
    )
    api.intervene("cancel_operation", operation=first)
    assert wait_reason(api, second) == "polls of the operation"
    api.intervene("stick_operation", operation=second)
    assert "release_operation" in str(wait_reason(api, second))
    api.intervene("require_reconciliation", operation=second)
    assert wait_reason(api, second) == "its reconciliation, which is required"


def test_triggers_name_the_operations_for_which_an_outcome_waits(api: CheckedWorld) -> None:
    api.emulator.outcome("cancel", phase="building")
    api.emulator.outcome("fail", leaves={"hosts": ["mail"]})
    api.emulator.outcome("fail")

    waits = [trigger.waits_for for trigger in api.emulator.triggers]
    assert waits == [
        "an operation that initialize_managed_source begins",
        "an operation that apply_project_domains begins",
        "an operation",
    ]


def test_an_outcome_says_which_operations_lack_its_phase(api: CheckedWorld) -> None:
    outcome = api.emulator.outcome("cancel", phase="building")
    api.apply_domains()

    assert outcome.now.note == (
        "The outcome waits for an operation started by initialize_managed_source: operations of "
        "apply_project_domains have no phase building."
    )


# --- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", ["per_poll 2", "manual"])
def test_a_time_in_a_phase_is_refused_for_a_profile_without_time(
    api: CheckedWorld, profile: str
) -> None:
    api.assume(domains_profile=profile)

    with pytest.raises(ControlRefused) as refused:
        api.emulator.outcome("stick", for_="5m", call="apply_project_domains")

    assert profile in str(refused.value)
    assert "release_operation" in str(refused.value)


def test_a_time_in_a_phase_skips_operations_whose_profile_has_no_time(api: CheckedWorld) -> None:
    api.assume(domains_profile="manual")
    outcome = api.emulator.outcome("stick", for_="5m")

    api.apply_domains()

    assert outcome.seen == 0
    assert outcome.unused is not None
    assert "profile" in outcome.unused
