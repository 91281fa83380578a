"""The check at the end of every attack: the emulator responds, has nothing more open, logged no warning."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator

import pytest

from tests.support.emulator_in_loop import emulator_in_loop
from tests.support.held_connections import OPEN_DESCRIPTORS
from tests.support.server_in_loop import PATIENCE_S, ServerInLoop, assert_nothing_open
from tests.support.server_internals import ServerInternals


@pytest.fixture
async def server(caplog: pytest.LogCaptureFixture) -> AsyncIterator[ServerInLoop]:
    if not OPEN_DESCRIPTORS.exists():
        pytest.skip("looks at this process through /proc")
    async with emulator_in_loop() as emulator:
        server = ServerInLoop(emulator)
        assert await server.send_one_request(PATIENCE_S) == "whole"
        before = await server.wait_until_quiet()
        yield server
        assert await server.send_one_request(PATIENCE_S) == "whole"
        assert_nothing_open(before, await server.wait_until_quiet())
        records = [*caplog.get_records("call"), *caplog.records]
        assert [record for record in records if record.levelno >= logging.WARNING] == []


@pytest.fixture
def internals(monkeypatch: pytest.MonkeyPatch) -> ServerInternals:
    """Access to the inside of the server, for facts that no client can observe."""
    return ServerInternals(monkeypatch)
