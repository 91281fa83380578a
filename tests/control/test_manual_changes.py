"""Changes through the control API in a world whose clock runs: due events come first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hosting_emulator.control import assumptions, faults, interventions, tokens, variation
from tests.support.in_process import InProcess, Machine, fresh_world

#: Only faults at the TLS handshake depend on the server.
NO_CONTEXT: Any = None
TIMEOUT = {"timeout": {}, "call": "list_deployments"}
MANUAL_CHANGES: dict[str, Callable[[Any], Any]] = {
    "assumptions": lambda e: assumptions.patch_assumptions(e, {"accepted_status": 200}),
    "intervention": lambda e: interventions.intervene(e, {"end_session": {"user": "owner"}}),
    "key": lambda e: tokens.create_api_key(e, tokens.NewKey()),
    "fault": lambda e: faults.arm_fault(e, NO_CONTEXT, TIMEOUT),
    "faults": lambda e: faults.clear_faults(e),
    "variation": lambda e: variation.put_variation(e, variation.NewVariation("any")),
    "no variation": lambda e: variation.delete_variation(e),
}


@pytest.mark.parametrize("name", MANUAL_CHANGES)
def test_due_events_run_before_a_manual_change(name: str) -> None:
    # given an operation that ended while no request looked at the world
    machine = Machine()
    api = InProcess(fresh_world(mode="real", machine=machine), machine=machine)
    api.add_fault(latency={"delay_ms": 1}, call="list_deployments")
    api.vary("some")
    operation = api.apply_domains().json["id"]
    machine.at_ms += 60_000

    # when the world is changed through the control API
    MANUAL_CHANGES[name](api.engine)

    # then the operation ended in a commit before that one
    newest_first = [*reversed(api.engine.history)][:20]
    numbers = [commit.number for commit in newest_first]
    titles = [commit.title for commit in newest_first]
    assert numbers == sorted(set(numbers), reverse=True)
    assert titles.index("due events") > 0
    assert api.poll(operation).json["state"] == "succeeded"
