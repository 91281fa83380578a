"""The table of a benchmark: the measured figures, their limits, and whether they meet the limits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One row of the table. `ratio` must be at least `bar` or, with `at_most`, at most `bar`.

    `part` is the section of the table that contains the row.
    """

    what: str
    ours: str
    theirs: str
    ratio: float
    bar: float | None = None
    at_most: bool = False
    part: str = ""

    @property
    def holds(self) -> bool:
        """Whether the figure meets its limit. A figure without a limit always does."""
        if self.bar is None:
            return True
        return self.ratio <= self.bar if self.at_most else self.ratio >= self.bar


_HEAD = ("what", "emulator", "compared with", "ratio", "bar", "")


def render(figures: Sequence[Figure]) -> str:
    """Return the table as text."""
    rows = [_HEAD, *(_row(figure) for figure in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    rule = ["-" * width for width in widths]
    return "\n".join(_line(row, widths) for row in (rows[0], rule, *rows[1:]))


def markdown(figures: Iterable[Figure]) -> str:
    """Return the table as Markdown. The first row of each section contains the section's name."""
    lines = ["| part | what | emulator | compared with | ratio | bar | met |"]
    lines.append("|---|---|---|---|---|---|---|")
    part = None
    for figure in figures:
        what, ours, theirs, ratio, bar, verdict = _row(figure)
        shown = figure.part if figure.part != part else ""
        part = figure.part
        met = {"pass": "yes", "FAIL": "**no**"}.get(verdict, "")
        bar = bar.replace(">=", "≥").replace("<=", "≤")
        lines.append(f"| {shown} | {what} | {ours} | {theirs} | {ratio} | {bar} | {met} |")
    return "\n".join(lines)


def summary(figures: Iterable[Figure]) -> str:
    """Return a sentence that says how many limits were met and how many were missed."""
    verdicts = [figure.holds for figure in figures if figure.bar is not None]
    return f"This run met {verdicts.count(True)} of its bars and missed {verdicts.count(False)}."


def _row(figure: Figure) -> tuple[str, ...]:
    bar = verdict = ""
    if figure.bar is not None:
        bar = f"{'<=' if figure.at_most else '>='} {figure.bar:g}"
        verdict = "pass" if figure.holds else "FAIL"
    return (figure.what, figure.ours, figure.theirs, ratio_text(figure), bar, verdict)


def ratio_text(figure: Figure) -> str:
    """Return a ratio as text, with enough digits that a missed limit never looks like a met one."""
    barely = not figure.holds and round(figure.ratio, 2) == figure.bar
    return f"{figure.ratio:.3f}" if barely else f"{figure.ratio:.2f}"


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [
        cell.ljust(width) if column in (0, 4, 5) else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]
    return "  ".join(cells).rstrip()
