"""What became of stories, and of a contract check: as people read it, and as JUnit XML."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from hosting_emulator import junit

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from hosting_emulator.contract_check import Report, SentenceReport


#: A report of the emulator; or, where the scenario itself is wrong, `file` and the `error` in it.
StoryResult = Mapping[str, Any]


def story_text(report: StoryResult) -> str:
    """Write a report: each step in a line, differences below theirs."""
    if "error" in report:
        return f"{_mark('ERROR', 'red')} {report['error']}"
    lines = [f"{report['scenario']} ({report['file']})"]
    for step in report["steps"]:
        lines += _step_lines(step)
    if report.get("variation") and not report["passed"]:
        from hosting_emulator.sdk import variation_lines

        lines += [f"  {name:<7}  {text}" for name, text in variation_lines(report["variation"])]
    return "\n".join(lines)


def _difference_lines(difference: Mapping[str, Any]) -> Iterator[str]:
    """Write a difference as a diff: where, what was expected, what was found."""
    yield f"{difference['at']}:"
    yield from (f"- {line}" for line in _value_lines(difference["expected"]))
    yield from (f"+ {line}" for line in _value_lines(difference["found"]))


def stories_summary(reports: Sequence[StoryResult]) -> str:
    """Say how many stories passed, and where a varied one may have failed for varying."""
    passed = sum(bool(report["passed"]) for report in reports)
    stories = "1 story" if len(reports) == 1 else f"{len(reports)} stories"
    lines = [f"{stories}: {passed} passed, {len(reports) - passed} failed."]
    points = {
        point: True
        for report in reports
        if not report["passed"] and report.get("variation")
        for point in report["variation"]["varied"]
    }
    if points:
        lines.append(
            "Under --vary a story that pins one of our choices fails; "
            f"points varied: {', '.join(points)}."
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
    suites = []
    for report in reports:
        if "error" in report:
            error = junit.element("error", report["error"], message=report["error"])
            cases = [junit.case(report["file"], "the scenario can be read", error)]
            suites.append(junit.suite(report["file"], cases))
            continue
        cases = []
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


# --- A contract check ----------------------------------------------------------------------------

_MARKS = {
    "holds": ("holds", "green"),
    "differs": ("DIFFERS", "red"),
    "skipped": ("skipped", "yellow"),
    "cannot be seen from outside": ("unseen", "bright_black"),
}
_WIDEST = 110


def check_text(report: Report) -> str:
    """Write a report: sections and their sentences, then what was observed."""
    lines = [f"{report['base_url']}, project {report['project_id']}", ""]
    for section, sentences in groupby(report["sentences"], lambda found: found["section"]):
        lines.append(click.style(section, bold=True))
        for sentence in sentences:
            lines += _sentence_lines(sentence)
        lines.append("")
    lines += _titled("Changed there:", report["created"])
    lines += _titled("Noted:", report["notes"])
    if report["assumptions"]:
        lines += ["Answered otherwise than this emulator does; for a scenario:", ""]
        lines += _assumption_lines(report)
    else:
        lines.append(
            "Where the contract is silent, nothing was seen that this emulator does otherwise."
        )
    return "\n".join(lines)


def check_summary(report: Report) -> str:
    """Say in one line what became of the sentences."""
    counts = report["summary"]
    total = sum(counts.values())
    return (
        f"{total} sentences: {counts['holds']} hold, {counts['differs']} differ, "
        f"{counts['skipped']} skipped, {counts['cannot be seen from outside']} cannot be seen from "
        f"outside ({report['requests']} requests)."
    )


def check_scenario(report: Report) -> str:
    """Write a scenario whose world answers as was observed. Ends in a newline."""
    about = f"Answers as {report['base_url']} did where the contract is silent."
    lines = ["name: observed", f"description: {json.dumps(about)}", ""]
    if report["assumptions"]:
        lines += _assumption_lines(report)
    else:
        lines.append("# Nothing was seen that this emulator does otherwise.")
    return "\n".join(lines) + "\n"


def check_junit(report: Report) -> str:
    """Write a report as JUnit XML: a suite a section, a case a sentence. Ends in a newline."""
    by_section = groupby(report["sentences"], lambda found: found["section"])
    suites = [
        junit.suite(section, [_check_case(section, found) for found in sentences])
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
        lines += [f"           {message}" for message in sentence["seen"]]
    return lines


def _titled(title: str, rows: list[str]) -> list[str]:
    return [title, *(f"  {row}" for row in rows), ""] if rows else []


def _assumption_lines(report: Report) -> list[str]:
    # JSON is YAML, and quotes whatever would need it.
    values = report["assumptions"].items()
    return ["assumptions:", *(f"  {name}: {json.dumps(value)}" for name, value in values)]


def _check_case(section: str, found: SentenceReport) -> Element:
    seen, outcome = "\n".join(found["seen"]), None
    if found["verdict"] == "differs":
        outcome = junit.element("failure", seen, message=found["seen"][0])
    elif found["verdict"] != "holds":
        outcome = junit.element("skipped", message=f"{found['verdict']}: {seen}")
    return junit.case(section, f"{found['key']}: {found['sentence']}", outcome)
