"""Lays out rows as tables that fit the width of the terminal."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from textwrap import wrap
from typing import Any

from hosting_emulator_cli.output import is_terminal

#: What a cell shows: the name of a field, such as `clock.now`, or a function of the item.
Field = str | Callable[[Any], object]
#: The minimum width of a wrapped column, in characters.
_NARROWEST = 20


def columns(*declared: str | tuple[str, Field]) -> Callable[[Iterable[Any]], str]:
    """Return a function that lays out items as a table.

    A column is declared as a header and a field, or as a field alone. Without a header, the column
    is headed by the last part of the field, in capitals: `NOW` for `clock.now`.
    """
    headers: list[str] = []
    fields: list[Field] = []
    for column in declared:
        if isinstance(column, str):
            headers.append(column.rpartition(".")[2].upper().replace("_", " "))
            fields.append(column)
        else:
            header, field = column
            headers.append(header)
            fields.append(field)

    def write(items: Iterable[Any]) -> str:
        return table(headers, ([_cell(item, field) for field in fields] for item in items))

    return write


def _cell(item: Any, field: Field) -> object:
    """Return the value of an item's field. The item is a mapping or an object."""
    if callable(field):
        return field(item)
    for name in field.split("."):
        item = _member(item, name)
    return item


def _member(item: Any, name: str) -> Any:
    if isinstance(item, Mapping):
        return item[name]
    return getattr(item, name)


def table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Lay out rows in columns under their headers.

    Numbers are right-aligned, and no cell is truncated. If the table is too wide for the terminal,
    cells are wrapped between words. If columns would then be too narrow to read, each row is
    written as labels and values.
    """
    body = [list(row) for row in rows]
    texts = [list(headers), *([cell_text(cell) for cell in row] for row in body)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    if is_terminal():
        room = shutil.get_terminal_size().columns
        fitting_widths = _fit(widths, texts, room)
        if fitting_widths is None:
            return "\n\n".join(_labeled_row(headers, cells, room) for cells in texts[1:])
        widths = fitting_widths
    is_number = [False] * len(headers)
    if body:
        is_number = [_is_number_column(column) for column in zip(*body, strict=True)]
    lines: list[str] = []
    for cells in texts:
        wrapped_cells = map(_wrap, cells, widths)
        for parts in zip_longest(*wrapped_cells, fillvalue=""):
            lines.append(_line(parts, widths, is_number))
    return "\n".join(lines)


def _is_number_column(cells: Iterable[object]) -> bool:
    return all(type(cell) in (int, float) for cell in cells)


def _line(parts: Sequence[str], widths: Sequence[int], is_number: Sequence[bool]) -> str:
    cells = []
    for part, width, is_right_aligned in zip(parts, widths, is_number, strict=True):
        if is_right_aligned:
            cells.append(part.rjust(width))
        else:
            cells.append(part.ljust(width))
    return "  ".join(cells).rstrip()


def _fit(widths: Sequence[int], texts: Sequence[Sequence[str]], room: int) -> list[int] | None:
    """Return column widths that fit into `room` characters. The widest columns are narrowed.

    Returns None if a column would become too narrow to read, or too narrow for its words.
    """
    least_widths = []
    for width, column in zip(widths, zip(*texts, strict=True), strict=True):
        word_widths = [len(word) for cell in column for word in cell.split()]
        least_widths.append(max(min(width, _NARROWEST), *word_widths))
    room -= 2 * (len(widths) - 1)
    if sum(least_widths) > room:
        return None
    fitting_widths = list(widths)
    while sum(fitting_widths) > room:
        narrowed = max(
            range(len(fitting_widths)),
            key=lambda i: (fitting_widths[i] > least_widths[i], fitting_widths[i]),
        )
        fitting_widths[narrowed] -= 1
    return fitting_widths


def _labeled_row(headers: Sequence[str], cells: Sequence[str], room: int) -> str:
    """Format a row as its first cell, with the labels and values of the other cells below.

    A line contains several labels and values if they fit.
    """
    lines = [cells[0]]
    for header, cell in zip(headers[1:], cells[1:], strict=True):
        pair = f"{header} {cell}"
        if len(lines) > 1 and len(lines[-1]) + 2 + len(pair) <= room:
            lines[-1] += f"  {pair}"
            continue
        first, *others = _wrap(pair, room - 4)
        lines.append(f"  {first}")
        lines += [f"    {part}" for part in others]
    return "\n".join(lines)


def _wrap(text: str, width: int) -> list[str]:
    """Wrap a text between words. A word that is longer than `width` gets its own line."""
    if len(text) <= width:
        return [text]
    return wrap(text, width, break_long_words=False, break_on_hyphens=False)


def cell_text(value: object) -> str:
    """Return a value as one line of readable text. None and empty lists become `-`."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        if value:
            return "yes"
        return "no"
    if isinstance(value, dict):
        value = [f"{name}={cell_text(item)}" for name, item in value.items()]
    if isinstance(value, list | tuple):
        return ", ".join(map(cell_text, value)) or "-"
    return " ".join(str(value).split())
