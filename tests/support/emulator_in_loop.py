"""Runs an emulator in the event loop of a test, for pytest-aiohttp's fixtures and raw connections.

`aiohttp_client(EmulatorServer())` starts an emulator and returns a client. The test can then
observe every task, connection and listener of the emulator and of its client.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp.test_utils import BaseTestServer
from aiohttp.web import BaseRunner
from yarl import URL

from hosting_emulator.bootstrap import Emulator
from hosting_emulator.engine.engine import Engine
from hosting_emulator.faults.interventions import read_intervention
from hosting_emulator.settings import Settings, StartError


def _settings(options: dict[str, Any]) -> Settings:
    return Settings(**{"port": 0, "data_dir": None, **options})


@asynccontextmanager
async def emulator_in_loop(**settings: Any) -> AsyncIterator[Emulator]:
    """Run an emulator during a block. By default, the emulator listens on a free port, without storage."""
    async with Emulator(_settings(settings)) as emulator:
        yield emulator


class EmulatorServer(BaseTestServer):
    """An emulator as a server for pytest-aiohttp.

    By default, the emulator stores nothing on disk and its clock is frozen.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self.emulator = Emulator(_settings({"clock": "frozen", **settings}))
        self._is_started = False

    async def start_server(self, loop: Any = None, **options: Any) -> None:
        """Start the emulator with its own server, which replaces the server of aiohttp."""
        if self._is_started:
            return
        await self.emulator.start()
        self._is_started = True
        self._root = URL(self.emulator.ready().base_url)
        self.host = str(self._root.host)
        self.port = self._root.port
        self.scheme = self._root.scheme

    async def _make_runner(self, **options: Any) -> BaseRunner:
        raise NotImplementedError("the emulator has its own server")

    @property
    def started(self) -> bool:
        return self._is_started

    async def close(self) -> None:
        """Stop the emulator, unless it is already stopped."""
        if self._is_started and not self.closed:
            self._closed = True
            await self.emulator.stop()


def intervene_in(engine: Engine, name: str, /, **fields: Any) -> None:
    """Carry out an intervention in a world of this process, without a request."""
    change = engine.begin_change()
    read_intervention({name: fields}).apply(change)
    engine.commit(change, name)


def refusal_of_settings(**settings: Any) -> str:
    """Return the error message with which an emulator with these settings refuses to start."""
    try:
        Emulator(_settings(settings))
    except StartError as error:
        return str(error)
    raise AssertionError(f"an emulator with these settings is not refused: {settings}")
