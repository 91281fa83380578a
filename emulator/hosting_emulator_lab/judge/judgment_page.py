"""A judgment as one self-contained HTML page, without scripts and other files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from string import Template

from hosting_emulator.messages import CallCoverage, ContractCoverage
from hosting_emulator.sdk.coverage import CoverageParts, coverage_rows
from hosting_emulator_lab.judge.causes import ClientCause, Symptom
from hosting_emulator_lab.judge.dependency_texts import HEADING, dependency_lines
from hosting_emulator_lab.judge.judgment import Judgment
from hosting_emulator_lab.judge.judgment_document import (
    RepeatLine,
    other_trials,
    repeatable_trial,
    shown_symptoms,
    symptom_text,
)
from hosting_emulator_lab.judge.judgment_text import tried_text

#: The columns of the table of calls.
_COLUMNS = ("call", "responses", "statuses", "problem codes", "roles", "replays")
_RESULT_CLASSES = {0: "good", 1: "bad", 2: "open"}


def judgment_page(judgment: Judgment, repeat: RepeatLine) -> str:
    """Return a judgment as an HTML document. Everything that comes from the client is escaped."""
    folder = Path(__file__).parent
    template = Template((folder / "judgment.html").read_text("utf-8"))
    return template.substitute(
        style=(folder / "judgment.css").read_text("utf-8"),
        command=escape(judgment.command),
        result=escape(judgment.headline),
        result_class=_RESULT_CLASSES[judgment.exit_code],
        figures=_figures(judgment),
        tried=escape(tried_text(judgment)),
        unproven=_list(f"Not proven: {reason}" for reason in judgment.unproven),
        causes=_section("What to change", judgment.counted_causes, repeat),
        notes=_section("Notes", judgment.other_causes, repeat),
        dependencies=_dependencies(judgment),
        remarks=_list(judgment.remarks),
        coverage=_coverage(judgment.coverage),
        not_tried=_not_tried(judgment),
    )


def _figures(judgment: Judgment) -> str:
    figures = {
        "requests": judgment.request_count,
        "runs": judgment.run_count,
        "trials": f"{judgment.tried} of {judgment.planned}",
        "seconds": f"{judgment.duration_s:.0f}",
    }
    return "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in figures.items())


def _section(heading: str, causes: Iterable[ClientCause], repeat: RepeatLine) -> str:
    articles = [_cause(cause, repeat) for cause in causes]
    if not articles:
        return ""
    return f"<h2>{heading}</h2>\n" + "\n".join(articles)


def _cause(cause: ClientCause, repeat: RepeatLine) -> str:
    text = cause.text
    symptoms = "".join(_symptom(symptom) for symptom in shown_symptoms(cause))
    others = other_trials(cause)
    more = ""
    if others:
        items = "".join(f"<li><code>{escape(trial)}</code></li>" for trial in others)
        more = f"<details><summary>Other trials: {len(others)}</summary><ul>{items}</ul></details>"
    doubt = ""
    if not cause.seen_alone:
        doubt = "<p>It may be chance, because there was no time to repeat the trial alone.</p>"
    return (
        f'<article id="{escape(cause.id)}"><h3><span class="{cause.severity}">{cause.severity}'
        f"</span> {escape(text.title)}</h3>"
        f"{symptoms}{more}{doubt}"
        f"<h4>Why it matters</h4><p>{_with_code(text.matters)}</p>"
        f"<blockquote>{escape(text.because)}<footer>{escape(text.place)}</footer></blockquote>"
        f"<h4>What to do instead</h4><p>{_with_code(text.instead)}</p>"
        f"<h4>See it again</h4><pre>{escape(repeat(repeatable_trial(cause)))}</pre></article>"
    )


def _symptom(symptom: Symptom) -> str:
    output = ""
    if symptom.output:
        output = f"<pre>{escape(chr(10).join(symptom.output))}</pre>"
    return f"<p><code>{escape(symptom.trial)}</code><br>{escape(_capital(symptom_text(symptom)))}</p>{output}"


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _with_code(text: str) -> str:
    """Escape a text, and mark the parts between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _list(texts: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return f"<ul>{items}</ul>" if items else ""


def _coverage(coverage: ContractCoverage) -> str:
    """Return a summary of the contract's coverage, and then all counts for each call."""
    rows = "".join(_row(label, text) for label, text in coverage_rows(coverage))
    missing_statuses = ", ".join(CoverageParts(coverage).missing_statuses)
    if missing_statuses:
        rows += _row("missing statuses", missing_statuses)
    titles = "".join(f"<th>{title}</th>" for title in _COLUMNS)
    calls = "".join(_call_row(name, call) for name, call in coverage.calls.items())
    missing_codes = ", ".join(CoverageParts(coverage).missing_codes)
    return (
        f"<table>{rows}</table>"
        f"<details><summary>Every call</summary><table><tr>{titles}</tr>{calls}</table></details>"
        f"<details><summary>Problem codes that were not seen</summary><p>{missing_codes}</p></details>"
    )


def _call_row(name: str, call: CallCoverage) -> str:
    return _row(
        name,
        str(call.responses),
        _counts(call.statuses),
        _counts(call.codes),
        _counts(call.roles),
        str(call.replays),
    )


def _row(heading: str, *others: str) -> str:
    cells = "".join(f"<td>{escape(text)}</td>" for text in others)
    return f"<tr><th>{escape(heading)}</th>{cells}</tr>"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({count})" for name, count in sorted(counts.items()))


def _dependencies(judgment: Judgment) -> str:
    lines = dependency_lines(judgment.dependencies)
    return f"<h2>{HEADING}</h2>\n{_list(lines)}" if lines else ""


def _not_tried(judgment: Judgment) -> str:
    if not judgment.not_tried:
        return ""
    items = "".join(f"<li><code>{escape(str(trial))}</code></li>" for trial in judgment.not_tried)
    return f"<details><summary>Not tried: {len(judgment.not_tried)}</summary><ul>{items}</ul></details>"
