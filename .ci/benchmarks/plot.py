"""Draws the figures as horizontal bars in an SVG document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from xml.sax.saxutils import escape

from benchmarks.report import Figure, ratio_text

WIDTH = 920
_LEFT, _RIGHT, _TOP, _ROW, _HEAD, _BAR = 330, 200, 16, 24, 52, 13
_MET, _MISSED, _PLAIN, _INK = "#2f7d5b", "#b3402e", "#6d7f92", "#22303c"
_STYLE = "font: 13px system-ui, -apple-system, 'Segoe UI', sans-serif"


def draw(panels: Mapping[str, Sequence[Figure]]) -> str:
    """Return an SVG document with one panel of ratios for each title. Omits panels without figures."""
    parts: list[str] = []
    top = _TOP
    for title, figures in panels.items():
        if figures:
            parts += _panel(title, figures, top)
            top += _HEAD + _ROW * len(figures)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" role="img"'
            f' width="{WIDTH}" height="{top}" style="{_STYLE}">',
            f"<title>{escape('; '.join(panels))}</title>",
            f'<rect width="{WIDTH}" height="{top}" fill="#ffffff"/>',
            *parts,
            "</svg>\n",
        ]
    )


def _panel(title: str, figures: Sequence[Figure], top: int) -> Iterator[str]:
    most = max(max(figure.ratio, figure.bar or 0) for figure in figures) * 1.05
    scale = (WIDTH - _LEFT - _RIGHT) / most
    yield _text(_TOP, top + 16, title, weight="600")
    for number, figure in enumerate(figures):
        yield from _row(figure, top + 30 + number * _ROW, scale)


def _row(figure: Figure, y: int, scale: float) -> Iterator[str]:
    width = figure.ratio * scale
    base = y + _BAR - 2
    yield _text(_LEFT - 10, base, figure.what, anchor="end")
    yield f'<rect x="{_LEFT}" y="{y}" width="{width:.1f}" height="{_BAR}" fill="{_colour(figure)}"/>'
    if figure.bar is not None:
        x = _LEFT + figure.bar * scale
        yield (
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y - 4}" y2="{y + _BAR + 4}" '
            f'stroke="{_INK}" stroke-width="2"/>'
        )
    yield _text(WIDTH - _RIGHT + 10, base, _said(figure))


def _colour(figure: Figure) -> str:
    if figure.bar is None:
        return _PLAIN
    return _MET if figure.holds else _MISSED


def _said(figure: Figure) -> str:
    if figure.bar is None:
        return ratio_text(figure)
    sign = "≤" if figure.at_most else "≥"
    return f"{ratio_text(figure)} (bar {sign} {figure.bar:g}){'' if figure.holds else ' missed'}"


def _text(x: float, y: float, text: str, *, anchor: str = "start", weight: str = "400") -> str:
    return (
        f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-weight="{weight}" fill="{_INK}">'
        f"{escape(text)}</text>"
    )
