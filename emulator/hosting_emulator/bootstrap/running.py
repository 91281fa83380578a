"""Running: an emulator in the foreground, from its start to the signal that ends it."""

from __future__ import annotations

import asyncio
import gc
import signal
from collections.abc import Callable

from hosting_emulator.bootstrap.emulator import Emulator
from hosting_emulator.bootstrap.logs import log_requests, log_to_stderr
from hosting_emulator.server.crowding import Crowding, raise_limit
from hosting_emulator.settings import Ready, Settings


def run(settings: Settings, announce: Callable[[Ready], None]) -> int:
    """Run an emulator until SIGINT or SIGTERM; returns the exit code. Raises StartError."""
    log_to_stderr(settings)
    return asyncio.run(_run(settings, announce))


async def _run(settings: Settings, announce: Callable[[Ready], None]) -> int:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping.set)
    raise_limit()
    loop.set_exception_handler(Crowding())
    emulator = Emulator(settings)
    log_requests(settings, emulator.worlds)
    await emulator.start()
    try:
        # In a thread, so that the first request need not wait for cryptography to be loaded.
        announce(await asyncio.to_thread(emulator.ready))
        await warm_up()
        await stopping.wait()
    finally:
        await emulator.stop()
    return 0


async def warm_up() -> None:
    """Keep what was loaded out of garbage collection."""
    gc.collect()
    gc.freeze()  # it never becomes garbage
    gc.set_threshold(50_000, 20, 50)
