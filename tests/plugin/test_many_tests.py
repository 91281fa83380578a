"""A thousand tests in one process: every one has its own world, and memory stays flat."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugin import thousand_tests as many

MOST_BYTES = 5 * 1024 * 1024


@pytest.mark.slow
def test_thousand_tests_leave_memory_flat(tmp_path: Path):
    many.write(tmp_path)

    (watched,) = many.run(tmp_path)

    assert watched["memory"]["1000"] - watched["memory"]["100"] <= MOST_BYTES
