"""The page of figures is whole: every call is in it, and it says why its commands are not run."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from benchmarks.bench import PARTS
from hosting_emulator.contract.calls import ALL_CALLS
from tests.docs.markdown import blocks

REPOSITORY = Path(__file__).parents[2]
PAGE = REPOSITORY / "docs" / "maintainers" / "speed.md"
TEXT = PAGE.read_text(encoding="utf-8")


def measured(text: str) -> list[str]:
    return (
        text.partition("<!-- measured -->\n")[2]
        .partition("<!-- end of measured -->")[0]
        .split("\n")
    )


def cells(text: str) -> list[list[str]]:
    rows = [line for line in measured(text) if line.startswith("|")][2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def calls_of_part(part: str) -> list[str]:
    """Return the calls that the rows of a part are about, in order."""
    calls = []
    current_part = ""
    for row in cells(TEXT):
        current_part = row[0] or current_part
        name = row[1].split()[0]
        if current_part == part and name in ALL_CALLS:
            calls.append(name)
    return calls


def test_the_speed_page_has_the_rate_and_growth_of_the_same_calls():
    """A call that was added since is missing until the next `make bench`."""
    assert calls_of_part("calls") == calls_of_part("growth")
    assert calls_of_part("calls") == [name for name in ALL_CALLS if name in calls_of_part("calls")]
    assert len(calls_of_part("calls")) >= 9, "the contract has eight calls, and the poll"


def test_the_speed_page_measures_and_explains_every_part():
    assert [row[0] for row in cells(TEXT) if row[0]] == list(PARTS)
    assert [part for part in PARTS if f"**{part}.**" not in TEXT] == []


def test_the_speed_page_states_how_many_bars_were_met_and_missed():
    verdicts = [row[-1] for row in cells(TEXT)]

    met = verdicts.count("yes")
    missed = verdicts.count("**no**")
    assert measured(TEXT)[2] == f"This run met {met} of its bars and missed {missed}."


def test_the_picture_of_the_speed_page_is_valid_xml():
    ElementTree.parse(PAGE.with_suffix(".svg"))


def test_every_block_of_the_speed_page_states_why_it_does_not_run():
    assert [block.line for block in blocks(TEXT) if block.skipped is None] == []
