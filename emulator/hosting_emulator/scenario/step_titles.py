"""Generates titles for steps that have no note. The titles are shown in reports."""

from __future__ import annotations

import msgspec

from hosting_emulator.contract.value_texts import value_text
from hosting_emulator.scenario.document import StepPart
from hosting_emulator.scenario.step_keys import REQUESTS, TIMELINE_ACTIONS


def title_of(action: str, step: StepPart) -> str:
    """Return a short description of a step, for example `call list_deployments as reader`."""
    if step.together is not None:
        return " and ".join(_titles_of_requests(step.together))
    value = getattr(step, action, "")
    if action == "log":
        filters = msgspec.to_builtins(value)
        value = ", ".join(f"{name} {value_text(filter_)}" for name, filter_ in filters.items())
    if action == "check" and isinstance(value, dict):
        return f"check {', '.join(value)}"
    if action in TIMELINE_ACTIONS and isinstance(value, dict):
        return f"{action} {next(iter(value), '')}"
    title = str(value) if action == "call" else f"{action} {value_text(value)}"
    if step.user:
        title += f" as {step.user}"
    if step.gives_up:
        title += ", gives up"
    return title


def _titles_of_requests(steps: list[StepPart]) -> list[str]:
    return [title_of(name, step) for step in steps for name in REQUESTS if getattr(step, name)]
