"""An emulator in a thread of this process, for tests that must reach into its surroundings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hosting_emulator.settings import Settings
from pytest_hosting_emulator import BackgroundEmulator


@contextmanager
def emulator_in_thread(**settings: Any) -> Iterator[BackgroundEmulator]:
    """Start an emulator on a free port and stop it at the end.

    It keeps nothing on disk and its clock is frozen unless `settings` say otherwise.
    """
    options: dict[str, Any] = {"port": 0, "data_dir": None, "clock": "frozen", **settings}
    with BackgroundEmulator(Settings(**options)) as server:
        yield server
