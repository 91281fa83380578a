"""A running emulator and its clients in one event loop: every task, socket and byte is in sight."""

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

AT_A_TIME = 50
#: How long a client waits for what never comes, and for what surely does.
BRIEF_S = 0.02
LONG_S = 10.0
_TURNS = 500


@dataclass(frozen=True)
class Footprint:
    """What is open between clients and server."""

    tasks: int
    connections: int


@dataclass(frozen=True)
class Memory:
    """What this process has in use: its allocator's blocks, and all that is resident of it."""

    blocks: int
    resident_kb: int


class Ear(asyncio.Protocol):
    """Keeps what a server says, also when a reset follows it (a StreamReader would throw it away)."""

    def __init__(self) -> None:
        self.heard = bytearray()
        self.over = asyncio.get_running_loop().create_future()

    def data_received(self, data: bytes) -> None:
        self.heard += data

    def connection_lost(self, exc: Exception | None) -> None:
        self.over.set_result(None)


class Stage:
    """A running emulator, and clients in the same loop."""

    def __init__(self, emulator: Emulator) -> None:
        ready = emulator.ready()
        parts = urlsplit(ready.base_url)
        self.port = int(parts.port or 0)
        engine = emulator.worlds.get(DEFAULT_WORLD)
        assert engine is not None
        self.engine = engine
        self._idle_tasks = len(asyncio.all_tasks())
        # An earlier test of this process can have left sockets of a server that had the same port.
        self._earlier_sockets = open_sockets()
        self.request = (
            f"GET /v1/projects/{ready.project_id}/edge-dns HTTP/1.1\r\nHost: {parts.netloc}\r\n"
            f"Authorization: Bearer {ready.token}\r\nConnection: close\r\n\r\n"
        ).encode()

    def add_fault(self, **fault: Any) -> str:
        """Arm a fault, written as in a scenario. Returns its id."""
        change = self.engine.begin_change()
        armed = arm(change, fault_document(fault), FAULT)
        self.engine.commit(change, "armed")
        return armed.id

    def intervene(self, name: str, /, **fields: Any) -> None:
        """Carry out an intervention."""
        intervene_in(self.engine, name, **fields)

    def hits(self, fault_id: str) -> int:
        """Return how often a fault acted."""
        fault = self.engine.world.get(FAULTS, fault_id)
        assert fault is not None
        return fault.hits

    async def send_one_request(self, patience_s: float) -> str:
        """Send one request on a connection of its own, and say how that ended."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(self.request)
            got = await asyncio.wait_for(reader.read(), patience_s)
        except TimeoutError:
            return "silent"
        except ConnectionResetError:
            return "reset"
        finally:
            writer.close()
        head, _, body = got.partition(b"\r\n\r\n")
        if not head:
            return "empty"
        announced = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        return "cut" if len(body) < announced else "whole"

    async def talk(self, *pieces: bytes, end: bool = False) -> bytes:
        """Send pieces, each read by the server on its own, and return all it says until it closes.

        `end`: then close our side of the connection, and listen on.
        """
        loop = asyncio.get_running_loop()
        transport, ear = await loop.create_connection(Ear, "127.0.0.1", self.port)
        try:
            for piece in pieces:
                if transport.is_closing():
                    break
                transport.write(piece)
                await self.turn()
            if end and not transport.is_closing():
                transport.write_eof()
            await asyncio.wait_for(ear.over, LONG_S)
        finally:
            transport.close()
        return bytes(ear.heard)

    async def vanish(self, *pieces: bytes, reset: bool = False) -> None:
        """Send pieces and go away without listening; `reset`: as a killed client's system says it."""
        _, writer = await asyncio.open_connection("127.0.0.1", self.port)
        for piece in pieces:
            writer.write(piece)
            await self.turn()
        if reset:
            connection = writer.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    @staticmethod
    async def turn() -> None:
        """Let the server, which shares this loop, take in what was sent."""
        for _ in range(5):
            await asyncio.sleep(0)

    async def many(self, count: int, patience_s: float) -> Counter[str]:
        """Send so many, some at a time."""
        ends: Counter[str] = Counter()
        left = iter(range(count))

        async def work() -> None:
            for _ in left:
                ends[await self.send_one_request(patience_s)] += 1

        await asyncio.gather(*(work() for _ in range(AT_A_TIME)))
        return ends

    def held(self, port: int | None = None) -> int:
        """Count this process's ends of connections to the server, the server's and the clients'."""
        return held_connections(port or self.port, self._earlier_sockets)

    async def quiet(self, connections: int = 0) -> Footprint:
        """Wait, but not without end, until so many connections are held, and look.

        With none, the server's tasks have ended as well. Nothing is collected before: a connection
        that only the collector would close is held.
        """
        for _ in range(_TURNS):
            footprint = Footprint(len(asyncio.all_tasks()), self.held())
            if footprint.connections == connections and (
                connections or footprint.tasks <= self._idle_tasks
            ):
                break
            await asyncio.sleep(0.01)
        return footprint


def memory() -> Memory:
    """Tell what this process has in use, once what nobody holds is collected."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return Memory(sys.getallocatedblocks(), pages * os.sysconf("SC_PAGE_SIZE") // 1024)


def assert_nothing_open(before: Footprint, after: Footprint) -> None:
    assert after.tasks <= before.tasks
    assert after.connections == 0
