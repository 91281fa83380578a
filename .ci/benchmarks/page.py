"""Writes figures to the page about speed, between two comments, and draws the chart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from benchmarks import growth, throughput
from benchmarks.plot import draw
from benchmarks.report import Figure, markdown, summary

REPOSITORY = Path(__file__).parents[2]
PAGE = REPOSITORY / "docs" / "maintainers" / "speed.md"
PICTURE = REPOSITORY / "docs" / "maintainers" / "speed.svg"
_PLACE = re.compile(r"(<!-- measured -->\n).*?(<!-- end of measured -->)", re.DOTALL)
_PANELS = {
    throughput.PART: "Requests per second: share of a bare aiohttp handler (the line is the bar)",
    growth.PART: "Cost of a call in the largest world, next to 100 deployments",
}


def filled(document: str, text: str) -> str:
    """Return a document with `text` between its two comments.

    Raises ValueError unless the document contains this pair of comments exactly once.
    """
    changed, count = _PLACE.subn(lambda place: f"{place[1]}{text}\n{place[2]}", document)
    if count != 1:
        raise ValueError(f"the document must have exactly one place for figures, not {count}")
    return changed


def write(figures: Sequence[Figure], heading: str) -> None:
    """Write the table to the page, and draw the chart."""
    _fill(PAGE, f"{heading}\n\n{summary(figures)}\n\n{markdown(figures)}")
    panels = {
        title: [figure for figure in figures if figure.part == part and figure.bar is not None]
        for part, title in _PANELS.items()
    }
    PICTURE.write_text(draw(panels), encoding="utf-8")


def _fill(path: Path, text: str) -> None:
    path.write_text(filled(path.read_text(encoding="utf-8"), text), encoding="utf-8")
