"""Each page tells the truth: its commands run in the order of the page, and print what it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.terminal import FILES, Terminals

DOCS = Path(__file__).parents[2] / "docs"
#: Pages whose commands run, with the languages of their blocks that are files.
#: README.md has a module of its own, and so have the pages for other languages (test_pages.py).
PAGES = {
    "calls": FILES,
    "conduct": FILES,
    "contract-check": FILES,
    "control-api": FILES,
    "explore": FILES,
    "judge": FILES,
    "failures": FILES,
    "log": FILES,
    "replay": FILES,
    "running": FILES,
    "testing": ("python", "toml"),
    "vary": FILES,
    "world-file": FILES,
    "worlds": FILES,
}
#: The others are slow.
QUICK = ("control-api", "failures")


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in PAGES],
)
def test_the_commands_of_a_page_print_what_the_page_shows(name: str, tmp_path: Path) -> None:
    page = (DOCS / f"{name}.md").read_text(encoding="utf-8")

    with Terminals(tmp_path) as terminals:
        terminals.follow(page, files=PAGES[name])
