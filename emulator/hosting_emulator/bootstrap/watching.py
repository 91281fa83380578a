"""Watching: what a changed file of a scenario sets off."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path


class Watcher:
    """Calls `changed` whenever a file changes, until it is stopped. Needs a running event loop.

    What `changed` raises ends the watching: it says itself what a broken file is to do.
    """

    def __init__(self, path: Path, changed: Callable[[Path], None]) -> None:
        self._path = path.resolve()
        self._changed = changed
        self._task = asyncio.get_running_loop().create_task(self._watch())

    async def _watch(self) -> None:
        from watchfiles import awatch

        # The folder is watched: editors put a new file in the old one's place.
        folder, path = self._path.parent, self._path
        async for _ in awatch(folder, watch_filter=lambda _, found: Path(found) == path):
            self._changed(path)

    async def stop(self) -> None:
        """Watch no longer."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
