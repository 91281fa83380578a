"""The HTML report of an exploration: one page without scripts, which loads no other files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from string import Template

from hosting_emulator_lab.judge.exploration import Exploration, coverage_texts
from hosting_emulator_lab.judge.exploration_findings import (
    cause_lines,
    conduct_summaries,
    grouped_results,
    notes,
)
from hosting_emulator_lab.judge.exploration_matrix import (
    Cell,
    Matrix,
    exploration_matrix,
    short_name,
)
from hosting_emulator_lab.judge.fault_points import FaultPoint
from hosting_emulator_lab.judge.lasting_effects import lasting_effect
from hosting_emulator_lab.judge.run_results import VERDICT_MEANINGS
from hosting_emulator_lab.judge.trial_results import TrialResult, count_verdicts

_FOLDER = Path(__file__).parent
#: The part of the page's title after the subject, by exit code.
_TITLES = {
    0: "survived every failure",
    1: "did not survive every failure",
    2: "is not judged: nothing was proven",
}
_PHASE_HEADINGS = (
    '<th scope="col" title="before commit">before</th>'
    '<th scope="col" title="after commit">after</th>'
)
_LASTING_HEADING = '<th scope="col" colspan="2" title="from this request on">from then on</th>'


def exploration_page(exploration: Exploration) -> str:
    """Return the HTML document, in which all texts of the exploration are escaped."""
    groups = grouped_results(exploration)
    matrix = exploration_matrix(exploration)
    template = Template(_FOLDER.joinpath("page.html").read_text("utf-8"))
    return template.substitute(
        subject=escape(exploration.subject),
        verdict=_TITLES[exploration.exit_code],
        style=_FOLDER.joinpath("page.css").read_text("utf-8"),
        figures=_figures_html(exploration),
        faults=_fault_headings_html(matrix),
        phases=_phase_headings_html(matrix),
        rows=_rows_html(matrix, _group_ids(groups)),
        legend=_legend_html(matrix),
        notes="".join(f"<li>{escape(note)}</li>" for note in notes(exploration)),
        stories=_groups_html(groups, exploration),
        conduct=_conduct_html(exploration),
    )


def _figures_html(exploration: Exploration) -> str:
    figures = {
        "requests": len(exploration.plan.requests),
        "runs": len(exploration.results),
        **count_verdicts(exploration.results),
        **coverage_texts(exploration),
    }
    return "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in figures.items())


# --- Matrix --------------------------------------------------------------------------------------


def _fault_headings_html(matrix: Matrix) -> str:
    return "".join(
        f'<th scope="colgroup" colspan="2" title="{escape(fault)}">{escape(short_name(fault))}</th>'
        for fault in matrix.faults
    )


def _phase_headings_html(matrix: Matrix) -> str:
    headings = []
    for fault in matrix.faults:
        if lasting_effect(fault):
            headings.append(_LASTING_HEADING)
        else:
            headings.append(_PHASE_HEADINGS)
    return "".join(headings)


def _rows_html(matrix: Matrix, group_ids: Mapping[FaultPoint, str]) -> str:
    rows = []
    for request_name, pairs in matrix.rows.items():
        cells = "".join(_cell_html(cell, group_ids) for pair in pairs for cell in pair)
        rows.append(f'<tr><th scope="row">{escape(request_name)}</th>{cells}</tr>')
    return "\n".join(rows)


def _cell_html(cell: Cell | None, group_ids: Mapping[FaultPoint, str]) -> str:
    """Return a cell with its mark. The mark of a notable result is a link to its group."""
    if cell is None:
        return "<td></td>"
    css_class = "none"
    description = cell.meaning.text
    if cell.status in VERDICT_MEANINGS:
        css_class = _css_class(cell.status)
        description = cell.status
    title = escape(f"{cell.point}: {description}")
    mark = escape(cell.meaning.mark)
    group_id = group_ids.get(cell.point)
    if group_id is not None:
        mark = f'<a href="#{group_id}" aria-label="{title}">{mark}</a>'
    return f'<td class="{css_class}" title="{title}">{mark}</td>'


def _legend_html(matrix: Matrix) -> str:
    return "".join(
        f'<li><b class="{_css_class(status)}">{escape(mark)}</b> {status}</li>'
        for mark, status in matrix.legend
    )


def _css_class(status: str) -> str:
    return status.replace(" ", "-")


# --- Results and conduct -------------------------------------------------------------------------


def _group_id(number: int) -> str:
    """Return the id of a group's section. Numbers start at 1."""
    return f"story-{number}"


def _group_ids(groups: Sequence[Sequence[TrialResult]]) -> dict[FaultPoint, str]:
    return {
        result.point: _group_id(number)
        for number, group in enumerate(groups, 1)
        for result in group
    }


def _groups_html(groups: Sequence[Sequence[TrialResult]], exploration: Exploration) -> str:
    if not groups:
        return ""
    sections = "\n".join(
        _group_html(number, group, exploration) for number, group in enumerate(groups, 1)
    )
    return f"<h2>What happened</h2>\n{sections}"


def _group_html(number: int, group: Sequence[TrialResult], exploration: Exploration) -> str:
    first = group[0]
    verdict = first.verdict
    output = ""
    if first.output:
        output = f"<pre>{escape(chr(10).join(first.output))}</pre>"
    causes = "".join(f"<p>Cause: {escape(line)}</p>" for line in cause_lines(first))
    findings = "".join(f"<p>Conduct: {escape(finding)}</p>" for finding in first.conduct)
    commands = "\n".join(escape(exploration.repeat_command(result.point)) for result in group)
    return (
        f'<section class="story" id="{_group_id(number)}">'
        f"<h3><code>{escape(first.point.request)}</code> "
        f'<span class="verdict {_css_class(verdict)}">{verdict}</span></h3>'
        f"<p>{escape(first.explanation)}.</p>{causes}{output}{findings}"
        f"<h4>See it again</h4><pre>{commands}</pre></section>"
    )


def _conduct_html(exploration: Exploration) -> str:
    summaries = conduct_summaries(exploration)
    if not summaries:
        return ""
    items = []
    for summary in summaries:
        command = ""
        if summary.repeat_command:
            command = f"<pre>{escape(summary.repeat_command)}</pre>"
        items.append(f"<li>{escape(summary.text)}{command}</li>")
    return f"<h2>Conduct findings in successful runs</h2>\n<ul>{''.join(items)}</ul>"
