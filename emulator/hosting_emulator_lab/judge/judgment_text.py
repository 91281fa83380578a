"""A judgment as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from textwrap import indent, wrap

from hosting_emulator.sdk.coverage import coverage_lines
from hosting_emulator.sdk.text import count_text, paint, plain
from hosting_emulator_lab.judge.causes import ClientCause
from hosting_emulator_lab.judge.dependency_texts import HEADING, dependency_lines
from hosting_emulator_lab.judge.judgment import SURVIVED, Judgment
from hosting_emulator_lab.judge.judgment_document import (
    RepeatLine,
    other_trials,
    repeatable_trial,
    shown_symptoms,
    symptom_text,
)
from hosting_emulator_lab.judge.report_parts import RESULT_COLORS, output_lines

#: The heading above the coverage of the contract by the clean run.
COVERAGE_TITLE = "What the clean run exercises of the contract:"
_WIDTH = 100
_LABEL_WIDTH = 9
_INDENT = " " * 3
#: The maximum number of lines of a command's output to show for a symptom.
_MOST_OUTPUT_LINES = 6
_SEVERITY_STYLES = {"error": "red", "warning": "yellow", "note": "dim"}
_wrapped = partial(wrap, break_long_words=False, break_on_hyphens=False)


def judgment_text(judgment: Judgment, repeat: RepeatLine, *, color: bool = False) -> str:
    """Return a judgment as text without a final newline. `repeat` returns lines that repeat trials."""
    parts = ["\n".join(_head(judgment))]
    causes = [*judgment.counted_causes, *judgment.other_causes]
    for number, cause in enumerate(causes, 1):
        parts.append("\n".join(_cause_lines(number, cause, repeat)))
    dependencies = dependency_lines(judgment.dependencies)
    if dependencies:
        parts.append("\n".join(_section(HEADING, dependencies)))
    parts.append("\n".join(_summary(judgment)))
    text = "\n\n".join(parts)
    return text if color else plain(text)


def tried_text(judgment: Judgment) -> str:
    """Return a sentence about the trials that were made and those that were not."""
    everything = f"all {count_text(judgment.planned, 'planned trial')}"
    if not judgment.not_tried:
        has_survived = judgment.exit_code == SURVIVED
        return f"{'Survived' if has_survived else 'Tried'} {everything}."
    left = len(judgment.not_tried)
    verb = "was" if left == 1 else "were"
    return (
        f"Tried {judgment.tried} of {judgment.planned} trials; {left} {verb} not tried: "
        f"give --budget {judgment.needed_s}s."
    )


def _head(judgment: Judgment) -> Iterator[str]:
    style = RESULT_COLORS[judgment.exit_code]
    yield paint("bold", f"judge: {judgment.command}")
    figures = (
        f"{count_text(judgment.request_count, 'request')} in the clean run, "
        f"{count_text(judgment.run_count, 'run')} in {judgment.duration_s:.0f} s"
    )
    yield f"{paint(style, judgment.headline)}  ({figures})"


def _cause_lines(number: int, cause: ClientCause, repeat: RepeatLine) -> Iterator[str]:
    severity = paint(_SEVERITY_STYLES[cause.severity], cause.severity)
    yield f"{number}. {severity}: {cause.text.title} [{cause.id}]"
    for symptom in shown_symptoms(cause):
        yield from _labelled("seen", f"In {symptom.trial}, {symptom_text(symptom)}")
        last_lines = symptom.output[-_MOST_OUTPUT_LINES:]
        yield from output_lines(last_lines, _INDENT + " " * _LABEL_WIDTH)
    others = other_trials(cause)
    if others:
        yield from _labelled("", f"and in {count_text(len(others), 'other trial')}")
    if not cause.seen_alone:
        yield from _labelled(
            "", "it may be chance, because there was no time to repeat the trial alone"
        )
    yield from _labelled("why", f"{cause.text.matters} “{cause.text.because}” ({cause.text.place})")
    yield from _labelled("instead", cause.text.instead)
    # A command line is never wrapped, so that it can be copied.
    yield f"{_INDENT}{'repeat':<{_LABEL_WIDTH}}{repeat(repeatable_trial(cause))}"


def _section(heading: str, texts: Sequence[str]) -> Iterator[str]:
    yield f"{heading}:"
    for text in texts:
        for line in _wrapped(text, _WIDTH - len(_INDENT), subsequent_indent="  "):
            yield _INDENT + line


def _labelled(label: str, text: str) -> Iterator[str]:
    prefix = _INDENT + " " * _LABEL_WIDTH
    lines = _wrapped(text, _WIDTH - len(prefix))
    yield f"{_INDENT}{label:<{_LABEL_WIDTH}}{lines[0]}"
    for line in lines[1:]:
        yield prefix + line


def _summary(judgment: Judgment) -> Iterator[str]:
    yield paint(RESULT_COLORS[judgment.exit_code], tried_text(judgment))
    for reason in judgment.unproven:
        yield f"Not proven: {reason}"
    yield from judgment.remarks
    if judgment.request_count:
        yield COVERAGE_TITLE
        width = _WIDTH - len(_INDENT)
        yield from indent(
            "\n".join(coverage_lines(judgment.coverage, width=width)), _INDENT
        ).splitlines()
