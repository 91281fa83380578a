"""Formats the story reports of `scenario check` and `scenario run` as text and as JUnit XML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from hosting_emulator import junit
from hosting_emulator_cli.output import as_json
from hosting_emulator_cli.printable import printable

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

#: The emulator's report on a story, or a mapping with `file` and `error` if the scenario has an error.
StoryResult = Mapping[str, Any]

_DIFFERENCE_COLORS = {"-": "red", "+": "green"}


def story_text(report: StoryResult) -> str:
    """Format a report as text: a line for each step, with the step's differences below it."""
    if "error" in report:
        errors = report["error"].splitlines()
        return "\n".join(f"{click.style('ERROR', fg='red')} {error}" for error in errors)
    lines = [f"{report['scenario']} ({report['file']})"]
    for step in report["steps"]:
        lines += _step_lines(step)
    for entry in _unused_entries(report):
        mark = click.style("FAIL", fg="red")
        lines.append(f"  {mark}      {_unused_text(entry)} (line {entry['line']})")
    if not report["steps"]:
        lines.append("  no story: the world was built, but no request was sent")
    if report.get("variation") and not report["passed"]:
        lines += _variation_lines(report["variation"])
    return "\n".join(lines)


def _step_lines(step: Mapping[str, Any]) -> Iterator[str]:
    message = ""
    if step["message"]:
        message = f": {step['message']}"
    if step["passed"]:
        mark = click.style("ok  ", fg="green")
        position = ""
    else:
        mark = click.style("FAIL", fg="red")
        position = f" (line {step['line']})"
    yield f"  {mark} {step['n']:>3}  {step['title']}{message}{position}"
    for line in _response_lines(step):
        yield f"            {line}"
    for line in _difference_lines(step):
        color = _DIFFERENCE_COLORS.get(line[:1])
        if color is not None:
            line = click.style(line, fg=color)
        yield f"            {line}"


def _response_lines(step: Mapping[str, Any]) -> Iterator[str]:
    """Yield lines about a failed step: responses with their requests, and the nearest requests."""
    if step["passed"]:
        return
    for response in step.get("responses", ()):
        yield printable(_response_text(response))
    yield from map(printable, step.get("nearest", ()))


def _response_text(response: Mapping[str, Any]) -> str:
    request = "the request"
    if response["n"]:
        request = f"request {response['n']}"
    parts = [response["status"], response["code"]]
    result = " ".join(str(part) for part in parts if part is not None)
    if response["lost"]:
        result = f"the response was lost ({response['lost']})"
    text = f"{request}: {result}"
    if response["detail"]:
        text += f": {response['detail']}"
    return text


def _difference_lines(step: Mapping[str, Any]) -> Iterator[str]:
    """Yield lines about a step's differences: position, expected value and actual value."""
    for difference in step["differences"]:
        yield f"{difference['at']} (line {difference['line']}, column {difference['column']}):"
        for sign, member in (("-", "expected"), ("+", "found")):
            for line in _value_lines(difference[member]):
                yield f"{sign} {line}"


def _value_lines(value: Any) -> list[str]:
    """Return the lines of a string, or of any other value as JSON."""
    if isinstance(value, str):
        return value.splitlines() or ['""']
    return as_json(value).splitlines()


def _unused_entries(report: StoryResult) -> list[Mapping[str, Any]]:
    """Return the required faults, outcomes and timeline entries that never acted."""
    if not report.get("steps"):
        return []
    entries = report.get("entries", ())
    return [entry for entry in entries if entry["unused"] is not None and not entry["optional"]]


def _unused_text(entry: Mapping[str, Any]) -> str:
    return f"{entry['id']} ({entry['kind']}) never acted: {entry['unused']}"


def _variation_lines(variation: Mapping[str, Any]) -> Iterator[str]:
    from hosting_emulator.contract.conversion import convert
    from hosting_emulator.messages import VariationState
    from hosting_emulator.sdk.report_text import variation_lines

    for name, text in variation_lines(convert(variation, VariationState)):
        yield f"  {name:<7}  {text}"


def stories_summary(reports: Sequence[StoryResult], error_verb: str) -> str:
    """Return the numbers of passed and failed stories, and the variation points that may explain
    failures.

    `error_verb` (`read` or `run`) says what could not be done with a scenario that has an error.
    """
    readable = [report for report in reports if "error" not in report]
    stories = [report for report in readable if report["steps"]]
    passed = sum(bool(report["passed"]) for report in stories)
    sentences = []
    if stories or len(readable) == len(reports):
        noun = "story" if len(stories) == 1 else "stories"
        failed = len(stories) - passed
        sentences.append(f"{len(stories)} {noun}: {passed} passed, {failed} failed.")
    without_story = len(readable) - len(stories)
    if without_story:
        sentences.append(f"Scenarios without a story: {without_story}.")
    unreadable = len(reports) - len(readable)
    if unreadable:
        noun = "scenario" if unreadable == 1 else "scenarios"
        sentences.append(f"{unreadable} {noun} could not be {error_verb}.")
    summary = " ".join(sentences)
    points: dict[str, None] = {}
    for report in reports:
        if not report["passed"] and report.get("variation"):
            points |= dict.fromkeys(report["variation"]["varied"])
    if points:
        summary += (
            "\nWith --vary, a story fails if it expects a particular choice by the emulator. "
            f"Responses varied at: {', '.join(points)}."
        )
    return summary


def stories_junit(reports: Iterable[StoryResult]) -> str:
    """Format reports as JUnit XML, with a suite for each scenario and a case for each step.

    The XML ends with a newline.
    """
    suites = []
    for report in reports:
        name = report.get("scenario", report["file"])
        suites.append(junit.suite(name, _story_cases(report, name)))
    return junit.report("hosting-emulator scenarios", suites)


def _story_cases(report: StoryResult, name: str) -> list[Element]:
    file = report["file"]
    if "error" in report:
        error = junit.element("error", report["error"], message=report["error"])
        return [junit.case(file, "the scenario can be read", error)]
    if not report["steps"]:
        skipped = junit.element("skipped", message="the scenario has no story")
        return [junit.case(name, "the story", skipped, file=file)]
    cases = []
    for step in report["steps"]:
        failure = _step_failure(step)
        title = f"{step['n']}. {step['title']}"
        cases.append(junit.case(name, title, failure, file=file, line=step["line"]))
    for entry in _unused_entries(report):
        message = _unused_text(entry)
        failure = junit.element("failure", message, message=message)
        title = f"{entry['at']} acts"
        cases.append(junit.case(name, title, failure, file=file, line=entry["line"]))
    return cases


def _step_failure(step: Mapping[str, Any]) -> Element | None:
    """Return a failure with the step's responses and differences, or None if the step passed."""
    if step["passed"]:
        return None
    lines = [*_response_lines(step), *_difference_lines(step)]
    return junit.element("failure", "\n".join(lines), message=step["message"] or "it differs")
