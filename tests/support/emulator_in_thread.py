"""Runs an emulator in a thread of this process, for tests that change or observe the process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hosting_emulator.settings import Settings
from pytest_hosting_emulator import BackgroundEmulator


@contextmanager
def emulator_in_thread(**settings: Any) -> Iterator[BackgroundEmulator]:
    """Run an emulator during a block.

    By default, the emulator listens on a free port, stores nothing on disk, and has a frozen clock.
    """
    options: dict[str, Any] = {"port": 0, "data_dir": None, "clock": "frozen", **settings}
    with BackgroundEmulator(Settings(**options)) as server:
        yield server
