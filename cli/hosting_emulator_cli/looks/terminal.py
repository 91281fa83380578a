"""Whether there is a terminal, and the console that writes to it."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console


def is_terminal(stream: TextIO | None = None) -> bool:
    """Tell whether stdout (or `stream`) is a terminal that can show more than plain text.

    FORCE_COLOR says it is, as it does to rich; a dumb terminal is none.
    """
    if os.environ.get("FORCE_COLOR"):
        return True
    return (stream or sys.stdout).isatty() and os.environ.get("TERM") != "dumb"


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
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def printable_lines(text: str) -> str:
    """Do the same for text of several lines, which stay."""
    return "\n".join(printable(line.expandtabs(2)) for line in text.splitlines())
