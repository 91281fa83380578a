"""Each page tells the truth: its commands run in the order of the page, and print what it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.terminal import Terminals

DOCS = Path(__file__).parents[2] / "docs"
#: Pages without commands, or with a test module of their own.
ELSEWHERE = {"ci", "index", "languages", "tasks"}
#: Pages whose commands run. README.md has a module of its own.
PAGES = [path.stem for path in sorted(DOCS.glob("*.md")) if path.stem not in ELSEWHERE]
#: Pages that a reader follows while the emulator of the README is running.
EMULATOR_RUNS = (
    "check-a-server",
    "failures",
    "scenarios",
    "service",
    "sign-in",
    "time-and-state",
    "what-happened",
)
#: The others are slow.
QUICK = ("failures", "scenarios")


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in PAGES],
)
def test_the_commands_of_a_page_print_what_the_page_shows(name: str, tmp_path: Path) -> None:
    page = (DOCS / f"{name}.md").read_text(encoding="utf-8")

    with Terminals(tmp_path) as terminals:
        if name in EMULATOR_RUNS:
            terminals.start_emulator()
        terminals.follow(page)
