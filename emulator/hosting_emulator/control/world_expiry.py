"""Deletes worlds that have received no requests for longer than their time to live."""

from __future__ import annotations

import asyncio
import logging
from typing import TypeAlias

from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.keeper import StoreFailed
from hosting_emulator.engine.worlds import Worlds

_log = logging.getLogger("hosting_emulator.worlds")

#: How many control requests and how many other requests a world has received.
Uses: TypeAlias = tuple[int, int]


def expire_when_unused(worlds: Worlds, engine: Engine, previous_uses: Uses | None = None) -> None:
    """Delete a world when it has been unused for at least its time to live.

    The world is checked at intervals of its time to live, so it may exist for up to twice that long
    without use. The time to live is in real milliseconds. A world without a time to live is not
    deleted. `previous_uses` are the world's usage counters at the previous check, or None if the
    world was in use then or has not been checked before.
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
    """Return the world's usage counters, or None if an event listener keeps the world in use."""
    if engine.feed.listeners:
        return None
    return engine.control_requests, engine.log.count
