"""What a contract check found: as people read it, as a scenario, and as JUnit XML."""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING

import click

from hosting_emulator import junit

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from hosting_emulator.contract_check import Report, SentenceReport

_MARKS = {
    "holds": ("holds", "green"),
    "differs": ("DIFFERS", "red"),
    "skipped": ("skipped", "yellow"),
    "cannot be seen from outside": ("unseen", "bright_black"),
}
_WIDEST = 110


def report_text(report: Report) -> str:
    """Write a report: sections and their sentences, then what was observed."""
    lines = [f"{report['base_url']}, project {report['project_id']}", ""]
    for section, sentences in groupby(report["sentences"], lambda found: found["section"]):
        lines.append(click.style(section, bold=True))
        for sentence in sentences:
            lines += _sentence_lines(sentence)
        lines.append("")
    lines += _words("Changed there:", report["created"])
    lines += _words("Noted:", report["notes"])
    if report["assumptions"]:
        lines += ["Answered otherwise than this emulator does; for a scenario:", ""]
        lines += _assumption_lines(report)
    else:
        lines.append(
            "Where the contract is silent, nothing was seen that this emulator does otherwise."
        )
    return "\n".join(lines)


def summary(report: Report) -> str:
    """Say in one line what became of the sentences."""
    counts = report["summary"]
    total = sum(counts.values())
    return (
        f"{total} sentences: {counts['holds']} hold, {counts['differs']} differ, "
        f"{counts['skipped']} skipped, {counts['cannot be seen from outside']} cannot be seen from "
        f"outside ({report['requests']} requests)."
    )


def scenario_text(report: Report) -> str:
    """Write a scenario whose world answers as was observed. Ends in a newline."""
    about = f"Answers as {report['base_url']} did where the contract is silent."
    lines = ["name: observed", f"description: {json.dumps(about)}", ""]
    if report["assumptions"]:
        lines += _assumption_lines(report)
    else:
        lines.append("# Nothing was seen that this emulator does otherwise.")
    return "\n".join(lines) + "\n"


def junit_text(report: Report) -> str:
    """Write a report as JUnit XML: a suite a section, a case a sentence. Ends in a newline."""
    by_section = groupby(report["sentences"], lambda found: found["section"])
    suites = [
        junit.suite(section, [_case(section, found) for found in sentences])
        for section, sentences in by_section
    ]
    return junit.report("contract check", suites)


def _sentence_lines(sentence: SentenceReport) -> list[str]:
    word, color = _MARKS[sentence["verdict"]]
    text, differs = sentence["sentence"], sentence["verdict"] == "differs"
    if len(text) > _WIDEST and not differs:
        text = f"{text[: _WIDEST - 1]}…"
    lines = [f"  {click.style(f'{word:<7}', fg=color)}  {text}"]
    if sentence["verdict"] != "holds":
        lines += [f"           {said}" for said in sentence["seen"]]
    return lines


def _words(title: str, rows: list[str]) -> list[str]:
    return [title, *(f"  {row}" for row in rows), ""] if rows else []


def _assumption_lines(report: Report) -> list[str]:
    # JSON is YAML, and quotes whatever would need it.
    values = report["assumptions"].items()
    return ["assumptions:", *(f"  {name}: {json.dumps(value)}" for name, value in values)]


def _case(section: str, found: SentenceReport) -> Element:
    seen, outcome = "\n".join(found["seen"]), None
    if found["verdict"] == "differs":
        outcome = junit.element("failure", seen, message=found["seen"][0])
    elif found["verdict"] != "holds":
        outcome = junit.element("skipped", message=f"{found['verdict']}: {seen}")
    return junit.case(section, f"{found['key']}: {found['sentence']}", outcome)
