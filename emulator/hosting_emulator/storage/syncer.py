"""Grouped fsyncs: what many requests wait for costs one. Knows neither files nor commits."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable


class Syncer:
    """Groups fsyncs: all who wait while one runs are served together by the next.

    A sync that failed is told to all who waited for it, and once to `failed`. From then on there is
    nothing to wait for: whoever uses this must let no change be made any more.
    """

    def __init__(self, sync: Callable[[], int], failed: Callable[[OSError], None]) -> None:
        self._sync = sync
        self._failed = failed
        self._given_up = False
        self._synced = 0
        self._waiting: list[asyncio.Future[None]] = []
        self._task: asyncio.Task[None] | None = None

    def wait_for(self, appended: int) -> Awaitable[None] | None:
        """Return what to await until the first `appended` commits are synced; None: nothing."""
        if appended <= self._synced or self._given_up:
            return None
        loop = asyncio.get_running_loop()
        waiter = loop.create_future()
        self._waiting.append(waiter)
        if self._task is None:
            self._task = loop.create_task(self._run())
        return waiter

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            waiting, self._waiting = self._waiting, []
            try:
                self._synced = await loop.run_in_executor(None, self._sync)
            except OSError as error:
                _settle(waiting, error)
                self._give_up(error)
            else:
                _settle(waiting, None)
        self._task = None

    def _give_up(self, error: OSError) -> None:
        # Here, in the loop, and not in the thread that syncs: a change that is just being made
        # still finds something to wait for, and so learns of the failure.
        if not self._given_up:
            self._given_up = True
            waiting, self._waiting = self._waiting, []
            _settle(waiting, error)
            self._failed(error)


def _settle(waiting: list[asyncio.Future[None]], error: OSError | None) -> None:
    for waiter in waiting:
        if waiter.done():
            continue
        if error is None:
            waiter.set_result(None)
        else:
            waiter.set_exception(error)
