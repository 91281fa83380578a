"""Where these tests keep their files: in memory, if the machine has such a place."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

_MEMORY = Path("/dev/shm")


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """A folder of this test's own.

    Tens of thousands of small files are made here, and half of the time went into making them on a
    disk. Nothing is held against what a disk has really kept: no test can take its power away.
    """
    if not os.access(_MEMORY, os.W_OK):
        yield tmp_path
        return
    with TemporaryDirectory(dir=_MEMORY, prefix="hosting-emulator-") as folder:
        yield Path(folder)
