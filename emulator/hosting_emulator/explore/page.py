"""An exploration as one HTML page that needs no other file and no script."""

from __future__ import annotations

from html import escape
from importlib.resources import files

from hosting_emulator.explore.points import PHASES
from hosting_emulator.explore.report import (
    MERGED,
    NOT_RUN,
    Cell,
    Exploration,
    Matrix,
    conduct,
    coverage,
    matrix,
    notes,
    short,
    stories,
)
from hosting_emulator.explore.runs import MEANINGS, PointResult, counts

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_WORDS = {MERGED: "alike to another, and merged", NOT_RUN: "not run"}


def page(exploration: Exploration) -> str:
    """Write an exploration as a whole HTML document. All that is shown is escaped here."""
    found, told = matrix(exploration), stories(exploration)
    how = "did not survive" if exploration.found else "survived"
    verdict = f"{how} every failure"
    style = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    sections = "\n".join(_story(n, alike, exploration) for n, alike in enumerate(told, 1))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(exploration.subject)} {verdict}</title>
<link rel="icon" href="data:,">
<style>
{style}</style>
</head>
<body>
<main>
<h1><code>{escape(exploration.subject)}</code> {verdict}</h1>
{_figures(exploration)}
<h2>Requests and failures</h2>
{_table(found, told)}
{_legend(found)}
<ul>{"".join(f"<li>{escape(text)}</li>" for text in notes(exploration))}</ul>
{f"<h2>What happened</h2>{chr(10)}{sections}" if told else ""}
{_conduct(exploration)}
</main>
</body>
</html>
"""


def _figures(exploration: Exploration) -> str:
    rows = [("requests", f"{len(exploration.plan.requests)}")]
    rows += [("runs", f"{len(exploration.results)}")]
    rows += [(verdict, f"{count}") for verdict, count in counts(exploration.results).items()]
    rows += [(f.name, f"{len(f.met)} of {f.of}") for f in coverage(exploration)]
    cells = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in rows)
    return f'<dl class="figures">{cells}</dl>'


def _table(found: Matrix, told: list[list[PointResult]]) -> str:
    heads = "".join(
        f'<th scope="colgroup" colspan="2" title="{escape(fault)}">{escape(short(fault))}</th>'
        for fault in found.faults
    )
    phases = "".join(
        f'<th scope="col" title="{phase.replace("_", " ")}">{phase.partition("_")[0]}</th>'
        for _ in found.faults
        for phase in PHASES
    )
    anchors = {
        str(result.point): f"story-{n}" for n, alike in enumerate(told, 1) for result in alike
    }
    rows = "\n".join(
        f'<tr><th scope="row">{escape(request)}</th>'
        f"{''.join(_cell(cell, anchors) for cell in cells)}</tr>"
        for request, cells in found.rows.items()
    )
    return (
        '<p class="caption">'
        "Each failure meets the request before it takes effect, and after it.</p>\n"
        '<div class="scroll" tabindex="0"><table aria-label="Requests and failures">\n'
        f'<thead><tr><th scope="col" rowspan="2">request</th>{heads}</tr><tr>{phases}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody></table></div>"
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


def _legend(found: Matrix) -> str:
    items = "".join(
        f'<li><b class="{word.replace(" ", "-")}">{escape(mark)}</b> {word}</li>'
        for mark, word in found.legend
    )
    return f'<ul class="legend">{items}</ul>'


def _conduct(exploration: Exploration) -> str:
    items = "".join(
        f"<li>{escape(finding)}{f'<pre>{escape(again)}</pre>' if again else ''}</li>"
        for finding, again in conduct(exploration)
    )
    return f"<h2>Conduct in runs that went well</h2>\n<ul>{items}</ul>" if items else ""


def _story(n: int, alike: list[PointResult], exploration: Exploration) -> str:
    first = alike[0]
    says = "; ".join(first.says) or MEANINGS[first.verdict]
    output = f"<pre>{escape(chr(10).join(first.output))}</pre>" if first.output else ""
    findings = "".join(f"<p>Conduct: {escape(finding)}</p>" for finding in first.conduct)
    lines = "\n".join(escape(exploration.repeat(result.point)) for result in alike)
    return (
        f'<section class="story" id="story-{n}"><h3><code>{escape(first.point.request)}</code> '
        f'<span class="verdict {first.verdict}">{first.verdict}</span></h3>'
        f"<p>{escape(says)}.</p>{output}{findings}"
        f"<p>Again:</p><pre>{lines}</pre></section>"
    )
