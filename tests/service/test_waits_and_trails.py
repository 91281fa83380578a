"""The clock `skip` skips the wait of a retry in a copy of the world too; outcomes leave a trail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hosting_emulator.sdk import ControlClient, HostingEmulator
from tests.support.emulator_process import emulator
from tests.support.http_world import HttpWorld


def limited(world: HostingEmulator) -> None:
    """Let a skip clock and a rate limit refuse the next request to the DNS authorization."""
    world.clock.skip()
    world.set_assumptions({"rate_limit": "1/60s"})
    assert [HttpWorld(world).dns().status for _ in range(2)] == [200, 429]


def aborted(world: HostingEmulator) -> None:
    """Let a skip clock and a fault refuse the next request to the DNS authorization."""
    world.clock.skip()
    world.fault("abort", code="rate_limited", retry_after_seconds=60, times=1)
    assert HttpWorld(world).dns().status == 429


def in_outage(world: HostingEmulator) -> None:
    """Let a skip clock and a fault with an end refuse the next request."""
    world.clock.skip()
    world.fault("abort", code="service_unavailable", until="60s")
    assert HttpWorld(world).dns().status == 503


each_refusal = pytest.mark.parametrize("refuse", [limited, aborted, in_outage])
Refuse = Callable[[HostingEmulator], None]
BEFORE = "2026-01-01T00:00:00.000Z"
AFTER = "2026-01-01T00:01:00.000Z"


def forked(world: HostingEmulator) -> HostingEmulator:
    return world.fork()


def imported(world: HostingEmulator) -> HostingEmulator:
    world.import_state(world.export(with_seed=True))
    return world


def rewound(world: HostingEmulator) -> HostingEmulator:
    commit = world.history[-1].commit
    world.rewind(commit)
    return world


def restored(world: HostingEmulator) -> HostingEmulator:
    world.restore(world.snapshot())
    return world


@each_refusal
@pytest.mark.parametrize("way", [forked, imported, rewound, restored])
def test_a_retry_jumps_its_wait_in_a_copy_of_the_world(
    api: HttpWorld, refuse: Refuse, way: Callable[[HostingEmulator], HostingEmulator]
) -> None:
    refuse(api.emulator)

    world = way(api.emulator)

    assert world.clock.now == BEFORE
    assert HttpWorld(world).dns().status == 200
    assert world.clock.now == AFTER


def test_a_retry_jumps_its_wait_after_a_restart(tmp_path: Path) -> None:
    refusals = {
        refuse.__name__.replace("_", "-"): refuse for refuse in (limited, aborted, in_outage)
    }
    data = ("--data-dir", str(tmp_path / "data"))
    with emulator(*data) as process, ControlClient(process.ready["control_url"]) as control:
        for name, refuse in refusals.items():
            control.create_world(name, ephemeral=False, clock={"mode": "frozen"})
            refuse(control.world(name))
        process.kill()

    with emulator(*data) as process, ControlClient(process.ready["control_url"]) as control:
        for name in refusals:
            world = control.world(name)
            assert HttpWorld(world).dns().status == 200
            assert world.clock.now == AFTER
        process.stop()


def test_an_export_during_a_wait_contains_no_token(api: HttpWorld) -> None:
    limited(api.emulator)
    token = api.emulator.token()

    assert token not in str(api.emulator.export(with_seed=True))


# --- outcomes -----------------------------------------------------------------------------------------


def trail(api: HttpWorld) -> list[str]:
    """Return what the last request's trail says about outcomes."""
    control = api.emulator.control
    entry = control.get(api.emulator.control_path("requests", api.emulator.requests[-1].n))
    return [step["text"] for step in entry["trail"] if step["step"] == "outcome"]


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ({"times": 1}, "allowed only 1 action"),
        ({"skip_first": 2}, "`skip_first` is 2"),
        ({"every": 3}, "`every` is 3"),
        ({"while": {"plan": "free"}}, "plan is free"),
    ],
)
def test_the_trail_explains_why_a_matching_outcome_did_not_act(
    api: HttpWorld, rule: dict[str, object], reason: str
) -> None:
    api.add_outcome(succeed={"running": "40s"}, **rule)
    if "times" in rule:
        api.apply_domains()

    assert api.apply_domains().status == 202

    (sentence,) = trail(api)
    assert sentence.startswith("outcome-1 (succeed) matched but did not act")
    assert reason in sentence


def test_the_trail_names_the_phase_that_an_operation_lacks(api: HttpWorld) -> None:
    api.add_outcome(fail={"phase": "building"})

    assert api.apply_domains().status == 202

    (sentence,) = trail(api)
    assert "no phase building" in sentence


def test_an_outcome_that_does_not_match_leaves_no_trail(api: HttpWorld) -> None:
    api.add_outcome(fail={"phase": "deploying"}, project="blog")
    api.add_outcome(fail={"phase": "building"}, call="initialize_managed_source")

    assert api.apply_domains().status == 202

    assert trail(api) == []


def test_the_trail_names_the_acting_outcome_after_those_that_did_not_act(api: HttpWorld) -> None:
    api.add_outcome(fail={"phase": "deploying"}, skip_first=1)
    api.add_outcome(cancel={"phase": "deploying"})

    assert api.apply_domains().status == 202

    sentences = trail(api)
    assert [sentence.partition(" ")[0] for sentence in sentences] == ["outcome-1", "outcome-2"]
    assert "applies to the operation" in sentences[1]
