"""Tables that are mostly prose are Markdown beside the code: a section a row, an item a value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path


def read_sections(path: Path) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the heading of each section of a file, and its items `- name: text`.

    An item may go on in further lines, indented by two spaces.
    """
    text = path.read_text(encoding="utf-8").replace("\n  ", " ")
    for section in text.split("\n## ")[1:]:
        heading, _, rest = section.partition("\n")
        yield heading, re.findall(r"^- ([^:\n]+):? ?(.*)", rest, re.MULTILINE)
