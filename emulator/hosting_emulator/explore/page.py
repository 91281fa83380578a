"""An exploration as one HTML page that needs no other file and no script."""

from __future__ import annotations

from functools import cache
from html import escape
from importlib.resources import files

from hosting_emulator.explore.judging import MEANINGS, Result, counts
from hosting_emulator.explore.matrix import MERGED, NOT_RUN, Cell, Matrix, legend, matrix, short
from hosting_emulator.explore.points import PHASES
from hosting_emulator.explore.report import Exploration, coverage
from hosting_emulator.explore.telling import conduct, notes, stories

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_WORDS = {MERGED: "alike to another, and merged", NOT_RUN: "not run"}


def page(exploration: Exploration) -> str:
    """Write an exploration as a whole HTML document. All that is shown is escaped here."""
    found = matrix(exploration)
    results = exploration.found
    said = "survived every failure" if not results else "did not survive every failure"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(exploration.subject)} {said}</title>
<link rel="icon" href="data:,">
<style>
{_style()}</style>
</head>
<body>
<main>
<h1><code>{escape(exploration.subject)}</code> {said}</h1>
{_figures(exploration)}
<h2>Requests and failures</h2>
{_table(found, exploration)}
{_legend(found)}
{_list(notes(exploration))}
{_stories(exploration)}
{_conduct(exploration)}
</main>
</body>
</html>
"""


@cache
def _style() -> str:
    return files(__package__ or __name__).joinpath("page.css").read_text(encoding="utf-8")


def _figures(exploration: Exploration) -> str:
    rows = [("requests", f"{len(exploration.plan.requests)}")]
    rows += [("runs", f"{len(exploration.results)}")]
    rows += [(verdict, f"{count}") for verdict, count in counts(exploration.results).items()]
    rows += [(f.name, f"{len(f.met)} of {f.of}") for f in coverage(exploration)]
    cells = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in rows)
    return f'<dl class="figures">{cells}</dl>'


def _table(found: Matrix, exploration: Exploration) -> str:
    heads = "".join(
        f'<th scope="colgroup" colspan="2" title="{escape(fault)}">{escape(short(fault))}</th>'
        for fault in found.faults
    )
    phases = "".join(
        f'<th scope="col" title="{phase.replace("_", " ")}">{phase.partition("_")[0]}</th>'
        for _ in found.faults
        for phase in PHASES
    )
    anchors = _anchors(exploration)
    rows = "\n".join(
        f'<tr><th scope="row">{escape(row.request)}</th>'
        f"{''.join(_cell(cell, anchors) for pair in row.cells for cell in pair)}</tr>"
        for row in found.rows
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
    word = cell.verdict or _WORDS[cell.mark]
    title = escape(f"{cell.point}: {word}")
    mark = escape(cell.mark)
    anchor = anchors.get(str(cell.point))
    if anchor is not None:
        mark = f'<a href="#{anchor}" aria-label="{title}">{mark}</a>'
    kind = (cell.verdict or "none").replace(" ", "-")
    return f'<td class="{kind}" title="{title}">{mark}</td>'


def _legend(found: Matrix) -> str:
    items = "".join(
        f'<li><b class="{word.replace(" ", "-")}">{escape(mark)}</b> {word}</li>'
        for mark, word in legend(found)
    )
    return f'<ul class="legend">{items}</ul>'


def _anchors(exploration: Exploration) -> dict[str, str]:
    return {
        str(result.point): f"story-{n}"
        for n, alike in enumerate(stories(exploration), 1)
        for result in alike
    }


def _stories(exploration: Exploration) -> str:
    told = stories(exploration)
    if not told:
        return ""
    sections = "\n".join(_story(n, alike, exploration) for n, alike in enumerate(told, 1))
    return f"<h2>What happened</h2>\n{sections}"


def _conduct(exploration: Exploration) -> str:
    found = conduct(exploration)
    items = "".join(
        f"<li>{escape(finding)}{f'<pre>{escape(again)}</pre>' if again else ''}</li>"
        for finding, again in found
    )
    return f"<h2>Conduct in runs that went well</h2>\n<ul>{items}</ul>" if found else ""


def _list(texts: list[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(text)}</li>' for text in texts)}</ul>"


def _story(n: int, alike: list[Result], exploration: Exploration) -> str:
    first = alike[0]
    says = "; ".join(first.says) or MEANINGS[first.verdict]
    output = f"<pre>{escape(chr(10).join(first.output))}</pre>" if first.output else ""
    conduct = "".join(f"<p>Conduct: {escape(finding)}</p>" for finding in first.conduct)
    lines = "\n".join(escape(exploration.repeat(result.point)) for result in alike)
    return (
        f'<section class="story" id="story-{n}"><h3><code>{escape(first.point.request)}</code> '
        f'<span class="verdict {first.verdict}">{first.verdict}</span></h3>'
        f"<p>{escape(says)}.</p>{output}{conduct}"
        f"<p>Again:</p><pre>{lines}</pre></section>"
    )
