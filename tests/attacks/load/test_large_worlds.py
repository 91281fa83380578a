"""Showing a world with many records lets the event loop handle other requests in between."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from msgspec.structs import replace

from hosting_emulator.server import time_slices
from hosting_emulator.world.records import ApiKey
from hosting_emulator.world.tables import API_KEYS, OPERATIONS
from tests.support.raw_requests import Requests
from tests.support.stage import Stage

ROWS = 1_000
REQUESTS = 200
WORLD = "/_emulator/worlds/default"


def fill(stage: Stage) -> None:
    """Give the world many operations and keys."""
    stage.intervene("add_deployments", project="shop", count=ROWS)
    engine = stage.engine
    operation = next(operation for _, operation in engine.world.rows(OPERATIONS))
    change = engine.begin_change()
    for number in range(ROWS):
        id_ = f"{operation.id[:-4]}{number:04d}"
        key = ApiKey(
            id=id_,
            organization_id="",
            person_id="",
            name="many",
            digest=f"{number:064x}",
            obfuscated_value="phk_…",
            permissions=(),
            created_at=operation.created_at,
            expires_ms=0,
        )
        change.put(API_KEYS, id_, key)
        change.put(OPERATIONS, id_, replace(operation, id=id_, deployment_id=None))
    engine.commit(change, "filled")


async def read(stage: Stage, path: str) -> Any:
    """Read a document of the world through the control API."""
    request = f"GET {WORLD}/{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    response = await stage.talk(request.encode())
    head, _, body = response.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), head
    if b"chunked" in head.lower():
        chunks = body.split(b"\r\n")[1::2]
        body = b"".join(chunks)
    return json.loads(body)


async def turns_during(stage: Stage, path: str) -> int:
    """Count the iterations of the event loop while a document is made and sent."""
    reading = asyncio.create_task(read(stage, path))
    turns = 0
    while not reading.done():
        turns += 1
        await asyncio.sleep(0)
    await reading
    return turns


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        ("operations", ROWS),
        ("operations?unfinished=true", ROWS // time_slices.ROWS_AT_ONCE),
        ("keys", ROWS),
        ("timeline", ROWS // time_slices.ROWS_AT_ONCE + REQUESTS),
        ("history?limit=1000", REQUESTS),
        ("report?requests=1000", REQUESTS),
        ("conduct", REQUESTS // 10),
    ],
)
async def test_other_requests_have_a_turn_between_the_steps(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, path: str, steps: int
):
    fill(stage)
    requests = Requests.of(stage)
    await stage.talk(requests.get * REQUESTS + requests.last)
    _, key = next(stage.engine.world.rows(API_KEYS))
    for number in range(REQUESTS):
        change = stage.engine.begin_change()
        change.put(API_KEYS, key.id, replace(key, name=f"key {number}"))
        stage.engine.commit(change, f"change {number}")
    await read(stage, "conduct" if path != "conduct" else "history")
    at_least = await turns_during(stage, "clock")
    monkeypatch.setattr(time_slices, "SLICE_S", 0.0)

    assert await turns_during(stage, path) >= at_least + steps
