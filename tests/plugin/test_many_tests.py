"""A thousand tests on one server: each throws its world away, and nothing of it may stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugin import thousand_tests as many

MOST_BYTES = 3 * 1024 * 1024


@pytest.mark.slow
def test_thousand_tests_leave_memory_flat(tmp_path: Path):
    kept_by_pytest = grown(tmp_path, many.PLAIN)

    kept = grown(tmp_path, many.MANY)

    assert kept - kept_by_pytest <= MOST_BYTES


def grown(folder: Path, suite: str) -> float:
    """Return by how many bytes nine hundred tests of a suite grow its process."""
    many.write(folder, suite.format(tests=many.TESTS))
    (watched,) = many.run(folder)
    return watched["memory"]["1000"] - watched["memory"]["100"]
