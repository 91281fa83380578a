"""Valid scenario files, broken in many ways: each gives one error in one line, at the right place.

A mutation that leaves a valid file, because the changed word is free, is not counted.
"""

from __future__ import annotations

from random import Random

import pytest

from tests.golden.mutations import MUTATIONS, BrokenFile, Mutation
from tests.support.scenario_files import FileError, error_of, library_files

VALID_TEXTS = [path.read_text("utf-8") for path in library_files()]
#: How many files of each of the 13 kinds the ordinary run breaks, and how many `make torture`.
COUNT = 5
TORTURE_COUNT = 16
MOST_TRIES = 400


def broken_files(mutation: Mutation, count: int) -> list[tuple[BrokenFile, FileError]]:
    """Return `count` broken files, each with the error that it gives."""
    broken_files: list[tuple[BrokenFile, FileError]] = []
    tried_texts: set[str] = set()
    for number in range(MOST_TRIES):
        random = Random(f"{mutation.__name__} {number}")
        broken = mutation(random.choice(VALID_TEXTS), random)
        if broken is None or broken.text in tried_texts:
            continue
        tried_texts.add(broken.text)
        error = error_of(broken.text, "broken.yaml")
        if error is not None:
            broken_files.append((broken, error))
        if len(broken_files) == count:
            return broken_files
    pytest.fail(f"{mutation.__name__} broke only {len(broken_files)} files")


def test_the_long_run_breaks_at_least_200_files() -> None:
    assert TORTURE_COUNT * len(MUTATIONS) >= 200


@pytest.mark.parametrize("count", [COUNT, pytest.param(TORTURE_COUNT, marks=pytest.mark.torture)])
@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.__name__)
def test_a_broken_scenario_file_gives_one_error_at_the_right_line(
    mutation: Mutation, count: int
) -> None:
    for broken, error in broken_files(mutation, count):
        message = error.message
        assert "\n" not in message
        assert message.startswith(f"broken.yaml:{error.line}:{error.column}: ")
        assert 20 < len(message) < 900
        assert broken.first <= error.line <= broken.last, (
            f"{message}\nnot in lines {broken.first} to {broken.last} of\n{broken.text}"
        )
