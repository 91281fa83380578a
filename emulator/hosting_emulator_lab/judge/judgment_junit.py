"""A judgment as JUnit XML, which build servers display."""

from __future__ import annotations

from typing import Any

from hosting_emulator import junit
from hosting_emulator.sdk.coverage import coverage_lines
from hosting_emulator_lab.judge.causes import ClientCause
from hosting_emulator_lab.judge.dependency_texts import HEADING, dependency_lines
from hosting_emulator_lab.judge.judgment import UNDECIDED, Judgment
from hosting_emulator_lab.judge.judgment_document import RepeatLine, repeatable_trial, symptom_text
from hosting_emulator_lab.judge.judgment_text import COVERAGE_TITLE, tried_text
from hosting_emulator_lab.judge.report_parts import whole_command_case


def judgment_junit(judgment: Judgment, repeat: RepeatLine) -> str:
    """Return a judgment as JUnit XML.

    Each cause is a test case: a failure if its severity counts, and a passed case with its text as
    output otherwise. One more case passes if the client could be judged. This case is an error
    if no cause was found and nothing was proven. The client's dependencies are the
    output of a case that always passes. The suite's properties are the numbers of planned and tried
    trials, and its output is the coverage of the contract by the clean run.
    """
    cases = [_failed_case(cause, repeat) for cause in judgment.counted_causes]
    cases += [_noted_case(cause, repeat) for cause in judgment.other_causes]
    undecided_reason = ""
    if judgment.exit_code == UNDECIDED:
        undecided_reason = " ".join([*judgment.unproven, tried_text(judgment)])
    cases.append(whole_command_case(undecided_reason))
    dependencies = dependency_lines(judgment.dependencies)
    if dependencies:
        output = junit.element("system-out", "\n".join(dependencies))
        cases.append(junit.case("whole command", HEADING, output, time="0"))
    suite = junit.suite("judge", cases, time=f"{judgment.duration_s:.3f}")
    properties = junit.element("properties")
    for name, value in (("planned", judgment.planned), ("tried", judgment.tried)):
        properties.append(junit.element("property", name=name, value=value))
    suite.insert(0, properties)
    coverage = "\n".join([COVERAGE_TITLE, *coverage_lines(judgment.coverage)])
    suite.append(junit.element("system-out", coverage))
    return junit.report(f"hosting-emulator judge {judgment.command}", [suite])


def _failed_case(cause: ClientCause, repeat: RepeatLine) -> Any:
    message = f"{cause.severity}: {cause.text.title}"
    failure = junit.element("failure", _details(cause, repeat), type=cause.id, message=message)
    return junit.case("causes", cause.id, failure, time="0")


def _noted_case(cause: ClientCause, repeat: RepeatLine) -> Any:
    output = junit.element("system-out", f"{cause.text.title}\n{_details(cause, repeat)}")
    return junit.case("causes", cause.id, output, time="0")


def _details(cause: ClientCause, repeat: RepeatLine) -> str:
    lines: list[str] = []
    for symptom in cause.symptoms:
        lines.append(f"In {symptom.trial}, {symptom_text(symptom)}")
        lines += symptom.output
    text = cause.text
    lines.append(f"why: {text.matters} “{text.because}” ({text.place})")
    lines.append(f"instead: {text.instead}")
    lines.append(f"repeat: {repeat(repeatable_trial(cause))}")
    return "\n".join(lines)
