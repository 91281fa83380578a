"""The schema explains the fields of a scenario file to editors and to the reference."""

from __future__ import annotations

from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from hosting_emulator.scenario.field_descriptions import FIELD_DESCRIPTIONS
from hosting_emulator.scenario.schema import scenario_schema
from hosting_emulator.scenario.step_keys import EXCLUSIVE_OPTIONS, OPTION_ACTIONS


def test_the_schema_describes_every_field_of_the_parts_of_a_scenario():
    definitions = scenario_schema()["$defs"]
    parts = [name for name in definitions if name.endswith("Part")] + ["Comparison"]

    assert {"ScenarioPart", "StepPart", "WorldPart"} <= set(parts)
    for name in parts:
        fields = definitions[name]["properties"]
        assert list(fields) == [field for field in fields if fields[field].get("description")], name
        assert set(FIELD_DESCRIPTIONS[name]) == set(fields)


@pytest.mark.parametrize("pair", EXCLUSIVE_OPTIONS, ids=" and ".join)
def test_the_schema_refuses_two_options_of_a_step_that_exclude_each_other(
    pair: tuple[str, str],
) -> None:
    values = {"token": "a", "user": "owner", "interactive": False, "text": "{}"}
    values |= {"body": {"enabled": True}, "form": {"a": "b"}}
    first, second = pair
    validator = jsonschema.Draft202012Validator(scenario_schema())

    def errors(*options: str) -> list[Any]:
        step = {"request": "POST /v1/x", **{name: values[name] for name in options}}
        return list(validator.iter_errors({"name": "a", "description": "b", "story": [step]}))

    assert errors(first) == []
    assert errors(second) == []
    assert errors(first, second) != []


@pytest.mark.parametrize(
    ("option", "value"),
    [("expect", {"status": 200}), ("user", "owner"), ("project", "shop"), ("key", "k-1")],
)
def test_the_schema_refuses_an_option_of_a_step_without_an_action_that_takes_it(
    option: str, value: Any
) -> None:
    validator = jsonschema.Draft202012Validator(scenario_schema())

    def errors(step: dict[str, Any]) -> list[Any]:
        return list(validator.iter_errors({"name": "a", "description": "b", "story": [step]}))

    assert "call" in OPTION_ACTIONS[option]
    assert errors({"call": "get_dns_authorization", option: value}) == []
    assert errors({"note": "nothing is sent"}) == []
    assert errors({"note": "nothing is sent", option: value}) != []
