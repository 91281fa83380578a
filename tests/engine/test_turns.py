"""Turns of a hand in a world whose clock runs: what was due before happens before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hosting_emulator.engine.engine import Engine, unvary, vary
from hosting_emulator.server.control import faults, identity, worlds
from hosting_emulator.variation.worlds import read_variation
from tests.support.in_process import InProcess, Machine, fresh_world

TURNS: dict[str, Callable[[Engine], Any]] = {
    "assumptions": lambda e: worlds.patch_assumptions(e, {"accepted_status": 200}),
    "intervention": lambda e: faults.intervene(e, {"end_session": {"person": "owner"}}),
    "key": lambda e: identity.create_api_key(e, identity.NewKey()),
    "fault": lambda e: faults.arm_fault(e, {"timeout": {}, "call": "list_deployments"}),
    "faults": lambda e: faults.clear_faults(e),
    "variation": lambda e: vary(e, read_variation("any")),
    "no variation": lambda e: unvary(e),
}


@pytest.mark.parametrize("turn", TURNS)
def test_a_turn_of_a_hand_loses_nothing_that_was_due_before_it(turn: str) -> None:
    # given an operation that was due to end while nobody asked
    machine = Machine()
    api = InProcess(fresh_world(mode="real", machine=machine), machine=machine)
    faults.arm_fault(api.engine, {"latency": {"delay_ms": 1}, "call": "list_deployments"})
    vary(api.engine, read_variation("some"))
    operation = api.apply_domains().json["id"]
    machine.at_ms += 60_000

    # when somebody turns a hand in the world
    TURNS[turn](api.engine)

    # then the operation ended before that, and each change has a number of its own
    numbers = [commit.number for commit in [*reversed(api.engine.history)][:20]]
    titles = [commit.title for commit in [*reversed(api.engine.history)][:20]]
    assert numbers == sorted(set(numbers), reverse=True)
    assert titles.index("due events") > 0
    assert api.poll(operation).json["state"] == "succeeded"
