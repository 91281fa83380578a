"""Breaking answers at the socket: what a client sees here is what a broken network does.

Whatever happens, the handler ends when the connection does: nothing is left behind.
"""

from __future__ import annotations

import asyncio
import socket
import struct

from aiohttp import web

from hosting_emulator.engine.exchange import Outgoing
from hosting_emulator.server.protocol import Protocol
from hosting_emulator.server.ready_response import ReadyResponse
from hosting_emulator.world.fault_records import (
    ConnectionReset,
    MalformedResponse,
    SlowResponse,
    Timeout,
    Truncate,
)

#: Bytes that begin no JSON and are no UTF-8, so that no parser takes them for an answer.
_GARBAGE = b"\x00\xff\xfe<lkj!{[\x80"
#: A slow body is sent in so many pieces a second.
_PIECES = 10


class FaultyResponse(web.StreamResponse):
    """An answer that breaks the way a fault says. It always ends the connection, but a slow one."""

    def __init__(self, outgoing: Outgoing) -> None:
        super().__init__(status=outgoing.status or 200)
        self._outgoing = outgoing
        self._ready = ReadyResponse(
            outgoing.status or 200, outgoing.content_type, outgoing.headers, outgoing.body
        )
        self._request: web.BaseRequest | None = None

    @property
    def keep_alive(self) -> bool:
        """Only a slow answer leaves the connection usable."""
        return isinstance(self._outgoing.breakage, SlowResponse) and self._ready.keep_alive

    async def prepare(self, request: web.BaseRequest) -> None:
        """Remember whom not to answer."""
        self._request = request
        await self._ready.prepare(request)

    async def write_eof(self, data: bytes = b"") -> None:
        """Carry the fault out."""
        request, effect = self._request, self._outgoing.breakage
        assert request is not None
        transport = request.transport
        if transport is None:
            return
        body = self._outgoing.body
        if isinstance(effect, Timeout):
            await client_lost(request)
        elif isinstance(effect, ConnectionReset):
            _reset(transport)
        elif isinstance(effect, Truncate):
            transport.write(self._ready.head(request) + body[: effect.bytes])
        elif isinstance(effect, MalformedResponse):
            garbage = _GARBAGE * (len(body) // len(_GARBAGE) + 1)
            transport.write(self._ready.head(request) + garbage[: len(body)])
        elif isinstance(effect, SlowResponse):
            await self._send_slowly(request, effect.bytes_per_second)
            return
        transport.close()

    async def _send_slowly(self, request: web.BaseRequest, bytes_per_second: int) -> None:
        writer, body = request.writer, self._outgoing.body
        await writer.write(self._ready.head(request))
        piece = max(1, bytes_per_second // _PIECES)
        for start in range(0, len(body), piece):
            part = body[start : start + piece]
            await client_lost(request, len(part) / bytes_per_second)
            await writer.write(part)
        await writer.write_eof()


async def client_lost(request: web.BaseRequest, within_s: float | None = None) -> None:
    """Wait until the client is gone, or until so many real seconds have passed."""
    protocol = request.protocol
    assert isinstance(protocol, Protocol)
    await protocol.lost(within_s)


def _reset(transport: asyncio.Transport) -> None:
    """Close so that the system sends a reset instead of a polite end."""
    connection = transport.get_extra_info("socket")
    if connection is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()
