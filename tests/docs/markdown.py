"""Reading a Markdown page: its fenced blocks, links and headings. Runs nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_FENCE = re.compile(
    r"(?:<!-- not run(?P<where> here)?: (?P<reason>.+?) -->\n)?"
    r"^```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_SITE_ENTRIES = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NOT_RUN = re.compile(r"<!-- not run")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block. `skipped` is the reason in the comment before it, or None if it runs."""

    line: int
    language: str
    text: str
    skipped: str | None


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a block and the output shown below it, or "" for none."""

    line: int
    command: str
    output: str


def blocks(page: str) -> list[Block]:
    """Return the fenced blocks of a page, in order."""
    page_blocks = [
        Block(
            page.count("\n", 0, match.start("language")) + 1,
            match["language"],
            match["text"],
            match["reason"],
        )
        for match in _FENCE.finditer(page)
    ]
    marked = sum(block.skipped is not None for block in page_blocks)
    assert marked == len(_NOT_RUN.findall(page)), "a `not run` comment stands before no block"
    return page_blocks


def steps(block: Block) -> Iterator[Step]:
    """Yield the commands of a `console` or `bash` block."""
    if block.language == "bash":
        yield Step(block.line, block.text.strip(), "")
        return
    step: Step | None = None
    continued = False
    for number, line in enumerate(block.text.splitlines(), block.line + 1):
        if line.startswith("$ "):
            if step is not None:
                yield step
            step = Step(number, line[2:], "")
        elif step is None:
            raise ValueError(f"line {number}: a console block begins with `$ `")
        elif continued:
            step = Step(step.line, f"{step.command}\n{line}", "")
        else:
            step = Step(step.line, step.command, f"{step.output}{line}\n")
        continued = line.endswith("\\") and not step.output
    if step is not None:
        yield step


def without_blocks(page: str) -> str:
    """Return the prose of a page, without its fenced blocks."""
    return _FENCE.sub("", page)


def links(page: str) -> list[str]:
    """Return the targets of the inline links in the prose of a page."""
    return re.findall(r"\]\(([^)\s]+)\)", without_blocks(page))


def site_entries(page: str) -> list[str]:
    """Return the pages that the documentation site lists below this page, without their suffixes."""
    tables = _SITE_ENTRIES.findall(page)
    return [entry for table in tables for entry in re.findall(r"^[\w/-]+$", table, re.MULTILINE)]


def anchors(page: str) -> set[str]:
    """Return the anchors of the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", without_blocks(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def matches(expected: str, printed: str) -> bool:
    """Return whether printed output matches what a page shows.

    `…` within a line stands for any text of that line, and a line of `…` alone for any lines.
    """
    pattern = ""
    for line in expected.rstrip("\n").splitlines():
        if line.strip() == "…":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(re.escape(part) for part in line.split("…")) + r"[ \t]*\n"
    return re.fullmatch(pattern, printed.rstrip("\n") + "\n") is not None
