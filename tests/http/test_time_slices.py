"""Long jobs run in threads, a few at a time, so that the event loop is never blocked."""

from __future__ import annotations

import asyncio
import threading

import pytest

from hosting_emulator.contract.json_body import JsonRefused, read_json
from hosting_emulator.http.time_slices import MOST_THREADS, LongJob, in_thread

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


async def test_a_job_waits_for_its_turn_before_its_first_step():
    steps: list[str] = []

    async def work(name: str) -> None:
        async with LongJob() as job:
            steps.append(name)
            await job.pause()

    async with LongJob() as first:
        others = asyncio.gather(work("second"), work("third"))
        for _ in range(5):
            await asyncio.sleep(0)
        before = list(steps)
        first.suspend()
        await others

    assert before == []
    assert steps == ["second", "third"]


@pytest.mark.parametrize(
    "text", ['"\\ud83d"', '["a", {"b": ["\\uDE00x"]}]', '{"\\ud800": 1}', '{"a": {"\\udfff": 1}}']
)
def test_half_of_a_surrogate_pair_is_refused_at_any_position(text: str):
    with pytest.raises(JsonRefused, match="half of a surrogate pair"):
        read_json(text.encode())


def test_a_whole_surrogate_pair_is_a_character():
    assert read_json(b'{"\\ud83d\\ude00": ["\\u00e9\\ud83d\\ude00"]}') == {"😀": ["é😀"]}
