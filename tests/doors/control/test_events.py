"""Server-sent events: what happens in a world, told while it happens, and nothing left behind.

Emulator and listeners live in one event loop: every task and listener is in sight.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import pytest

from hosting_emulator.bootstrap import Emulator
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.history import RING
from hosting_emulator.faults.documents import arm
from hosting_emulator.server.control import requests
from hosting_emulator.settings import Settings
from hosting_emulator.world.operations import schedule_event
from hosting_emulator.world.records import TimelineEntry
from hosting_emulator.world.tables import TIMELINE
from hosting_emulator.world.value import Change

PATIENCE_S = 10.0
Event = tuple[int, str, Any]


class Place:
    """A running emulator, its default world and whoever speaks to it."""

    def __init__(self, emulator: Emulator) -> None:
        ready = emulator.ready()
        self.emulator = emulator
        self.host = urlsplit(ready.base_url).netloc
        self.project = ready.project_id
        self.token = ready.token
        found = emulator.worlds.get("default")
        assert found is not None
        self.engine: Engine = found

    async def open(self, target: str, method: str = "GET", body: str = "", **headers: str):
        reader, writer = await asyncio.open_connection(*self.host.split(":"))
        lines = [f"{method} {target} HTTP/1.1", f"Host: {self.host}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        if body:
            lines.append(f"Content-Length: {len(body)}")
        writer.write("\r\n".join([*lines, "", body]).encode())
        return reader, writer

    async def ask(self, target: str, method: str = "GET", body: str = "", **headers: str) -> int:
        reader, writer = await self.open(target, method, body, **headers, Connection="close")
        answer = await asyncio.wait_for(reader.read(), PATIENCE_S)
        writer.close()
        await writer.wait_closed()
        return int(answer.split(b" ", 2)[1])

    async def read_dns(self) -> int:
        return await self.ask(
            f"/v1/projects/{self.project}/edge-dns", Authorization=f"Bearer {self.token}"
        )

    async def listen(self, query: str = "", world: str = "default", **headers: str) -> "Ear":
        before = self.engine.feed.listeners
        opened = await self.open(f"/_emulator/worlds/{world}/events{query}", **headers)
        ear = Ear(*opened)
        await ear.head()
        assert world != "default" or self.engine.feed.listeners == before + 1
        return ear

    def happen(self, times: int, length: int = 10) -> None:
        """Make things happen without a word to anybody else, `length` letters each."""
        for _ in range(times):
            self.engine.feed.tell(
                "world", {"commit": self.engine.world.commit, "title": "x" * length}
            )


class Ear:
    """A listener that reads the bytes themselves."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._text = b""
        self.begun = ""

    async def head(self) -> None:
        head = await asyncio.wait_for(self._reader.readuntil(b"\r\n\r\n"), PATIENCE_S)
        assert b" 200 " in head
        assert b"text/event-stream" in head
        self.begun = await self.block()

    async def block(self) -> str:
        """Return what stands before the next empty line."""
        while b"\n\n" not in self._text:
            size = int(await asyncio.wait_for(self._reader.readline(), PATIENCE_S) or b"0", 16)
            if size == 0:
                raise EOFError
            self._text += await asyncio.wait_for(self._reader.readexactly(size), PATIENCE_S)
            await self._reader.readexactly(2)
        block, _, self._text = self._text.partition(b"\n\n")
        return block.decode()

    async def next(self) -> Event:
        fields = dict(line.split(": ", 1) for line in (await self.block()).splitlines())
        return int(fields["id"]), fields["event"], json.loads(fields["data"])

    async def kinds(self, count: int) -> list[str]:
        return [(await self.next())[1] for _ in range(count)]

    async def close(self) -> None:
        self._writer.close()
        with suppress(ConnectionError):
            await self._writer.wait_closed()


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    emulator = Emulator(Settings(port=0, data_dir=None, clock="frozen"))
    await emulator.start()
    try:
        yield Place(emulator)
    finally:
        await emulator.stop()


async def until(is_so: Callable[[], bool]) -> None:
    """Let the loop run until something is so."""
    async with asyncio.timeout(PATIENCE_S):
        while not is_so():
            await asyncio.sleep(0.001)


async def test_tells_of_requests_as_they_are_answered(place: Place):
    ear = await place.listen()
    await place.read_dns()

    id_, kind, item = await ear.next()

    assert ear.begun == f"retry: 1000\nid: {id_ - 1}"
    assert (kind, item["n"], item["call"]) == ("request", 1, "get_dns_authorization")
    assert item["trail"][0]["step"] == "principal"
    assert place.token not in json.dumps(item)
    await ear.close()


async def test_tells_of_commits_time_faults_and_new_worlds(place: Place):
    ear = await place.listen()
    base = "/_emulator/worlds/default"
    await place.ask(f"{base}/clock/advance", "POST", '{"by": "10m"}')
    await place.ask(f"{base}/faults", "POST", '{"abort": {"code": "rate_limited"}, "times": 1}')
    await place.read_dns()
    await place.ask(f"{base}/faults", "DELETE")
    await place.ask(f"{base}/reset", "POST")

    told: list[tuple[str, Any]] = []
    while not told or told[-1][0] != "world":
        told.append((await ear.next())[1:])

    clock = next(data for kind, data in told if kind == "clock")
    faults = [data for kind, data in told if kind == "fault"]
    assert (clock["mode"], told[-1][1]["title"]) == ("frozen", "reset")
    assert [data.get("hits") for data in faults] == [0, 1, None]
    assert [data.get("spent") for data in faults] == [False, True, None]
    assert [data["removed"] for data in faults] == [False, False, True]
    assert {"commit", "request"} <= {kind for kind, _ in told}
    await ear.close()


async def test_each_world_tells_which_worlds_come_and_go(place: Place):
    ear = await place.listen("?only=worlds")
    await place.ask("/_emulator/worlds", "POST", '{"name": "made"}')
    await place.ask("/_emulator/worlds/made/fork", "POST", '{"name": "forked"}')
    await place.ask("/_emulator/worlds/made", "DELETE")

    assert [(await ear.next())[1:] for _ in range(3)] == [
        ("worlds", {"name": "made", "made": True}),
        ("worlds", {"name": "forked", "made": True}),
        ("worlds", {"name": "made", "made": False}),
    ]
    await ear.close()


async def test_only_some_kinds_and_requests_are_told_if_so_wished(place: Place):
    ear = await place.listen("?only=request&status=4xx")
    await place.read_dns()
    place.happen(1)
    await place.ask("/v1/nowhere")

    assert (await ear.next())[2]["status"] == 401
    await ear.close()


@pytest.mark.parametrize("query", ["?only=request,weather", "?status=x", "?who=bob"])
async def test_what_cannot_be_is_refused_before_it_begins(place: Place, query: str):
    assert await place.ask(f"/_emulator/worlds/default/events{query}") in (400, 404)
    assert place.engine.feed.listeners == 0


async def test_no_other_site_may_listen(place: Place):
    path = "/_emulator/worlds/default/events"
    assert await place.ask(path, Origin="http://evil.example") == 403


async def test_a_head_does_not_go_on_for_ever(place: Place):
    assert await place.ask("/_emulator/worlds/default/events", "HEAD") == 200
    assert place.engine.feed.listeners == 0


async def test_who_comes_back_goes_on_where_it_was(place: Place):
    ear = await place.listen()
    place.happen(1)
    last, _, _ = await ear.next()
    await ear.close()
    await until(lambda: place.engine.feed.listeners == 0)
    place.happen(2)

    again = await place.listen(Last_Event_ID=str(last))

    assert [(await again.next())[0] for _ in range(2)] == [last + 1, last + 2]
    await again.close()


@pytest.mark.parametrize("last", ["1", "9" * 18])
async def test_who_comes_back_too_late_is_told_to_read_anew(place: Place, last: str):
    ear = await place.listen(Last_Event_ID=last)
    place.happen(1)

    assert await ear.kinds(2) == ["gap", "world"]
    await ear.close()


async def test_who_falls_behind_is_told_so_and_goes_on(place: Place):
    ear = await place.listen()
    place.happen(RING + 10)  # all at once: nobody has been written to between

    assert (await ear.next())[1:] == ("gap", {"missed": RING + 10})
    place.happen(1)
    assert await ear.kinds(1) == ["world"]
    await ear.close()


async def test_silence_is_broken_now_and_then(place: Place, monkeypatch):
    monkeypatch.setattr(requests, "HEARTBEAT_S", 0.01)
    ear = await place.listen()

    assert (await ear.block()).startswith(": still here\nid: ")
    await ear.close()


async def test_the_end_of_a_world_ends_the_stream(place: Place):
    await place.ask("/_emulator/worlds", "POST", '{"name": "brief"}')
    ear = await place.listen(world="brief")
    await place.ask("/_emulator/worlds/brief", "DELETE")

    with pytest.raises(EOFError):
        await ear.block()
    await ear.close()


async def test_listeners_that_leave_leave_nothing(place: Place):
    tasks = len(asyncio.all_tasks())
    ears = [await place.listen() for _ in range(10)]
    place.happen(3)
    for ear in ears:
        assert await ear.kinds(3) == ["world"] * 3
        await ear.close()

    await until(lambda: place.engine.feed.listeners == 0)
    await until(lambda: len(asyncio.all_tasks()) <= tasks)


async def test_a_listener_that_reads_nothing_is_let_go(place: Place, monkeypatch):
    monkeypatch.setattr(requests, "STUCK_S", 0.05)
    tasks = len(asyncio.all_tasks())
    _, writer = await place.open("/_emulator/worlds/default/events")
    writer.transport.pause_reading()  # as a laptop does whose lid is closed
    await until(lambda: place.engine.feed.listeners == 1)
    other = await place.listen("?only=request")

    async with asyncio.timeout(PATIENCE_S):
        while place.engine.feed.listeners == 2:
            place.happen(10, 50_000)
            await asyncio.sleep(0)

    await place.read_dns()
    assert (await other.next())[1] == "request"
    await other.close()
    writer.transport.abort()
    await until(lambda: place.engine.feed.listeners == 0)
    await until(lambda: len(asyncio.all_tasks()) <= tasks)


async def test_an_emulator_stops_though_somebody_listens():
    emulator = Emulator(Settings(port=0, data_dir=None))
    await emulator.start()
    place = Place(emulator)
    ear = await place.listen()

    await emulator.stop()

    with pytest.raises(EOFError):  # a proper end: it was told before the connections were closed
        await ear.block()
    assert place.engine.feed.listeners == 0
    await ear.close()


async def test_it_counts_a_commit_that_no_request_made(place: Place):
    ear = await place.listen("?only=commit")
    change = Change(place.engine.world, place.engine.run_due())
    arm(change, {"abort": {"code": "rate_limited"}})
    place.engine.commit(change, "by hand")

    _, kind, data = await ear.next()
    assert (kind, data["title"], data["commit"]) == ("commit", "by hand", place.engine.world.commit)
    await ear.close()


async def test_a_commit_tells_what_a_timeline_planned_for_it_that_was_refused(place: Place):
    planned = TimelineEntry(0, "intervene", {"release_claim": {"project": "shop"}})
    change = Change(place.engine.world, place.engine.run_due())
    change.put(TIMELINE, "planned-0001", planned)
    schedule_event(change, change.now_ms + 1000, "timeline", "planned-0001")
    place.engine.commit(change, "planned")
    ear = await place.listen("?only=commit")

    place.engine.move_by(1000)

    _, _, data = await ear.next()
    refused = "release_claim was refused: the claim of shop was not held by hold_claim"
    assert data["refused"] == [refused]
    await ear.close()


# --- Several worlds at once ----------------------------------------------------------------------


def told(block: str) -> tuple[str, str, Any]:
    """Return world and kind of an event, and what it says."""
    fields = dict(line.split(": ", 1) for line in block.splitlines())
    data = json.loads(fields["data"])
    return data.pop("world"), fields["event"], data


async def heard_of_all(place: Place, query: str = "", **headers: str) -> Ear:
    ear = Ear(*await place.open(f"/_emulator/events{query}", **headers))
    await ear.head()
    return ear


async def test_one_stream_tells_of_requests_of_all_worlds(place: Place):
    assert await place.ask("/_emulator/worlds", "POST", '{"name": "other"}') == 201
    ear = await heard_of_all(place)

    await place.read_dns()
    await place.ask("/worlds/other/v1/projects/x/edge-dns")

    assert told(await ear.block())[:2] == ("default", "request")
    world, kind, item = told(await ear.block())
    assert (world, kind, item["status"]) == ("other", "request", 401)
    await ear.close()


async def test_it_tells_of_named_worlds_and_once_which_there_are(place: Place):
    for name in ("first", "second"):
        await place.ask("/_emulator/worlds", "POST", json.dumps({"name": name}))
    ear = await heard_of_all(place, "?worlds=second,missing")

    for name in ("first", "second"):
        await place.ask(f"/worlds/{name}/v1/projects/x/edge-dns")
    await place.ask("/_emulator/worlds", "POST", '{"name": "third"}')
    await place.ask("/_emulator/worlds/second", "DELETE")
    await place.ask("/_emulator/worlds", "POST", '{"name": "fourth"}')

    assert [told(await ear.block())[:2] for _ in range(4)] == [
        ("second", "request"),
        *(("default", "worlds"),) * 3,
    ]
    await ear.close()


@pytest.mark.parametrize("by_header", [True, False])
async def test_it_goes_on_in_each_world_where_the_listener_was(place: Place, by_header: bool):
    await place.ask("/_emulator/worlds", "POST", '{"name": "other"}')
    ear = await heard_of_all(place)
    await place.ask("/worlds/other/v1/projects/x/edge-dns")
    last = (await ear.block()).splitlines()[0].removeprefix("id: ")
    await ear.close()
    await place.read_dns()
    await place.ask("/worlds/other/v1/projects/x/edge-dns")

    query, headers = f"&seen={last}", dict[str, str]()
    if by_header:
        query, headers = "", {"Last_Event_ID": last}
    ear = await heard_of_all(place, f"?worlds=other{query}", **headers)

    found = [told(await ear.block())[:2] for _ in range(2)]
    assert sorted(found) == [("default", "request"), ("other", "request")]
    await ear.close()


async def test_a_stream_of_all_worlds_leaves_nothing(place: Place):
    ear = await heard_of_all(place)
    assert place.engine.feed.listeners == 1
    await ear.close()

    await until(lambda: place.engine.feed.listeners == 0)
