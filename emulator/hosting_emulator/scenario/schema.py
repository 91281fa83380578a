"""The JSON Schema of scenario files, so that editors complete and check them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.calls import CALLS
from hosting_emulator.contract.json_schema import schema_components
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.criteria.comparisons import COMPARISONS
from hosting_emulator.criteria.request_filters import LOST_WORDS
from hosting_emulator.criteria.response_types import EXPECTED, HEADER
from hosting_emulator.faults.categories import FAULT, OUTCOME, RuleCategory
from hosting_emulator.faults.interventions import INTERVENTIONS
from hosting_emulator.scenario.document import ACTIONS, BELONGS, RIVALS, ScenarioPart
from hosting_emulator.scenario.expectations import log_filters
from hosting_emulator.variation.points import POINTS
from hosting_emulator.world.fault_records import Rule


def scenario_schema() -> dict[str, Any]:
    """Return the schema (JSON Schema 2020-12)."""
    kinds = {**FAULT.kinds, **OUTCOME.kinds}
    types = [ScenarioPart, Assumptions, Rule, *kinds.values(), *INTERVENTIONS.values()]
    _, defs = schema_components(types, ref_template="#/$defs/{name}")
    for kind, effect in kinds.items():
        defs[effect.__name__].setdefault("required", [])
        defs[effect.__name__].setdefault("title", kind)
    rule = defs.pop("Rule")
    defs["Fault"], defs["Outcome"] = _armed(rule, FAULT), _armed(rule, OUTCOME)
    defs["Intervention"] = {
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
        "properties": {
            # What needs nothing may be written with nothing behind it.
            word: _or_null(kind.__name__, not defs[kind.__name__].get("required"))
            for word, kind in INTERVENTIONS.items()
        },
    }
    turns = {"fault": "Fault", "outcome": "Outcome", "intervene": "Intervention"}
    refs = {turn: {"$ref": f"#/$defs/{name}"} for turn, name in turns.items()}
    scenario = defs["ScenarioPart"]
    scenario["properties"]["faults"] = {"type": "array", "items": refs["fault"]}
    scenario["properties"]["outcomes"] = {"type": "array", "items": refs["outcome"]}
    scenario["properties"]["assumptions"] = {"$ref": "#/$defs/Assumptions"}
    only = defs["VaryPart"]["properties"]["only"]["anyOf"]
    next(kind for kind in only if kind["type"] == "array")["items"] = {"enum": list(POINTS)}
    for part in ("PlannedPart", "StepPart"):
        defs[part]["properties"] |= refs
    step, codes = defs["StepPart"], list(PROBLEMS)
    step["properties"]["call"] = {"enum": list(CALLS)}
    step["properties"]["assume"] = {"$ref": "#/$defs/Assumptions"}
    _type_criteria(defs)
    defs["Abort"]["properties"]["code"] = {"enum": codes}
    alone = {"required": ["note"], "not": {"anyOf": _each(ACTIONS)}}
    step["oneOf"] = [*_each(ACTIONS), alone]
    step["dependentSchemas"] = {name: {"anyOf": _each(to)} for name, to in BELONGS.items()}
    moments = {"oneOf": _each(("at", "after_calls"))}
    defs["PlannedPart"]["allOf"] = [moments, {"oneOf": _each(turns)}]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A scenario of hosting-emulator",
        "$ref": "#/$defs/ScenarioPart",
        "$defs": defs,
    }


def _type_criteria(defs: dict[str, Any]) -> None:
    """Put the types of expectations and of filters into the schema."""
    defs["Comparison"] = {
        "type": "object",
        "minProperties": 1,
        "additionalProperties": False,
        "properties": {word: {} for word in COMPARISONS},
    }
    expected = defs["ExpectPart"]["properties"]
    expected |= {name: kind.expected_schema() for name, kind in EXPECTED.items()}
    expected["headers"]["additionalProperties"] = HEADER.expected_schema()
    defs["LogPart"]["properties"] |= {
        name: kind.expected_schema() for name, kind in log_filters(None, None).items()
    }
    word = {"enum": [*LOST_WORDS, True]}
    names_loss = {"anyOf": [word, {"type": "array", "contains": word}]}
    is_lost = {"required": ["lost"], "properties": {"lost": names_loss}}
    defs["ExpectPart"] |= {"if": is_lost, "then": {"maxProperties": 1}}
    for name in ("clear_faults", "clear_outcomes"):
        defs["StepPart"]["properties"][name] = {"enum": [True, None]}
    excluded = [{"not": {"required": list(pair)}} for pair in RIVALS]
    defs["StepPart"]["allOf"] = excluded


def _each(names: Iterable[str]) -> list[dict[str, Any]]:
    return [{"required": [name]} for name in names]


def _or_null(name: str, null: bool = True) -> dict[str, Any]:
    found = {"$ref": f"#/$defs/{name}"}
    return {"anyOf": [found, {"type": "null"}]} if null else found


def _armed(rule: dict[str, Any], family: RuleCategory) -> dict[str, Any]:
    properties = {name: dict(rule["properties"][name]) for name in family.fields}
    for found in properties.values():
        found["description"] = found.pop("description")  # last, where readers look for it
    called = properties["call"]["description"]
    properties["call"] = {"enum": list(family.calls), "description": called}
    effects = {kind: _or_null(effect.__name__) for kind, effect in family.kinds.items()}
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": effects | properties,
        "oneOf": _each(family.kinds),
    }
