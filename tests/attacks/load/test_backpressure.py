"""Clients that ask and do not listen: what waits for them in this process is bounded."""

from __future__ import annotations

import asyncio
import gzip
import socket
import threading
from typing import Any

import pytest

from hosting_emulator.engine.explanations import Explanations
from hosting_emulator.scenario.document import Scenario, ScenarioLibrary, read_scenario
from hosting_emulator.server import protocol as server_protocol
from hosting_emulator.server.control import requests, scenarios, worlds
from hosting_emulator.server.protocol import Protocol
from hosting_emulator.server.time_slices import LongJob
from hosting_emulator.storage.documents import export_state
from hosting_emulator.world.value import World
from tests.support.raw_requests import Requests
from tests.support.stage import LONG_S, Ear, Stage
from tests.support.wire import read_responses, read_statuses


@pytest.fixture
def protocols(monkeypatch: pytest.MonkeyPatch) -> list[Protocol]:
    """The server's ends of all connections that were made."""
    made: list[Protocol] = []
    connection_made = Protocol.connection_made

    def keep(protocol: Protocol, transport: asyncio.BaseTransport) -> None:
        made.append(protocol)
        connection_made(protocol, transport)

    monkeypatch.setattr(Protocol, "connection_made", keep)
    return made


STATE = (
    b"GET /_emulator/worlds/default/state HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
)
LIBRARY = b"GET /_emulator/scenarios HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
#: All that is kept of what was asked; in text that is looked through, which nothing has.
LOG = b"requests?limit=1000&text=nobody-said-this"


async def deaf(stage: Stage) -> tuple[asyncio.Transport, Ear]:
    """Open a connection whose client does not listen, and has little room for what it does not."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(connection, ("127.0.0.1", stage.port))
    transport, ear = await loop.create_connection(Ear, sock=connection)
    transport.pause_reading()
    return transport, ear


async def listen(transport: asyncio.Transport, ear: Ear) -> int:
    """Listen at last, with room enough, and count the answers that were good."""
    connection = transport.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    transport.resume_reading()
    await asyncio.wait_for(ear.over, LONG_S)
    return ear.heard.count(b"HTTP/1.1 200 OK\r\n")


async def rest(stage: Stage) -> int:
    """Let the server work until nothing happens any more, and count the requests that it answered."""
    still = 0
    while still < 50:
        before = stage.engine.log.count
        await asyncio.sleep(0)
        still = still + 1 if stage.engine.log.count == before else 0
    return stage.engine.log.count


def waiting(protocols: list[Protocol]) -> int:
    """Return how many bytes wait in this process for clients to read."""
    return sum(one.transport.get_write_buffer_size() for one in protocols if one.transport)


async def until_something_waits(protocols: list[Protocol]) -> None:
    while not waiting(protocols):
        await asyncio.sleep(0)


async def test_who_reads_no_answers_is_not_read_either(stage: Stage, protocols: list[Protocol]):
    count, page = 600, Requests.of(stage).get.replace(b"/edge-dns", b"/deployments?limit=100")
    stage.intervene("add_deployments", project="shop", count=10_000)
    transport, ear = await deaf(stage)

    transport.write(
        page * (count - 1) + page.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    )
    answered = await rest(stage)
    [protocol] = protocols

    assert answered < count / 2
    assert waiting(protocols) < 300_000
    assert protocol.framing.count - protocol.answered < count / 2

    assert await listen(transport, ear) == count


async def test_a_large_answer_waits_for_its_reader(stage: Stage, protocols: list[Protocol]):
    stage.intervene("add_deployments", project="shop", count=10_000)
    transport, ear = await deaf(stage)

    transport.write(STATE)
    await asyncio.wait_for(until_something_waits(protocols), LONG_S)
    await rest(stage)

    assert waiting(protocols) < 300_000

    assert await listen(transport, ear) == 1
    assert len(ear.heard) > 2_000_000


@pytest.mark.parametrize("path", ["requests?limit=1000", "requests.har"])
async def test_a_long_list_is_made_as_fast_as_it_is_read(
    stage: Stage, protocols: list[Protocol], monkeypatch: pytest.MonkeyPatch, path: str
):
    await stage.talk(Requests.of(stage).get * 400 + Requests.of(stage).last)
    protocols.clear()
    made: list[object] = []

    def one(*_: object) -> dict[str, str]:
        made.append(None)
        return {"text": "x" * 50_000}

    monkeypatch.setattr(requests, "_entry", one)
    monkeypatch.setattr(Explanations, "item", one)
    transport, ear = await deaf(stage)
    transport.write(STATE.replace(b"state", path.encode()))
    await asyncio.wait_for(until_something_waits(protocols), LONG_S)
    for _ in range(2_000):
        await asyncio.sleep(0)

    assert len(made) < 200
    assert waiting(protocols) < 300_000

    assert await listen(transport, ear) == 1
    assert len(made) > 400


async def test_a_list_that_breaks_off_is_a_line_in_the_log(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    await stage.talk(Requests.of(stage).get * 20 + Requests.of(stage).last)
    texts = iter(["x" * 50_000] * 10)
    monkeypatch.setattr(requests, "_entry", lambda *_: next(texts))

    heard = await stage.talk(STATE.replace(b"state", b"requests.har"))

    assert heard.startswith(b"HTTP/1.1 200")
    assert not heard.endswith(b"0\r\n\r\n")
    [line] = caplog.records
    assert line.exc_info is not None
    caplog.clear()


async def test_others_are_answered_while_a_list_is_made(stage: Stage):
    await stage.talk(Requests.of(stage).get * 400 + Requests.of(stage).last)
    asked = asyncio.gather(*(stage.talk(STATE.replace(b"state", LOG)) for _ in range(5)))
    turns = 0
    while not asked.done():
        turns += 1
        await asyncio.sleep(0)

    assert turns >= 10  # the lists are made in slices of a millisecond
    assert [read_statuses(one) for one in asked.result()] == [[200]] * 5


async def test_the_library_is_read_apart(stage: Stage, monkeypatch: pytest.MonkeyPatch):
    readers = set[int]()

    def read(text: str, file: str) -> Scenario:
        readers.add(threading.get_ident())
        return read_scenario(text, file)

    monkeypatch.setattr(scenarios, "read_scenario", read)
    monkeypatch.setattr(ScenarioLibrary, "names", lambda _: ["one"])
    monkeypatch.setattr(ScenarioLibrary, "text", lambda *_: "name: one\ndescription: One.\n")

    [said] = read_responses(await stage.talk(LIBRARY))

    assert said.status == 200
    assert readers
    assert threading.get_ident() not in readers


async def test_line_ends_are_no_request(stage: Stage):
    """A few between two requests are borne (RFC 9112, 2.2); a flood of them is refused."""
    requests = Requests.of(stage)

    assert read_statuses(await stage.talk(requests.get + b"\r\n\r\n" + requests.last)) == [200, 200]
    assert read_statuses(await stage.talk(b"\r\n" * 1_000)) == [400]
    assert read_statuses(await stage.talk(*[b"\r\n"] * 100)) == [400]


async def test_one_export_serves_all_who_want_it_meanwhile(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
):
    written: list[World] = []
    export = export_state

    def count(world: World, *, with_seed: bool) -> dict[str, Any]:
        written.append(world)
        return export(world, with_seed=with_seed)

    monkeypatch.setattr(worlds, "export_state", count)

    said = await asyncio.gather(*(stage.talk(STATE) for _ in range(20)))

    assert [read_statuses(one) for one in said] == [[200]] * 20
    assert len({one.partition(b"\r\n\r\n")[2] for one in said}) == 1
    assert len(written) < 20


# --- packed bodies --------------------------------------------------------------------------------

PUT = b"PUT /_emulator/worlds/new/state HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"


@pytest.mark.parametrize(
    ("size", "status", "words"),
    [
        pytest.param(60_000_000, 413, b"The request body is larger than", id="a bomb"),
        pytest.param(5_000_000, 400, b"not an exported state", id="within the bound"),
    ],
)
async def test_a_packed_body_unpacks_to_a_bound(stage: Stage, size: int, status: int, words: bytes):
    packed = gzip.compress(b" " * size + b"{}")
    head = PUT + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed)

    [said] = read_responses(await stage.talk(head + packed))

    assert said.status == status
    assert words in said.body


async def test_a_body_packed_in_many_parts_is_refused(stage: Stage):
    """Each part costs a walk over all that follow it."""
    packed = gzip.compress(b"") * 40_000
    put = Requests.of(stage).put + b"Connection: close\r\nContent-Encoding: gzip\r\n"

    [said] = read_responses(
        await stage.talk(put + b"Content-Length: %d\r\n\r\n" % len(packed) + packed)
    )

    assert said.status == 400
    assert b"encoding that its headers announce" in said.body


async def test_a_client_with_short_requests_never_waits_for_a_long_job(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
):
    """Not even if its request takes longer than a slice to parse, as on a busy machine."""
    monkeypatch.setattr(server_protocol, "SLICE_S", 0.0)
    get = Requests.of(stage).get
    reader, writer = await asyncio.open_connection("127.0.0.1", stage.port)
    async with LongJob():
        for _ in range(3):
            writer.write(get)
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), LONG_S)
            assert head.startswith(b"HTTP/1.1 200")
            await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].split()[0]))
    writer.close()
