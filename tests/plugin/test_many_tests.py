"""A thousand tests on one server: each deletes its world, and nothing of it may remain in memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugin import thousand_tests as many

MOST_BYTES = 3 * 1024 * 1024


@pytest.mark.slow
@pytest.mark.parametrize("tests", [300, pytest.param(many.TESTS, marks=pytest.mark.torture)])
def test_memory_does_not_grow_with_the_number_of_tests(tmp_path: Path, tests: int):
    grown_bytes_of_pytest = grown(tmp_path, many.PLAIN, tests)

    grown_bytes = grown(tmp_path, many.MANY, tests)

    assert grown_bytes - grown_bytes_of_pytest <= MOST_BYTES


def grown(folder: Path, suite: str, tests: int) -> float:
    """Return by how many bytes the process grows after the first hundred tests of a suite."""
    many.write(folder, suite.format(tests=tests))
    (watched,) = many.run(folder, cold=False)
    return watched["memory"][str(tests)] - watched["memory"]["100"]
