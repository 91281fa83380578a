"""What every hostile test ends with: the emulator still answers, holds nothing more, and said nothing."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator

import pytest

from hosting_emulator.bootstrap import Emulator
from hosting_emulator.settings import Settings
from tests.stress.stage import DESCRIPTORS, LONG_S, Stage


@pytest.fixture
async def stage(caplog: pytest.LogCaptureFixture) -> AsyncIterator[Stage]:
    if not DESCRIPTORS.exists():
        pytest.skip("looks at this process through /proc")
    emulator = Emulator(Settings(port=0, data_dir=None))
    await emulator.start()
    found = Stage(emulator)
    try:
        assert await found.one(LONG_S) == "whole"
        await found.turn()
        before = found.open_things()
        yield found
        assert await found.one(LONG_S) == "whole"
        await found.settles(before)
        assert [line for line in caplog.records if line.levelno >= logging.WARNING] == []
    finally:
        await emulator.stop()
