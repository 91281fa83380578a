"""No table loses a word on a terminal of 80 or 120 columns or in a pipe."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import pytest
from click import unstyle

from hosting_emulator_scenarios import FOLDER
from pytest_hosting_emulator import BackgroundEmulator
from tests.cli.conftest import Run
from tests.support.emulator_in_thread import emulator_in_thread
from tests.support.http_world import HttpWorld

LONG = "a-world-whose-name-is-as-long-as-the-names-of-worlds-may-be-63"
TABLES = """
world list
world history
status
requests list
fault list
fault kinds
outcome list
triggers
outcome kinds
intervene kinds
scenario list
conduct rules
contract problems
contract assumptions
contract variation-points
"""


@pytest.fixture(scope="module")
def emulator() -> Iterator[BackgroundEmulator]:
    """An emulator whose lists all have entries."""
    with emulator_in_thread(library=FOLDER) as background:
        world = background.world()
        world.control.create_world(LONG, clock={"mode": "skip"})
        world.fault(
            "abort",
            code="service_unavailable",
            detail="no " * 30,
            call="get_operation",
            until="1h",
        )
        world.outcome("fail", phase="deploying", project="shop")
        HttpWorld(world).apply_domains(key="k" * 60)
        HttpWorld(world).call("GET", "/v1/" + "/".join(["a-long-path"] * 6))
        yield background


@pytest.mark.parametrize("line", TABLES.strip().splitlines())
def test_a_table_on_a_terminal_shows_all_words_of_the_piped_table(
    run: Run, emulator: BackgroundEmulator, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOSTING_EMULATOR_URL", emulator.base_url)
    monkeypatch.setenv("NO_COLOR", "1")
    piped = run(*line.split()).stdout
    assert "…" not in piped

    for columns in (80, 120):
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("COLUMNS", str(columns))
        text = run(*line.split()).stdout
        lines = text.splitlines()
        too_long = [
            text_line
            for text_line in lines
            if len(unstyle(text_line)) > columns and len(text_line.split()) > 2
        ]
        assert too_long == []
        assert not lost_words(line, piped, text)


def lost_words(line: str, piped: str, text: str) -> Counter[str]:
    """Return the words that the terminal shows less often than the pipe."""
    if line == "requests list":  # Its output on a terminal has other headers and shorter times.
        piped = _without_dates(piped).split("\n", 1)[1]
        text = _without_dates(text)
    if line == "status":
        piped = piped.partition("\n\n")[2]
    headers = piped.split("\n", 1)[0].split()
    return Counter(piped.split()) - Counter(text.split()) - Counter(headers)


def _without_dates(text: str) -> str:
    return re.sub(r"[#─│]|\d{4}-\d\d-\d\dT|Z\b", " ", text)
