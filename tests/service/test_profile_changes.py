"""An operation keeps the profile under which it was accepted, whatever its world assumes later."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import pytest

from hosting_emulator.sdk import ControlClient, ControlRefused, HostingEmulator
from tests.support.emulator_process import emulator
from tests.support.http_world import HttpWorld

PROFILES = ("timed 2s 8s", "immediate", "per_poll 2", "manual")
PAIRS = list(permutations(PROFILES, 2))
KINDS = ("source_profile", "domains_profile")
#: More steps, polls or seconds than any of the profiles needs.
ENOUGH = 12

each_pair = pytest.mark.parametrize(("accepted_under", "changed_to"), PAIRS)
each_kind = pytest.mark.parametrize("assumption", KINDS)


def accept(api: HttpWorld, assumption: str, profile: str) -> str:
    """Start an operation under a profile and return its id."""
    api.emulator.set_assumptions({assumption: profile})
    response = api.initialize(1) if assumption == "source_profile" else api.apply_domains()
    assert response.status == 202
    return str(response.json["id"])


def is_finished(world: HostingEmulator, operation: str) -> bool:
    """Tell, without a poll, whether an operation has succeeded."""
    return bool(world.why(operation).state == "succeeded")


def moved_by_time(world: HostingEmulator, operation: str) -> bool:
    """Let time pass and tell whether that ends the operation."""
    world.clock.advance("1h")
    return is_finished(world, operation)


def moved_by_polls(world: HostingEmulator, operation: str) -> bool:
    """Poll as often as any profile needs and tell whether that ends the operation."""
    api = HttpWorld(world)
    for _ in range(ENOUGH):
        assert api.poll(operation).status == 200
    return is_finished(world, operation)


def moved_by_steps(world: HostingEmulator, operation: str) -> bool:
    """Step the operation by hand and tell whether that ends it."""
    for _ in range(ENOUGH):
        if is_finished(world, operation):
            return True
        world.control.post(f"worlds/{world.name}/operations/{operation}/step")
    return False


def goes_by_its_profile(world: HostingEmulator, operation: str, profile: str) -> None:
    """Assert that an operation moves as its profile says, and in no other way."""
    mode = profile.split()[0]
    if mode == "immediate":
        assert is_finished(world, operation)
        return
    assert not is_finished(world, operation)
    if mode == "timed":
        assert world.clock.next_due_at is not None
        assert moved_by_time(world, operation)
        return
    assert not moved_by_time(world, operation)
    if mode == "per_poll":
        assert moved_by_polls(world, operation)
        return
    assert not moved_by_polls(world, operation)
    assert moved_by_steps(world, operation)


@each_kind
@each_pair
def test_an_operation_keeps_its_profile_when_the_world_gets_another(
    api: HttpWorld, assumption: str, accepted_under: str, changed_to: str
) -> None:
    operation = accept(api, assumption, accepted_under)

    api.emulator.set_assumptions({assumption: changed_to})

    goes_by_its_profile(api.emulator, operation, accepted_under)
    # The operation has released the project's claim.
    assert "blocking_operation_id" not in api.initialize(2).json


@each_pair
def test_the_next_operation_has_the_new_profile(
    api: HttpWorld, accepted_under: str, changed_to: str
) -> None:
    first = accept(api, "domains_profile", accepted_under)
    second = accept(api, "domains_profile", changed_to)

    goes_by_its_profile(api.emulator, first, accepted_under)

    if changed_to != "immediate" and not is_finished(api.emulator, second):
        assert moved_by_steps(api.emulator, second)
    assert is_finished(api.emulator, second)


def forked(world: HostingEmulator) -> HostingEmulator:
    return world.fork()


def imported(world: HostingEmulator) -> HostingEmulator:
    world.import_state(world.export(with_seed=True))
    return world


def rewound(world: HostingEmulator) -> HostingEmulator:
    commit = world.history[-1].commit
    world.intervene("set_credits", organization="acme", credits=7)
    world.rewind(commit)
    return world


@each_pair
@pytest.mark.parametrize("way", [forked, imported, rewound])
def test_an_operation_keeps_its_profile_in_a_copy_of_the_world(
    api: HttpWorld,
    accepted_under: str,
    changed_to: str,
    way: Callable[[HostingEmulator], HostingEmulator],
) -> None:
    operation = accept(api, "source_profile", accepted_under)
    api.emulator.set_assumptions({"source_profile": changed_to})

    world = way(api.emulator)

    goes_by_its_profile(world, operation, accepted_under)


def test_an_operation_keeps_its_profile_after_a_restart(tmp_path: Path) -> None:
    data = ("--data-dir", str(tmp_path / "data"))
    accepted: list[tuple[str, str, str]] = []
    with emulator(*data) as process, ControlClient(process.ready["control_url"]) as control:
        for number, (accepted_under, changed_to) in enumerate(PAIRS):
            for assumption in KINDS:
                name = f"{assumption.partition('_')[0]}-{number}"
                control.create_world(name, ephemeral=False, clock={"mode": "frozen"})
                world = control.world(name)
                operation = accept(HttpWorld(world), assumption, accepted_under)
                world.set_assumptions({assumption: changed_to})
                accepted.append((name, operation, accepted_under))
        process.stop()

    with emulator(*data) as process, ControlClient(process.ready["control_url"]) as control:
        for name, operation, accepted_under in accepted:
            goes_by_its_profile(control.world(name), operation, accepted_under)
        process.stop()


# --- why an operation does not move -----------------------------------------------------------------


def cause(api: HttpWorld, operation: str) -> str:
    """Return what `why` says about an operation."""
    return " ".join(api.emulator.why(operation).sentences)


def refusal(api: HttpWorld, operation: str) -> str:
    """Return why the clock cannot move until an operation ends."""
    with pytest.raises(ControlRefused) as refused:
        api.emulator.clock.until(operation)
    assert refused.value.status == 409
    return str(refused.value.detail)


def test_why_names_the_profile_under_which_an_operation_was_accepted(api: HttpWorld) -> None:
    operation = accept(api, "domains_profile", "manual")
    api.emulator.set_assumptions({"domains_profile": "timed 2s 8s"})

    assert "manual" in cause(api, operation)
    assert "manual" in refusal(api, operation)


CAUSES = {
    "manual": "manual",
    "per_poll 3": "polled",
    "stuck": "stick_operation",
    "held": "hold_claim",
    "reconciliation": "reconciliation",
}


@pytest.mark.parametrize("name", CAUSES)
def test_the_refusal_to_advance_names_the_one_cause_that_holds(api: HttpWorld, name: str) -> None:
    if name in ("manual", "per_poll 3"):
        operation = accept(api, "domains_profile", name)
    else:
        if name == "held":
            api.intervene("hold_claim", project="shop")
        operation = str(api.apply_domains().json["id"])
        if name == "stuck":
            api.intervene("stick_operation", operation=operation)
        elif name == "reconciliation":
            api.intervene("require_reconciliation", operation=operation)

    detail = refusal(api, operation)

    assert CAUSES[name] in detail
    for other, words in CAUSES.items():
        if other != name:
            assert words not in detail


def test_why_names_the_latest_reason_that_an_operation_is_stuck(api: HttpWorld) -> None:
    api.emulator.outcome("stick", phase="queued")
    operation = str(api.apply_domains().json["id"])
    api.advance("1h")
    assert api.emulator.why(operation).held_by == "outcome-1"
    api.intervene("release_operation", operation=operation)
    api.intervene("stick_operation", operation=operation)

    explanation = api.emulator.why(operation)

    assert explanation.held_by == "the stick_operation intervention"
