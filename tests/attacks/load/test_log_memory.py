"""After a request is over, the emulator stores only its record in the log."""

from __future__ import annotations

import asyncio
import gc
import types
from collections.abc import Sequence
from contextlib import closing

import pytest
from aiohttp import web

from tests.support.emulator_process import Process, emulator
from tests.support.held_connections import OPEN_DESCRIPTORS
from tests.support.server_in_loop import ServerInLoop
from tests.support.server_process import ServerProcess
from tests.support.wire import read_statuses

#: The most memory that a second round of requests may add to the process. The target is 5 MB.
MOST_ADDED_KB = 8_000
HEAD_BYTES = 62 * 1024
_WORLD = "/_emulator/worlds/default"


def refused_requests(server: ServerInLoop) -> dict[str, bytes]:
    """Return requests that different parts of the server refuse; each closes its connection."""
    token = server.request.split(b"Bearer ")[1].split(b"\r\n")[0]
    path = server.request.split(b" ")[1]
    project = path.rsplit(b"/", 1)[0]
    anonymous = b"Host: localhost\r\nConnection: close\r\n"
    authorized = anonymous + b"Authorization: Bearer " + token + b"\r\n"
    get = b"GET " + path + b" HTTP/1.1\r\n"
    list_deployments = b"GET " + project + b"/deployments?limit=0 HTTP/1.1\r\n"
    put = b"PUT " + project + b"/powered-by-flag HTTP/1.1\r\n" + authorized
    initialize = b"POST " + project + b"/managed-source/initialize HTTP/1.1\r\n" + authorized
    return {
        "no token": get + anonymous + b"\r\n",
        "false token": get + anonymous + b"Authorization: Bearer x\r\n\r\n",
        "unknown path": b"GET /v1/nothing HTTP/1.1\r\n" + authorized + b"\r\n",
        "unknown path outside": b"GET /nothing HTTP/1.1\r\n" + authorized + b"\r\n",
        "unknown project": b"GET /v1/projects/x/edge-dns HTTP/1.1\r\n" + authorized + b"\r\n",
        "wrong method": b"DELETE " + path + b" HTTP/1.1\r\n" + authorized + b"\r\n",
        "bad query": list_deployments + authorized + b"\r\n",
        "bad request id": get + authorized + b"X-Request-Id: \x01\r\n\r\n",
        "bad JSON": put + b"Content-Length: 3\r\n\r\n{x}",
        "bad encoding": put + b"Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\n{x}",
        "broken chunks": put + b"Transfer-Encoding: chunked\r\n\r\nx\r\n",
        "no key": initialize + b"Content-Length: 2\r\n\r\n{}",
        "bad head": b"GET /\r\n\r\n",
    }


def alive(kind: type) -> list[object]:
    gc.collect()
    return [value for value in gc.get_objects() if isinstance(value, kind)]


@pytest.mark.parametrize("fault", [False, True], ids=["", "faults"])
async def test_no_request_is_alive_once_it_is_over(server: ServerInLoop, fault: bool):
    if fault:  # Faults inspect refused requests, too.
        server.add_fault(abort={"code": "service_unavailable"}, times=3)
        server.add_fault(latency={"delay_ms": 1}, after_commit=False)
        server.add_fault(latency={"delay_ms": 1}, after_commit=True)
    requests = refused_requests(server)
    before = len(alive(web.BaseRequest))

    for data in requests.values():
        for _ in range(3):
            assert read_statuses(await server.send_pieces(data))[0] >= 400
    control = f"GET {_WORLD}/conduct HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    assert read_statuses(await server.send_pieces(control.encode())) == [200]
    await server.wait_until_quiet()

    assert len(server.engine.log) >= 2 * len(requests)
    assert len(alive(web.BaseRequest)) == before
    assert forbidden_objects_of(server.engine.log.after(0)) == []


def forbidden_objects_of(entries: Sequence[object]) -> list[str]:
    """Return the objects that log entries reference, directly or indirectly, but must not."""
    forbidden = (BaseException, types.TracebackType, types.FrameType, web.BaseRequest)
    visited: set[int] = set()
    matches = []
    remaining = list(entries)
    while remaining:
        value = remaining.pop()
        if id(value) in visited or isinstance(value, (type, types.ModuleType, types.FunctionType)):
            continue
        visited.add(id(value))
        if isinstance(value, forbidden):
            matches.append(repr(value))
            continue
        if isinstance(value, (asyncio.AbstractEventLoop, asyncio.BaseProtocol)):
            continue
        remaining += gc.get_referents(value)
    return matches


@pytest.mark.slow
@pytest.mark.skipif(not OPEN_DESCRIPTORS.exists(), reason="looks at a process through /proc")
@pytest.mark.parametrize("count", [1_500, pytest.param(10_000, marks=pytest.mark.torture)])
def test_refused_requests_with_long_heads_leave_no_memory_behind(count: int):
    with emulator("--ephemeral") as process:
        server = ServerProcess(process)
        assert server.is_responsive()
        sizes = [server.resident_kb()]
        for _ in range(2):
            send_long_heads(process, server, count)
            sizes.append(server.resident_kb())
        print(f"\nresident KB at first, after one round and after two: {sizes}")
        assert sizes[2] - sizes[1] <= MOST_ADDED_KB
        assert process.stop() == (0, "")


def send_long_heads(process: Process, server: ServerProcess, count: int) -> None:
    filler = b"".join(b"X-Filler-%d: %s\r\n" % (n, b"x" * 7_700) for n in range(8))
    request = b"GET /v1/projects/x/edge-dns HTTP/1.1\r\nHost: localhost\r\n" + filler + b"\r\n"
    assert abs(len(request) - HEAD_BYTES) < 2_048
    with closing(server.connect()) as connection:
        stream = connection.makefile("rb")
        for _ in range(count):
            connection.sendall(request)
            assert stream.readline().startswith(b"HTTP/1.1 401")
            length = 0
            while (line := stream.readline()) != b"\r\n":
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            stream.read(length)
