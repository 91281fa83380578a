"""The JSON Schema for scenario files. Editors use it for completion and checks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.calls import CALLS
from hosting_emulator.contract.json_schema import schema_components
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.criteria.comparisons import COMPARISONS
from hosting_emulator.criteria.list_words import DIRECTIONS
from hosting_emulator.criteria.request_filters import LOST_WORDS
from hosting_emulator.criteria.response_types import EXPECTED, HEADER
from hosting_emulator.criteria.value_types import COMPARISON_SCHEMA
from hosting_emulator.faults.categories import FAULT, OUTCOME, RuleCategory
from hosting_emulator.faults.interventions import INTERVENTIONS
from hosting_emulator.scenario.document import ScenarioPart
from hosting_emulator.scenario.field_descriptions import FIELD_DESCRIPTIONS
from hosting_emulator.scenario.log_filters import log_filters
from hosting_emulator.scenario.step_keys import (
    ACTIONS,
    EXCLUSIVE_OPTIONS,
    OPTION_ACTIONS,
    TIMELINE_ACTIONS,
)
from hosting_emulator.variation.points import POINTS
from hosting_emulator.world.fault_records import Rule

Schema: TypeAlias = dict[str, Any]

_ASSUMPTIONS: Schema = {"$ref": "#/$defs/Assumptions"}
#: The schemas for faults, outcomes and interventions, by key.
_CHANGES: dict[str, Schema] = {
    "fault": {"$ref": "#/$defs/Fault"},
    "outcome": {"$ref": "#/$defs/Outcome"},
    "intervene": {"$ref": "#/$defs/Intervention"},
}

_LIST_OR_VARIABLE: Schema = {"type": ["array", "string"], "minItems": 1}
_COUNTED_ITEMS: Schema = {
    "type": "object",
    "additionalProperties": False,
    "required": ["of", "is"],
    "properties": {"of": {}, "is": {}},
}
#: The schemas for the operands of comparison words. Words that are not listed accept any operand.
_OPERANDS: dict[str, Schema] = {
    "one_of": _LIST_OR_VARIABLE,
    "not_in": _LIST_OR_VARIABLE,
    "item_count": {
        "anyOf": [
            {"type": ["integer", "string", "array"]},
            COMPARISON_SCHEMA,
            _COUNTED_ITEMS,
        ]
    },
    "sorted_by": {
        "type": ["string", "object"],
        "minProperties": 1,
        "additionalProperties": {"enum": list(DIRECTIONS)},
    },
    "distinct": {"anyOf": [{"const": True}, {"type": "string", "minLength": 1}]},
}


def scenario_schema() -> Schema:
    """Return the JSON Schema (version 2020-12) for scenario files."""
    effects = {**FAULT.kinds, **OUTCOME.kinds}
    types = [ScenarioPart, Assumptions, Rule, *effects.values(), *INTERVENTIONS.values()]
    _, definitions = schema_components(types, ref_template="#/$defs/{name}")
    for kind, effect in effects.items():
        definitions[effect.__name__].setdefault("required", [])
        definitions[effect.__name__].setdefault("title", kind)
    rule = definitions.pop("Rule")
    definitions["Fault"] = _rule_schema(rule, FAULT)
    definitions["Outcome"] = _rule_schema(rule, OUTCOME)
    definitions["Intervention"] = _intervention_schema(definitions)
    definitions["Comparison"] = _comparison_schema()
    definitions["Abort"]["properties"]["code"] = {"enum": list(PROBLEMS)}
    _complete_scenario(definitions["ScenarioPart"])
    _complete_variation(definitions["VaryPart"])
    _complete_timeline_entry(definitions["PlannedPart"])
    _complete_step(definitions["StepPart"])
    _complete_expectation(definitions["ExpectPart"])
    _complete_log(definitions["LogPart"])
    _describe_fields(definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A hosting-emulator scenario",
        "$ref": "#/$defs/ScenarioPart",
        "$defs": definitions,
    }


def _rule_schema(rule: Schema, category: RuleCategory) -> Schema:
    """Return the schema for a fault or an outcome, with one effect and the fields of a rule."""
    properties = {name: dict(rule["properties"][name]) for name in category.fields}
    for field in properties.values():
        # Move the description to the end, where readers look for it.
        field["description"] = field.pop("description")
    call_description = properties["call"]["description"]
    properties["call"] = {"enum": list(category.calls), "description": call_description}
    effects = {
        kind: _nullable(_reference(effect.__name__)) for kind, effect in category.kinds.items()
    }
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": effects | properties,
        "oneOf": _each_required(category.kinds),
    }


def _intervention_schema(definitions: dict[str, Schema]) -> Schema:
    properties = {}
    for word, intervention in INTERVENTIONS.items():
        name = intervention.__name__
        properties[word] = _reference(name)
        if not definitions[name].get("required"):
            # The value of an intervention without required fields can be empty.
            properties[word] = _nullable(properties[word])
    return {
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
        "properties": properties,
    }


def _comparison_schema() -> Schema:
    return {
        "type": "object",
        "minProperties": 1,
        "additionalProperties": False,
        "properties": {word: _OPERANDS.get(word, {}) for word in COMPARISONS},
    }


def _complete_scenario(schema: Schema) -> None:
    schema["properties"]["faults"] = {"type": "array", "items": _CHANGES["fault"]}
    schema["properties"]["outcomes"] = {"type": "array", "items": _CHANGES["outcome"]}
    schema["properties"]["assumptions"] = _ASSUMPTIONS


def _complete_variation(schema: Schema) -> None:
    for choice in schema["properties"]["only"]["anyOf"]:
        if choice["type"] == "array":
            choice["items"] = {"enum": list(POINTS)}


def _complete_timeline_entry(schema: Schema) -> None:
    schema["properties"] |= _CHANGES
    schema["allOf"] = [
        {"oneOf": _each_required(("at", "after_calls"))},
        {"oneOf": _each_required(TIMELINE_ACTIONS)},
    ]


def _complete_step(schema: Schema) -> None:
    schema["properties"] |= _CHANGES
    schema["properties"] |= {
        "call": {"enum": list(CALLS)},
        "assume": _ASSUMPTIONS,
        "clear_faults": {"enum": [True, None]},
        "clear_outcomes": {"enum": [True, None]},
    }
    # Refuse an empty key, token or user, because it would not make the step omit the header.
    schema["properties"] |= {
        name: {"type": "string", "minLength": 1} for name in ("key", "token", "user")
    }
    schema["allOf"] = [{"not": {"required": list(pair)}} for pair in EXCLUSIVE_OPTIONS]
    only_note = {"required": ["note"], "not": {"anyOf": _each_required(ACTIONS)}}
    schema["oneOf"] = [*_each_required(ACTIONS), only_note]
    schema["dependentSchemas"] = {
        option: {"anyOf": _each_required(actions)} for option, actions in OPTION_ACTIONS.items()
    }


def _complete_expectation(schema: Schema) -> None:
    expected = schema["properties"]
    expected |= {name: kind.expected_schema() for name, kind in EXPECTED.items()}
    expected["headers"]["additionalProperties"] = HEADER.expected_schema()
    # If the response may be lost, no other expectation is allowed.
    loss = {"enum": [*LOST_WORDS, True]}
    allows_loss = {"anyOf": [loss, {"type": "array", "contains": loss}]}
    schema["if"] = {"required": ["lost"], "properties": {"lost": allows_loss}}
    schema["then"] = {"maxProperties": 1}


def _complete_log(schema: Schema) -> None:
    filters = log_filters(None, None)
    schema["properties"] |= {name: kind.expected_schema() for name, kind in filters.items()}


def _describe_fields(definitions: dict[str, Schema]) -> None:
    for name, descriptions in FIELD_DESCRIPTIONS.items():
        properties = definitions[name]["properties"]
        for field, description in descriptions.items():
            # A copy, because fields can share one schema.
            properties[field] = properties[field] | {"description": description}


def _reference(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _nullable(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _each_required(names: Iterable[str]) -> list[Schema]:
    return [{"required": [name]} for name in names]
