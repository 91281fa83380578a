"""Answers that a fault breaks: what a client sees here is what a broken network does.

Whatever happens, the handler ends when the connection does: nothing is left behind.
"""

from __future__ import annotations

import socket
import struct
from typing import Any

from aiohttp import web

from hosting_emulator.calls.request import Reply
from hosting_emulator.faults.kinds import FaultKind
from hosting_emulator.server.protocol import Protocol
from hosting_emulator.server.ready_response import ReadyResponse


class FaultyResponse(ReadyResponse):
    """An answer that breaks the way a fault says. Where it does not arrive, its connection ends."""

    def __init__(self, reply: Reply, effect: FaultKind) -> None:
        super().__init__(reply)
        self.effect = effect

    async def prepare(self, request: web.BaseRequest) -> Any:
        """Remember whom to answer; only an answer that arrives leaves the connection usable."""
        await super().prepare(request)
        self.keep_alive = self.effect.arrives and request.keep_alive

    async def write_eof(self, data: bytes = b"") -> None:
        """Carry the fault out."""
        request = self._request
        if request is not None and request.transport is not None:
            await self.effect.send(_RequestWire(request, self.head(request), self.reply.body))


class _RequestWire:
    """The connection of a request, as fault kinds use it (see `faults.kinds.Wire`)."""

    def __init__(self, request: web.BaseRequest, head: bytes, body: bytes) -> None:
        self.head = head
        self.body = body
        self._request = request

    async def send(self, data: bytes) -> None:
        await self._request.writer.write(data)

    async def end(self) -> None:
        await self._request.writer.write_eof()

    async def wait(self, within_s: float | None = None) -> None:
        await client_lost(self._request, within_s)

    def close(self) -> None:
        if self._request.transport is not None:
            self._request.transport.close()

    def reset(self) -> None:
        """Close so that the system sends a reset instead of a polite end."""
        transport = self._request.transport
        if transport is None:
            return
        connection = transport.get_extra_info("socket")
        if connection is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()

    def refuse(self, for_s: float) -> None:
        protocol = self._request.protocol
        assert isinstance(protocol, Protocol)
        protocol.refuse(for_s)


async def client_lost(request: web.BaseRequest, within_s: float | None = None) -> None:
    """Wait until the client is gone, or until so many real seconds have passed."""
    protocol = request.protocol
    assert isinstance(protocol, Protocol)
    await protocol.lost(within_s)
