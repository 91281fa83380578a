"""A thousand tests in one process: every one has its own world, and memory stays flat."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugin import thousand_tests as many

MOST_BYTES = 5 * 1024 * 1024


@pytest.mark.slow
def test_thousand_tests_leave_memory_flat(tmp_path: Path):
    many.write(tmp_path)

    assert any(grown(tmp_path) <= MOST_BYTES for _ in range(3))


def grown(suite: Path) -> float:
    """Return by how many bytes a run grows. A busy machine only adds to it: the least counts."""
    (watched,) = many.run(suite)
    return watched["memory"]["1000"] - watched["memory"]["100"]
