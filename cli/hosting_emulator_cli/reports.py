"""What became of stories, as people read it: step by step, with a diff where an answer differs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypedDict

import click


class Unreadable(TypedDict):
    """Stands for a report where the scenario itself is wrong; `error` says where and how."""

    file: str
    passed: bool
    error: str


#: A report of the emulator, or an `Unreadable`.
AnyReport = Mapping[str, Any]


def unreadable(file: str, error: str) -> Unreadable:
    """Make the report of a scenario that could not be used."""
    return {"file": file, "passed": False, "error": error}


def report_text(report: AnyReport) -> str:
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


def difference_lines(difference: Mapping[str, Any]) -> Iterator[str]:
    """Write a difference as a diff: where, what was expected, what was found."""
    yield f"{difference['at']}:"
    yield from (f"- {line}" for line in _value_lines(difference["expected"]))
    yield from (f"+ {line}" for line in _value_lines(difference["found"]))


def summary(reports: Iterable[AnyReport]) -> str:
    """Say in one line how many stories passed."""
    found = list(reports)
    passed = sum(bool(report["passed"]) for report in found)
    stories = "1 story" if len(found) == 1 else f"{len(found)} stories"
    return f"{stories}: {passed} passed, {len(found) - passed} failed."


def pinned(reports: Iterable[AnyReport]) -> str | None:
    """Say why a varied story may have failed, and where it varied; None: no such story failed."""
    points = {
        point: True
        for report in reports
        if not report["passed"] and report.get("variation")
        for point in report["variation"]["varied"]
    }
    if not points:
        return None
    return (
        "Under --vary a story that pins one of our choices fails; "
        f"points varied: {', '.join(points)}."
    )


def exit_code(reports: Iterable[AnyReport]) -> int:
    """Return 0 if all stories passed, 2 if a scenario is wrong, 1 if an answer differs."""
    found = list(reports)
    if any("error" in report for report in found):
        return 2
    return 0 if all(report["passed"] for report in found) else 1


def _step_lines(step: Mapping[str, Any]) -> Iterator[str]:
    mark = _mark("ok", "green") if step["passed"] else _mark("FAIL", "red")
    said = f": {step['said']}" if step["said"] else ""
    where = "" if step["passed"] else f" (line {step['line']})"
    yield f"  {mark} {step['n']:>3}  {step['title']}{said}{where}"
    for difference in step["differences"]:
        for line in difference_lines(difference):
            yield f"            {_tinted(line)}"


def _mark(word: str, color: str) -> str:
    return click.style(f"{word:<4}", fg=color)


def _tinted(line: str) -> str:
    color = {"-": "red", "+": "green"}.get(line[:1])
    return click.style(line, fg=color) if color else line


def _value_lines(value: Any) -> list[str]:
    if isinstance(value, str):
        return value.splitlines() or ['""']
    if isinstance(value, dict | list):
        return json.dumps(value, indent=2, ensure_ascii=False).splitlines()
    return [json.dumps(value)]


def junit_text(reports: Iterable[AnyReport]) -> str:
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
        for step in report["steps"]:
            diff = [line for found in step["differences"] for line in difference_lines(found)]
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
