"""An emulator in a thread of this process, whose tasks and event streams can be counted."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from hosting_emulator.bootstrap import Emulator
from hosting_emulator.control import event_stream
from hosting_emulator.engine import feed, request_log
from hosting_emulator.settings import Ready, Settings
from tests.support.http_client import HttpClient

PATIENCE_S = 20.0


def limit_stored_entries(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Limit how many requests and events a world keeps, and drop a stuck reader after half a second."""
    monkeypatch.setattr(event_stream, "STUCK_S", 0.5)
    monkeypatch.setattr(feed, "RING", count)
    monkeypatch.setattr(request_log, "CAPACITY", count)


class CountedEmulator:
    """An emulator in a thread of this process, whose tasks can be counted."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._emulator = Emulator(Settings(port=0, data_dir=None))
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._emulator.start(), self.loop).result(PATIENCE_S)
        self.ready: Ready = self._emulator.ready()
        parts = urlsplit(self.ready.base_url)
        self.host = parts.netloc
        self.address = (str(parts.hostname), int(parts.port or 0))
        self.sent = 0

    def stop(self) -> None:
        asyncio.run_coroutine_threadsafe(self._emulator.stop(), self.loop).result(PATIENCE_S)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()

    def send_reads(self, count: int, query: str = "") -> None:
        """Send `count` reads as the user `owner`, one after another on one connection."""
        headers = {"Authorization": f"Bearer {self.ready.token}"}
        path = f"/v1/projects/{self.ready.project_id}/edge-dns{query}"
        with HttpClient(self.ready.base_url) as client:
            for _ in range(count):
                assert client.send("GET", path, headers=headers).status == 200
        self.sent += count

    @property
    def listeners(self) -> int:
        """The number of open event streams of the default world."""
        engine = self._emulator.worlds.get("default")
        assert engine is not None
        return engine.feed.listeners

    def tasks(self) -> int:
        """Return the number of unfinished tasks in the server's event loop."""
        return len(asyncio.all_tasks(self.loop))


@contextmanager
def counted_emulator() -> Iterator[CountedEmulator]:
    """Run an emulator during a block."""
    running = CountedEmulator()
    try:
        yield running
    finally:
        running.stop()
