"""The JSON Schema of scenario files, so that editors complete and check them."""

from __future__ import annotations

from typing import Any

import msgspec

from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.calls import ALL_CALLS, CALLS
from hosting_emulator.faults.documents import RULE_FIELDS
from hosting_emulator.faults.kinds import fault_kinds
from hosting_emulator.interventions import INTERVENTIONS
from hosting_emulator.scenario.document import ScenarioPart
from hosting_emulator.variation.points import POINTS
from hosting_emulator.world.fault_records import Rule

_DEFS = "#/$defs/{name}"


def scenario_schema() -> dict[str, Any]:
    """Return the schema (JSON Schema 2020-12)."""
    kinds = fault_kinds()
    types = [ScenarioPart, Assumptions, Rule, *kinds.values(), *INTERVENTIONS.values()]
    _, defs = msgspec.json.schema_components(types, ref_template=_DEFS)
    for kind, effect in kinds.items():
        defs[effect.__name__].setdefault("required", [])
        defs[effect.__name__].setdefault("title", kind)
    defs["Fault"] = _fault(defs.pop("Rule"))
    defs["Intervention"] = {
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
        "properties": {
            word: _may_be_empty(defs, kind.__name__) for word, kind in INTERVENTIONS.items()
        },
    }
    fault, intervention = {"$ref": "#/$defs/Fault"}, {"$ref": "#/$defs/Intervention"}
    scenario = defs["ScenarioPart"]
    scenario["properties"]["faults"] = {"type": "array", "items": fault}
    scenario["properties"]["assumptions"] = {"$ref": "#/$defs/Assumptions"}
    only = defs["VaryPart"]["properties"]["only"]["anyOf"]
    next(kind for kind in only if kind["type"] == "array")["items"] = {"enum": list(POINTS)}
    for part in ("PlannedPart", "StepPart"):
        defs[part]["properties"] |= {"fault": fault, "intervene": intervention}
    defs["StepPart"]["properties"]["call"] = {"enum": list(CALLS)}
    defs["StepPart"]["properties"]["assume"] = {"$ref": "#/$defs/Assumptions"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A scenario of hosting-emulator",
        "$ref": "#/$defs/ScenarioPart",
        "$defs": defs,
    }


def _may_be_empty(defs: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the schema of what may be written with nothing behind it, if nothing is needed there."""
    found = {"$ref": f"#/$defs/{name}"}
    return found if defs[name].get("required") else {"anyOf": [found, {"type": "null"}]}


def _fault(rule: dict[str, Any]) -> dict[str, Any]:
    properties = {name: dict(rule["properties"][name]) for name in RULE_FIELDS}
    for found in properties.values():
        found["description"] = found.pop("description")  # last, where readers look for it
    called = properties["call"]["description"]
    properties["call"] = {"enum": list(ALL_CALLS), "description": called}
    effects = {
        kind: {"anyOf": [{"$ref": f"#/$defs/{effect.__name__}"}, {"type": "null"}]}
        for kind, effect in fault_kinds().items()
    }
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": effects | properties,
        "oneOf": [{"required": [kind]} for kind in fault_kinds()],
    }
