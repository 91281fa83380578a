"""These tests write their files in memory where the machine has such a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

_MEMORY = Path("/dev/shm")


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """A folder for one test.

    These tests create tens of thousands of small files, which takes twice the time on a disk. No test
    depends on a real disk, because no test can cut its power.
    """
    if not os.access(_MEMORY, os.W_OK):
        yield tmp_path
        return
    with TemporaryDirectory(dir=_MEMORY, prefix="hosting-emulator-") as folder:
        yield Path(folder)
