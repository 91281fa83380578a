"""`scenario`: worlds written in YAML, with the story that is their test."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from hosting_emulator_cli import completion
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
from hosting_emulator_cli.groups import CommandGroup, Failure
from hosting_emulator_cli.output import columns, prints, put, put_json, say
from hosting_emulator_cli.parameters import WholeNumber

#: A report of the emulator; or, where the scenario itself is wrong, `file` and the `error` in it.
StoryResult = Mapping[str, Any]


@click.group(cls=CommandGroup)
def scenario() -> None:
    """List, check, load and run scenarios."""


@scenario.command("list")
@prints(columns({"SCENARIO": "name", "KIND": "kind", "DESCRIPTION": "description"}))
@opt.with_or_without_client
def list_(ask: opt.Ask) -> Any:
    """List the scenario library."""

    def shipped() -> list[dict[str, str]]:
        from hosting_emulator.scenario.document import read_scenario

        return [read_scenario(library_text(name), name).row() for name in library_names()]

    return ask(lambda client: client.scenarios(), shipped)


@scenario.command()
@click.argument("name", shell_complete=completion.SCENARIOS)
@opt.output_option
@opt.with_or_without_client
def show(ask: opt.Ask, name: str, output: Path | None) -> None:
    """Print a scenario of the library as YAML, to read or to start from."""
    text: str = ask(lambda client: client.scenario(name)["text"], lambda: library_text(name))
    put_document(text.rstrip("\n"), output, f"Scenario {name} was written to")


@scenario.command()
@click.argument(
    "files",
    nargs=-1,
    required=True,
    metavar="FILE...",
    shell_complete=completion.SCENARIOS_AND_FILES,
)
@opt.junit_option
@opt.json_option
@click.pass_context
def check(ctx: click.Context, files: tuple[str, ...], junit: Path | None, as_json: bool) -> None:
    """Run the stories of scenarios, each in a fresh world."""
    from hosting_emulator.bootstrap.stories import check_story
    from hosting_emulator.scenario.source import ScenarioError

    def one(named: str) -> StoryResult:
        if is_scenario_file(named):
            file, text = display_name(named), read_scenario_file(named)
        else:
            file, text = f"{named}.yaml", library_text(named)
        try:
            return check_story(text, file)
        except ScenarioError as error:
            return {"file": file, "passed": False, "error": str(error)}

    _put_reports(ctx, files, one, junit, as_json)


@scenario.command()
@click.argument("named", metavar="SCENARIO", shell_complete=completion.SCENARIOS_AND_FILES)
@prints(words="World {value[name]} now has the content of {named}.")
@opt.with_world
def load(world: opt.HostingEmulator, named: str) -> Any:
    """Load a scenario into a world, replacing its content."""
    return world.load_scenario(**choose_scenario(named))


@scenario.command()
@click.argument(
    "scenarios",
    nargs=-1,
    required=True,
    metavar="SCENARIO...",
    shell_complete=completion.SCENARIOS_AND_FILES,
)
@opt.option("--world NAME")
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
    """Run stories against the running emulator and report each step."""
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
    found = []
    for name in named:
        found.append(one(name))
        if not as_json:
            put(story_text(found[-1]))
    if as_json:
        put_json(found)
    else:
        say(stories_summary(found))
    if junit is not None:
        write_whole(junit, stories_junit(found))
    wrong = any("error" in report for report in found)
    ctx.exit(2 if wrong else 0 if all(report["passed"] for report in found) else 1)


@scenario.command()
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@opt.option("--from first WHAT")
@opt.option("--to last WHAT")
@opt.option("--keeps WORDS")
@opt.with_world
def record(
    world: opt.HostingEmulator, file: Path, first: str | None, last: str | None, keeps: str | None
) -> None:
    """Write what was done in a world as a scenario."""
    name = re.sub("[^a-z0-9]+", "-", file.stem.lower()).strip("-")[:40]
    name = name if name[:1].isalpha() else "recorded"
    found = world.record(first=first, last=last, name=name)
    for sentence in found.left_out:
        say(f"Left out: {sentence}")
    if keeps is None:
        put_document(found.text.rstrip("\n"), file, f"A {found.steps}-step story was written to")
    else:
        _put_smallest(found.text, str(file), keeps, file)


@scenario.command()
@click.argument("file", metavar="FILE")
@opt.option("--keeps WORDS", required=True)
@opt.output_option
@opt.option("--max-runs N", type=WholeNumber(1, 100_000), default=500)
def shrink(file: str, keeps: str, output: Path | None, max_runs: int) -> None:
    """Find the smallest scenario in which a step still gets the response it expects."""
    _put_smallest(read_scenario_file(file), display_name(file), keeps, output, max_runs)


def _put_smallest(
    text: str, file: str, keeps: str, output: Path | None, max_runs: int = 500
) -> None:
    from hosting_emulator.bootstrap.stories import visit_page
    from hosting_emulator.scenario.document import read_scenario
    from hosting_emulator.scenario.shrinking import NotKept, shrink_scenario
    from hosting_emulator.scenario.source import ScenarioError

    try:
        whole = read_scenario(text, file)
        found = shrink_scenario(whole, keeps, max_runs=max_runs, visit=visit_page)
    except NotKept as error:
        raise Failure(f"{file}: {error}") from error
    except ScenarioError as error:
        raise Failure(str(error)) from error
    put_document(found.text.rstrip("\n"), output, "The result was written to")
    say(
        f"{found.steps} of {found.of} steps are left, found in {found.runs} runs"
        + ("." if found.finished else "; the search stopped early: give more --max-runs.")
    )


@scenario.command()
@opt.output_option
@opt.with_or_without_client
def schema(ask: opt.Ask, output: Path | None) -> None:
    """Print the JSON Schema of scenario files, for editors."""
    found = ask(
        lambda client: client.contract("scenario-schema.json"),
        "hosting_emulator.scenario.schema:scenario_schema",
    )
    put_document(found, output, "The schema was written to")


# --- What became of stories, in words and as JUnit XML -----------------------------------------------


def story_text(report: StoryResult) -> str:
    """Write a report: each step in a line, differences below theirs."""
    if "error" in report:
        errors = report["error"].splitlines()
        return "\n".join(f"{_mark('ERROR', 'red')} {error}" for error in errors)
    lines = [f"{report['scenario']} ({report['file']})"]
    for step in report["steps"]:
        lines += _step_lines(step)
    if not report["steps"]:
        lines.append("  no story: its world was built, and no requests were sent")
    if report.get("variation") and not report["passed"]:
        from hosting_emulator.sdk.text import variation_lines

        lines += [f"  {name:<7}  {text}" for name, text in variation_lines(report["variation"])]
    return "\n".join(lines)


def _difference_lines(difference: Mapping[str, Any]) -> Iterator[str]:
    """Write a difference as a diff: where, what was expected, what was found."""
    yield f"{difference['at']}:"
    yield from (f"- {line}" for line in _value_lines(difference["expected"]))
    yield from (f"+ {line}" for line in _value_lines(difference["found"]))


def stories_summary(reports: Sequence[StoryResult]) -> str:
    """Say how many stories passed, and where a varied one may have failed for varying."""
    told = [report for report in reports if "error" in report or report["steps"]]
    passed = sum(bool(report["passed"]) for report in told)
    stories = "1 story" if len(told) == 1 else f"{len(told)} stories"
    without = len(reports) - len(told)
    more = f" {without} without a story." if without else ""
    lines = [f"{stories}: {passed} passed, {len(told) - passed} failed.{more}"]
    points = {
        point: True
        for report in reports
        if not report["passed"] and report.get("variation")
        for point in report["variation"]["varied"]
    }
    if points:
        lines.append(
            "With --vary, a story that expects one particular choice of "
            f"the emulator fails; points varied: {', '.join(points)}."
        )
    return "\n".join(lines)


def _step_lines(step: Mapping[str, Any]) -> Iterator[str]:
    mark = _mark("ok", "green") if step["passed"] else _mark("FAIL", "red")
    message = f": {step['said']}" if step["said"] else ""
    where = "" if step["passed"] else f" (line {step['line']})"
    yield f"  {mark} {step['n']:>3}  {step['title']}{message}{where}"
    for difference in step["differences"]:
        for line in _difference_lines(difference):
            color = {"-": "red", "+": "green"}.get(line[:1])
            yield f"            {click.style(line, fg=color) if color else line}"


def _mark(word: str, color: str) -> str:
    return click.style(f"{word:<4}", fg=color)


def _value_lines(value: Any) -> list[str]:
    if isinstance(value, str):
        return value.splitlines() or ['""']
    if isinstance(value, dict | list):
        return json.dumps(value, indent=2, ensure_ascii=False).splitlines()
    return [json.dumps(value)]


def stories_junit(reports: Iterable[StoryResult]) -> str:
    """Write reports as JUnit XML: a suite a scenario, a case a step. Ends in a newline."""
    from hosting_emulator import junit

    suites = []
    for report in reports:
        if "error" in report:
            error = junit.element("error", report["error"], message=report["error"])
            cases = [junit.case(report["file"], "the scenario can be read", error)]
            suites.append(junit.suite(report["file"], cases))
            continue
        cases = []
        if not report["steps"]:
            skipped = junit.element("skipped", message="it has no story")
            cases = [junit.case(report["scenario"], "the story", skipped, file=report["file"])]
        for step in report["steps"]:
            diff = [line for found in step["differences"] for line in _difference_lines(found)]
            message = step["said"] or "it differs"
            outcome = junit.element("failure", "\n".join(diff), message=message)
            cases.append(
                junit.case(
                    report["scenario"],
                    f"{step['n']}. {step['title']}",
                    None if step["passed"] else outcome,
                    file=report["file"],
                    line=step["line"],
                )
            )
        suites.append(junit.suite(report["scenario"], cases))
    return junit.report("hosting-emulator scenarios", suites)
