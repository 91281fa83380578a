"""Endpoints that list, arm, show and remove a world's outcomes."""

from __future__ import annotations

from typing import Annotated

from hosting_emulator.control.armed_rules import (
    arm_rule,
    clear_rules,
    list_rules,
    remove_rule,
    show_rule,
)
from hosting_emulator.control.scenario_parts import OutcomeDocument
from hosting_emulator.engine.engine import Engine
from hosting_emulator.faults.categories import OUTCOME
from hosting_emulator.faults.views import describe_outcome_kinds
from hosting_emulator.http.endpoint import Example
from hosting_emulator.messages import FaultKinds, FaultsRemoved, JsonObject


def list_outcomes(engine: Engine) -> list[JsonObject]:
    """List the outcomes in the order in which they were armed."""
    return list_rules(engine, OUTCOME)


def arm_outcome(
    engine: Engine,
    body: Annotated[OutcomeDocument, Example({"fail": {"phase": "deploying"}, "project": "blog"})],
) -> JsonObject:
    """Arm an outcome, which determines how the next matching operation proceeds and ends.

    If several outcomes match an operation, only the earliest applies.
    """
    return arm_rule(engine, body, OUTCOME)


def show_outcome(engine: Engine, outcome: str) -> JsonObject:
    """Show an outcome and its counts."""
    return show_rule(engine, outcome, OUTCOME)


def remove_outcome(engine: Engine, outcome: str) -> None:
    """Remove an outcome. An operation to which it was already applied keeps it, unless the outcome is
    still waiting for its `while` condition.

    The status is 409 if the outcome is protected.
    """
    remove_rule(engine, outcome, OUTCOME)


def clear_outcomes(engine: Engine) -> FaultsRemoved:
    """Remove all outcomes except protected ones, and return how many were removed."""
    return clear_rules(engine, OUTCOME)


def list_outcome_kinds() -> FaultKinds:
    """List all kinds of outcomes with their options, and all fields for matching and counting."""
    return describe_outcome_kinds()
