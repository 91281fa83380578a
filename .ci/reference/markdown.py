"""Writes Markdown that looks the same on GitHub, on the documentation site and on the emulator's pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from inspect import cleandoc

_CODE_SPAN = re.compile(r"(`+)(.+?)\1", re.DOTALL)


def code(text: object) -> str:
    """Return text as a code span."""
    return f"`{text}`"


def codes(values: Iterable[object]) -> str:
    """Return values as code spans, separated by commas."""
    return ", ".join(code(value) for value in values)


def block(text: str, language: str = "") -> str:
    """Return text as a fenced block."""
    return f"```{language}\n{text.rstrip()}\n```"


def prose(text: str) -> str:
    """Return plain text as Markdown: escape the characters that Markdown or HTML would interpret.

    Code spans are left unchanged.
    """
    parts = []
    end = 0
    for match in _CODE_SPAN.finditer(text):
        parts += [_escape(text[end : match.start()]), match.group()]
        end = match.end()
    return "".join([*parts, _escape(text[end:])])


def _escape(text: str) -> str:
    return re.sub(r"(?<!\w)([*_])|([*_])(?!\w)|([<\[\]])", r"\\\1\2\3", text)


def paragraph(text: str) -> str:
    """Join the lines of a text, and return it as one line of prose."""
    return prose(" ".join(text.split()))


def docstring(text: str | None) -> str:
    """Return a docstring as Markdown. Indented blocks become fenced blocks."""
    paragraphs = []
    for part in cleandoc(text or "").split("\n\n"):
        lines = part.splitlines()
        if lines and all(line.startswith("    ") for line in lines):
            paragraphs.append(block("\n".join(line[4:] for line in lines)))
        elif lines and all(line.startswith(("- ", "  ")) for line in lines):
            paragraphs.append("\n".join(prose(line) for line in lines))
        else:
            paragraphs.append(paragraph(part))
    return "\n\n".join(paragraphs)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table. Cells are Markdown."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for row in rows:
        cells = [" ".join(cell.replace("|", "\\|").split()) for cell in row]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def join(*parts: str) -> str:
    """Return the nonempty parts of a page, separated by empty lines."""
    return "\n\n".join(part for part in parts if part)


def anchor(heading: str) -> str:
    """Return the anchor that GitHub generates for a heading."""
    return re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-")


def sentence(text: str) -> str:
    """Return text that starts with a capital letter and ends with a full stop.

    If the text starts with a name such as `before_commit`, the name is left unchanged.
    """
    stripped = " ".join(text.split())
    if stripped and "_" not in stripped.split()[0]:
        stripped = f"{stripped[0].upper()}{stripped[1:]}"
    if stripped and not stripped.endswith((".", "!", "?")):
        stripped += "."
    return stripped
