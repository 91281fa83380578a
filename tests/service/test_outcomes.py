"""Outcomes: how coming operations end, under every clock and profile."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator.sdk import ControlRefused, HostingEmulator
from tests.support.checked_world import WAYS_TO_CONTINUE, CheckedWorld, continue_world

#: An outcome, the state in which the operation ends, and the code of its error.
ENDS: dict[str, tuple[dict[str, Any], str, str | None]] = {
    "succeed": ({"succeed": {"running": "40s"}}, "succeeded", None),
    "fail": ({"fail": {"phase": "deploying", "code": "build_broken"}}, "failed", "build_broken"),
    "fail while queued": ({"fail": {"phase": "queued"}}, "failed", "operation_failed"),
    "cancel": ({"cancel": {"phase": "verifying"}}, "cancelled", None),
    "reconcile": ({"reconcile": {"attempts": 2}}, "succeeded", None),
    "exhaust": (
        {"reconcile": {"attempts": 2, "then": "exhaust", "each": "5s"}},
        "failed",
        "reconciliation_exhausted",
    ),
}
each_end = pytest.mark.parametrize("name", list(ENDS))


def end_of(api: CheckedWorld, operation: str) -> tuple[str, str | None, list[str]]:
    """Poll an operation to its end; return state, error code and the reconciliation states seen."""
    seen: list[str] = []
    for _ in range(100):
        response = api.poll(operation).json
        reconciliation = response.get("reconciliation")
        if reconciliation and reconciliation["state"] not in seen[-1:]:
            seen.append(reconciliation["state"])
        if "next_poll_after_seconds" not in response["progress"]:
            return response["state"], response.get("error", {}).get("code"), seen
        if api.emulator.clock.mode in ("frozen", "real", "scaled"):
            api.advance(f"{response['progress']['next_poll_after_seconds']}s")
    raise AssertionError("the operation does not end")


@each_end
@pytest.mark.parametrize("mode", ["frozen", "real", "scaled", "skip"])
@pytest.mark.parametrize("profile", ["timed 2s 8s", "per_poll 2"])
def test_an_operation_ends_with_its_outcome_under_every_clock_and_profile(
    hosting_emulator: HostingEmulator, name: str, mode: str, profile: str
) -> None:
    api = CheckedWorld(hosting_emulator)
    api.emulator.clock.set(mode, rate=60 if mode == "scaled" else None)  # type: ignore[arg-type]
    api.assume(domains_profile=profile)
    document, state, code = ENDS[name]
    api.add_outcome(**document)

    operation = api.send("PUT", f"/v1/projects/{api.project_id('shop')}/domains", key="one").json

    assert end_of(api, operation["id"])[:2] == (state, code)


@pytest.fixture
def exhausted(api: CheckedWorld) -> str:
    """An operation that waits for reconciliation twice and then exhausts it."""
    api.emulator.outcome("reconcile", attempts=2, then="exhaust", each="5s")
    operation: str = api.initialize(1).json["id"]
    return operation


def test_a_client_that_polls_as_advised_sees_each_reconciliation_attempt(
    api: CheckedWorld, exhausted: str
) -> None:
    seen = end_of(api, exhausted)[2]

    assert seen == ["required", "running", "completed", "required", "running"]


@pytest.mark.parametrize("after", ["0s", "9s", "13s", "21s"])
@pytest.mark.parametrize("way", [*WAYS_TO_CONTINUE, "snapshot"])
def test_an_operation_ends_with_its_outcome_after_a_restart_fork_rewind_or_restore(
    api: CheckedWorld, exhausted: str, way: str, after: str
) -> None:
    api.advance(after)

    api = continue_world(api, way, lambda: api.advance("1h"))

    assert end_of(api, exhausted)[:2] == ("failed", "reconciliation_exhausted")


def test_outcomes_are_used_in_order_and_as_often_as_their_times(api: CheckedWorld) -> None:
    api.emulator.outcome("fail", code="first")
    api.emulator.outcome("fail", code="of_blog", project="blog")
    api.emulator.outcome("fail", code="second", times=2)

    codes = []
    for number in range(4):
        codes.append(end_of(api, api.apply_domains(key=str(number)).json["id"])[1])
    blog = end_of(api, api.apply_domains(project="blog").json["id"])[1]

    assert codes == ["first", "second", "second", None]
    assert blog == "of_blog"
    assert [(outcome.hits, outcome.spent) for outcome in api.emulator.outcomes] == [
        (1, True),
        (1, True),
        (2, True),
    ]


def test_a_replay_or_a_refused_request_uses_no_outcome(api: CheckedWorld) -> None:
    outcome = api.emulator.outcome("fail")
    api.initialize(7)
    assert outcome.hits == 0

    first = api.initialize(1, key="one")
    second = api.initialize(1, key="one")

    assert first.json["id"] == second.json["id"]
    assert outcome.hits == 1


def test_an_outcome_skips_an_operation_without_its_phase(api: CheckedWorld) -> None:
    outcome = api.emulator.outcome("fail", phase="building")

    domains = api.apply_domains().json["id"]
    source = api.initialize(1).json["id"]

    assert end_of(api, domains)[0] == "succeeded"
    assert end_of(api, source)[0] == "failed"
    assert outcome.seen == 1


def test_the_deployment_ends_with_its_operation(api: CheckedWorld) -> None:
    api.emulator.outcome("cancel", phase="building")
    operation = api.initialize(1).json

    end_of(api, operation["id"])

    newest = api.deployments().json["items"][0]
    assert (newest["id"], newest["status"]) == (operation["deployment_id"], "cancelled")


def test_the_times_of_an_outcome_hold_under_the_profile_per_poll_too(api: CheckedWorld) -> None:
    api.assume(domains_profile="per_poll 1")
    api.emulator.outcome("succeed", queued="10s", running="40s")
    operation = api.apply_domains().json["id"]

    states = {}
    for after, by in (("0s", "0s"), ("9s", "9s"), ("10s", "1s"), ("49s", "39s"), ("50s", "1s")):
        api.advance(by)
        states[after] = api.poll(operation).json["state"]

    assert states == {
        "0s": "queued",
        "9s": "queued",
        "10s": "running",
        "49s": "running",
        "50s": "succeeded",
    }


def test_an_operation_that_an_outcome_stuck_goes_on_after_its_release(api: CheckedWorld) -> None:
    api.emulator.outcome("stick", phase="verifying")
    operation = api.apply_domains().json["id"]
    api.advance("1h")
    stuck = api.poll(operation).json
    assert (stuck["state"], stuck["progress"]["phase"]) == ("running", "verifying")

    api.intervene("release_operation", operation=operation)

    assert end_of(api, operation)[0] == "succeeded"


def test_an_outcome_goes_on_after_a_reconciliation_completed_by_an_intervention(
    api: CheckedWorld, exhausted: str
) -> None:
    """The outcome skips what interventions have completed and does the rest."""
    api.advance("10s")
    assert api.poll(exhausted).json["reconciliation"]["state"] == "required"

    api.intervene("run_reconciliation", operation=exhausted)
    api.intervene("complete_reconciliation", operation=exhausted)

    state, code, seen = end_of(api, exhausted)
    assert (state, code) == ("failed", "reconciliation_exhausted")
    assert seen == ["completed", "required", "running"]


# --- it is seen before it happens -----------------------------------------------------------------


def test_why_names_the_outcome_before_during_and_after_it_acts(api: CheckedWorld) -> None:
    api.emulator.outcome("fail", phase="deploying", code="build_broken")
    operation = api.apply_domains().json["id"]

    before = api.emulator.why(operation)
    api.advance("3s")
    during = api.emulator.why(operation)
    end_of(api, operation)
    after = api.emulator.why(operation)

    announcement = (
        "outcome-1 applies to the operation: it becomes failed in deploying with build_broken."
    )
    assert announcement in before.sentences
    assert announcement in during.sentences
    assert during.next is not None
    assert during.next.event == "it changes from running (deploying) to failed"
    assert "outcome-1 decided how the operation ended." in after.sentences


def test_the_log_says_which_outcome_a_request_met(api: CheckedWorld) -> None:
    api.emulator.outcome("cancel")
    api.apply_domains()

    entry = api.emulator.control.get(api.emulator.control_path("requests", 1))
    steps = {step["step"]: step["text"] for step in entry["trail"]}

    assert steps["outcome"] == (
        "outcome-1 applies to the operation, hit 1: it becomes cancelled in deploying."
    )


# --- what is refused ------------------------------------------------------------------------------


def test_a_refused_outcome_is_not_armed(hosting_emulator: HostingEmulator) -> None:
    with pytest.raises(ControlRefused) as refused:
        hosting_emulator.add_outcome({"fail": {"phase": "nowhere"}})

    assert refused.value.status == 400
    assert hosting_emulator.outcomes == []


def test_an_outcome_is_removed_at_the_end_of_its_block(hosting_emulator: HostingEmulator) -> None:
    with hosting_emulator.outcome("fail") as outcome:
        assert [listed.id for listed in hosting_emulator.outcomes] == [outcome.id]

    assert hosting_emulator.outcomes == []
    assert outcome.hits == 0
