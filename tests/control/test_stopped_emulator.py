"""What is left in the event loop of an emulator that has stopped."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.support.emulator_in_loop import emulator_in_loop


async def test_an_emulator_with_files_leaves_no_task_when_it_stops(tmp_path: Path):
    before = asyncio.all_tasks()

    async with emulator_in_loop(data_dir=tmp_path / "data"):
        during = asyncio.all_tasks() - before
    await asyncio.sleep(0)

    assert during
    assert asyncio.all_tasks() == before
