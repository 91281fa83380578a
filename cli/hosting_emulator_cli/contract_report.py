"""Formats the report of `contract check` as text, as JUnit XML, and as a scenario."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import click

from hosting_emulator import junit
from hosting_emulator.sdk.text import count_text, one_line

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from hosting_emulator_lab.contract_check import CauseReport, Report

_JUNIT_NAME = "contract check"
#: The maximum number of sentences that are quoted for a cause.
_MAX_QUOTES = 3
#: The maximum length of a line about a cause, in characters. Longer lines are truncated.
_CAUSE_WIDTH = 150
#: The color of each verdict.
_COLORS = {
    "holds": "green",
    "differs": "red",
    "undecided": "yellow",
    "skipped": "yellow",
    "unseen": "bright_black",
}


def check_text(report: Report) -> str:
    """Format a report: the contract's sentences by section, the server's assumptions and the
    causes.
    """
    lines = [f"{report['base_url']}, project {report['project_id']}", ""]
    for section, sentences in groupby(report["sentences"], itemgetter("section")):
        lines.append(click.style(section, bold=True))
        for sentence in sentences:
            lines += _sentence_lines(sentence)
        lines.append("")
    lists = {"Changed on the server:": report["created"], "Noted:": report["notes"]}
    for title, rows in lists.items():
        if rows:
            lines += [title, *(f"  {row}" for row in rows), ""]
    if report["assumptions"]:
        lines += [
            "Differences from this emulator, as assumptions for a scenario:",
            "",
            *_assumption_lines(report),
        ]
    else:
        lines.append("Where the contract is silent, no difference from this emulator was observed.")
    lines += _cause_lines(report)
    return "\n".join(lines)


def _sentence_lines(sentence: Any) -> list[str]:
    """Format a sentence in the contract, with the observations unless the verdict is `holds`."""
    verdict = sentence["verdict"]
    lines = [f"  {click.style(f'{verdict:<9}', fg=_COLORS[verdict])}  {sentence['sentence']}"]
    if verdict != "holds":
        lines += [f"             {message}" for message in sentence["seen"]]
    return lines


def _cause_lines(report: Report) -> Iterator[str]:
    """Format the causes of the differences, each with the sentences that it breaks."""
    if not report["causes"]:
        return
    quotes = {sentence["key"]: sentence["sentence"] for sentence in report["sentences"]}
    causes = count_text(len(report["causes"]), "cause")
    differences = count_text(report["summary"]["differs"], "difference")
    yield ""
    yield click.style(f"{causes} of {differences}:", bold=True)
    for number, cause in enumerate(report["causes"], 1):
        yield ""
        yield f"{number:>3}. {one_line(cause['cause'], _CAUSE_WIDTH)}"
        yield f"     Seen in {_responses_text(cause)}:"
        yield from (f"       {one_line(example, _CAUSE_WIDTH)}" for example in cause["examples"])
        yield f"     Violates {count_text(len(cause['sentences']), 'sentence')}:"
        for key in cause["sentences"][:_MAX_QUOTES]:
            yield f"       {one_line(quotes[key], _CAUSE_WIDTH)}"
        if len(cause["sentences"]) > _MAX_QUOTES:
            yield f"       and {len(cause['sentences']) - _MAX_QUOTES} more"


def _responses_text(cause: CauseReport) -> str:
    text = count_text(cause["responses"], "response")
    if len(cause["calls"]) > 1:
        text += f" to {len(cause['calls'])} calls"
    if cause["responses"] > len(cause["examples"]):
        text += ", such as"
    return text


def check_summary(report: Report) -> str:
    """Return a line with the number of sentences for each verdict."""
    counts = report["summary"]
    return (
        f"{sum(counts.values())} sentences: {counts['holds']} hold, {counts['differs']} differ, "
        f"{counts['undecided']} undecided, {counts['skipped']} skipped, {counts['unseen']} unseen "
        f"({report['requests']} requests)."
    )


def check_scenario(report: Report) -> str:
    """Return a scenario with the assumptions for which the server differs from the emulator's defaults.

    The YAML ends with a newline.
    """
    about = (
        f"Sets the assumptions for which {report['base_url']} differs from the emulator's defaults."
    )
    lines = ["name: observed", f"description: {json.dumps(about)}", ""]
    if report["assumptions"]:
        lines += _assumption_lines(report)
    else:
        lines.append("# The check observed no such difference.")
    return "\n".join(lines) + "\n"


def _assumption_lines(report: Report) -> list[str]:
    # Write values as JSON, which is valid YAML and quotes every value that needs quotes.
    values = report["assumptions"].items()
    return ["assumptions:", *(f"  {name}: {json.dumps(value)}" for name, value in values)]


def failed_check_junit(message: str) -> str:
    """Return a JUnit report on a check that could not run. The XML ends with a newline."""
    error = junit.element("error", message=message)
    case = junit.case(_JUNIT_NAME, "the check", error)
    return junit.report(_JUNIT_NAME, [junit.suite(_JUNIT_NAME, [case])])


def check_junit(report: Report) -> str:
    """Format a report as JUnit XML, with a suite for each section and a case for each sentence.

    The XML ends with a newline.
    """
    suites = []
    if report["unchecked"] is not None:
        error = junit.element("error", message=report["unchecked"])
        suites.append(junit.suite(_JUNIT_NAME, [junit.case(_JUNIT_NAME, "all", error)]))
    for section, sentences in groupby(report["sentences"], itemgetter("section")):
        cases = [_sentence_case(sentence, report["causes"]) for sentence in sentences]
        suites.append(junit.suite(section, cases))
    return junit.report(_JUNIT_NAME, suites)


def _sentence_case(sentence: Any, causes: Sequence[CauseReport]) -> Element:
    observations = "\n".join(sentence["seen"])
    outcome = None
    if sentence["verdict"] == "differs":
        text = "\n".join([*sentence["seen"], *_causes_of(sentence["key"], causes)])
        outcome = junit.element("failure", text, message=sentence["seen"][0])
    elif sentence["verdict"] != "holds":
        outcome = junit.element("skipped", message=f"{sentence['verdict']}: {observations}")
    title = f"{sentence['key']}: {sentence['sentence']}"
    return junit.case(sentence["section"], title, outcome)


def _causes_of(key: str, causes: Sequence[CauseReport]) -> Iterator[str]:
    """Yield a line for each cause of a difference, with the other sentences that it breaks."""
    for number, cause in enumerate(causes, 1):
        if key in cause["sentences"]:
            other_keys = [other for other in cause["sentences"] if other != key]
            line = f"Cause {number} of {len(causes)}: {cause['cause']}"
            if other_keys:
                line += f" (it also breaks {', '.join(other_keys)})"
            yield line
