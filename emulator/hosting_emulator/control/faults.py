"""Endpoints that list, arm, show and remove a world's faults."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from hosting_emulator.control.armed_rules import (
    arm_rule,
    clear_rules,
    list_rules,
    remove_rule,
    show_rule,
)
from hosting_emulator.control.handshake_faults import check_handshake_fault
from hosting_emulator.control.scenario_parts import FaultDocument
from hosting_emulator.engine.engine import Engine
from hosting_emulator.faults.categories import FAULT
from hosting_emulator.faults.views import describe_kinds
from hosting_emulator.http.endpoint import Context, Example
from hosting_emulator.messages import FaultKinds, FaultsRemoved, JsonObject


def list_faults(engine: Engine) -> list[JsonObject]:
    """List the faults in the order in which they were armed."""
    return list_rules(engine, FAULT)


def arm_fault(
    engine: Engine,
    context: Context,
    body: Annotated[FaultDocument, Example({"abort": {"code": "rate_limited"}, "times": 1})],
) -> JsonObject:
    """Arm a fault. Faults that were armed earlier take precedence.

    The body describes the fault in the same way as in a scenario.
    """
    return arm_rule(engine, body, FAULT, partial(check_handshake_fault, context, engine.world.name))


def show_fault(engine: Engine, fault: str) -> JsonObject:
    """Show an armed fault and its counts."""
    return show_rule(engine, fault, FAULT)


def remove_fault(engine: Engine, fault: str) -> None:
    """Remove a fault. The status is 409 if the fault is protected."""
    remove_rule(engine, fault, FAULT)


def clear_faults(engine: Engine) -> FaultsRemoved:
    """Remove all faults except protected ones, and return how many were removed."""
    return clear_rules(engine, FAULT)


def list_kinds() -> FaultKinds:
    """List all kinds of faults with their options, and all fields for matching and counting."""
    return describe_kinds()
