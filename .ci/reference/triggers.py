"""The sections that faults and outcomes share: the options of each kind, and an example command."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from hosting_emulator.messages import FaultKinds
from hosting_emulator.scenario.schema import scenario_schema
from reference.markdown import block, docstring, join, table
from reference.value_types import Schema, fields_rows

DEFINITIONS: Mapping[str, Schema] = scenario_schema()["$defs"]
#: Links for definitions of the scenario schema that another page or section describes.
LINKS = {
    "Condition": "[conditions](conditions.md#conditions-on-the-world)",
    "OrganizationPart": "[organizations](scenario-file.md#organizations)",
    "UserPart": "[users](scenario-file.md#users)",
    "ProjectPart": "[projects](scenario-file.md#projects)",
    "KeyPart": "[keys](scenario-file.md#keys)",
    "PartialEffects": "[partial effects](outcomes.md#partial-effects)",
}


def kind_sections(kinds: FaultKinds, category: str, command: str) -> str:
    """Return one section for each kind. `category` is the kinds' definition in the scenario schema."""
    return join(
        *(_section(effect.kind, effect.example, category, command) for effect in kinds.effects)
    )


def definition_of(category: str, kind: str) -> Schema:
    """Return the definition of a kind in the scenario schema."""
    schema = DEFINITIONS[category]["properties"][kind]
    reference = next(part["$ref"] for part in schema.get("anyOf", [schema]) if "$ref" in part)
    return DEFINITIONS[reference.rpartition("/")[2]]


def _section(kind: str, example: Mapping[str, Any], category: str, command: str) -> str:
    definition = definition_of(category, kind)
    return join(
        f"## {kind}",
        docstring(definition["description"]),
        fields_table(definition),
        block(command_line(command, kind, example), "bash"),
    )


def fields_table(definition: Schema, noun: str = "option") -> str:
    """Return a table of an object's fields, whose first column has the heading `noun`.

    A column in which no field has a value is left out.
    """
    rows = fields_rows(definition, LINKS)
    if not rows:
        return ""
    head = [noun, "value", "default", "meaning"]
    used = [index for index in range(4) if index < 2 or any(row[index] for row in rows)]
    return table([head[index] for index in used], [[row[index] for index in used] for row in rows])


def command_line(command: str, kind: str, example: Mapping[str, Any]) -> str:
    """Return the command for an example: `fault add latency delay_ms=200`."""
    words = ["hosting-emulator", *command.split(), kind]
    words += [f"{name}={_value(value)}" for name, value in example.items()]
    return shlex.join(words)


def _value(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value)
