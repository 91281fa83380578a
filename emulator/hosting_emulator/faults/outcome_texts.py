"""Describes the outcome of an operation in words."""

from __future__ import annotations

from hosting_emulator.contract.durations import format_duration
from hosting_emulator.world import lifecycles
from hosting_emulator.world.records import OperationOutcome


def outcome_text(outcome: OperationOutcome) -> str:
    """Describe the steps of an outcome that have not happened yet. Empty if there are none."""
    remaining = outcome.steps[outcome.steps_taken :]
    if remaining:
        return _steps_text(outcome, remaining)
    if outcome.steps:
        return ""
    return _durations_text(outcome)


def _steps_text(outcome: OperationOutcome, remaining: tuple[str, ...]) -> str:
    steps = ", ".join(remaining)
    if remaining[0] in lifecycles.RECONCILIATION.transitions:
        return f"in {outcome.phase} its reconciliation becomes {steps}"
    text = f"it becomes {steps} in {outcome.phase}"
    if outcome.failure is not None:
        text += f" with {outcome.failure.code}"
    return text


def _durations_text(outcome: OperationOutcome) -> str:
    durations = {"queued": outcome.queued_ms, "running": outcome.running_ms}
    parts = [
        f"{state} for {format_duration(ms)}" for state, ms in durations.items() if ms is not None
    ]
    if not parts:
        return ""
    return f"it is {' and '.join(parts)}"
