"""Clients in their own process that send without end, and the latencies of another client meanwhile.

Run as a script: `floods.py PORT KIND CONNECTIONS PROJECT_ID TOKEN`.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen
from urllib.parse import urlsplit

from tests.support.emulator_process import Process

_READ_BYTES = 65_536
#: The longest latency that is measured. Then the emulator counts as blocked.
PATIENCE_S = 30.0


def endless_data(kind: str, project_id: str, token: str) -> tuple[bytes, bytes]:
    """Return what a client of this kind sends first, and what it then sends repeatedly."""
    headers = f"Host: localhost\r\nAuthorization: Bearer {token}\r\n"
    get = f"GET /v1/projects/{project_id}/edge-dns HTTP/1.1\r\n{headers}\r\n".encode()
    put = f"PUT /v1/projects/{project_id}/powered-by-flag HTTP/1.1\r\n{headers}".encode()
    state = b"PUT /_emulator/worlds/default/state HTTP/1.1\r\nHost: localhost\r\n"
    chunked = b"Transfer-Encoding: chunked\r\n\r\n"
    return {
        "tiny requests": (b"", b"GET / HTTP/1.1\r\n\r\n" * 14_000),
        "requests": (b"", get * 200),
        "long heads": (b"", b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 120 + b"\r\n"),
        "tiny chunks": (put + chunked, b"1\r\n \r\n" * 40_000),
        "tiny chunks of a state": (state + chunked, b"1\r\n \r\n" * 40_000),
        "a long body": (put + b"Content-Length: 1000000000\r\n\r\n", b" " * 200_000),
        "trailers": (put + chunked + b"0\r\n", b"a: b\r\n" * 40_000),
    }[kind]


KINDS = (
    "tiny requests",
    "requests",
    "long heads",
    "tiny chunks",
    "tiny chunks of a state",
    "a long body",
    "trailers",
)


async def flood(port: int, first: bytes, repeated: bytes) -> None:
    """Send without end, reconnect whenever the connection closes, and read every response."""

    async def read_all(reader: asyncio.StreamReader) -> None:
        try:
            while await reader.read(_READ_BYTES):
                pass
        except OSError:
            pass

    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            reading = asyncio.create_task(read_all(reader))
            writer.write(first)
            while not reading.done():
                writer.write(repeated)
                await writer.drain()
        except OSError:
            await asyncio.sleep(0.05)


async def _main(port: str, kind: str, connections: str, project_id: str, token: str) -> None:
    data = endless_data(kind, project_id, token)
    await asyncio.gather(*(flood(int(port), *data) for _ in range(int(connections))))


@contextmanager
def flooded(process: Process, kind: str, connections: int) -> Iterator[None]:
    """Flood an emulator during a block."""
    ready = process.ready
    port = str(urlsplit(process.base_url).port)
    words = [port, kind, str(connections), str(ready["project_id"]), str(ready["token"])]
    root = Path(__file__).parents[3]
    client = Popen([sys.executable, "-m", "tests.attacks.load.floods", *words], cwd=root)
    try:
        yield
    finally:
        client.kill()
        client.wait()


def latencies(process: Process, for_s: float, most_requests: int) -> list[float]:
    """Send ordinary requests one after another; return the duration of each in seconds."""
    client = process.client()
    path = f"/v1/projects/{process.ready['project_id']}/edge-dns"
    headers = {"Authorization": f"Bearer {process.ready['token']}"}
    durations_s: list[float] = []
    end = time.monotonic() + for_s
    while len(durations_s) < most_requests and time.monotonic() < end:
        began_s = time.monotonic()
        assert client.send("GET", path, headers=headers).status == 200
        durations_s.append(time.monotonic() - began_s)
    return durations_s


if __name__ == "__main__":
    asyncio.run(_main(*sys.argv[1:]))
