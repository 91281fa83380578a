"""The content that the text report and the page share: results, conduct findings and notes."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from hosting_emulator.sdk.text import count_text
from hosting_emulator_lab.judge.cause_texts import CAUSE_TEXTS
from hosting_emulator_lab.judge.exploration import Exploration
from hosting_emulator_lab.judge.fault_points import FaultPoint
from hosting_emulator_lab.judge.run_results import VERDICT_MEANINGS
from hosting_emulator_lab.judge.trial_results import TrialResult


class ConductSummary(NamedTuple):
    """A conduct finding with the runs in which it occurred.

    `repeat_command` is the command line that shows the finding again. It is empty if there is no
    such command line.
    """

    text: str
    repeat_command: str


def grouped_results(exploration: Exploration) -> list[list[TrialResult]]:
    """Return the notable results in the order of their requests.

    Results of the same request form a group if they have the same verdict, reasons, causes, output and
    conduct findings.
    """
    positions = {request.name: index for index, request in enumerate(exploration.plan.requests)}
    results = sorted(
        exploration.notable_results, key=lambda result: positions[result.point.request]
    )
    groups: dict[tuple[object, ...], list[TrialResult]] = {}
    for result in results:
        request_name = result.point.request
        group_key = (
            request_name,
            result.verdict,
            result.reasons,
            result.causes,
            result.output,
            result.conduct,
        )
        groups.setdefault(group_key, []).append(result)
    return list(groups.values())


def cause_lines(result: TrialResult) -> list[str]:
    """Return the title and the id of each cause that a result shows."""
    return [f"{CAUSE_TEXTS[id_].title} [{id_}]" for id_ in result.causes]


def conduct_summaries(exploration: Exploration) -> list[ConductSummary]:
    """Return the conduct findings of the clean run and of runs that the client survived.

    Each finding is listed once. The list is empty if the exploration does not report on conduct.
    """
    if exploration.conduct == "off":
        return []
    clean_run_findings = exploration.clean_run.observation.conduct
    points_by_finding: dict[str, list[FaultPoint]] = {finding: [] for finding in clean_run_findings}
    for result in exploration.results:
        if not result.is_fine:
            continue
        for finding in result.conduct:
            points_by_finding.setdefault(finding, []).append(result.point)
    summaries = []
    for finding, points in points_by_finding.items():
        places = [str(point) for point in points]
        if finding in clean_run_findings:
            places.insert(0, "the clean run")
            repeat_command = exploration.repeat_clean_command
        else:
            repeat_command = exploration.repeat_command(points[0])
        summaries.append(ConductSummary(f"{finding} ({_list_text(places)})", repeat_command))
    return summaries


def notes(exploration: Exploration) -> list[str]:
    """Return sentences that explain the results, such as why points have no result."""
    clean_run = exploration.clean_run
    sentences = []
    if exploration.undecided_reason:
        sentences.append(exploration.undecided_reason)
    sentences += _missing_result_notes(exploration)
    if clean_run.varying_kinds:
        kinds = ", ".join(clean_run.varying_kinds)
        sentences.append(f"Different in two clean runs, so not compared: {kinds}.")
    for result in exploration.results:
        if result.is_fine and result.reasons:
            reasons = "; ".join(result.reasons)
            sentences.append(f"Only in one of two runs: {result.point} ({reasons}).")
    if clean_run.same_keys:
        sentences.append(
            f"Same Idempotency-Key in both clean runs: {', '.join(clean_run.same_keys)}. "
            "If the change is undone and sent again with this key, the first response is replayed "
            "and nothing is done."
        )
    if exploration.clean_findings:
        sentences.append("The clean run itself has conduct findings.")
    if any(result.verdict == "not reached" for result in exploration.results):
        sentences.append(f"Not reached: {VERDICT_MEANINGS['not reached'].text}.")
    sentences += exploration.remarks
    return sentences


def _missing_result_notes(exploration: Exploration) -> list[str]:
    """Return how many points have no result, with a sentence for each reason."""
    plan = exploration.plan
    point_counts: Counter[str] = Counter()
    point_counts[f"not run: {exploration.stop_reason}"] = len(exploration.points_not_run)
    point_counts[f"left out by {plan.left_out_by}"] = len(plan.left_out)
    for merged in plan.merged:
        point_counts[f"merged: {merged.reason}"] += 1
    return [
        f"{count_text(count, 'point')} {reason}." for reason, count in point_counts.items() if count
    ]


def _list_text(places: list[str]) -> str:
    """Return the first place, and the number of further places."""
    if len(places) == 1:
        return places[0]
    return f"{places[0]} and {len(places) - 1} more"
