"""The page of the scenario library."""

from __future__ import annotations

from hosting_emulator.scenario.library import ScenarioLibrary
from hosting_emulator_scenarios import FOLDER
from reference.markdown import block, code, join, prose, table

INTRODUCTION = """\
These scenarios come with the emulator. `hosting-emulator start --scenario NAME` starts an emulator
with a scenario, and `hosting-emulator world create --scenario NAME` creates a world with it.
`hosting-emulator scenario run NAME` runs a scenario's story. `hosting-emulator scenario show NAME`
prints the scenario, for example as a starting point for your own."""


def render() -> str:
    """Return the page without its title."""
    library = ScenarioLibrary(FOLDER)
    scenarios = [library.find(name) for name in library.names()]
    rows = [
        [
            code(scenario.part.name),
            "story" if scenario.part.story else "world",
            prose(scenario.part.description),
        ]
        for scenario in scenarios
    ]
    return join(
        INTRODUCTION,
        f"There are {len(scenarios)} scenarios.",
        table(["scenario", "kind", "what happens"], rows),
        "## Try one",
        block("hosting-emulator scenario run provider-outage", "bash"),
    )
