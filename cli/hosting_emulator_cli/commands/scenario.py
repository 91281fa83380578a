"""`scenario`: worlds written in YAML, with the story that is their test."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from hosting_emulator_cli import options as opt
from hosting_emulator_cli import output as out
from hosting_emulator_cli.files import (
    choose_scenario,
    library_names,
    library_text,
    put_document,
    read_scenario_file,
    scenario_text,
    write_whole,
)
from hosting_emulator_cli.main import CommandGroup, Failure, examples, failing
from hosting_emulator_cli.output import (
    columns,
    plain_message,
    prints,
    put,
    put_json,
    say,
    say_warnings,
)

#: A report of the emulator; or, where the scenario itself is wrong, `file` and the `error` in it.
StoryResult = Mapping[str, Any]


#: An argument of `check` and `run`: one scenario or more.
_several = partial(click.argument, nargs=-1, required=True, shell_complete=opt.SCENARIOS_AND_FILES)


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

    A scenario is a name in the library or a YAML file (- reads stdin). `list`, `show`, `check` and
    `schema` need no running emulator.
    """


@scenario.command("list")
@prints(columns(("SCENARIO", "name"), "kind", "description"))
@opt.url_options
def list_(**_: Any) -> Any:
    """List the scenario library.

    Lists the library of this installation; with --url, the running emulator's.
    """

    def shipped() -> Any:
        from hosting_emulator.scenario.reading import read_scenario

        return [read_scenario(library_text(name), name).row() for name in library_names()]

    return opt.ask(lambda client: client.get("scenarios")["items"], shipped)


@scenario.command(epilog=examples("hosting-emulator scenario show provider-outage > mine.yaml"))
@click.argument("name", shell_complete=opt.SCENARIOS)
@opt.output_option
@opt.url_options
def show(name: str, output: Path | None, **_: Any) -> None:
    """Print a scenario of the library as YAML, to read or to start from.

    NAME is one of `scenario list`; with --url, the scenario comes from the running emulator.
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
@_several("files", metavar="FILE...")
@opt.junit_option
@opt.json_option
def check(files: tuple[str, ...], junit: Path | None, as_json: bool) -> int:
    """Run the stories of scenarios, each in a fresh world.

    Each FILE is a YAML file or a name in the library. No running emulator is needed. Exit code 1: a
    response differs from what the story expects. 2: a file has an error; the message names the
    line.
    """
    from hosting_emulator.scenario.errors import ScenarioError
    from hosting_emulator.scenario.story import check_text
    from hosting_emulator.stories import respond_to_page

    def one(named: str) -> StoryResult:
        text, file = scenario_text(named)
        try:
            return check_text(text, file, respond_to_page)
        except ScenarioError as error:
            return {"file": file, "passed": False, "error": str(error)}

    return _put_reports(files, one, junit, as_json)


@scenario.command(
    epilog=examples(
        """
        hosting-emulator scenario load provider-outage --world ci-1
        hosting-emulator scenario load provider-outage --replace
        """
    )
)
@click.argument("named", metavar="SCENARIO", shell_complete=opt.SCENARIOS_AND_FILES)
@opt.flag(
    "--replace",
    help=(
        "Also replace a kept world that has changed since it began. Without it, load refuses to, "
        "and names the commands that restore the old world."
    ),
)
@prints(words="World {value.name} now has the content of {named}.")
@opt.with_world
def load(world: opt.HostingEmulator, named: str, replace: bool) -> Any:
    """Load a scenario into a world, replacing its content.

    SCENARIO is a name in the library or a YAML file. It replaces the world's content; a scenario
    with errors changes nothing.
    """
    summary = world.load_scenario(replace=replace, **choose_scenario(named))
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
@_several("scenarios", metavar="SCENARIO...")
@opt.option(
    "--world",
    metavar="NAME",
    help=(
        "Run in this world, which is created or replaced, and keep it afterwards. Default: a "
        "temporary world."
    ),
)
@opt.flag(
    "--replace",
    help="Let --world replace a kept world that has changed since it began.",
)
@opt.vary_options
@opt.junit_option
@opt.json_option
@opt.with_client
def run(
    client: opt.ControlClient,
    scenarios: tuple[str, ...],
    vary: str | None,
    vary_only: tuple[str, ...] | None,
    junit: Path | None,
    as_json: bool,
    world: str | None,
    replace: bool,
) -> int:
    """Run stories against the running emulator and report each step.

    Each SCENARIO is a name in the library or a YAML file. Exit code 1: a response differs from what
    the story expects. 2: a scenario has an error, or no emulator runs.
    """
    from hosting_emulator.sdk import ControlRefused

    replaces = replace

    def one(named: str) -> StoryResult:
        nonlocal replaces
        chosen = choose_scenario(named)
        try:
            report = client.run_scenario(
                **chosen, world=world, replace=replaces, vary=vary, only=vary_only
            )
            replaces = True  # the next one replaces what this one made
            return dict(plain_message(report))
        except ControlRefused as refused:
            error = refused.detail or refused.title
            return {"file": chosen.get("file", named), "passed": False, "error": error}

    return _put_reports(scenarios, one, junit, as_json)


def _put_reports(
    named: Sequence[str], one: Callable[[str], StoryResult], junit: Path | None, as_json: bool
) -> int:
    """Make and show a report of each; returns the exit code that they call for."""
    found = []
    for name in named:
        try:
            found.append(plain_message(one(name)))
        except Failure as failure:
            if len(named) == 1:
                raise
            # What the others show is not lost with a file that cannot be read.
            found.append({"file": name, "passed": False, "error": failure.format_message()})
        if not as_json:
            put(_story_text(found[-1]))
        say_warnings(found[-1].get("warnings", ()))
    if as_json:
        put_json(found)
    else:
        say(_stories_summary(found))
    if junit is not None:
        write_whole(junit, _stories_junit(found))
    if any("error" in report for report in found):
        return 2
    return 0 if all(report["passed"] for report in found) else 1


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
@click.argument("file", metavar="FILE", type=opt.TYPES["FILE"])
@opt.option(
    "--first",
    metavar="POSITION",
    help="Start at this request (`12`) or commit (`commit:40`). Default: the world's beginning.",
)
@opt.option(
    "--last",
    metavar="POSITION",
    help="End with this request or commit. Default: the last.",
)
@opt.option(
    "--step",
    metavar="STEP",
    help="Also shrink it to what this step needs, as `scenario shrink` does.",
)
@opt.with_world
def record(
    world: opt.HostingEmulator, file: Path, first: str | None, last: str | None, step: str | None
) -> None:
    """Write what was done in a world as a scenario.

    Writes what the page, commands and clients did to FILE (`-` is stdout) as one scenario: the
    world at the start, each request with the response it expects, faults, interventions and clock
    changes. Ids and secrets become variables. The story is run before it is written, so it passes.
    A session that a scenario cannot express is refused, with the reason.
    """
    name = re.sub("[^a-z0-9]+", "-", file.stem.lower()).strip("-")[:40]
    name = name if name[:1].isalpha() else "recorded"
    found = world.record(first=first, last=last, name=name)
    for sentence in found.left_out:
        say(f"Left out: {sentence}")
    if step is None:
        put_document(found.text.rstrip("\n"), file, f"A {found.steps}-step story was written to")
    else:
        _put_smallest(found.text, str(file), step, file)


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
    help="Which step: by the status=, code= or call= it has, or by its number, n=.",
    required=True,
)
@opt.output_option
@opt.option(
    "--max-runs",
    metavar="N",
    help="Run at most this many stories.",
    type=opt.WholeNumber(1, 100_000),
    default=500,
)
def shrink(file: str, step: str, output: Path | None, max_runs: int) -> None:
    """Find the smallest scenario in which a step still gets the response it expects.

    Removes steps, faults, assumptions and other parts as long as one step, which becomes the last,
    still gets the response it expects. No running emulator is needed. FILE is a YAML file; the
    result goes to stdout.
    """
    _put_smallest(*read_scenario_file(file), step, output, max_runs)


def _put_smallest(
    text: str, file: str, step: str, output: Path | None, max_runs: int = 500
) -> None:
    from hosting_emulator.scenario.errors import ScenarioError
    from hosting_emulator.scenario.reading import read_scenario
    from hosting_emulator.stories import respond_to_page
    from hosting_emulator_lab.scenario_shrinking import NotKept, shrink_scenario

    with failing(ScenarioError), failing(NotKept, prefix=f"{file}: "):
        whole = read_scenario(text, file)
        found = shrink_scenario(whole, step, max_runs=max_runs, visit=respond_to_page)
    put_document(found.text.rstrip("\n"), output, "The result was written to")
    say(
        f"{found.steps} of {found.of} steps are left, found in {found.runs} runs"
        + ("." if found.finished else "; the search stopped early: give more --max-runs.")
    )


@scenario.command(epilog=examples("hosting-emulator scenario schema --output scenario.schema.json"))
@opt.output_option
@opt.url_options
def schema(output: Path | None, **_: Any) -> None:
    """Print the JSON Schema of scenario files, for editors.

    Refer to it in a file's first line: `# yaml-language-server: $schema=scenario.schema.json`.
    """
    found = opt.ask(
        lambda client: client.contract("scenario-schema.json"),
        "hosting_emulator.scenario.schema:scenario_schema",
    )
    put_document(found, output, "The schema was written to")


def _story_text(report: StoryResult) -> str:
    """Write a report: each step in a line, differences below theirs."""
    if "error" in report:
        errors = report["error"].splitlines()
        return "\n".join(f"{click.style('ERROR', fg='red')} {error}" for error in errors)
    lines = [f"{report['scenario']} ({report['file']})"]
    for step in report["steps"]:
        word, color = ("ok  ", "green") if step["passed"] else ("FAIL", "red")
        message = f": {step['message']}" if step["message"] else ""
        where = "" if step["passed"] else f" (line {step['line']})"
        mark = click.style(word, fg=color)
        lines.append(f"  {mark} {step['n']:>3}  {step['title']}{message}{where}")
        lines += [f"            {line}" for line in _response_lines(step)]
        for line in _difference_lines(step):
            shade = {"-": "red", "+": "green"}.get(line[:1])
            lines.append(f"            {click.style(line, fg=shade) if shade else line}")
    for entry in _unused_entries(report):
        mark = click.style("FAIL", fg="red")
        lines.append(f"  {mark}      {_unused_text(entry)} (line {entry['line']})")
    if not report["steps"]:
        lines.append("  no story: its world was built, and no requests were sent")
    if report.get("variation") and not report["passed"]:
        from hosting_emulator.contract.conversion import convert
        from hosting_emulator.messages import VariationState
        from hosting_emulator.sdk.text import variation_lines

        variation = convert(report["variation"], VariationState)

        lines += [f"  {name:<7}  {text}" for name, text in variation_lines(variation)]
    return "\n".join(lines)


def _unused_entries(report: StoryResult) -> list[Mapping[str, Any]]:
    """Return the faults, outcomes and timeline entries that fail a story, since they never acted."""
    if not report.get("steps"):
        return []
    entries = report.get("entries", ())
    return [entry for entry in entries if entry["unused"] is not None and not entry["optional"]]


def _unused_text(entry: Mapping[str, Any]) -> str:
    return f"{entry['id']} ({entry['kind']}) never acted: {entry['unused']}"


def _response_lines(step: Mapping[str, Any]) -> Iterator[str]:
    """Write the responses of a step that failed, each with its request, and the nearest requests."""
    if step["passed"]:
        return
    for response in step.get("responses", ()):
        request = f"request {response['n']}" if response["n"] else "the request"
        parts = [response["status"], response["code"]]
        result = " ".join(str(part) for part in parts if part is not None)
        if response["lost"]:
            result = f"the response was lost ({response['lost']})"
        detail = f": {response['detail']}" if response["detail"] else ""
        yield out.printable(f"{request}: {result}{detail}")
    yield from map(out.printable, step.get("nearest", ()))


def _difference_lines(step: Mapping[str, Any]) -> Iterator[str]:
    """Write a step's differences, each as a diff: where, what was expected, what was found."""
    for difference in step["differences"]:
        yield f"{difference['at']}:"
        for sign, value in (("-", difference["expected"]), ("+", difference["found"])):
            if isinstance(value, str):
                lines = value.splitlines() or ['""']
            else:
                lines = out.as_json(value).splitlines()
            yield from (f"{sign} {line}" for line in lines)


def _stories_summary(reports: Sequence[StoryResult]) -> str:
    """Say how many stories passed, and where a varied one may have failed for varying."""
    ran = [report for report in reports if "error" in report or report["steps"]]
    passed = sum(bool(report["passed"]) for report in ran)
    stories = "1 story" if len(ran) == 1 else f"{len(ran)} stories"
    without = len(reports) - len(ran)
    more = f" {without} without a story." if without else ""
    summary = f"{stories}: {passed} passed, {len(ran) - passed} failed.{more}"
    failed = [report for report in reports if not report["passed"] and report.get("variation")]
    points = dict.fromkeys(point for report in failed for point in report["variation"]["varied"])
    if points:
        summary += (
            "\nWith --vary, a story that expects one particular choice of "
            f"the emulator fails; points varied: {', '.join(points)}."
        )
    return summary


def _stories_junit(reports: Iterable[StoryResult]) -> str:
    """Write reports as JUnit XML: a suite a scenario, a case a step. Ends in a newline."""
    from hosting_emulator import junit

    suites = []
    for report in reports:
        name, file = report.get("scenario", report["file"]), report["file"]
        if "error" in report:
            error = junit.element("error", report["error"], message=report["error"])
            cases = [junit.case(file, "the scenario can be read", error)]
        elif not report["steps"]:
            skipped = junit.element("skipped", message="it has no story")
            cases = [junit.case(name, "the story", skipped, file=file)]
        else:
            cases = []
        for step in report.get("steps", ()):
            outcome = None
            if not step["passed"]:
                diff = "\n".join([*_response_lines(step), *_difference_lines(step)])
                message = step["message"] or "it differs"
                outcome = junit.element("failure", diff, message=message)
            title = f"{step['n']}. {step['title']}"
            cases.append(junit.case(name, title, outcome, file=file, line=step["line"]))
        for entry in _unused_entries(report):
            message = _unused_text(entry)
            failure = junit.element("failure", message, message=message)
            title = f"{entry['at']} acts"
            cases.append(junit.case(name, title, failure, file=file, line=entry["line"]))
        suites.append(junit.suite(name, cases))
    return junit.report("hosting-emulator scenarios", suites)
