"""`scenario`: worlds written in YAML, with the story that is their test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hosting_emulator_cli.groups import OrderedGroup
from hosting_emulator_cli.options import (
    asked_if_named,
    examples,
    json_option,
    maybe_client,
    output_option,
    with_client,
    with_world,
)
from hosting_emulator_cli.output import as_json as to_json
from hosting_emulator_cli.output import put, put_json, say, table
from hosting_emulator_cli.varying import check_only, vary_options

if TYPE_CHECKING:
    from hosting_emulator.sdk import ControlClient
    from hosting_emulator_cli.reports import AnyReport

_junit_option = click.option(
    "--junit",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Also write the report to this file, as JUnit XML.",
)


@click.group(
    cls=OrderedGroup,
    epilog=examples(
        "hosting-emulator scenario list",
        "hosting-emulator scenario load provider-outage",
        "hosting-emulator scenario check scenarios/*.yaml --junit report.xml",
    ),
)
def scenario() -> None:
    """List, check, load and run scenarios.

    A scenario is named by its name in the library, or as a YAML file (- reads stdin). `list`,
    `show`, `check` and `schema` need no running emulator.
    """


@scenario.command("list")
@json_option
@maybe_client
@click.pass_context
def list_(ctx: click.Context, url: str, control_token: str | None, as_json: bool) -> None:
    """List the scenario library.

    Shows the one that is shipped; with --url, the one of the running emulator.
    """
    found = asked_if_named(ctx, url, control_token, lambda client: client.scenarios())
    found = _shipped() if found is None else found
    if as_json:
        put_json(found)
        return
    put(table(("SCENARIO", "DESCRIPTION"), ([row["name"], row["description"]] for row in found)))


def _shipped() -> list[dict[str, str]]:
    from hosting_emulator.scenario.document import read_scenario
    from hosting_emulator_cli.scenario_files import library_names, library_text

    return [
        {"name": name, "description": read_scenario(library_text(name), name).part.description}
        for name in library_names()
    ]


@scenario.command(epilog=examples("hosting-emulator scenario show provider-outage > mine.yaml"))
@click.argument("name")
@output_option
@maybe_client
@click.pass_context
def show(
    ctx: click.Context, url: str, control_token: str | None, name: str, output: Path | None
) -> None:
    """Print a scenario of the library as YAML, to read or to start from.

    NAME is what `scenario list` shows; with --url, the running emulator's is shown.
    """
    from hosting_emulator_cli.files import put_document
    from hosting_emulator_cli.scenario_files import library_text

    found = asked_if_named(ctx, url, control_token, lambda client: client.scenario(name))
    text = library_text(name) if found is None else found["text"]
    put_document(text.rstrip("\n"), output, f"Scenario {name} is written to")


@scenario.command(
    epilog=examples(
        "hosting-emulator scenario check mine.yaml",
        "hosting-emulator scenario check scenarios/*.yaml --junit report.xml",
    )
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@_junit_option
@json_option
@click.pass_context
def check(ctx: click.Context, files: tuple[str, ...], junit: Path | None, as_json: bool) -> None:
    """Read scenarios, and run each story in a fresh world.

    Each FILE is a YAML file or a name in the library. Nothing needs to run: each world lives in
    this process. Exit code 1: an answer differs. 2: a file is wrong; its error names the line.
    """
    from hosting_emulator.scenario.located import ScenarioError
    from hosting_emulator.scenario.story import check_text
    from hosting_emulator_cli.reports import unreadable
    from hosting_emulator_cli.scenario_files import is_file, library_text, read_text, shown

    def one(named: str) -> AnyReport:
        file = shown(named) if is_file(named) else f"{named}.yaml"
        text = read_text(named) if is_file(named) else library_text(named)
        try:
            return check_text(text, file)
        except ScenarioError as error:
            return unreadable(file, str(error))

    _put_reports(ctx, files, one, junit, as_json)


@scenario.command(epilog=examples("hosting-emulator scenario load provider-outage --world ci-1"))
@click.argument("named", metavar="SCENARIO")
@json_option
@with_world
def load(client: ControlClient, world: str, named: str, as_json: bool) -> None:
    """Replace a world by a scenario's.

    SCENARIO is a name in the library or a YAML file. What was in the world is gone once the new
    world is ready; a scenario that is wrong changes nothing.
    """
    from hosting_emulator_cli.scenario_files import choose

    chosen = choose(named)
    summary = client.load_scenario(chosen.name, text=chosen.text, file=chosen.file, world=world)
    if as_json:
        put_json(summary)
    else:
        say(f"World {summary['name']} is now what {named} says.")


@scenario.command(
    epilog=examples(
        "hosting-emulator scenario run provider-outage",
        "hosting-emulator scenario run mine.yaml --world ci-1 --json",
        "hosting-emulator scenario run mine.yaml --vary 7",
    )
)
@click.argument("scenarios", nargs=-1, required=True, metavar="SCENARIO...")
@click.option(
    "--world",
    metavar="NAME",
    help="Run in this world, replacing it and leaving it as the story ends; else in a throw-away "
    "one.",
)
@vary_options
@_junit_option
@json_option
@with_client
@click.pass_context
def run(
    ctx: click.Context,
    client: ControlClient,
    scenarios: tuple[str, ...],
    world: str | None,
    vary: str | None,
    vary_only: tuple[str, ...] | None,
    junit: Path | None,
    as_json: bool,
) -> None:
    """Run stories against the running emulator, and report step by step.

    Each SCENARIO is a name in the library or a YAML file. Exit code 1: an answer differs. 2: a
    scenario is wrong, or nothing runs.
    """
    from hosting_emulator.sdk import ControlRefused
    from hosting_emulator_cli.reports import unreadable
    from hosting_emulator_cli.scenario_files import choose

    check_only(ctx)

    def one(named: str) -> AnyReport:
        chosen = choose(named)
        try:
            return client.run_scenario(
                chosen.name,
                text=chosen.text,
                file=chosen.file,
                world=world,
                vary=vary,
                only=vary_only,
            )
        except ControlRefused as refused:
            return unreadable(chosen.file or named, refused.detail or refused.title)

    _put_reports(ctx, scenarios, one, junit, as_json)


def _put_reports(
    ctx: click.Context,
    named: Sequence[str],
    one: Callable[[str], AnyReport],
    junit: Path | None,
    as_json: bool,
) -> None:
    """Make and show a report of each, and end with the exit code that they call for."""
    from hosting_emulator_cli import reports
    from hosting_emulator_cli.looks.progress import working

    found = []
    for done, name in enumerate(named):
        with working(f"{name}, {done + 1} of {len(named)}", done=done, of=len(named)):
            found.append(one(name))
        if not as_json:
            put(reports.report_text(found[-1]))
    if as_json:
        put_json(found)
    else:
        say(reports.summary(found))
        if (why := reports.pinned(found)) is not None:
            say(why)
    if junit is not None:
        from hosting_emulator_cli.files import write_whole

        write_whole(junit, reports.junit_text(found))
    ctx.exit(reports.exit_code(found))


@scenario.command(epilog=examples("hosting-emulator scenario schema --output scenario.schema.json"))
@output_option
@maybe_client
@click.pass_context
def schema(ctx: click.Context, url: str, control_token: str | None, output: Path | None) -> None:
    """Print the JSON Schema of scenario files, for editors.

    In a file's first line, `# yaml-language-server: $schema=scenario.schema.json` names it.
    """
    from hosting_emulator_cli.files import put_document

    found = asked_if_named(ctx, url, control_token, lambda client: client.scenario_schema())
    put_document(
        to_json(_own_schema() if found is None else found), output, "The schema is written to"
    )


def _own_schema() -> Any:
    from hosting_emulator.scenario.schema import scenario_schema

    return scenario_schema()
