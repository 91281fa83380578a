"""`scenario`: worlds written in YAML, with the story that is their test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hosting_emulator_cli import options as opt
from hosting_emulator_cli.files import (
    choose_scenario,
    display_name,
    is_scenario_file,
    library_names,
    library_text,
    put_document,
    read_scenario_file,
    write_whole,
)
from hosting_emulator_cli.groups import CommandGroup
from hosting_emulator_cli.output import columns, prints, put, put_json, say

if TYPE_CHECKING:
    from hosting_emulator_cli.reports import StoryResult


@click.group(cls=CommandGroup)
def scenario() -> None:
    """List, check, load and run scenarios.

    A scenario is named by its name in the library, or as a YAML file (- reads stdin). `list`,
    `show`, `check` and `schema` need no running emulator.

    Examples:
      hosting-emulator scenario list
      hosting-emulator scenario load provider-outage
      hosting-emulator scenario check scenarios/*.yaml --junit report.xml
    """


@scenario.command("list")
@prints(columns({"SCENARIO": "name", "DESCRIPTION": "description"}))
@opt.with_or_without_client
def list_(ask: opt.Ask) -> Any:
    """List the scenario library.

    Shows the one that is shipped; with --url, the one of the running emulator.
    """

    def shipped() -> list[dict[str, str]]:
        from hosting_emulator.scenario.document import read_scenario

        return [
            {"name": name, "description": read_scenario(library_text(name), name).part.description}
            for name in library_names()
        ]

    return ask(lambda client: client.scenarios(), shipped)


@scenario.command()
@click.argument("name")
@opt.output_option
@opt.with_or_without_client
def show(ask: opt.Ask, name: str, output: Path | None) -> None:
    """Print a scenario of the library as YAML, to read or to start from.

    NAME is what `scenario list` shows; with --url, the running emulator's is shown.

    Examples:
      hosting-emulator scenario show provider-outage > mine.yaml
    """
    text: str = ask(lambda client: client.scenario(name)["text"], lambda: library_text(name))
    put_document(text.rstrip("\n"), output, f"Scenario {name} is written to")


@scenario.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@opt.junit_option
@opt.json_option
@click.pass_context
def check(ctx: click.Context, files: tuple[str, ...], junit: Path | None, as_json: bool) -> None:
    """Read scenarios, and run each story in a fresh world.

    Each FILE is a YAML file or a name in the library. Nothing needs to run: each world lives in
    this process. Exit code 1: an answer differs. 2: a file is wrong; its error names the line.

    Examples:
      hosting-emulator scenario check mine.yaml
      hosting-emulator scenario check scenarios/*.yaml --junit report.xml
    """
    from hosting_emulator.scenario.source import ScenarioError
    from hosting_emulator.scenario.story import check_text

    def one(named: str) -> StoryResult:
        if is_scenario_file(named):
            file, text = display_name(named), read_scenario_file(named)
        else:
            file, text = f"{named}.yaml", library_text(named)
        try:
            return check_text(text, file)
        except ScenarioError as error:
            return {"file": file, "passed": False, "error": str(error)}

    _put_reports(ctx, files, one, junit, as_json)


@scenario.command()
@click.argument("named", metavar="SCENARIO")
@prints(words="World {value[name]} is now what {named} says.")
@opt.with_world
def load(world: opt.HostingEmulator, named: str) -> Any:
    """Replace a world by a scenario's.

    SCENARIO is a name in the library or a YAML file. What was in the world is gone once the new
    world is ready; a scenario that is wrong changes nothing.

    Examples:
      hosting-emulator scenario load provider-outage --world ci-1
    """
    return world.load_scenario(**choose_scenario(named))


@scenario.command()
@click.argument("scenarios", nargs=-1, required=True, metavar="SCENARIO...")
@opt.option(
    "--world NAME",
    "Run in this world, replacing it and leaving it as the story ends; else in a throw-away one.",
)
@opt.vary_options
@opt.junit_option
@opt.json_option
@opt.with_client
@click.pass_context
def run(
    ctx: click.Context,
    client: opt.ControlClient,
    scenarios: tuple[str, ...],
    vary: str | None,
    vary_only: tuple[str, ...] | None,
    junit: Path | None,
    as_json: bool,
    world: str | None,
) -> None:
    """Run stories against the running emulator, and report step by step.

    Each SCENARIO is a name in the library or a YAML file. Exit code 1: an answer differs. 2: a
    scenario is wrong, or nothing runs.

    Examples:
      hosting-emulator scenario run provider-outage
      hosting-emulator scenario run mine.yaml --world ci-1 --json
      hosting-emulator scenario run mine.yaml --vary 7
    """
    from hosting_emulator.sdk import ControlRefused

    opt.check_only(vary, vary_only)

    def one(named: str) -> StoryResult:
        chosen = choose_scenario(named)
        try:
            return client.run_scenario(**chosen, world=world, vary=vary, only=vary_only)
        except ControlRefused as refused:
            error = refused.detail or refused.title
            return {"file": chosen.get("file", named), "passed": False, "error": error}

    _put_reports(ctx, scenarios, one, junit, as_json)


def _put_reports(
    ctx: click.Context,
    named: Sequence[str],
    one: Callable[[str], StoryResult],
    junit: Path | None,
    as_json: bool,
) -> None:
    """Make and show a report of each, and end with the exit code that they call for."""
    from hosting_emulator_cli import reports

    found = []
    for name in named:
        found.append(one(name))
        if not as_json:
            put(reports.story_text(found[-1]))
    if as_json:
        put_json(found)
    else:
        say(reports.stories_summary(found))
    if junit is not None:
        write_whole(junit, reports.stories_junit(found))
    wrong = any("error" in report for report in found)
    ctx.exit(2 if wrong else 0 if all(report["passed"] for report in found) else 1)


@scenario.command()
@opt.output_option
@opt.with_or_without_client
def schema(ask: opt.Ask, output: Path | None) -> None:
    """Print the JSON Schema of scenario files, for editors.

    In a file's first line, `# yaml-language-server: $schema=scenario.schema.json` names it.

    Examples:
      hosting-emulator scenario schema --output scenario.schema.json
    """
    found = ask(
        lambda client: client.contract("scenario-schema.json"),
        "hosting_emulator.scenario.schema:scenario_schema",
    )
    put_document(found, output, "The schema is written to")
