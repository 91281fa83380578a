"""How commands write: data on stdout, words on stderr, columns aligned."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import click

_WIDEST = 48


def as_json(value: Any) -> str:
    """Write a value as readable JSON, without a final newline."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def put(text: str) -> None:
    """Print data."""
    click.echo(text)


def put_json(value: Any) -> None:
    """Print data as JSON."""
    click.echo(as_json(value))


def say(text: str) -> None:
    """Tell the person at the keyboard something that is not data."""
    click.echo(text, err=True)


def fields(pairs: Iterable[tuple[str, object]]) -> str:
    """Lay out labels and values in two columns; a value of None leaves its line out."""
    shown = [(label, str(value)) for label, value in pairs if value is not None]
    width = max((len(label) for label, _ in shown), default=0)
    return "\n".join(f"{label:<{width}}  {value}" for label, value in shown)


def table(
    headers: Sequence[str], rows: Iterable[Sequence[object]], *, widest: int = _WIDEST
) -> str:
    """Lay out rows in columns under their headers; columns of numbers stand to the right.

    Any cell but the last of its row is cut at `widest` characters: JSON is where everything is
    whole.
    """
    body = [list(row) for row in rows]
    texts = [
        [*(_clip(cell_text(cell), widest) for cell in row[:-1]), cell_text(row[-1])] for row in body
    ]
    widths = [max(map(len, column)) for column in zip(headers, *texts, strict=True)]
    right = [_is_numeric(row[i] for row in body) for i in range(len(headers))]
    lines = [_line(cells, widths, right) for cells in ([*headers], *texts)]
    return "\n".join(lines)


def cell_text(value: object) -> str:
    """Write one value as people read it in a column."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        value = [f"{name}={cell_text(item)}" for name, item in value.items()]
    if isinstance(value, list | tuple):
        return ", ".join(map(cell_text, value)) or "-"
    return " ".join(str(value).split())


def _clip(text: str, widest: int) -> str:
    return text if len(text) <= widest else f"{text[: widest - 1]}…"


def _is_numeric(cells: Iterable[object]) -> bool:
    values = list(cells)
    return bool(values) and all(
        isinstance(cell, int | float) and not isinstance(cell, bool) for cell in values
    )


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = (
        cell.rjust(width) if to_right else cell.ljust(width)
        for cell, width, to_right in zip(cells, widths, right, strict=True)
    )
    return "  ".join(padded).rstrip()
