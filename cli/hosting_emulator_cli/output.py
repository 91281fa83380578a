"""Prints the output of commands: data to stdout and messages to stderr, as JSON with `--json`."""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click

from hosting_emulator_cli.options import json_option

if TYPE_CHECKING:
    from rich.console import Console

F = TypeVar("F", bound=Callable[..., Any])
#: Formats a command's return value: a function that receives the value, or a format string with
#: `value` and the command's parameters.
Text = str | Callable[[Any], str | None]


def as_json(value: Any) -> str:
    """Format a value as indented JSON, without a final newline."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=plain_message)


def plain_message(value: Any) -> Any:
    """Convert a control API message to plain JSON values."""
    from msgspec import to_builtins

    return to_builtins(value)


def put(text: str) -> None:
    """Print data on stdout."""
    click.echo(text)


def put_json(value: Any) -> None:
    """Print data as JSON on stdout."""
    click.echo(as_json(value))


def say(text: str) -> None:
    """Print a message to stderr, because stdout is reserved for data."""
    click.echo(text, err=True)


def prints(
    text: Text | None = None,
    *,
    words: Text | None = None,
    fails: Callable[[Any], object] = lambda _: False,
    refuses: Callable[[Any], str | None] = lambda _: None,
) -> Callable[[F], F]:
    """Return a decorator that prints a command's return value and adds `--json`.

    With `--json`, the value is printed as JSON. Without `--json`, `text` formats the value for
    stdout, and `words` formats the value for stderr. `text` and `words` may return None to print
    nothing. The decorated command returns the exit code. The exit code is 2 if `refuses` returns a
    reason, which is printed. Otherwise, it is 1 if `fails` returns a true value, and 0 if not.
    """

    def decorate(command: F) -> F:
        @functools.wraps(command)
        def call(*args: Any, as_json: bool, **params: Any) -> int:
            value = command(*args, **params)
            if as_json:
                put_json(value)
            else:
                _write(put, text, value, params)
                _write(say, words, value, params)
            reason = refuses(value)
            if reason is not None:
                say(f"Error: {reason}")
                return 2
            return int(bool(fails(value)))

        return json_option(call)  # type: ignore[no-any-return]

    return decorate


def _write(
    write: Callable[[str], None], form: Text | None, value: Any, params: Mapping[str, Any]
) -> None:
    """Format a value with a format string or a function, and write the text.

    Nothing is written if `form` is None or returns None.
    """
    if form is None:
        return
    if isinstance(form, str):
        write(form.format(value=value, **params))
        return
    text = form(value)
    if text is not None:
        write(text)


def say_warnings(warnings: Iterable[str]) -> None:
    """Print warnings to stderr, for example from a world's summary or a story's report."""
    for warning in warnings:
        say(f"Warning: {warning}")


def intervention_sentence(result: Mapping[str, Any]) -> str:
    """Return the effect of an intervention as a sentence."""
    text = result["message"]
    return f"{text[:1].upper()}{text[1:]}."


def fields(pairs: Iterable[tuple[str, object]]) -> str:
    """Format labels and values in two columns. Rows with the value None are omitted."""
    lines = [(label, value) for label, value in pairs if value is not None]
    width = max((len(label) for label, _ in lines), default=0)
    return "\n".join(f"{label:<{width}}  {value}" for label, value in lines)


def is_terminal(stream: TextIO | None = None) -> bool:
    """Return whether stdout, or `stream` if it is given, accepts control sequences.

    FORCE_COLOR makes the result true for every stream.
    """
    if os.environ.get("FORCE_COLOR"):
        return True
    return (stream or sys.stdout).isatty() and os.environ.get("TERM") != "dumb"


def has_color() -> bool:
    """Return whether output on stdout should be colored."""
    return is_terminal() and "NO_COLOR" not in os.environ


def console(stream: TextIO | None = None) -> Console:
    """Return a rich console on stdout, or on `stream` if it is given.

    The console respects NO_COLOR, and prints markup as plain text.
    """
    from rich.console import Console

    return Console(file=stream, markup=False, emoji=False, highlight=False)
