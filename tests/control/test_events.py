"""Server-sent events: what happens in a world reaches its listeners at once, and none leaves a trace.

Emulator and listeners share one event loop, so that every task and listener is in sight.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import ClientResponse
from aiohttp.test_utils import TestClient
from pytest_aiohttp import AiohttpClient

from hosting_emulator.control import event_stream
from tests.support.emulator_in_loop import EmulatorServer, intervene_in

PATIENCE_S = 10.0
#: The number of events that a world stores for listeners that fall behind or return.
KEPT_EVENTS = 1_000
WORLD = "/_emulator/worlds/default"
Event = tuple[int, str, Any]


class EventSource:
    """A running emulator, a client of it, and the default world, whose events the tests observe."""

    def __init__(self, client: TestClient[Any, Any], server: EmulatorServer) -> None:
        ready = server.emulator.ready()
        self.client = client
        self.server = server
        self.project_id = ready.project_id
        self.token = ready.token
        engine = server.emulator.worlds.get("default")
        assert engine is not None
        self.engine = engine

    @property
    def listeners(self) -> int:
        """The number of streams that read the events of the default world."""
        return self.engine.feed.listeners

    async def send(
        self, method: str, path: str, body: object = None, headers: dict[str, str] | None = None
    ) -> int:
        """Send a request on a new connection and return the status of its response."""
        request_headers = {"Connection": "close", **(headers or {})}
        async with self.client.request(
            method, path, json=body, headers=request_headers
        ) as response:
            await response.read()
            return response.status

    async def read_dns(self) -> int:
        """Send call 5 in the default world."""
        path = f"/v1/projects/{self.project_id}/edge-dns"
        return await self.send("GET", path, headers={"Authorization": f"Bearer {self.token}"})

    async def listen(
        self, query: str = "", *, world: str = "default", headers: dict[str, str] | None = None
    ) -> Listener:
        """Open the stream of one world."""
        before = self.listeners
        listener = await self._open(f"/_emulator/worlds/{world}/events{query}", headers)
        assert world != "default" or self.listeners == before + 1
        return listener

    async def listen_to_all(
        self, query: str = "", headers: dict[str, str] | None = None
    ) -> Listener:
        """Open the stream of all worlds."""
        return await self._open(f"/_emulator/events{query}", headers)

    async def _open(self, path: str, headers: dict[str, str] | None) -> Listener:
        response = await self.client.get(path, headers=headers)
        assert response.status == 200
        assert response.content_type == "text/event-stream"
        # Neither caches nor proxies may hold events back.
        assert response.headers["Cache-Control"] == "no-store"
        assert response.headers["X-Accel-Buffering"] == "no"
        listener = Listener(response)
        listener.first_block = await listener.block()
        return listener

    def emit(self, count: int, length: int = 10) -> None:
        """Emit events of the default world with titles of this length."""
        for _ in range(count):
            title = "x" * length
            self.engine.feed.emit("world", {"commit": self.engine.world.commit, "title": title})


class Listener:
    """A client that reads a stream of events."""

    def __init__(self, response: ClientResponse) -> None:
        self._response = response
        self.first_block = ""

    async def block(self) -> str:
        """Return the text before the next empty line. Raises EOFError at the end of the stream."""
        lines: list[str] = []
        async with asyncio.timeout(PATIENCE_S):
            while line := await self._response.content.readline():
                if line == b"\n":
                    return "\n".join(lines)
                lines.append(line.decode().removesuffix("\n"))
        raise EOFError

    async def next(self) -> Event:
        """Return the id, the kind and the data of the next event."""
        fields = dict(line.split(": ", 1) for line in (await self.block()).splitlines())
        return int(fields["id"]), fields["event"], json.loads(fields["data"])

    async def next_of_any_world(self) -> tuple[str, str, Any]:
        """Return the world, the kind and the data of the next event."""
        fields = dict(line.split(": ", 1) for line in (await self.block()).splitlines())
        data = json.loads(fields["data"])
        return data.pop("world"), fields["event"], data

    async def kinds(self, count: int) -> list[str]:
        """Return the kinds of the next events."""
        return [(await self.next())[1] for _ in range(count)]

    def close(self) -> None:
        """Close the connection."""
        self._response.close()


@pytest.fixture
async def source(aiohttp_client: AiohttpClient) -> EventSource:
    server = EmulatorServer()
    return EventSource(await aiohttp_client(server), server)


async def wait_until(condition: Callable[[], bool]) -> None:
    """Let the loop run until a condition holds."""
    async with asyncio.timeout(PATIENCE_S):
        while not condition():
            await asyncio.sleep(0.001)


async def test_a_listener_receives_each_request_when_it_is_answered(source: EventSource):
    listener = await source.listen()
    await source.read_dns()

    id_, kind, item = await listener.next()

    assert listener.first_block == f"retry: 1000\nid: {id_ - 1}"
    assert (kind, item["n"], item["call"]) == ("request", 1, "get_dns_authorization")
    assert item["trail"][0]["step"] == "user"
    assert source.token not in json.dumps(item)
    listener.close()


async def test_a_listener_receives_commits_time_faults_and_a_reset(source: EventSource):
    listener = await source.listen()
    await source.send("POST", f"{WORLD}/clock/advance", {"by": "10m"})
    await source.send("POST", f"{WORLD}/faults", {"abort": {"code": "rate_limited"}, "times": 1})
    await source.read_dns()
    await source.send("DELETE", f"{WORLD}/faults")
    await source.send("POST", f"{WORLD}/reset")

    events: list[tuple[str, Any]] = []
    while not events or events[-1][0] != "world":
        events.append((await listener.next())[1:])

    clock = next(data for kind, data in events if kind == "clock")
    faults = [data for kind, data in events if kind == "fault"]
    assert (clock["mode"], events[-1][1]["title"]) == ("frozen", "reset")
    assert [data.get("hits") for data in faults] == [0, 1, None]
    assert [data.get("spent") for data in faults] == [False, True, None]
    assert [data["removed"] for data in faults] == [False, False, True]
    assert {"commit", "request"} <= {kind for kind, _ in events}
    listener.close()


async def test_each_world_reports_which_worlds_are_created_and_deleted(source: EventSource):
    listener = await source.listen("?kinds=worlds")
    await source.send("POST", "/_emulator/worlds", {"name": "made"})
    await source.send("POST", "/_emulator/worlds/made/fork", {"name": "forked"})
    await source.send("DELETE", "/_emulator/worlds/made")

    assert [(await listener.next())[1:] for _ in range(3)] == [
        ("worlds", {"name": "made", "made": True}),
        ("worlds", {"name": "forked", "made": True}),
        ("worlds", {"name": "made", "made": False}),
    ]
    listener.close()


async def test_a_listener_can_select_kinds_and_requests(source: EventSource):
    listener = await source.listen("?kinds=request&status=4xx")
    await source.read_dns()
    source.emit(1)
    await source.send("GET", "/v1/nowhere")

    assert (await listener.next())[2]["status"] == 401
    listener.close()


@pytest.mark.parametrize("query", ["?kinds=request,weather", "?status=x", "?user=bob"])
async def test_an_impossible_selection_is_refused_before_the_stream_begins(
    source: EventSource, query: str
):
    assert await source.send("GET", f"{WORLD}/events{query}") in (400, 404)
    assert source.listeners == 0


async def test_a_page_of_another_site_cannot_listen(source: EventSource):
    headers = {"Origin": "http://evil.example"}

    assert await source.send("GET", f"{WORLD}/events", headers=headers) == 403


async def test_a_head_request_for_events_ends_at_once(source: EventSource):
    assert await source.send("HEAD", f"{WORLD}/events") == 200
    assert source.listeners == 0


async def test_a_listener_that_returns_continues_where_it_stopped(source: EventSource):
    listener = await source.listen()
    source.emit(1)
    last, _, _ = await listener.next()
    listener.close()
    await wait_until(lambda: source.listeners == 0)
    source.emit(2)

    returned = await source.listen(headers={"Last-Event-ID": str(last)})

    assert [(await returned.next())[0] for _ in range(2)] == [last + 1, last + 2]
    returned.close()


@pytest.mark.parametrize("last", ["1", "9" * 18])
async def test_a_listener_that_returns_too_late_receives_a_gap(source: EventSource, last: str):
    listener = await source.listen(headers={"Last-Event-ID": last})

    assert await listener.kinds(1) == ["gap"]
    source.emit(1)
    assert await listener.kinds(1) == ["world"]
    listener.close()


async def test_a_listener_that_falls_behind_receives_a_gap_and_continues(source: EventSource):
    listener = await source.listen()
    # All of them are emitted at once, so nothing is written to the listener in between.
    source.emit(KEPT_EVENTS + 10)

    assert (await listener.next())[1:] == ("gap", {"missed": KEPT_EVENTS + 10})
    source.emit(1)
    assert await listener.kinds(1) == ["world"]
    listener.close()


async def test_a_quiet_stream_sends_heartbeats(
    source: EventSource, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(event_stream, "HEARTBEAT_S", 0.01)
    listener = await source.listen()

    assert (await listener.block()).startswith(": still here\nid: ")
    listener.close()


async def test_the_end_of_a_world_ends_its_stream(source: EventSource):
    await source.send("POST", "/_emulator/worlds", {"name": "brief"})
    listener = await source.listen(world="brief")
    await source.send("DELETE", "/_emulator/worlds/brief")

    with pytest.raises(EOFError):
        await listener.block()
    listener.close()


async def test_listeners_that_leave_free_everything(source: EventSource):
    tasks = len(asyncio.all_tasks())
    listeners = [await source.listen() for _ in range(10)]
    source.emit(3)
    for listener in listeners:
        assert await listener.kinds(3) == ["world"] * 3
        listener.close()

    await wait_until(lambda: source.listeners == 0)
    await wait_until(lambda: len(asyncio.all_tasks()) <= tasks)


async def test_a_listener_that_reads_nothing_is_disconnected(
    source: EventSource, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(event_stream, "STUCK_S", 0.05)
    tasks = len(asyncio.all_tasks())
    host = source.server.host
    port = source.server.port
    _, writer = await asyncio.open_connection(host, port)
    writer.write(f"GET {WORLD}/events HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    await wait_until(lambda: source.listeners == 1)
    second_listener = await source.listen("?kinds=request")

    async with asyncio.timeout(PATIENCE_S):
        while source.listeners == 2:
            source.emit(10, 50_000)
            await asyncio.sleep(0)

    await source.read_dns()
    assert (await second_listener.next())[1] == "request"
    second_listener.close()
    writer.transport.abort()
    await wait_until(lambda: source.listeners == 0)
    await wait_until(lambda: len(asyncio.all_tasks()) <= tasks)


async def test_an_emulator_stops_although_a_listener_is_connected(source: EventSource):
    listener = await source.listen()

    await source.server.close()

    with pytest.raises(EOFError):  # The stream ends before the connection is closed.
        await listener.block()
    assert source.listeners == 0
    listener.close()


async def test_a_commit_that_no_request_made_is_an_event(source: EventSource):
    listener = await source.listen("?kinds=commit")
    intervene_in(source.engine, "hold_claim", project="shop")

    _, kind, data = await listener.next()
    commit = source.engine.world.commit
    assert (kind, data["title"], data["commit"]) == ("commit", "hold_claim", commit)
    listener.close()


async def test_a_commit_reports_an_intervention_of_its_timeline_that_was_refused(
    source: EventSource,
):
    planned = {"at": "1s", "intervene": {"release_claim": {"project": "shop"}}}
    scenario = {"name": "planned", "description": "Plans one.", "timeline": [planned]}
    await source.send("POST", f"{WORLD}/scenario", {"text": json.dumps(scenario)})
    listener = await source.listen("?kinds=commit")

    source.engine.move_by(1000)

    _, _, data = await listener.next()
    (refusal,) = data["refused"]
    assert refusal.startswith("release_claim was refused: ")
    listener.close()


# --- Several worlds at once ----------------------------------------------------------------------


async def test_one_stream_carries_requests_of_all_worlds(source: EventSource):
    assert await source.send("POST", "/_emulator/worlds", {"name": "other"}) == 201
    listener = await source.listen_to_all()

    await source.read_dns()
    await source.send("GET", "/worlds/other/v1/projects/x/edge-dns")

    assert (await listener.next_of_any_world())[:2] == ("default", "request")
    world, kind, item = await listener.next_of_any_world()
    assert (world, kind, item["status"]) == ("other", "request", 401)
    listener.close()


async def test_a_stream_of_named_worlds_lists_changes_of_the_worlds_once(source: EventSource):
    for name in ("first", "second"):
        await source.send("POST", "/_emulator/worlds", {"name": name})
    listener = await source.listen_to_all("?worlds=second,missing")

    for name in ("first", "second"):
        await source.send("GET", f"/worlds/{name}/v1/projects/x/edge-dns")
    await source.send("POST", "/_emulator/worlds", {"name": "third"})
    await source.send("DELETE", "/_emulator/worlds/second")
    await source.send("POST", "/_emulator/worlds", {"name": "fourth"})

    assert [(await listener.next_of_any_world())[:2] for _ in range(4)] == [
        ("second", "request"),
        *[("default", "worlds")] * 3,
    ]
    listener.close()


@pytest.mark.parametrize("by_header", [True, False])
async def test_a_stream_of_all_worlds_continues_in_each_where_the_listener_stopped(
    source: EventSource, by_header: bool
):
    await source.send("POST", "/_emulator/worlds", {"name": "other"})
    listener = await source.listen_to_all()
    await source.send("GET", "/worlds/other/v1/projects/x/edge-dns")
    last = (await listener.block()).splitlines()[0].removeprefix("id: ")
    listener.close()
    await source.read_dns()
    await source.send("GET", "/worlds/other/v1/projects/x/edge-dns")

    if by_header:
        headers = {"Last-Event-ID": last}
        returned = await source.listen_to_all("?worlds=other", headers)
    else:
        returned = await source.listen_to_all(f"?worlds=other&seen={last}")

    events = [(await returned.next_of_any_world())[:2] for _ in range(2)]
    assert sorted(events) == [("default", "request"), ("other", "request")]
    returned.close()


async def test_a_stream_of_all_worlds_that_closes_frees_everything(source: EventSource):
    listener = await source.listen_to_all()
    assert source.listeners == 1
    listener.close()

    await wait_until(lambda: source.listeners == 0)
