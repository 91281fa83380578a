"""Good scenario files, broken in every way: each gives one error, at the right line, and no traceback.

A mutation that leaves a valid file (a word that is free, say) is not counted, and another is tried.
"""

from __future__ import annotations

from random import Random

import pytest

from hosting_emulator.scenario.source import ScenarioError
from hosting_emulator.scenario.story import check_text
from hosting_emulator_scenarios import FOLDER
from tests.golden.mutations import MUTATIONS, Broken, Mutation

GOOD = [path.read_text("utf-8") for path in sorted(FOLDER.glob("*.yaml"))]
EACH = 5  # of 13 kinds; 208 files in `make torture`
EACH_AT_LENGTH = 16
MOST_TRIES = 400


def broken_files(mutation: Mutation, count: int) -> list[tuple[Broken, ScenarioError]]:
    """Return as many broken files as are wanted, each with the error it gives."""
    found: list[tuple[Broken, ScenarioError]] = []
    seen: set[str] = set()
    for number in range(MOST_TRIES):
        random = Random(f"{mutation.__name__} {number}")
        broken = mutation(random.choice(GOOD), random)
        if broken is None or broken.text in seen:
            continue
        seen.add(broken.text)
        try:
            check_text(broken.text, "broken.yaml")
        except ScenarioError as error:
            found.append((broken, error))
        if len(found) == count:
            return found
    pytest.fail(f"{mutation.__name__} broke only {len(found)} files")


def test_there_are_two_hundred():
    assert EACH_AT_LENGTH * len(MUTATIONS) >= 200


@pytest.mark.parametrize("count", [EACH, pytest.param(EACH_AT_LENGTH, marks=pytest.mark.torture)])
@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda found: found.__name__)
def test_a_broken_file_gives_one_error_at_the_right_line(mutation, count):
    for broken, error in broken_files(mutation, count):
        shown = str(error)
        assert "\n" not in shown
        assert shown.startswith(f"broken.yaml:{error.line}:{error.column}: ")
        assert 20 < len(shown) < 900
        assert broken.first <= error.line <= broken.last, (
            f"{shown}\nnot in lines {broken.first} to {broken.last} of\n{broken.text}"
        )
