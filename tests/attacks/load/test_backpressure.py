"""The server buffers only a limited amount for clients that send requests and read no responses."""

from __future__ import annotations

import asyncio
import gzip
import socket
import threading

import pytest

from tests.support.raw_requests import Requests
from tests.support.server_in_loop import PATIENCE_S, ResponseRecorder, ServerInLoop
from tests.support.server_internals import ServerInternals, long_job
from tests.support.wire import read_responses, read_statuses

STATE = (
    b"GET /_emulator/worlds/default/state HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
)
LIBRARY = b"GET /_emulator/scenarios HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
#: The whole request log, filtered by a text that no request contains.
LOG = b"requests?limit=1000&text=nobody-said-this"


async def connect_without_reading(
    server: ServerInLoop,
) -> tuple[asyncio.Transport, ResponseRecorder]:
    """Open a connection with a small receive buffer whose client does not read."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(connection, ("127.0.0.1", server.port))
    transport, recorder = await loop.create_connection(ResponseRecorder, sock=connection)
    transport.pause_reading()
    return transport, recorder


async def count_successful_responses(
    transport: asyncio.Transport, recorder: ResponseRecorder
) -> int:
    """Start to read with a large receive buffer, and count the successful responses."""
    connection = transport.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    transport.resume_reading()
    await asyncio.wait_for(recorder.closed, PATIENCE_S)
    return recorder.received.count(b"HTTP/1.1 200 OK\r\n")


async def wait_until_idle(server: ServerInLoop) -> int:
    """Let the server work until no more requests arrive in the log, and return their number."""
    idle_turns = 0
    while idle_turns < 50:
        before = server.engine.log.count
        await asyncio.sleep(0)
        idle_turns = idle_turns + 1 if server.engine.log.count == before else 0
    return server.engine.log.count


async def wait_for_buffered_bytes(internals: ServerInternals) -> None:
    """Wait until the server buffers bytes that a client does not read."""
    async with asyncio.timeout(PATIENCE_S):
        while not internals.buffered_bytes():
            await asyncio.sleep(0)


async def test_a_client_that_reads_no_responses_is_not_read_either(
    server: ServerInLoop, internals: ServerInternals
):
    count = 600
    page = Requests.of(server).get.replace(b"/edge-dns", b"/deployments?limit=100")
    server.intervene("add_deployments", project="shop", count=10_000)
    internals.watch_connections()
    transport, recorder = await connect_without_reading(server)

    transport.write(
        page * (count - 1) + page.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    )
    answered = await wait_until_idle(server)

    assert answered < count / 2
    assert internals.buffered_bytes() < 300_000
    assert internals.unanswered_requests() < count / 2

    assert await count_successful_responses(transport, recorder) == count


async def test_a_large_response_waits_for_its_reader(
    server: ServerInLoop, internals: ServerInternals
):
    server.intervene("add_deployments", project="shop", count=10_000)
    internals.watch_connections()
    transport, recorder = await connect_without_reading(server)

    transport.write(STATE)
    await wait_for_buffered_bytes(internals)
    await wait_until_idle(server)

    assert internals.buffered_bytes() < 300_000

    assert await count_successful_responses(transport, recorder) == 1
    assert len(recorder.received) > 2_000_000


@pytest.mark.parametrize("path", ["requests?limit=1000", "requests.har"])
async def test_a_long_list_is_made_as_fast_as_it_is_read(
    server: ServerInLoop, internals: ServerInternals, path: str
):
    await server.send_pieces(Requests.of(server).get * 400 + Requests.of(server).last)
    created_items: list[object] = []

    def make_item(*_: object) -> dict[str, str]:
        created_items.append(None)
        return {"text": "x" * 50_000}

    internals.replace_log_items(make_item)
    internals.watch_connections()
    transport, recorder = await connect_without_reading(server)
    transport.write(STATE.replace(b"state", path.encode()))
    await wait_for_buffered_bytes(internals)
    for _ in range(2_000):
        await asyncio.sleep(0)

    assert len(created_items) < 200
    assert internals.buffered_bytes() < 300_000

    assert await count_successful_responses(transport, recorder) == 1
    assert len(created_items) > 400


async def test_a_list_that_breaks_off_is_a_line_in_the_log(
    server: ServerInLoop, internals: ServerInternals, caplog: pytest.LogCaptureFixture
):
    await server.send_pieces(Requests.of(server).get * 20 + Requests.of(server).last)
    texts = iter(["x" * 50_000] * 10)
    internals.replace_log_items(lambda *_: next(texts))

    received = await server.send_pieces(STATE.replace(b"state", b"requests.har"))

    assert received.startswith(b"HTTP/1.1 200")
    assert not received.endswith(b"0\r\n\r\n")
    [record] = caplog.records
    assert record.exc_info is not None
    caplog.clear()


async def test_other_requests_are_answered_while_a_list_is_made(server: ServerInLoop):
    await server.send_pieces(Requests.of(server).get * 400 + Requests.of(server).last)
    reading = asyncio.gather(*(server.send_pieces(STATE.replace(b"state", LOG)) for _ in range(5)))
    turns = 0
    while not reading.done():
        turns += 1
        await asyncio.sleep(0)

    assert turns >= 10  # The lists are made in slices of one millisecond.
    assert [read_statuses(data) for data in reading.result()] == [[200]] * 5


async def test_the_library_is_read_in_another_thread(
    server: ServerInLoop, internals: ServerInternals
):
    reading_threads = set[int]()
    internals.replace_library(lambda: reading_threads.add(threading.get_ident()))

    [response] = read_responses(await server.send_pieces(LIBRARY))

    assert response.status == 200
    assert reading_threads
    assert threading.get_ident() not in reading_threads


async def test_line_ends_between_requests_are_skipped_and_a_flood_of_them_is_refused(
    server: ServerInLoop,
):
    """A server should ignore a few empty lines between two requests (RFC 9112, section 2.2)."""
    requests = Requests.of(server)

    assert read_statuses(await server.send_pieces(requests.get + b"\r\n\r\n" + requests.last)) == [
        200,
        200,
    ]
    assert read_statuses(await server.send_pieces(b"\r\n" * 1_000)) == [400]
    assert read_statuses(await server.send_pieces(*[b"\r\n"] * 100)) == [400]


async def test_one_export_serves_every_client_that_requests_it_meanwhile(
    server: ServerInLoop, internals: ServerInternals
):
    exports: list[None] = []
    internals.on_export(lambda: exports.append(None))

    received = await asyncio.gather(*(server.send_pieces(STATE) for _ in range(20)))

    assert [read_statuses(data) for data in received] == [[200]] * 20
    assert len({data.partition(b"\r\n\r\n")[2] for data in received}) == 1
    assert 0 < len(exports) < 20


# --- Compressed bodies -----------------------------------------------------------------------------

PUT = b"PUT /_emulator/worlds/new/state HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"


@pytest.mark.parametrize(
    ("size", "status", "words"),
    [
        pytest.param(60_000_000, 413, b"The request body is larger than", id="a bomb"),
        pytest.param(5_000_000, 400, b"not an exported state", id="within the bound"),
    ],
)
async def test_a_compressed_body_is_unpacked_to_a_limit(
    server: ServerInLoop, size: int, status: int, words: bytes
):
    packed = gzip.compress(b" " * size + b"{}")
    head = PUT + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed)

    [response] = read_responses(await server.send_pieces(head + packed))

    assert response.status == status
    assert words in response.body


async def test_a_body_compressed_in_many_parts_is_refused(server: ServerInLoop):
    """Without a limit, each part would cost a pass over all parts after it."""
    packed = gzip.compress(b"") * 40_000
    put = Requests.of(server).put + b"Connection: close\r\nContent-Encoding: gzip\r\n"

    [response] = read_responses(
        await server.send_pieces(put + b"Content-Length: %d\r\n\r\n" % len(packed) + packed)
    )

    assert response.status == 400
    assert b"encoding that its headers announce" in response.body


async def test_a_client_with_short_requests_never_waits_for_a_long_job(
    server: ServerInLoop, internals: ServerInternals
):
    """This also holds if a request takes longer than a slice to parse, as on a busy machine."""
    internals.parse_one_request_at_once()
    get = Requests.of(server).get
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    async with long_job():
        for _ in range(3):
            writer.write(get)
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE_S)
            assert head.startswith(b"HTTP/1.1 200")
            await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].split()[0]))
    writer.close()
