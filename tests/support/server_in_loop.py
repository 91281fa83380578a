"""A running emulator and its clients in one event loop, so that tests can count tasks and sockets."""

from __future__ import annotations

import asyncio
import gc
import os
import socket
import struct
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from hosting_emulator.bootstrap import Emulator
from hosting_emulator.faults.arming import arm
from hosting_emulator.faults.categories import FAULT
from hosting_emulator.world.naming import DEFAULT_WORLD
from hosting_emulator.world.tables import FAULTS
from tests.support.calls import fault_document
from tests.support.emulator_in_loop import intervene_in
from tests.support.held_connections import held_connections, open_sockets

#: The number of clients that send requests at the same time.
PARALLEL_CLIENTS = 50
#: How long a client waits, in seconds, where a fault keeps the response from coming.
SILENCE_S = 0.02
#: How long a client waits, in seconds, for a response that will come.
PATIENCE_S = 10.0
_CHECKS = 500


@dataclass(frozen=True)
class Footprint:
    """The number of unfinished tasks in the event loop, and of open connections to the server."""

    tasks: int
    connections: int


@dataclass(frozen=True)
class Memory:
    """The memory use of this process: the allocated blocks of Python, and the resident set."""

    blocks: int
    resident_kb: int


class ResponseRecorder(asyncio.Protocol):
    """Records all bytes that a server sends, even if a connection reset follows.

    A StreamReader would discard the bytes before a reset.
    """

    def __init__(self) -> None:
        self.received = bytearray()
        self.closed = asyncio.get_running_loop().create_future()

    def data_received(self, data: bytes) -> None:
        self.received += data

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed.set_result(None)


class ServerInLoop:
    """A running emulator in the event loop of its clients."""

    def __init__(self, emulator: Emulator) -> None:
        ready = emulator.ready()
        parts = urlsplit(ready.base_url)
        self.port = int(parts.port or 0)
        engine = emulator.worlds.get(DEFAULT_WORLD)
        assert engine is not None
        self.engine = engine
        self._idle_tasks = len(asyncio.all_tasks())
        # An earlier test in this process may have left open sockets of a server on the same port.
        self._earlier_sockets = open_sockets()
        self.request = (
            f"GET /v1/projects/{ready.project_id}/edge-dns HTTP/1.1\r\nHost: {parts.netloc}\r\n"
            f"Authorization: Bearer {ready.token}\r\nConnection: close\r\n\r\n"
        ).encode()

    def add_fault(self, **fault: Any) -> str:
        """Arm a fault in the form used in scenarios, and return its id."""
        change = self.engine.begin_change()
        armed = arm(change, fault_document(fault), FAULT)
        self.engine.commit(change, "armed")
        return armed.id

    def intervene(self, name: str, /, **fields: Any) -> None:
        """Carry out an intervention in the default world."""
        intervene_in(self.engine, name, **fields)

    def hits(self, fault_id: str) -> int:
        """Return how often a fault has acted."""
        fault = self.engine.world.get(FAULTS, fault_id)
        assert fault is not None
        return fault.hits

    async def send_one_request(self, patience_s: float) -> str:
        """Send one request on a new connection, and return how the request ended.

        The possible ends are `whole`, `cut` (the body is incomplete), `empty` (closed without a
        byte), `reset` and `silent` (no end within `patience_s`).
        """
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(self.request)
            response = await asyncio.wait_for(reader.read(), patience_s)
        except TimeoutError:
            return "silent"
        except ConnectionResetError:
            return "reset"
        finally:
            writer.close()
        head, _, body = response.partition(b"\r\n\r\n")
        if not head:
            return "empty"
        content_length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        return "cut" if len(body) < content_length else "whole"

    async def send_pieces(self, *pieces: bytes, end: bool = False) -> bytes:
        """Send pieces that the server reads one by one, and return all that the server sends.

        The method waits until the server closes the connection. With `end`, the client's side of
        the connection is closed after the last piece.
        """
        loop = asyncio.get_running_loop()
        transport, recorder = await loop.create_connection(ResponseRecorder, "127.0.0.1", self.port)
        try:
            for piece in pieces:
                if transport.is_closing():
                    break
                transport.write(piece)
                await self.run_briefly()
            if end and not transport.is_closing():
                transport.write_eof()
            await asyncio.wait_for(recorder.closed, PATIENCE_S)
        finally:
            transport.close()
        return bytes(recorder.received)

    async def send_and_disconnect(self, *pieces: bytes, reset: bool = False) -> None:
        """Send pieces, and disconnect without reading a response.

        With `reset`, the connection is reset, as the system does for a killed client.
        """
        _, writer = await asyncio.open_connection("127.0.0.1", self.port)
        for piece in pieces:
            writer.write(piece)
            await self.run_briefly()
        if reset:
            connection = writer.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    @staticmethod
    async def run_briefly() -> None:
        """Let the event loop run, so that the server reads what was sent."""
        for _ in range(5):
            await asyncio.sleep(0)

    async def send_requests(self, count: int, patience_s: float) -> Counter[str]:
        """Send `count` requests from parallel clients. Return how often each kind of end occurred."""
        ends: Counter[str] = Counter()
        numbers = iter(range(count))

        async def run_client() -> None:
            for _ in numbers:
                ends[await self.send_one_request(patience_s)] += 1

        await asyncio.gather(*(run_client() for _ in range(PARALLEL_CLIENTS)))
        return ends

    def connection_count(self, port: int | None = None) -> int:
        """Return how many ends of connections to the server this process holds.

        The server's ends and the clients' ends are both counted.
        """
        return held_connections(port or self.port, self._earlier_sockets)

    async def wait_until_quiet(self, connections: int = 0) -> Footprint:
        """Wait until this many connections are held, and return the footprint.

        With 0 connections, also wait until the server's tasks have ended. After 500 checks, return
        the footprint in any case. Garbage is not collected before a check, so a connection that
        only the garbage collector would close is still counted.
        """
        for _ in range(_CHECKS):
            footprint = Footprint(len(asyncio.all_tasks()), self.connection_count())
            if footprint.connections == connections and (
                connections or footprint.tasks <= self._idle_tasks
            ):
                break
            await asyncio.sleep(0.01)
        return footprint


def memory() -> Memory:
    """Collect garbage, and return the memory use of this process."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return Memory(sys.getallocatedblocks(), pages * os.sysconf("SC_PAGE_SIZE") // 1024)


def assert_nothing_open(before: Footprint, after: Footprint) -> None:
    """Assert that no connection is open, and that no more tasks are unfinished than before."""
    assert after.tasks <= before.tasks
    assert after.connections == 0
