"""Formats text for terminals: alignment, counts and colors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest

from hosting_emulator.contract.value_texts import count_text as count_text

_COLORS = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "magenta": "35"}


def align(rows: Sequence[Sequence[str]]) -> list[str]:
    """Format rows as lines with aligned columns. Rows may have different numbers of cells."""
    columns = zip_longest(*(row[:-1] for row in rows), fillvalue="")
    widths = [max(map(len, column)) for column in columns]
    lines = []
    for *cells, last in rows:
        padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=False)]
        lines.append("  ".join([*padded, last]).rstrip())
    return lines


def one_line(text: str, longest: int) -> str:
    """Put a string on one line, truncated to at most `longest` characters."""
    line = " ".join(text.split())
    if len(line) > longest:
        return f"{line[: longest - 1]}…"
    return line


def paint(style: str, text: str) -> str:
    """Apply a terminal style to a string: bold, dim, red, green, yellow or magenta.

    If `style` is empty, the string is returned unchanged.
    """
    if not style or not text:
        return text
    return f"\x1b[{_COLORS[style]}m{text}\x1b[0m"


def plain(text: str) -> str:
    """Remove terminal colors and styles from a string."""
    return re.sub("\x1b\\[[0-9]+m", "", text)
