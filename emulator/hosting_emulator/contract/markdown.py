"""Reads lists of sentences from Markdown files that are stored next to the code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path


def read_sections(path: Path) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the heading and the items of each section of a file.

    An item has the form `- name: text`, and its continuation lines are indented.
    """
    text = path.read_text(encoding="utf-8").replace("\n  ", " ")
    for section in text.split("\n## ")[1:]:
        heading, _, rest = section.partition("\n")
        yield heading, re.findall(r"^- ([^:\n]+):? ?(.*)", rest, re.MULTILINE)
