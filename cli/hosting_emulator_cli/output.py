"""How commands write: data on stdout, words on stderr, columns aligned, JSON where it is asked for."""

from __future__ import annotations

import functools
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from textwrap import wrap
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click

from hosting_emulator_cli.options import json_option

if TYPE_CHECKING:
    from rich.console import Console

F = TypeVar("F", bound=Callable[..., Any])
#: A template that is filled from the command's `value` and its options, or what makes the text.
Text = str | Callable[[Any], str | None]
#: A field of an item, or what makes a cell of it.
Field = str | Callable[[Any], object]
#: A column that is wrapped is no narrower than this.
_NARROWEST = 20


def as_json(value: Any) -> str:
    """Write a value as readable JSON, without a final newline."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=plain_message)


def plain_message(value: Any) -> Any:
    """Return a message of the control API as plain JSON values."""
    from msgspec import to_builtins

    return to_builtins(value)


def put(text: str) -> None:
    """Print data."""
    click.echo(text)


def put_json(value: Any) -> None:
    """Print data as JSON."""
    click.echo(as_json(value))


def say(text: str) -> None:
    """Tell the person at the keyboard something that is not data."""
    click.echo(text, err=True)


def prints(
    text: Text | None = None,
    *,
    words: Text | None = None,
    fails: Callable[[Any], bool] = lambda _: False,
    refuses: Callable[[Any], str | None] = lambda _: None,
) -> Callable[[F], F]:
    """Print what a command returns: as JSON with `--json`, else its text, and words on stderr.

    A text of None was shown already. What `fails` ends with exit code 1. What `refuses` names a
    reason for ends with that message and exit code 2.
    """

    def add(command: F) -> F:
        @functools.wraps(command)
        def call(*args: Any, as_json: bool, **rest: Any) -> int:
            value = command(*args, **rest)
            if as_json:
                put_json(value)
            for write, form in () if as_json else ((put, text), (say, words)):
                shown = (
                    form.format(value=value, **rest)
                    if isinstance(form, str)
                    else form and form(value)
                )
                if shown is not None:
                    write(shown)
            if (reason := refuses(value)) is not None:
                say(f"Error: {reason}")
                return 2
            return int(bool(fails(value)))

        return json_option(call)  # type: ignore[no-any-return]

    return add


def say_warnings(warnings: Iterable[str]) -> None:
    """Print the warnings of a world's summary or of a story's report on stderr."""
    for warning in warnings:
        say(f"Warning: {warning}")


def intervention_sentence(result: Mapping[str, Any]) -> str:
    """Return what an intervention did, as a sentence."""
    text = result["message"]
    return f"{text[:1].upper()}{text[1:]}."


def fields(pairs: Iterable[tuple[str, object]]) -> str:
    """Lay out labels and values in two columns; a value of None leaves its line out."""
    shown = [(label, value) for label, value in pairs if value is not None]
    width = max((len(label) for label, _ in shown), default=0)
    return "\n".join(f"{label:<{width}}  {value}" for label, value in shown)


def columns(*declared: str | tuple[str, Field]) -> Callable[[Iterable[Any]], str]:
    """Make what lays out items in a table: of each column its field (as `clock.now`), or header and field."""
    shown = [
        (each.rpartition(".")[2].upper().replace("_", " "), each) if isinstance(each, str) else each
        for each in declared
    ]

    def cell(item: Any, field: Field) -> object:
        if callable(field):
            return field(item)
        for name in field.split("."):
            item = item[name] if isinstance(item, Mapping) else getattr(item, name)
        return item

    return lambda items: table(
        [header for header, _ in shown],
        ([cell(item, field) for _, field in shown] for item in items),
    )


def table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Lay out rows in columns under their headers; columns of numbers stand to the right.

    No cell is cut. What is too wide for a terminal is wrapped between words, or, where columns would
    become too narrow to read, stands as label and value, row by row.
    """
    body = [list(row) for row in rows]
    texts = [[*headers], *(list(map(cell_text, row)) for row in body)]
    numeric = [
        all(type(cell) in (int, float) for cell in column) for column in zip(*body, strict=True)
    ]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    room = shutil.get_terminal_size().columns if is_terminal() else None
    if room is not None and not _made_fit(widths, texts, room):
        return "\n\n".join(_flow(headers, cells, room) for cells in texts[1:])
    justify = [str.rjust if right else str.ljust for right in numeric] or [str.ljust] * len(headers)
    lines = []
    for cells in texts:
        for parts in zip_longest(*map(_wrapped, cells, widths), fillvalue=""):
            row = zip(justify, parts, widths, strict=True)
            lines.append("  ".join(write(part, width) for write, part, width in row).rstrip())
    return "\n".join(lines)


def _made_fit(widths: list[int], texts: Sequence[Sequence[str]], room: int) -> bool:
    """Narrow the widest columns until all fit; False where one would break words, or be too narrow."""
    least = [
        max(min(width, _NARROWEST), *(len(word) for cell in column for word in cell.split()))
        for width, column in zip(widths, zip(*texts, strict=True), strict=True)
    ]
    room -= 2 * (len(widths) - 1)
    if sum(least) > room:
        return False
    while sum(widths) > room:
        place = max(range(len(widths)), key=lambda i: (widths[i] > least[i], widths[i]))
        widths[place] -= 1
    return True


def _flow(headers: Sequence[str], cells: Sequence[str], room: int) -> str:
    """Lay out a row as its first cell, and below that labels and values, as many in a line as fit."""
    lines = [cells[0]]
    for header, cell in zip(headers[1:], cells[1:], strict=True):
        pair = f"{header} {cell}"
        if len(lines) > 1 and len(lines[-1]) + 2 + len(pair) <= room:
            lines[-1] += f"  {pair}"
        else:
            first, *others = _wrapped(pair, room - 4)
            lines += [f"  {first}", *(f"    {part}" for part in others)]
    return "\n".join(lines)


def _wrapped(text: str, width: int) -> list[str]:
    """Break a text between words; a longer word stands alone."""
    if len(text) <= width:
        return [text]
    return wrap(text, width, break_long_words=False, break_on_hyphens=False)


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


def is_terminal(stream: TextIO | None = None) -> bool:
    """Tell whether stdout (or `stream`) is a terminal that is not dumb; FORCE_COLOR says so, as to rich."""
    if os.environ.get("FORCE_COLOR"):
        return True
    return (stream or sys.stdout).isatty() and os.environ.get("TERM") != "dumb"


def has_color() -> bool:
    """Tell whether colours may be written to stdout."""
    return is_terminal() and "NO_COLOR" not in os.environ


def console(stream: TextIO | None = None) -> Console:
    """Return a console on stdout (or `stream`). It obeys NO_COLOR and reads no markup in texts."""
    from rich.console import Console

    return Console(file=stream, markup=False, emoji=False, highlight=False)


def printable(text: str) -> str:
    """Write what a client sent such that it can neither begin a line nor steer a terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def printable_json(value: Any) -> str:
    """Write a value as JSON that a terminal can show: what is not printable is escaped."""
    text = as_json(value)
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def printable_lines(text: str) -> str:
    """Do the same for text of several lines, which stay."""
    return "\n".join(printable(line.expandtabs(2)) for line in text.splitlines())
