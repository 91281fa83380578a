"""The page of the scenario library."""

from __future__ import annotations

from hosting_emulator.scenario.library import ScenarioLibrary
from hosting_emulator_scenarios import FOLDER
from reference.markdown import block, code, join, prose, table

INTRODUCTION = """\
These scenarios come with the emulator. `hosting-emulator start --scenario NAME` starts with one, and
`hosting-emulator scenario load NAME` loads it into a running emulator. One with a story also runs by
itself: `hosting-emulator scenario run NAME`. `hosting-emulator scenario show NAME` prints the file,
which is a good start for your own."""


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
