"""The check at the end of every attack: the emulator responds, has nothing more open, logged no warning."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator

import pytest

from tests.support.emulator_in_loop import emulator_in_loop
from tests.support.held_connections import PROC
from tests.support.server_internals import ServerInternals
from tests.support.stage import LONG_S, Stage, assert_nothing_open


@pytest.fixture
async def stage(caplog: pytest.LogCaptureFixture) -> AsyncIterator[Stage]:
    if not PROC.exists():
        pytest.skip("looks at this process through /proc")
    async with emulator_in_loop() as emulator:
        stage = Stage(emulator)
        assert await stage.send_one_request(LONG_S) == "whole"
        before = await stage.quiet()
        yield stage
        assert await stage.send_one_request(LONG_S) == "whole"
        assert_nothing_open(before, await stage.quiet())
        records = [*caplog.get_records("call"), *caplog.records]
        assert [record for record in records if record.levelno >= logging.WARNING] == []


@pytest.fixture
def internals(monkeypatch: pytest.MonkeyPatch) -> ServerInternals:
    """Access to the inside of the server, for facts that no client can observe."""
    return ServerInternals(monkeypatch)
