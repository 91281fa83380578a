"""How commands write: data on stdout, words on stderr, columns aligned, JSON where it is asked for."""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import getitem
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click

from hosting_emulator_cli.options import json_option

if TYPE_CHECKING:
    from rich.console import Console

F = TypeVar("F", bound=Callable[..., Any])
#: A template that is filled from the command's `value` and its options, or what makes the text.
Text = str | Callable[[Any], str | None]
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


def prints(
    text: Text | None = None,
    *,
    words: Text | None = None,
    fails: Callable[[Any], bool] = lambda _: False,
) -> Callable[[F], F]:
    """Print what a command returns: as JSON with `--json`, else its text, and words on stderr.

    A text of None is not printed: it was shown already. What `fails` ends with exit code 1.
    """

    def add(command: F) -> F:
        @functools.wraps(command)
        def call(*args: Any, as_json: bool, **rest: Any) -> None:
            value = command(*args, **rest)
            if as_json:
                put_json(value)
            for write, form in () if as_json else ((put, text), (say, words)):
                if form is not None:
                    told = (
                        form.format(value=value, **rest) if isinstance(form, str) else form(value)
                    )
                    if told is not None:
                        write(told)
            if fails(value):
                click.get_current_context().exit(1)

        return json_option(call)  # type: ignore[no-any-return]

    return add


def fields(pairs: Iterable[tuple[str, object]]) -> str:
    """Lay out labels and values in two columns; a value of None leaves its line out."""
    shown = [(label, str(value)) for label, value in pairs if value is not None]
    width = max((len(label) for label, _ in shown), default=0)
    return "\n".join(f"{label:<{width}}  {value}" for label, value in shown)


def columns(
    declared: Mapping[str, str | Callable[[Any], object]], *, widest: int = _WIDEST
) -> Callable[[Iterable[Any]], str]:
    """Make what lays out items in a table: each header with its field, or what makes the cell.

    A field of a field is written `clock.now`.
    """

    def cell(item: Any, field: str | Callable[[Any], object]) -> object:
        return (
            functools.reduce(getitem, field.split("."), item)
            if isinstance(field, str)
            else field(item)
        )

    def lay_out(items: Iterable[Any]) -> str:
        rows = ([cell(item, field) for field in declared.values()] for item in items)
        return table([*declared], rows, widest=widest)

    return lay_out


def table(
    headers: Sequence[str], rows: Iterable[Sequence[object]], *, widest: int = _WIDEST
) -> str:
    """Lay out rows in columns under their headers; columns of numbers stand to the right.

    Any cell but the last of its row is cut at `widest` characters: JSON is where everything is
    whole.
    """
    body = [list(row) for row in rows]
    texts = [list(map(cell_text, row)) for row in body]
    for row in texts:
        row[:-1] = [text if len(text) <= widest else f"{text[: widest - 1]}…" for text in row[:-1]]
    right = [
        bool(body) and all(type(row[place]) in (int, float) for row in body)
        for place in range(len(headers))
    ]
    widths = [max(map(len, column)) for column in zip(headers, *texts, strict=True)]
    lines = (
        "  ".join(map(_justified, cells, widths, right)).rstrip() for cells in (headers, *texts)
    )
    return "\n".join(lines)


def _justified(cell: str, width: int, to_right: bool) -> str:
    return cell.rjust(width) if to_right else cell.ljust(width)


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


# --- A terminal ----------------------------------------------------------------------------------


def is_terminal(stream: TextIO | None = None) -> bool:
    """Tell whether stdout (or `stream`) is a terminal that can show more than plain text.

    FORCE_COLOR says it is, as it does to rich; a dumb terminal is none.
    """
    if os.environ.get("FORCE_COLOR"):
        return True
    return (stream or sys.stdout).isatty() and os.environ.get("TERM") != "dumb"


def has_color(stream: TextIO | None = None) -> bool:
    """Tell whether colours may be written to stdout (or `stream`)."""
    return is_terminal(stream) and "NO_COLOR" not in os.environ


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
