"""Shares the event loop among long jobs, such as stories and requests that read the whole request
log.

One job runs at a time. When its time slice is over, the loop handles everything else, and then the
next job runs. A short request therefore waits for at most one slice, regardless of the number of
jobs. The jobs take turns in the order of their arrival, so a hundred concurrent jobs take about as
long as the same jobs one after another.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from time import perf_counter
from typing import Any, Final, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")

#: The maximum number of jobs that run in threads at the same time. Threads share Python's
#: interpreter lock, so with more jobs the event loop would get less than a third of the time.
MOST_THREADS: Final = 2
#: How many rows are sorted in one step.
ROWS_AT_ONCE: Final = 250
#: How long a job may run before it must pause, in seconds.
SLICE_S: Final = 0.001


class _Schedule:
    """The jobs of one event loop. One job runs while the other jobs wait."""

    def __init__(self) -> None:
        self._waiting = deque[asyncio.Future[None]]()
        self._is_running = False
        self.threads = asyncio.Semaphore(MOST_THREADS)

    @property
    def is_shared(self) -> bool:
        """Whether another job is waiting for its turn."""
        return bool(self._waiting)

    async def acquire(self) -> None:
        """Wait until this job is allowed to run."""
        if not self._is_running:
            self._is_running = True
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                # This job was cancelled when its turn came, so let the next job run.
                self.release()
            raise

    def take_iteration(self) -> bool:
        """Reserve this iteration of the event loop. Return False if another job is running."""
        if self._is_running:
            return False
        self._is_running = True
        asyncio.get_running_loop().call_soon(self.release)
        return True

    def release(self) -> None:
        """Let the next job run, in the next iteration of the loop."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._is_running = False


_schedules: WeakKeyDictionary[asyncio.AbstractEventLoop, _Schedule] = WeakKeyDictionary()


def _running_schedule() -> _Schedule:
    loop = asyncio.get_running_loop()
    schedule = _schedules.get(loop)
    if schedule is None:
        schedule = _Schedule()
        _schedules[loop] = schedule
    return schedule


async def in_thread(function: Callable[..., T], *arguments: Any) -> T:
    """Call a slow function in a thread. At most MOST_THREADS calls run at the same time."""
    async with _running_schedule().threads:
        return await asyncio.to_thread(function, *arguments)


class LongJob:
    """A job that may take a long time.

    It runs inside `async with`, and must call `pause` between its steps.
    """

    def __init__(self) -> None:
        self._schedule = _running_schedule()
        #: The `perf_counter()` value at which this slice ends.
        self.end_s = 0.0
        self._holds_turn = False

    @staticmethod
    def takes_single_slice() -> bool:
        """Reserve this iteration of the event loop for a job that needs only one slice.

        Returns False if another job is running.
        """
        return _running_schedule().take_iteration()

    async def __aenter__(self) -> LongJob:
        await self._begin_slice()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.suspend()

    async def pause(self) -> None:
        """Let other jobs run if this job has used up its slice.

        Each step should take less time than a slice.
        """
        if not self._holds_turn:
            await self._begin_slice()
        elif perf_counter() >= self.end_s:
            if self._schedule.is_shared:
                self.suspend()
                await self._begin_slice()
            else:
                await asyncio.sleep(0)
                self.end_s = perf_counter() + SLICE_S

    def suspend(self) -> None:
        """Let other jobs run while this job waits for something else, such as a slow client.

        The next call to `pause` then waits for this job's next turn.
        """
        if self._holds_turn:
            self._holds_turn = False
            self._schedule.release()

    async def _begin_slice(self) -> None:
        await self._schedule.acquire()
        self._holds_turn = True
        self.end_s = perf_counter() + SLICE_S


async def sort_in_slices(
    rows: Iterable[T],
    key: Callable[[T], Any],
    *,
    reverse: bool = False,
    condition: Callable[[T], bool] = lambda _: True,
) -> Iterator[T]:
    """Sort those rows that meet a condition, without blocking other requests.

    The source of the rows must not change until the sort has finished.
    """
    remaining = iter(rows)
    runs: list[list[T]] = []
    async with LongJob() as job:
        run = list(islice(remaining, ROWS_AT_ONCE))
        while run:
            runs.append(sorted(filter(condition, run), key=key, reverse=reverse))
            await job.pause()
            run = list(islice(remaining, ROWS_AT_ONCE))
    return heapq.merge(*runs, key=key, reverse=reverse)
