"""Describes an operation's outcome in words."""

from __future__ import annotations

from hosting_emulator.contract.durations import format_duration
from hosting_emulator.world import lifecycles
from hosting_emulator.world.conditions import condition_text
from hosting_emulator.world.partial_effects import effects_text
from hosting_emulator.world.records import OperationOutcome


def outcome_text(outcome: OperationOutcome) -> str:
    """Describe the steps of an outcome that have not been taken yet.

    Return an empty string if there is nothing to describe.
    """
    remaining = outcome.steps[outcome.steps_taken :]
    if remaining == ("released",):
        return ""
    if outcome.steps[-1:] == ("released",) and remaining:
        return _hold_text(outcome)
    if remaining:
        return _steps_text(outcome, remaining)
    if outcome.steps:
        return ""
    return _durations_text(outcome)


def _hold_text(outcome: OperationOutcome) -> str:
    """Describe how long an outcome holds an operation in a phase."""
    text = f"it stays in {outcome.phase}"
    if outcome.hold_ms is not None:
        most = "" if outcome.while_ is None else "at most "
        text += f" for {most}{format_duration(outcome.hold_ms)}"
    if outcome.while_ is not None:
        text += f" while {condition_text(outcome.while_)}"
    return text


def _steps_text(outcome: OperationOutcome, remaining: tuple[str, ...]) -> str:
    steps = ", ".join(remaining)
    place = f"in {outcome.phase}" if outcome.phase else ""
    if remaining[0] in lifecycles.RECONCILIATION.transitions:
        text = f"{place} its reconciliation becomes {steps}"
    else:
        text = " ".join(filter(None, ("it becomes", steps, place)))
    if outcome.failure is not None:
        text += f" with {outcome.failure.code}"
    if outcome.leaves is not None:
        text += f", and leaves {effects_text(outcome.leaves, are_planned=True)}"
    if outcome.while_ is not None and not outcome.steps_taken:
        text += f" as soon as {condition_text(outcome.while_)}"
    return text


def _durations_text(outcome: OperationOutcome) -> str:
    durations = {"queued": outcome.queued_ms, "running": outcome.running_ms}
    parts = [
        f"{state} for {format_duration(ms)}" for state, ms in durations.items() if ms is not None
    ]
    if not parts:
        return ""
    return f"it is {' and '.join(parts)}"
