"""An exploration as one HTML page that needs no other file and no script."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib.resources import files
from string import Template

from hosting_emulator.explore.report import (
    MERGED,
    NOT_RUN,
    Cell,
    Exploration,
    conduct,
    coverage_counts,
    matrix,
    notes,
    short,
    stories,
)
from hosting_emulator.explore.runs import MEANINGS, PointResult, counts

_WORDS = {MERGED: "alike to another, and merged", NOT_RUN: "not run"}
_PHASES = (
    '<th scope="col" title="before commit">before</th>'
    '<th scope="col" title="after commit">after</th>'
)


def page(exploration: Exploration) -> str:
    """Write an exploration as a whole HTML document. All that is shown is escaped here."""
    found, told = matrix(exploration), stories(exploration)
    figures = {
        "requests": len(exploration.plan.requests),
        "runs": len(exploration.results),
        **counts(exploration.results),
        **coverage_counts(exploration),
    }
    anchors = {
        str(result.point): f"story-{n}" for n, alike in enumerate(told, 1) for result in alike
    }
    rows = (
        f'<tr><th scope="row">{escape(request)}</th>'
        f"{''.join(_cell(cell, anchors) for cell in cells)}</tr>"
        for request, cells in found.rows.items()
    )
    conduct_items = "".join(
        f"<li>{escape(finding)}{f'<pre>{escape(again)}</pre>' if again else ''}</li>"
        for finding, again in conduct(exploration)
    )
    sections = "\n".join(_story(n, alike, exploration) for n, alike in enumerate(told, 1))
    heading = "<h2>Conduct in runs that went well</h2>"
    folder = files(__package__)
    return Template(folder.joinpath("page.html").read_text(encoding="utf-8")).substitute(
        subject=escape(exploration.subject),
        verdict=f"{'did not survive' if exploration.found else 'survived'} every failure",
        style=folder.joinpath("page.css").read_text(encoding="utf-8"),
        figures="".join(
            f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in figures.items()
        ),
        faults="".join(
            f'<th scope="colgroup" colspan="2" title="{escape(fault)}">{escape(short(fault))}</th>'
            for fault in found.faults
        ),
        phases=_PHASES * len(found.faults),
        rows="\n".join(rows),
        legend="".join(
            f'<li><b class="{word.replace(" ", "-")}">{escape(mark)}</b> {word}</li>'
            for mark, word in found.legend
        ),
        notes="".join(f"<li>{escape(text)}</li>" for text in notes(exploration)),
        stories=f"<h2>What happened</h2>\n{sections}" if told else "",
        conduct=f"{heading}\n<ul>{conduct_items}</ul>" if conduct_items else "",
    )


def _cell(cell: Cell, anchors: dict[str, str]) -> str:
    if cell.point is None:
        return "<td></td>"
    title = escape(f"{cell.point}: {cell.verdict or _WORDS[cell.mark]}")
    mark, anchor = escape(cell.mark), anchors.get(str(cell.point))
    if anchor is not None:
        mark = f'<a href="#{anchor}" aria-label="{title}">{mark}</a>'
    kind = (cell.verdict or "none").replace(" ", "-")
    return f'<td class="{kind}" title="{title}">{mark}</td>'


def _story(n: int, alike: Sequence[PointResult], exploration: Exploration) -> str:
    first = alike[0]
    says = "; ".join(first.says) or MEANINGS[first.verdict].text
    output = f"<pre>{escape(chr(10).join(first.output))}</pre>" if first.output else ""
    findings = "".join(f"<p>Conduct: {escape(finding)}</p>" for finding in first.conduct)
    lines = "\n".join(escape(exploration.repeat(result.point)) for result in alike)
    return (
        f'<section class="story" id="story-{n}"><h3><code>{escape(first.point.request)}</code> '
        f'<span class="verdict {first.verdict}">{first.verdict}</span></h3>'
        f"<p>{escape(says)}.</p>{output}{findings}"
        f"<p>Again:</p><pre>{lines}</pre></section>"
    )
