"""What every hostile test ends with: the emulator still answers, holds nothing more, and said nothing."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator

import pytest

from hosting_emulator.bootstrap import Emulator
from hosting_emulator.settings import Settings
from tests.support.held_connections import PROC
from tests.support.stage import LONG_S, Stage, assert_nothing_open


@pytest.fixture
async def stage(caplog: pytest.LogCaptureFixture) -> AsyncIterator[Stage]:
    if not PROC.exists():
        pytest.skip("looks at this process through /proc")
    emulator = Emulator(Settings(port=0, data_dir=None))
    await emulator.start()
    found = Stage(emulator)
    try:
        assert await found.one(LONG_S) == "whole"
        before = await found.quiet()
        yield found
        assert await found.one(LONG_S) == "whole"
        assert_nothing_open(before, await found.quiet())
        lines = [*caplog.get_records("call"), *caplog.records]
        assert [line for line in lines if line.levelno >= logging.WARNING] == []
    finally:
        await emulator.stop()
