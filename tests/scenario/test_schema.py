"""The schema explains the fields of a scenario file to editors and to the reference."""

from __future__ import annotations

from hosting_emulator.scenario.field_descriptions import FIELD_DESCRIPTIONS
from hosting_emulator.scenario.schema import scenario_schema


def test_the_schema_describes_every_field_of_the_parts_of_a_scenario():
    definitions = scenario_schema()["$defs"]
    parts = [name for name in definitions if name.endswith("Part")] + ["Comparison"]

    assert {"ScenarioPart", "StepPart", "WorldPart"} <= set(parts)
    for name in parts:
        fields = definitions[name]["properties"]
        assert list(fields) == [field for field in fields if fields[field].get("description")], name
        assert set(FIELD_DESCRIPTIONS[name]) == set(fields)
