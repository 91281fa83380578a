"""The text report of an exploration for a terminal, and single lines about its plan and results."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hosting_emulator.sdk.text import count_text, paint, plain
from hosting_emulator_lab.judge.exploration import Exploration, coverage_texts
from hosting_emulator_lab.judge.exploration_findings import (
    cause_lines,
    conduct_summaries,
    grouped_results,
    notes,
)
from hosting_emulator_lab.judge.exploration_matrix import (
    Cell,
    CellPair,
    Matrix,
    exploration_matrix,
    short_name,
)
from hosting_emulator_lab.judge.fault_points import FaultPoint
from hosting_emulator_lab.judge.lasting_effects import lasting_effect
from hosting_emulator_lab.judge.point_plan import PointPlan
from hosting_emulator_lab.judge.report_parts import RESULT_COLORS, output_lines
from hosting_emulator_lab.judge.run_results import VERDICT_MEANINGS, Verdict
from hosting_emulator_lab.judge.trial_results import TrialResult, count_verdicts

#: The maximum width of a matrix with the names of faults, in characters.
_WIDEST_MATRIX = 120
#: The number of lines at the end of an output that are compared. If they are equal, two programs
#: probably failed for the same reason.
_COMPARED_LINES = 3
_COLUMN_GAP = "  "
#: Each column needs the width of two marks: before the commit and after it.
_NARROWEST_COLUMN = 2


def plan_text(plan: PointPlan, jobs: int) -> str:
    """Return a line with the number of runs of a plan, and of points without a run."""
    text = f"{count_text(len(plan.requests), 'request')}: {count_text(len(plan.points), 'run')}"
    if jobs > 1:
        text += f", {jobs} at a time"
    if plan.merged:
        count = len(plan.merged)
        text += f", {count:,} more {_is_or_are(count)} merged as equivalent"
    if plan.left_out:
        count = len(plan.left_out)
        text += f", {count:,} {_is_or_are(count)} left out by {plan.left_out_by}"
    return f"{text}."


def report_text(exploration: Exploration, *, color: bool = False) -> str:
    """Return the whole report, without a newline at its end."""
    parts = [
        _matrix_text(exploration_matrix(exploration)),
        *_group_texts(exploration),
        _conduct_text(exploration),
        _summary_text(exploration),
    ]
    text = "\n\n".join(part for part in parts if part)
    return text if color else plain(text)


def result_text(result: TrialResult, *, color: bool = False) -> str:
    """Return one line about a result: its point, its verdict and the reasons."""
    text = f"{result.point}  {_painted_verdict(result)}{_reasons_text(result)}"
    return text if color else plain(text)


def _is_or_are(count: int) -> str:
    return "is" if count == 1 else "are"


def _painted_verdict(result: TrialResult) -> str:
    return paint(VERDICT_MEANINGS[result.verdict].color, result.verdict)


def _reasons_text(result: TrialResult) -> str:
    """Return a colon and the reasons for a verdict, or an empty string without reasons."""
    if not result.reasons:
        return ""
    return f": {'; '.join(result.reasons)}"


# --- Matrix --------------------------------------------------------------------------------------


def _matrix_text(matrix: Matrix) -> str:
    """Return the matrix.

    If the names of the faults would make it too wide, its columns are numbered instead.
    """
    names = [short_name(fault) for fault in matrix.faults]
    request_width = max(map(len, matrix.rows), default=0)
    widths = _column_widths(names)
    total_width = request_width + sum(len(_COLUMN_GAP) + width for width in widths)
    is_numbered = total_width > _WIDEST_MATRIX
    headings = names
    if is_numbered:
        headings = [str(number) for number in range(1, len(names) + 1)]
        widths = _column_widths(headings)
    columns = [heading.ljust(width) for heading, width in zip(headings, widths, strict=True)]
    lines = [paint("bold", _joined_columns(" " * request_width, columns))]
    for request_name, pairs in matrix.rows.items():
        columns = [_pair_text(pair, width) for pair, width in zip(pairs, widths, strict=True)]
        lines.append(_joined_columns(request_name.ljust(request_width), columns))
    if is_numbered:
        lines.append(_COLUMN_GAP.join(f"{number} {name}" for number, name in enumerate(names, 1)))
    lines.append(paint("dim", _legend_text(matrix)))
    return "\n".join(lines)


def _column_widths(headings: Sequence[str]) -> list[int]:
    return [max(_NARROWEST_COLUMN, len(heading)) for heading in headings]


def _joined_columns(first_column: str, columns: Sequence[str]) -> str:
    return _COLUMN_GAP.join([first_column, *columns]).rstrip()


def _pair_text(pair: CellPair, width: int) -> str:
    """Return the marks of two cells, padded to a column's width."""
    marks = "".join(map(_painted_mark, pair))
    return marks + " " * (width - len(pair))


def _painted_mark(cell: Cell | None) -> str:
    if cell is None:
        return " "
    return paint(cell.meaning.color, cell.meaning.mark)


def _legend_text(matrix: Matrix) -> str:
    marks = ", ".join(f"{mark} {status}" for mark, status in matrix.legend)
    if all(map(lasting_effect, matrix.faults)):
        return f"{marks}."
    return f"Two marks each, before and after the commit: {marks}."


# --- Results, conduct and summary ----------------------------------------------------------------


def _group_texts(exploration: Exploration) -> list[str]:
    """Return a text for each group of results.

    If several outputs end with the same lines, only the first is printed.
    """
    points_by_end: dict[tuple[Verdict, Sequence[str]], FaultPoint] = {}
    texts = []
    for group in grouped_results(exploration):
        first = group[0]
        output = _output_to_print(first, points_by_end)
        texts.append(_group_text(group, output, exploration.repeat_command))
    return texts


def _output_to_print(
    result: TrialResult, points_by_end: dict[tuple[Verdict, Sequence[str]], FaultPoint]
) -> Sequence[str]:
    """Return a result's output, or a reference to a point whose output ends with the same lines.

    `points_by_end` contains the points whose output was printed, by verdict and last lines. The
    point of this result is added if its output is printed.
    """
    output = result.output
    if len(output) <= _COMPARED_LINES:
        return output
    end = (result.verdict, output[-_COMPARED_LINES:])
    printed_point = points_by_end.setdefault(end, result.point)
    if printed_point == result.point:
        return output
    return [f"… as at {printed_point}", output[-1]]


def _group_text(
    group: Sequence[TrialResult],
    output: Sequence[str],
    repeat_command: Callable[[FaultPoint], str],
) -> str:
    first = group[0]
    points = count_text(len(group), "point")
    lines = [
        f"{first.point.request}  {_painted_verdict(first)} at {points}{_reasons_text(first)}",
        *(f"  cause: {line}" for line in cause_lines(first)),
        *output_lines(output, "  "),
        *(f"  conduct: {finding}" for finding in first.conduct),
        *(f"  repeat: {repeat_command(result.point)}" for result in group),
    ]
    return "\n".join(lines)


def _conduct_text(exploration: Exploration) -> str:
    lines = []
    for summary in conduct_summaries(exploration):
        lines.append(f"conduct: {summary.text}")
        if summary.repeat_command:
            lines.append(f"  repeat: {summary.repeat_command}")
    return "\n".join(lines)


def _summary_text(exploration: Exploration) -> str:
    """Return the number of runs by verdict, the notes, and the coverage."""
    verdict_counts = count_verdicts(exploration.results)
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in verdict_counts.items())
    runs = f"{count_text(len(exploration.results), 'run')}: {verdicts or 'nothing'}."
    figures = ", ".join(f"{name} {figure}" for name, figure in coverage_texts(exploration).items())
    color = RESULT_COLORS[exploration.exit_code]
    return "\n".join([paint(color, runs), *notes(exploration), f"Met: {figures}."])
