"""A judgment as one self-contained HTML page, with no script and no other file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from pathlib import Path
from string import Template

from hosting_emulator_lab.judge.causes import ClientCause, Symptom
from hosting_emulator_lab.judge.judgment import Judgment
from hosting_emulator_lab.judge.judgment_document import (
    RepeatLine,
    other_trials,
    repeatable_trial,
    shown_symptoms,
    symptom_text,
)
from hosting_emulator_lab.judge.judgment_text import exercised_lines, tried_text

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
        remarks=_list([*judgment.remarks, *exercised_lines(judgment.exercised)]),
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
        doubt = "<p>Not seen again when the trial ran alone, so it may be chance.</p>"
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
    """Escape a text, and mark what stands between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _list(texts: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return f"<ul>{items}</ul>" if items else ""


def _not_tried(judgment: Judgment) -> str:
    if not judgment.not_tried:
        return ""
    items = "".join(f"<li><code>{escape(str(trial))}</code></li>" for trial in judgment.not_tried)
    return f"<details><summary>Not tried: {len(judgment.not_tried)}</summary><ul>{items}</ul></details>"
