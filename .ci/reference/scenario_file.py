"""The page of the scenario file and the world file, from the JSON Schema of scenarios."""

from __future__ import annotations

from hosting_emulator.scenario.schema import scenario_schema
from reference.markdown import anchor, docstring, join, table
from reference.value_types import Schema, fields_rows

INTRODUCTION = """\
A scenario is a YAML file. A world file is a scenario whose `world` is what matters. `hosting-emulator
scenario check FILE` reports mistakes with line and column. `hosting-emulator scenario schema` prints
the JSON Schema from which this page is generated, and which editors use for completion."""

#: The title of the section about each definition of the schema, in the order of the page.
SECTIONS = {
    "ScenarioPart": "The file",
    "ClockPart": "clock",
    "VaryPart": "vary",
    "WorldPart": "world",
    "OrganizationPart": "organizations",
    "UserPart": "users",
    "ProjectPart": "projects",
    "DeploymentPart": "deployments",
    "DatabasePart": "database",
    "KeyPart": "keys",
    "PlannedPart": "timeline",
    "SharedPart": "parts",
    "StepPart": "story",
    "ExpectPart": "expect",
    "LogPart": "log",
    "Comparison": "Comparisons",
}
#: Definitions that other pages describe.
PAGES = {
    "Fault": "[fault](faults.md)",
    "Outcome": "[outcome](outcomes.md)",
    "Intervention": "[intervention](interventions.md)",
    "Condition": "[conditions](conditions.md#conditions-on-the-world)",
    "Assumptions": "[assumptions](assumptions.md)",
}
COMPARISONS = """\
Instead of an expected value, you can write a comparison, which is an object with one or more of these
keys."""


def render() -> str:
    """Return the page without its title."""
    definitions = scenario_schema()["$defs"]
    links = {name: f"[{heading}](#{anchor(heading)})" for name, heading in SECTIONS.items()} | PAGES
    sections = [_section(heading, definitions[name], links) for name, heading in SECTIONS.items()]
    return join(INTRODUCTION, *sections)


def _section(heading: str, definition: Schema, links: dict[str, str]) -> str:
    interventions = scenario_schema()["$defs"]["Intervention"]["properties"]
    rows = [row for row in fields_rows(definition, links) if row[0].strip("`") not in interventions]
    text = docstring(definition.get("description")) or COMPARISONS
    described = any(row[3] for row in rows)
    columns = 4 if described else 3
    head = ["key", "value", "default", "meaning"][:columns]
    return join(f"## {heading}", text, table(head, [row[:columns] for row in rows]))
