"""Suggests the right key, or the right place, for an unknown key in a scenario."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, get_args

import msgspec

from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.contract.suggestions import nearest
from hosting_emulator.faults.interventions import INTERVENTIONS
from hosting_emulator.faults.kinds import fault_kinds
from hosting_emulator.faults.outcomes import outcome_kinds
from hosting_emulator.messages import ClockMode
from hosting_emulator.scenario.document import (
    ClockPart,
    ExpectPart,
    PlannedPart,
    ScenarioPart,
    StepPart,
)
from hosting_emulator.scenario.step_keys import ACTIONS
from hosting_emulator.world.population_parts import WorldPart

#: For each part of a scenario, keys that other tools use, with their equivalents here.
_OTHER_WORDS: dict[type[msgspec.Struct], dict[str, str]] = {
    ScenarioPart: {"steps": "story", "title": "name", "given": "world"},
    PlannedPart: {
        "after": "at",
        "when": "at",
        "time": "at",
        "delay": "at",
        "in": "at",
        "intervention": "intervene",
    },
    StepPart: {
        "wait": "advance",
        "sleep": "advance",
        "delay": "advance",
        "endpoint": "call",
        "operation": "poll",
        "login": "sign_in",
        "as": "user",
        "principal": "user",
        "idempotency_key": "key",
        "payload": "body",
        "json": "body",
        "data": "body",
        "params": "query",
        "repeat": "times",
        "count": "times",
        "retries": "tries",
        "retry": "tries",
        "store": "save",
        "capture": "save",
        "assert": "expect",
        "then": "expect",
        "parallel": "together",
        "concurrently": "together",
        "include": "use",
        "vars": "with",
        "comment": "note",
        "name": "note",
        "description": "note",
    },
    ExpectPart: {"error": "code", "problem": "code", "json": "body", "status_code": "status"},
}
#: The parts nested in each part. An unknown key in the outer part may belong in a nested one.
_INNER_PARTS: dict[type[msgspec.Struct], dict[str, type[msgspec.Struct]]] = {
    ScenarioPart: {"world": WorldPart, "clock": ClockPart},
    StepPart: {"expect": ExpectPart},
}
#: The parts in which a key's value can be a fault, an outcome or an intervention.
_PARTS_WITH_ACTIONS = (PlannedPart, StepPart)


def key_hint(name: str, value: Any, part: type[msgspec.Struct], keys: Iterable[str]) -> str:
    """Return a hint about an unknown key in a part, to append to an error message.

    The hint suggests a different key or a different place, or lists the valid keys.
    """
    word = _OTHER_WORDS.get(part, {}).get(name)
    if name == "after" and isinstance(value, int):
        word = "after_calls"
    if word is not None:
        return f"; did you mean {word}?"
    for inner_name, inner_part in _INNER_PARTS.get(part, {}).items():
        if name in inner_part.__struct_encode_fields__:
            return f"; put it in {inner_name}, as in {inner_name}: {{{name}: …}}"
    action = _action_of_kind(name) if part in _PARTS_WITH_ACTIONS else None
    if action is not None:
        return f"; put it in {action}, as in {action}: {{{name}: …}}"
    if part is ExpectPart and _is_body_field(name):
        return f"; put it in body, as in body: {{{name}: …}}"
    hint = nearest(name, keys)
    if hint:
        return hint
    if part is StepPart:
        return f"; the actions of a step are {', '.join(ACTIONS)}"
    return f"; the keys are {', '.join(keys)}"


def value_hint(path: Sequence[str | int], value: Any) -> str:
    """Return a hint about a value of the wrong type, to append to an error message."""
    if path == ("clock",) and value in get_args(ClockMode):
        return f"; write clock: {{mode: {value}}}"
    return ""


def _action_of_kind(name: str) -> str | None:
    """Return the action that has a kind called `name`, or None if there is no such kind."""
    if name in fault_kinds():
        return "fault"
    if name in outcome_kinds():
        return "outcome"
    if name in INTERVENTIONS:
        return "intervene"
    return None


def _is_body_field(name: str) -> bool:
    """Return whether any resource in the contract has a field with this name."""
    return any(field.name == name for resource in RESOURCES.values() for field in resource.fields)
