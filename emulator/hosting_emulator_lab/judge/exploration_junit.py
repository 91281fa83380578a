"""The JUnit report of an exploration: a suite for each request and a case for each point."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from hosting_emulator import junit
from hosting_emulator_lab.judge.exploration import Exploration
from hosting_emulator_lab.judge.exploration_findings import cause_lines
from hosting_emulator_lab.judge.fault_points import FaultPoint
from hosting_emulator_lab.judge.judgment import UNDECIDED
from hosting_emulator_lab.judge.report_parts import whole_command_case
from hosting_emulator_lab.judge.trial_results import TrialResult


def junit_text(exploration: Exploration) -> str:
    """Return the JUnit report as an XML document, which ends with a newline.

    The last suite is about the whole command. One of its cases is an error if nothing was proven.
    """
    suites = []
    for request in exploration.plan.requests:
        results = [result for result in exploration.results if result.point.request == request.name]
        cases = [_result_case(result, exploration) for result in results]
        cases += [
            _skipped_case(point, exploration)
            for point in exploration.points_not_run
            if point.request == request.name
        ]
        if cases:
            duration_s = sum(result.duration_s for result in results)
            suites.append(junit.suite(request.name, cases, time=f"{duration_s:.3f}"))
    suites.append(junit.suite("whole command", _command_cases(exploration), time="0"))
    return junit.report(f"hosting-emulator explore {exploration.subject}", suites)


def _result_case(result: TrialResult, exploration: Exploration) -> Element:
    return junit.case(
        result.point.request,
        _case_name(result.point),
        _outcome_element(result, exploration),
        time=f"{result.duration_s:.3f}",
    )


def _skipped_case(point: FaultPoint, exploration: Exploration) -> Element:
    """Return the case of a point that was not run."""
    skipped = junit.element("skipped", message=f"not run: {exploration.stop_reason}")
    return junit.case(point.request, _case_name(point), skipped, time="0")


def _case_name(point: FaultPoint) -> str:
    return f"{point.fault} {point.phase}"


def _outcome_element(result: TrialResult, exploration: Exploration) -> Element | None:
    """Return the element that marks a result as skipped, unclear or failed.

    Return None if the client survived the point.
    """
    if result.verdict == "not reached":
        return junit.element("skipped", message=result.explanation)
    if result.is_fine:
        return None
    message = f"{result.verdict}: {result.explanation}"
    if result.verdict == "unclear":
        return junit.element("error", "\n".join(result.output), message=message)
    repeat_line = f"repeat: {exploration.repeat_command(result.point)}"
    causes = [f"cause: {line}" for line in cause_lines(result)]
    text = "\n".join([*causes, *result.output, *result.conduct, repeat_line])
    return junit.element("failure", text, type=result.verdict, message=message)


def _command_cases(exploration: Exploration) -> list[Element]:
    """Return the cases for the clean run, if it has findings that count, and for the whole command."""
    cases = []
    if exploration.clean_findings:
        message = "; ".join(exploration.clean_findings)
        failure = junit.element("failure", message=message, type="misbehaved")
        cases.append(junit.case("clean run", "conduct", failure, time="0"))
    undecided_reason = ""
    if exploration.exit_code == UNDECIDED:
        undecided_reason = exploration.undecided_reason
    cases.append(whole_command_case(undecided_reason))
    return cases
