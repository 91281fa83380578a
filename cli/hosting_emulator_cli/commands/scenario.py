"""Implements `scenario`, which lists, checks, loads, runs and records scenarios."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from hosting_emulator_cli import completion
from hosting_emulator_cli import options as opt
from hosting_emulator_cli.files import put_document, write_whole
from hosting_emulator_cli.main import CommandGroup, Failure, examples, failing
from hosting_emulator_cli.output import (
    plain_message,
    prints,
    put,
    put_json,
    say,
    say_warnings,
)
from hosting_emulator_cli.scenario_files import (
    choose_scenario,
    library_names,
    library_text,
    read_scenario_file,
    scenario_text,
)
from hosting_emulator_cli.tables import columns
from hosting_emulator_cli.value_types import TYPES, WholeNumber

if TYPE_CHECKING:
    from hosting_emulator.messages import LoadedWorldSummary
    from hosting_emulator.sdk import ControlClient, HostingEmulator
    from hosting_emulator_cli.story_reports import StoryResult

#: The maximum number of stories that a search for the smallest scenario runs by default.
_MOST_RUNS = 1_000
#: Declares an argument that names one or more scenarios.
_scenarios_argument = partial(
    click.argument,
    nargs=-1,
    required=True,
    shell_complete=completion.SCENARIOS_AND_FILES,
)


def _load_text(summary: LoadedWorldSummary) -> str:
    scenario_name = click.get_current_context().params["name"]
    heading = f"World {summary.name} now has the content of {scenario_name}."
    return "\n".join([heading, *summary.notices])


@click.group(
    cls=CommandGroup,
    epilog=examples(
        """
        hosting-emulator scenario list
        hosting-emulator scenario load provider-outage
        hosting-emulator scenario check scenarios/*.yaml --junit report.xml
        """
    ),
)
def scenario() -> None:
    """List, check, load and run scenarios.

    A scenario is specified by its name in the library or as a YAML file (- for stdin). `list`,
    `show`, `check`, `shrink` and `schema` need no running emulator.
    """


@scenario.command("list")
@prints(columns(("SCENARIO", "name"), "kind", "description"))
@opt.typed_url_options
def list_scenarios(**_: Any) -> Any:
    """List the scenario library.

    Lists the library of this installation or, with --url, the library of a running emulator.
    """

    def library_rows() -> Any:
        from hosting_emulator.scenario.reading import read_scenario

        return [read_scenario(library_text(name), name).row() for name in library_names()]

    return opt.ask(lambda client: client.get("scenarios")["items"], library_rows)


@scenario.command(epilog=examples("hosting-emulator scenario show provider-outage > mine.yaml"))
@click.argument("name", shell_complete=completion.SCENARIOS)
@opt.output_option
@opt.typed_url_options
def show(name: str, output: Path | None, **_: Any) -> None:
    """Print a library scenario as YAML, for example as a starting point for your own.

    NAME is a name from `scenario list`. With --url, the scenario is read from a running emulator.
    """
    text: str = opt.ask(lambda client: client.scenario(name).text, lambda: library_text(name))
    put_document(text.rstrip("\n"), output, f"Scenario {name} was written to")


@scenario.command(
    epilog=examples(
        """
        hosting-emulator scenario check mine.yaml
        hosting-emulator scenario check scenarios/*.yaml --junit report.xml
        """
    )
)
@_scenarios_argument("files", metavar="FILE...")
@opt.junit_option
@opt.json_option
def check(files: tuple[str, ...], junit: Path | None, as_json: bool) -> int:
    """Run the stories of scenarios, each in a fresh world.

    FILE is a YAML file or a name in the library. No running emulator is needed. The exit code is 1
    if a story fails, and 2 if a file contains an error, which is reported with its line.
    """
    from hosting_emulator.scenario.errors import ScenarioError
    from hosting_emulator.scenario.story import check_text
    from hosting_emulator.stories import respond_to_page

    def check_scenario(name: str) -> StoryResult:
        text, file = scenario_text(name)
        try:
            return check_text(text, file, respond_to_page)
        except ScenarioError as error:
            return {"file": file, "passed": False, "error": str(error)}

    return _put_reports(files, check_scenario, junit, as_json, error_verb="read")


@scenario.command(
    epilog=examples(
        """
        hosting-emulator scenario load provider-outage --world ci-1
        hosting-emulator scenario load provider-outage --replace
        """
    )
)
@click.argument("name", metavar="SCENARIO", shell_complete=completion.SCENARIOS_AND_FILES)
@opt.replace_option("load")
@prints(words=_load_text)
@opt.with_world
def load(world: HostingEmulator, name: str, replace: bool) -> Any:
    """Replace a world's content with a scenario.

    SCENARIO is a name in the library or a YAML file. If it contains an error, the world does not
    change. If the world does not exist, it is created. Otherwise, the command reports how the time,
    the clock and the request log change, and how to undo the load.
    """
    summary = world.load_scenario(replace=replace, **choose_scenario(name))
    say_warnings(summary.warnings)
    return summary


@scenario.command(
    epilog=examples(
        """
        hosting-emulator scenario run provider-outage
        hosting-emulator scenario run mine.yaml --world ci-1 --json
        hosting-emulator scenario run mine.yaml --vary 7
        """
    )
)
@_scenarios_argument("scenarios", metavar="SCENARIO...")
@opt.option(
    "--world",
    metavar="NAME",
    help=(
        "World in which to run the stories. It is created or replaced, and is kept afterwards. "
        "Default: a temporary world."
    ),
)
@opt.flag(
    "--replace",
    help="With --world, also replace a stored world that contains changes.",
)
@opt.vary_options
@opt.junit_option
@opt.json_option
@opt.with_client
def run(
    client: ControlClient,
    scenarios: tuple[str, ...],
    vary: str | None,
    vary_only: tuple[str, ...] | None,
    junit: Path | None,
    as_json: bool,
    world: str | None,
    replace: bool,
) -> int:
    """Run stories in the running emulator, and report each step.

    SCENARIO is a name in the library or a YAML file. The exit code is 1 if a story fails, and 2 if
    a scenario contains an error or no emulator is running.
    """
    from hosting_emulator.sdk import ControlRefused

    may_replace = replace

    def run_scenario(name: str) -> StoryResult:
        nonlocal may_replace
        choice = choose_scenario(name)
        try:
            report = client.run_scenario(
                **choice, world=world, replace=may_replace, vary=vary, vary_only=vary_only
            )
            may_replace = True  # the next scenario replaces this scenario's world
            return dict(plain_message(report))
        except ControlRefused as refused:
            error = refused.detail or refused.title
            return {"file": choice.get("file", name), "passed": False, "error": error}

    return _put_reports(scenarios, run_scenario, junit, as_json, error_verb="run")


def _put_reports(
    names: Sequence[str],
    run_story: Callable[[str], StoryResult],
    junit: Path | None,
    as_json: bool,
    *,
    error_verb: Literal["read", "run"],
) -> int:
    """Run the stories of scenarios, print and write the reports, and return the exit code.

    Raises Failure if `names` contains only one scenario and it cannot be read.
    """
    from hosting_emulator_cli.story_reports import stories_junit, stories_summary, story_text

    reports = []
    for name in names:
        try:
            report = plain_message(run_story(name))
        except Failure as failure:
            if len(names) == 1:
                raise
            # Continue, so that the reports on the other scenarios are not lost.
            report = {"file": name, "passed": False, "error": failure.format_message()}
        reports.append(report)
        if not as_json:
            put(story_text(report))
        say_warnings(report.get("warnings", ()))
    if as_json:
        put_json(reports)
    else:
        say(stories_summary(reports, error_verb))
    if junit is not None:
        write_whole(junit, stories_junit(reports))
    if any("error" in report for report in reports):
        return 2
    return int(not all(report["passed"] for report in reports))


@scenario.command(
    epilog=examples(
        r"""
        hosting-emulator scenario record checkout.yaml
        hosting-emulator scenario record part.yaml --first 12 --last commit:40
        hosting-emulator scenario record conflict.yaml \
            --step 'status=409 code=idempotency_key_reused'
        """
    )
)
@click.argument("file", metavar="FILE", type=TYPES["FILE"])
@opt.option(
    "--first",
    metavar="POSITION",
    help=(
        "Request (`12`) or commit (`commit:40`) at which to start. Default: as early as possible."
    ),
)
@opt.option(
    "--last",
    metavar="POSITION",
    help="Last request or commit to include. Default: the latest request or commit.",
)
@opt.option(
    "--step",
    metavar="STEP",
    help="Also reduce the scenario to the parts that this step needs, as `scenario shrink` does.",
)
@opt.with_world
def record(
    world: HostingEmulator, file: Path, first: str | None, last: str | None, step: str | None
) -> None:
    """Write a scenario that reproduces a world's history.

    The scenario is written to FILE (- for stdout). It contains the initial world, each request with
    its recorded response as the expected one, and all faults (except `admission_queue`), outcomes,
    interventions and clock changes. The command reports each request that it has to leave out. Ids
    and secrets are replaced by variables. The scenario is written only if its story passes. If the
    history cannot be expressed as a scenario, the error message says why.
    """
    from hosting_emulator.sdk.text import count_text

    recording = world.record(first=first, last=last, name=_scenario_name(file))
    for sentence in recording.left_out:
        say(f"Left out: {sentence}")
    if step is not None:
        _put_smallest(recording.text, str(file), step, file, _MOST_RUNS)
        return
    text = recording.text.rstrip("\n")
    steps = count_text(recording.steps, "step")
    put_document(text, file, f"A story with {steps} was written to")


def _scenario_name(file: Path) -> str:
    """Derive a scenario's name from a file name.

    The name consists of at most 40 lower-case letters, digits and hyphens. It is `recorded` if the
    derived name would not begin with a letter.
    """
    name = re.sub("[^a-z0-9]+", "-", file.stem.lower()).strip("-")[:40]
    if not name[:1].isalpha():
        return "recorded"
    return name


@scenario.command(
    epilog=examples(
        r"""
        hosting-emulator scenario shrink checkout.yaml --step n=12
        hosting-emulator scenario shrink checkout.yaml --step status=409 \
            --output conflict.yaml
        """
    )
)
@click.argument("file", metavar="FILE")
@opt.option(
    "--step",
    metavar="STEP",
    help=(
        "The step to keep: the first that matches all of the given words, which are status=, code=, "
        "call= and n= (the number of the step)."
    ),
    required=True,
)
@opt.output_option
@opt.option(
    "--max-runs",
    metavar="N",
    help="Stop searching when the story has been run N times.",
    type=WholeNumber(1, 100_000),
    default=_MOST_RUNS,
)
def shrink(file: str, step: str, output: Path | None, max_runs: int) -> None:
    """Reduce a scenario to the parts that a step needs to get its expected response.

    FILE is a YAML file. The command removes steps, faults, assumptions and other parts, as long as
    the step selected with --step still gets its expected response. This step becomes the last one.
    Without --output, the result is written to stdout. No running emulator is needed.
    """
    text, name = read_scenario_file(file)
    _put_smallest(text, name, step, output, max_runs)


def _put_smallest(text: str, file: str, step: str, output: Path | None, max_runs: int) -> None:
    """Write the smallest scenario in which a step gets its expected response. Raises Failure."""
    from hosting_emulator.scenario.errors import ScenarioError
    from hosting_emulator.scenario.reading import read_scenario
    from hosting_emulator.sdk.text import count_text
    from hosting_emulator.stories import respond_to_page
    from hosting_emulator_lab.scenario_shrinking import ShrinkRefused, shrink_scenario

    with failing(ScenarioError), failing(ShrinkRefused, prefix=f"{file}: "):
        whole = read_scenario(text, file)
        result = shrink_scenario(whole, step, max_runs=max_runs, visit=respond_to_page)
    put_document(result.text.rstrip("\n"), output, "The result was written to")
    verb = "is" if result.steps == 1 else "are"
    message = (
        f"{result.steps} of {result.original_steps} steps {verb} left after "
        f"{count_text(result.runs, 'run')}"
    )
    if not result.finished:
        message += "; the search stopped early: increase --max-runs"
    say(f"{message}.")


@scenario.command(epilog=examples("hosting-emulator scenario schema --output scenario.schema.json"))
@opt.output_option
@opt.typed_url_options
def schema(output: Path | None, **_: Any) -> None:
    """Print the JSON Schema of scenario files, for editors.

    In editors that use the YAML language server, the schema applies to a scenario file in the same
    folder that starts with the line `# yaml-language-server: $schema=scenario.schema.json`.
    """
    document = opt.ask(
        lambda client: client.contract("scenario-schema.json"),
        "hosting_emulator.scenario.schema:scenario_schema",
    )
    put_document(document, output, "The schema was written to")
