"""Long jobs share the event loop in short slices or run in a few threads, so they never block it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from random import Random
from typing import Any

import pytest

from hosting_emulator.contract.json_body import JsonRefused, read_json
from hosting_emulator.http import time_slices
from hosting_emulator.http.time_slices import (
    MOST_THREADS,
    ROWS_AT_ONCE,
    LongJob,
    in_thread,
    sort_in_slices,
)

PATIENCE_S = 30


async def test_only_a_few_jobs_run_in_threads_at_the_same_time():
    lock = threading.Lock()
    is_full = threading.Event()
    may_end = threading.Event()
    running: list[int] = []
    counts: list[int] = []

    def work(number: int) -> int:
        with lock:
            running.append(number)
            counts.append(len(running))
            if len(running) == MOST_THREADS:
                is_full.set()
        assert may_end.wait(PATIENCE_S)
        with lock:
            running.remove(number)
        return number

    jobs = asyncio.gather(*(in_thread(work, number) for number in range(10)))
    assert await asyncio.to_thread(is_full.wait, PATIENCE_S)
    may_end.set()

    assert await jobs == list(range(10))
    assert max(counts) == MOST_THREADS


async def test_a_job_that_fails_or_is_cancelled_frees_its_place():
    def fail() -> None:
        raise ValueError("no")

    for _ in range(MOST_THREADS + 1):
        with pytest.raises(ValueError, match="no"):
            await in_thread(fail)
    for _ in range(MOST_THREADS + 1):
        job = asyncio.create_task(in_thread(int))
        await asyncio.sleep(0)
        job.cancel()
        await asyncio.gather(job, return_exceptions=True)
    assert await in_thread(int) == 0


class Jobs:
    """Jobs that record their steps, each with the name of its job."""

    def __init__(self) -> None:
        self.steps: list[str] = []

    async def work(self, name: str, count: int = 1) -> None:
        async with LongJob() as job:
            for _ in range(count):
                self.steps.append(name)
                await job.pause()

    async def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start a job, and let it come as far as it can."""
        task = asyncio.create_task(work)
        await self.settle()
        return task

    async def settle(self) -> None:
        """Let all jobs come as far as they can."""
        for _ in range(5):
            await asyncio.sleep(0)


async def test_a_job_waits_for_its_turn_before_its_first_step():
    jobs = Jobs()
    async with LongJob() as first:
        second = await jobs.start(jobs.work("second"))
        third = await jobs.start(jobs.work("third"))
        before = list(jobs.steps)
        first.suspend()
        await asyncio.gather(second, third)

    assert before == []
    assert jobs.steps == ["second", "third"]


async def test_jobs_take_turns_when_their_slices_end(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(time_slices, "SLICE_S", 0.0)
    jobs = Jobs()

    async with LongJob():
        first = await jobs.start(jobs.work("first", 3))
        second = await jobs.start(jobs.work("second", 2))
    await asyncio.gather(first, second)

    assert jobs.steps == ["first", "second", "first", "second", "first"]


async def test_a_suspended_job_waits_for_its_next_turn_and_ends_without_disturbing_others():
    jobs = Jobs()
    is_over = asyncio.Event()

    async def suspended(name: str, *, goes_on: bool) -> None:
        async with LongJob() as job:
            job.suspend()
            await is_over.wait()
            if goes_on:
                await job.pause()
                jobs.steps.append(name)

    going_on = await jobs.start(suspended("going on", goes_on=True))
    ending = await jobs.start(suspended("ending", goes_on=False))
    async with LongJob():
        waiting = await jobs.start(jobs.work("waiting"))
        is_over.set()
        await ending
        await jobs.settle()
        during_another_job = list(jobs.steps)
    await asyncio.gather(going_on, waiting)

    assert during_another_job == []
    assert jobs.steps == ["waiting", "going on"]


@pytest.mark.parametrize("is_its_turn", [False, True])
async def test_a_job_that_is_cancelled_passes_its_turn_on(is_its_turn: bool):
    jobs = Jobs()
    async with LongJob() as first:
        second = await jobs.start(jobs.work("second"))
        third = await jobs.start(jobs.work("third"))
        if is_its_turn:
            first.suspend()
        second.cancel()
        if not is_its_turn:
            await jobs.settle()
            assert jobs.steps == []
            first.suspend()
        async with asyncio.timeout(PATIENCE_S):
            await third

    assert jobs.steps == ["third"]


async def test_only_one_job_runs_in_an_iteration_of_the_event_loop():
    jobs = Jobs()

    assert LongJob.takes_single_slice()
    assert not LongJob.takes_single_slice()
    waiting = asyncio.create_task(jobs.work("waiting"))
    async with asyncio.timeout(PATIENCE_S):
        await waiting
    async with LongJob():
        assert not LongJob.takes_single_slice()
    assert LongJob.takes_single_slice()


@pytest.mark.parametrize("reverse", [False, True])
async def test_many_rows_are_sorted_as_a_whole(reverse: bool):
    numbers = list(range(3 * ROWS_AT_ONCE + 1))
    Random(0).shuffle(numbers)
    even_numbers = [number for number in numbers if number % 2 == 0]

    rows = await sort_in_slices(
        numbers, key=str, reverse=reverse, condition=lambda number: number % 2 == 0
    )

    assert list(rows) == sorted(even_numbers, key=str, reverse=reverse)


@pytest.mark.parametrize(
    "text", ['"\\ud83d"', '["a", {"b": ["\\uDE00x"]}]', '{"\\ud800": 1}', '{"a": {"\\udfff": 1}}']
)
def test_half_of_a_surrogate_pair_is_refused_at_any_position(text: str):
    with pytest.raises(JsonRefused, match="half of a surrogate pair"):
        read_json(text.encode())


def test_a_whole_surrogate_pair_is_a_character():
    assert read_json(b'{"\\ud83d\\ude00": ["\\u00e9\\ud83d\\ude00"]}') == {"😀": ["é😀"]}
