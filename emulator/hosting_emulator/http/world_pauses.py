"""Pauses a response for a period of world time, as some faults require."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from hosting_emulator.contract.timestamps import LATEST_MS
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.keeper import StoreFailed
from hosting_emulator.http.protocol import HttpProtocol

#: How often the world's clock is checked: the interval in real seconds.
_LOOK_S: Final = 0.02


async def pass_world_time(engine: Engine, protocol: HttpProtocol, ms: int) -> None:
    """Wait until world time has advanced by `ms`, or until the client disconnects.

    With a frozen clock, the pause lasts until the clock is advanced. With a skip clock, the pause
    advances the clock and ends immediately. The pause also ends if the world is reset, replaced or
    deleted.
    """
    due_ms = min(LATEST_MS, engine.now_ms() + ms)
    times_cleared = engine.log.cleared
    while engine.now_ms() < due_ms and engine.log.cleared == times_cleared:
        if engine.feed.ended or protocol.transport is None:
            return
        if engine.world.clock.mode == "skip":
            with suppress(StoreFailed):
                engine.move_up_to(due_ms)
            return
        await protocol.wait_for_client_to_leave(_LOOK_S)
