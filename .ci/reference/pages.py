"""The pages of the reference, with their titles and topics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from reference import (
    assumptions,
    calls,
    cli,
    conditions,
    conduct_rules,
    control_api,
    default_world,
    faults,
    interventions,
    library,
    lifecycles,
    outcomes,
    problems,
    python_api,
    scenario_file,
    settings,
    variation,
    verdicts,
)
from reference.markdown import join, table

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
NOTE = "<!-- Generated from the code by `make record`. Do not edit. -->"


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its file name without suffix, its title, a sentence about it, and its text."""

    name: str
    title: str
    about: str
    render: Callable[[], str]

    def text(self) -> str:
        """Return the whole page."""
        return join(f"# {self.title}", NOTE, self.render()) + "\n"


PAGES = (
    Page("cli", "Commands", "Every command with its options and examples.", cli.render),
    Page(
        "settings",
        "Settings",
        "Every setting of `start`: its option, its variable, and its key in the settings file.",
        settings.render,
    ),
    Page(
        "python",
        "Python API",
        "The fixtures, marks and options of the pytest plugin, and the SDK.",
        python_api.render,
    ),
    Page(
        "control-api",
        "Control API",
        "Everything outside `/v1`, over HTTP, for tests in any language.",
        control_api.render,
    ),
    Page(
        "calls",
        "Calls",
        "The calls of the public API: who may make them, what the contract says, and what we assume.",
        calls.render,
    ),
    Page(
        "lifecycles",
        "Lifecycles",
        "The states of operations and other resources, with their durations and transitions.",
        lifecycles.render,
    ),
    Page(
        "default-world",
        "Default world",
        "The organizations, users and projects of a new world.",
        default_world.render,
    ),
    Page("problems", "Problem codes", "What each code means, and what to do.", problems.render),
    Page(
        "assumptions",
        "Assumptions",
        "Our choices where the contract is silent, with their alternatives.",
        assumptions.render,
    ),
    Page("faults", "Faults", "Every kind of fault, with an example.", faults.render),
    Page(
        "outcomes",
        "Outcomes",
        "Every kind of outcome of an operation, with an example.",
        outcomes.render,
    ),
    Page(
        "interventions",
        "Interventions",
        "Every change that you can make to a world from outside the contract, with an example.",
        interventions.render,
    ),
    Page(
        "conditions",
        "Conditions",
        "The requests on which a fault or an outcome acts, and the times at which it acts.",
        conditions.render,
    ),
    Page(
        "scenario-file",
        "Scenario file",
        "Every key of a scenario file and of a world file.",
        scenario_file.render,
    ),
    Page(
        "library",
        "Scenario library",
        "The scenarios that are part of the emulator.",
        library.render,
    ),
    Page(
        "conduct-rules",
        "Rules of conduct",
        "What clients must do, and how to correct mistakes.",
        conduct_rules.render,
    ),
    Page(
        "verdicts",
        "Verdicts and causes",
        "What the judging tools report about a client.",
        verdicts.render,
    ),
    Page(
        "variation",
        "Variation points",
        "Where responses may differ within the contract.",
        variation.render,
    ),
)


def index() -> str:
    """Return the page that lists all other pages."""
    rows = [[f"[{page.title}]({page.name}.md)", page.about] for page in PAGES]
    text = "These pages are generated from the code, so they list everything that it declares."
    return join("# Reference", NOTE, text, table(["page", "what it lists"], rows)) + "\n"


def file_names() -> list[str]:
    """Return the file names of all pages."""
    return ["index.md", *(f"{page.name}.md" for page in PAGES)]


def texts() -> dict[str, str]:
    """Return the text of each page by its file name."""
    return dict(zip(file_names(), [index(), *(page.text() for page in PAGES)], strict=True))
