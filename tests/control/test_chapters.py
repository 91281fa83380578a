"""The chapters of an observation show worlds that have ended, as long as their states are kept."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import pytest
from aiohttp.test_utils import TestClient
from pytest_aiohttp import AiohttpClient

from hosting_emulator.http.time_slices import LongJob
from tests.support.emulator_in_loop import EmulatorServer
from tests.support.small_limits import limit_ended_worlds

OBSERVATIONS = "/_emulator/observations"
PARTS = ("state", "state?began=true", "report", "requests", "requests/1")


class Observer:
    """A client that observes all worlds of an emulator."""

    def __init__(self, client: TestClient[Any, Any], id_: str) -> None:
        self.client = client
        self.path = f"{OBSERVATIONS}/{id_}"

    async def chapter(self, index: object, part: str) -> tuple[int, Any]:
        """Return the status and the document of a part of a chapter."""
        async with self.client.get(f"{self.path}/chapters/{index}/{part}") as response:
            return response.status, await response.json()

    async def report(self) -> Any:
        async with self.client.get(self.path) as response:
            return await response.json()

    async def end_world(self, name: str) -> None:
        """Create a world, send one request to it, and delete it."""
        async with self.client.post("/_emulator/worlds", json={"name": name}) as response:
            assert response.status == 201
        async with self.client.get(f"/worlds/{name}/v1/projects/x/edge-dns") as response:
            assert response.status == 401
        async with self.client.delete(f"/_emulator/worlds/{name}") as response:
            assert response.status in (200, 204)


@pytest.fixture
async def observer(aiohttp_client: AiohttpClient) -> Observer:
    client: TestClient[Any, Any] = await aiohttp_client(EmulatorServer())
    async with client.post(OBSERVATIONS, json={}) as response:
        document = await response.json()
    return Observer(client, document["id"])


async def test_other_requests_are_served_while_a_report_judges_many_requests(
    observer: Observer, monkeypatch: pytest.MonkeyPatch
):
    pauses = 0
    pause = LongJob.pause

    async def count_pause(job: LongJob) -> None:
        nonlocal pauses
        pauses += 1
        await pause(job)

    monkeypatch.setattr(LongJob, "pause", count_pause)
    for _ in range(20):
        async with observer.client.get("/v1/projects/x/edge-dns") as response:
            assert response.status == 401
    report = await observer.report()
    assert report["requests"] == 20
    assert pauses >= 3


@pytest.mark.parametrize("part", PARTS)
async def test_a_chapter_of_a_discarded_world_is_gone_and_its_verdict_is_not(
    observer: Observer, monkeypatch: pytest.MonkeyPatch, part: str
):
    limit_ended_worlds(monkeypatch, 2)
    for number in range(4):
        await observer.end_world(f"world-{number}")
    chapters = {chapter["world"]: chapter for chapter in (await observer.report())["chapters"]}

    results: dict[str, Any] = {}
    for name in sorted(chapters):
        index = chapters[name]["index"]
        status, document = await observer.chapter(index, part)
        results[name] = status
        if status != 200:
            results[name] = (status, document["title"])
        if status == 410:
            assert document["detail"] == (
                f"the state and the requests of chapter {index} are no longer kept"
            )

    gone = (410, "No longer kept")
    assert {name: results[name] for name in results if name != "default"} == {
        "world-0": gone,
        "world-1": gone,
        "world-2": 200,
        "world-3": 200,
    }
    released = [chapters[f"world-{number}"]["released"] for number in range(4)]
    assert released == [True, True, False, False]
    assert [chapters[f"world-{number}"]["conduct"]["judged"] for number in range(4)] == [1] * 4
    (remark,) = (await observer.report())["remarks"]
    assert "2 worlds" in remark


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("index", ["1", "x", "-1", "+0", "%C2%B2", "0000000000", "1" * 50])
async def test_a_number_without_a_chapter_is_refused(observer: Observer, part: str, index: str):
    status, document = await observer.chapter(index, part)

    assert (status, document["title"]) == (404, "No such chapter")
    assert document["detail"] == f"observation-1 has no chapter {unquote(index)[:40]!r}"


async def test_a_number_of_nine_digits_names_a_chapter(observer: Observer):
    status, document = await observer.chapter("000000000", "requests")

    assert (status, document["total"]) == (200, 0)


async def test_the_state_of_a_chapter_is_its_last_unless_its_beginning_is_requested(
    observer: Observer,
):
    fault: dict[str, Any] = {"timeout": {}}
    async with observer.client.post("/_emulator/worlds/default/faults", json=fault) as response:
        assert response.status == 201

    states = {}
    for query in ("", "?began=true", "?seed=true", "?began=true&seed=true"):
        status, states[query] = await observer.chapter(0, f"state{query}")
        assert status == 200

    faults = [len(state["tables"].get("faults", {})) for state in states.values()]
    assert faults == [1, 0, 1, 0]
    assert [state.get("seed") is not None for state in states.values()] == [
        False,
        False,
        True,
        True,
    ]
