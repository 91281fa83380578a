"""Worlds with a time to live: they are deleted after that long without a request."""

from __future__ import annotations

import asyncio
import logging
from typing import TypeAlias

from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.keeper import StoreFailed
from hosting_emulator.engine.worlds import Worlds

_log = logging.getLogger("hosting_emulator.worlds")

#: How many control requests and requests a world has had.
Uses: TypeAlias = tuple[int, int]


def expire_when_unused(worlds: Worlds, engine: Engine, previous_uses: Uses | None = None) -> None:
    """Delete a world once it was not used during its time to live, which is in real milliseconds.

    The world is looked at once in each of these times. `previous_uses` were its uses at the previous
    look; None: it was in use, or there was no look yet. A world without a time to live is kept.
    """
    if engine.ttl_ms is None or worlds.get(engine.world.name) is not engine:
        return
    uses = _uses(engine)
    if uses is None or uses != previous_uses:
        loop = asyncio.get_running_loop()
        timer = loop.call_later(engine.ttl_ms / 1000, expire_when_unused, worlds, engine, uses)
        engine.cancel_expiry = timer.cancel
        return
    try:
        worlds.delete(engine.world.name)
    except StoreFailed as error:
        _log.error("%s", error)
        return
    engine.cancel_expiry()


def _uses(engine: Engine) -> Uses | None:
    """Return how often a world was used. None: somebody listens to its events, so it is in use."""
    if engine.feed.listeners:
        return None
    return engine.control_requests, engine.log.count
