"""Clients that are slow, end one side of the connection, or disappear at any moment."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from urllib.parse import urlsplit

import pytest

from tests.support.emulator_in_loop import emulator_in_loop
from tests.support.raw_requests import BODY, Requests
from tests.support.server_in_loop import PATIENCE_S, ResponseRecorder, ServerInLoop, memory
from tests.support.server_internals import (
    CROWD,
    MOST_UNANSWERED,
    ServerInternals,
    return_memory_to_the_system,
)
from tests.support.wire import read_responses, read_statuses

LENGTH = b"Content-Length: %d\r\n\r\n" % len(BODY)
LIMIT_S = 0.05


async def slowly(server: ServerInLoop, data: bytes) -> bytes:
    """Send one byte at a time while the server reads, and return its response."""
    loop = asyncio.get_running_loop()
    transport, recorder = await loop.create_connection(ResponseRecorder, "127.0.0.1", server.port)
    for at in range(len(data)):
        transport.write(data[at : at + 1])
        if (await asyncio.wait((recorder.closed,), timeout=0.002))[0]:
            return bytes(recorder.received)
    transport.close()
    raise AssertionError("it listened to the end")


# --- slow ones --------------------------------------------------------------------------------------


async def test_a_request_that_arrives_byte_by_byte_is_answered(server: ServerInLoop):
    requests = Requests.of(server)
    body = requests.put + b"Connection: close\r\n" + LENGTH + BODY

    assert read_statuses(await server.send_pieces(*(bytes([byte]) for byte in requests.last))) == [
        200
    ]
    assert read_statuses(await server.send_pieces(*(bytes([byte]) for byte in body))) == [200]


@pytest.mark.parametrize("part", ["line", "headers", "body", "chunks", "behind a good one"])
async def test_an_incomplete_request_holds_its_connection_only_until_a_limit(
    server: ServerInLoop, internals: ServerInternals, part: str
):
    internals.limit_incomplete_requests(LIMIT_S)
    requests = Requests.of(server)
    world = server.engine.world
    data = {
        "line": b"GET /" + b"x" * 8_000,
        "headers": b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 100,
        "body": requests.put + b"Content-Length: 8000\r\n\r\n" + b" " * 7_999,
        "chunks": requests.put + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\n \r\n" * 1_000,
        "behind a good one": b"GET /" + b"x" * 8_000,
    }[part]
    if part == "behind a good one":
        responses = read_responses(await server.send_pieces(requests.get + data))
        assert responses.pop(0).status == 200
    else:
        responses = read_responses(await slowly(server, data))

    assert [response.status for response in responses] == [400]
    assert b"did not arrive completely in time" in responses[0].body or part in ("body", "chunks")
    assert server.engine.world is world


async def test_an_incomplete_request_that_goes_silent_is_refused(
    server: ServerInLoop, internals: ServerInternals
):
    internals.limit_incomplete_requests(LIMIT_S)
    put = Requests.of(server).put

    for half in (b"GET /v1", put, put + LENGTH + BODY[:-1]):
        assert read_statuses(await server.send_pieces(half)) == [400]


async def test_an_idle_connection_stays_open(server: ServerInLoop, internals: ServerInternals):
    """This holds before a request, between two requests, and after an empty line between them."""
    internals.limit_incomplete_requests(LIMIT_S)
    requests = Requests.of(server)
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)

    for request in (b"", requests.get, requests.put + LENGTH + BODY, b"\r\n"):
        writer.write(request)
        # The incomplete request on another connection is cut off, and this connection is not.
        assert read_statuses(await server.send_pieces(b"GET")) == [400]
    writer.write(requests.last)

    assert read_statuses(await asyncio.wait_for(reader.read(), PATIENCE_S)) == [200, 200, 200]
    writer.close()


async def test_each_request_of_a_connection_has_the_whole_time_limit(
    server: ServerInLoop, internals: ServerInternals
):
    """The parts of all requests together take longer than the limit of one request."""
    requests = Requests.of(server)
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    for _ in range(2):
        writer.write(requests.put + LENGTH)
        await server.run_briefly()
        internals.pass_time(limits=0.6)
        await server.run_briefly()
        writer.write(BODY + requests.put[:30])
        await server.run_briefly()
        internals.pass_time(limits=0.6)
        await server.run_briefly()
        writer.write(requests.put[30:] + LENGTH + BODY)
        for _ in range(2):
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE_S)
            assert head.startswith(b"HTTP/1.1 200")
            await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].split()[0]))
    writer.close()


# --- those that only listen on ----------------------------------------------------------------------


async def test_a_client_that_ended_its_side_receives_its_responses(server: ServerInLoop):
    requests = Requests.of(server)

    assert read_statuses(await server.send_pieces(requests.get, end=True)) == [200]
    assert read_statuses(await server.send_pieces(requests.get * 40, end=True)) == [200] * 40
    assert read_statuses(await server.send_pieces(requests.put + LENGTH + BODY, end=True)) == [200]
    assert read_statuses(await server.send_pieces(requests.get + b"GET /half", end=True)) == [200]


@pytest.mark.parametrize("count", [0, 1, 10, -3, -25], ids=str)
async def test_a_client_that_ends_within_its_request_receives_nothing(
    server: ServerInLoop, count: int
):
    request = Requests.of(server).put + LENGTH + BODY

    for data in (request[:count], request[:count] if count else b"GET / HTTP/1.1\r\nA: b\r\n"):
        assert await server.send_pieces(data, end=True) == b""


async def test_a_client_that_ends_while_a_fault_withholds_the_response_is_disconnected(
    server: ServerInLoop,
):
    server.add_fault(timeout={}, times=1)

    assert await server.send_pieces(Requests.of(server).get, end=True) == b""


# --- those that are gone ----------------------------------------------------------------------------


@pytest.mark.parametrize("reset", [False, True], ids=["closed", "reset"])
@pytest.mark.parametrize(
    "part", ["nothing", "line", "head", "body", "all", "many", "big answers", "garbage"]
)
async def test_a_client_that_vanishes_leaves_nothing_open(
    server: ServerInLoop, part: str, reset: bool
):
    requests = Requests.of(server)
    page = requests.get.replace(b"/edge-dns", b"/deployments?limit=100")
    pieces = {
        "nothing": [],
        "line": [b"GET /v1/"],
        "head": [requests.put],
        "body": [requests.put + LENGTH, BODY[:5]],
        "all": [requests.get],
        "many": [requests.get * 50],
        "big answers": [page * 30],
        "garbage": [bytes(range(256))],
    }[part]

    for _ in range(5):
        await server.send_and_disconnect(*pieces, reset=reset)
    await asyncio.gather(*(server.send_and_disconnect(*pieces, reset=reset) for _ in range(20)))


@pytest.mark.parametrize("effect", ["latency", "slow_response", "timeout"])
async def test_a_client_that_vanishes_while_a_fault_delays_it_leaves_nothing_open(
    server: ServerInLoop, effect: str
):
    options = {"latency": {"delay_ms": 600_000}, "slow_response": {"bytes_per_second": 1}}
    server.add_fault(**{effect: options.get(effect, {})}, after_commit=True, times=40)
    request = Requests.of(server).get

    await asyncio.gather(
        *(server.send_and_disconnect(request, b"", reset=n % 2 == 0) for n in range(40))
    )


async def test_responses_that_a_client_does_not_read_take_little_memory(server: ServerInLoop):
    """Unread responses wait in the client's part of the socket, not in the memory of the server."""
    page = Requests.of(server).get.replace(b"/edge-dns", b"/deployments?limit=100")
    _, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1_024)
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    try:
        await server.wait_until_quiet(2)
        before = memory()
        for _ in range(200):
            writer.write(page * 20)
            await server.run_briefly()
        await server.wait_until_quiet(2)
        during = memory()
    finally:
        writer.transport.abort()
    assert during.resident_kb - before.resident_kb < 40_000


@pytest.mark.parametrize("endless", ["listens", "never answered"])
async def test_a_tls_client_that_leaves_without_a_close_is_disconnected(endless: str):
    async with emulator_in_loop(tls_port=0) as emulator:
        server = ServerInLoop(emulator)
        port = int(urlsplit(emulator.ready().tls_url or "").port or 0)
        first = b"GET /_emulator/worlds/default/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
        if endless == "never answered":
            server.add_fault(timeout={}, times=1)
            first = b""
        client_context = ssl.create_default_context()
        client_context.check_hostname = False
        client_context.verify_mode = ssl.CERT_NONE
        _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=client_context)
        writer.write(first + Requests.of(server).get * (2 * MOST_UNANSWERED))
        while server.connection_count(port) < 2:
            await server.run_briefly()
        await server.send_one_request(PATIENCE_S)

        with socket.socket(fileno=os.dup(writer.get_extra_info("socket").fileno())) as raw_socket:
            raw_socket.shutdown(socket.SHUT_WR)  # This ends the TCP connection without a TLS close.
        server.port = port

        assert (await server.wait_until_quiet()).connections == 0
        writer.transport.abort()


async def test_a_listener_that_ends_its_side_at_once_is_disconnected(
    server: ServerInLoop, internals: ServerInternals
):
    internals.stop_heartbeats()
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)

    writer.write(b"GET /_emulator/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    writer.write_eof()
    received = await asyncio.wait_for(reader.read(), PATIENCE_S)

    assert received.startswith(b"HTTP/1.1 200 OK")
    writer.close()


# --- crowds -----------------------------------------------------------------------------------------


@pytest.fixture
async def memory_returns(server: ServerInLoop, internals: ServerInternals) -> list[int]:
    """The number of requests at each return of memory. The server returns it without a quiet time."""
    request_counts: list[int] = []
    internals.on_memory_return(lambda: request_counts.append(server.engine.log.count))
    return request_counts


@pytest.mark.parametrize("count", [CROWD, CROWD // 2])
async def test_memory_of_a_crowd_that_has_left_is_returned_to_the_system(
    server: ServerInLoop, memory_returns: list[int], count: int
):
    crowd = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(count)]
    await server.send_one_request(PATIENCE_S)
    assert memory_returns == []

    for _, writer in crowd:
        writer.close()
    await server.wait_until_quiet()
    await server.send_one_request(PATIENCE_S)

    assert len(memory_returns) == (count >= CROWD)


async def test_memory_of_many_connections_in_turn_is_returned_to_the_system(
    server: ServerInLoop, internals: ServerInternals, memory_returns: list[int]
):
    internals.return_memory_after(30)
    for expected in (0, 1):
        for _ in range(20):
            await server.send_one_request(PATIENCE_S)
        await server.wait_until_quiet()
        await server.send_one_request(PATIENCE_S)
        assert len(memory_returns) == expected


def test_memory_can_be_returned_to_the_system_on_this_platform():
    return_memory_to_the_system()


async def test_the_measurement_does_not_count_sockets_that_an_earlier_server_left():
    """A port may be reused, so sockets of an earlier server on this port do not count."""
    async with emulator_in_loop() as earlier:
        port = urlsplit(earlier.ready().base_url).port
        _, forgotten = await asyncio.open_connection("127.0.0.1", port)
    async with emulator_in_loop(port=port) as emulator:
        server = ServerInLoop(emulator)

        assert server.connection_count() == 0
        await server.send_one_request(PATIENCE_S)
        assert (await server.wait_until_quiet()).connections == 0
    forgotten.close()
