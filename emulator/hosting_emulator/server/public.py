"""The public API: from an HTTP request to the core and back. Decides nothing itself."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from functools import partial

from aiohttp import web

from hosting_emulator.calls.request import Reply
from hosting_emulator.contract.problems import Refused
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import Durable, Exchange, ExchangeContext
from hosting_emulator.engine.pipeline import CALL_STEPS, MISDIRECTED_STEPS
from hosting_emulator.server.bodies import read_body
from hosting_emulator.server.faulty_response import FaultyResponse, client_lost
from hosting_emulator.server.hosts import Site
from hosting_emulator.server.protocol import Protocol
from hosting_emulator.server.ready_response import ReadyResponse

_log = logging.getLogger("hosting_emulator.public")
#: How many bytes of a request's headers are kept in the log, and of any of them.
HEADERS_KEPT, HEADER_KEPT = 16 * 1024, 2 * 1024


async def answer(
    request: web.BaseRequest,
    engine: Engine,
    path: str,
    query: str,
    site: Site,
    refused: Refused | None = None,
    *,
    granted: Sequence[tuple[str, str]] = (),
) -> web.StreamResponse:
    """Answer one request of a world's `/v1`. `path` is without the world's prefix.

    `refused` says why it is not for this server, if it is not. `granted` are headers by which a
    page of another origin may read the answer, whatever it is.
    """
    body, steps = b"", CALL_STEPS if refused is None else MISDIRECTED_STEPS
    if refused is None and request.can_read_body:
        assumed = engine.world.assumptions
        too_long = assumed.code_of("body_too_long")
        body, refused = await read_body(request, assumed.body_limit_bytes, too_long)
    ctx = ExchangeContext(
        method=request.method,
        path=path,
        query=query,
        headers=request.headers,
        body=body,
        dev_port=site.tls_port,
        raw_headers=request.raw_headers,
        refused=refused,
        docs_url=partial(site.docs_url, request),
    )
    note_connection(ctx, request)
    reply = await carry_out(engine.exchange(ctx, steps), request)
    if granted:
        reply.headers = (*reply.headers, *granted)
    return ReadyResponse(reply) if ctx.effect is None else FaultyResponse(reply, ctx.effect)


def note_connection(ctx: ExchangeContext, request: web.BaseRequest) -> None:
    """Note by which connection a request came, for the request log.

    Of long headers it keeps the beginning: it keeps a thousand requests.
    """
    protocol = request.protocol
    assert isinstance(protocol, Protocol)
    ctx.connection = protocol.connection
    if not protocol.framing.large:
        return
    left, kept = HEADERS_KEPT, []
    for name, value in ctx.raw_headers:
        room = min(left, HEADER_KEPT)
        if len(value) > room:
            value = value[:room] + b"... (%d bytes)" % len(value)
            ctx.headers_cut = True
        left = max(0, left - len(name) - len(value))
        kept.append((name, value))
    ctx.raw_headers = kept


async def carry_out(exchange: Exchange, request: web.BaseRequest) -> Reply:
    """Carry an exchange through: the one place that awaits what it asks for on its way."""
    error: OSError | None = None
    try:
        while True:
            effect = exchange.send(error)
            error = None
            if isinstance(effect, Durable):
                try:
                    if (kept := effect.kept()) is not None:
                        await kept
                except OSError as failed:
                    _log.error("a change could not be made durable: %s", failed)
                    error = failed
            elif effect.answered:  # what was asked is done: it is late for nobody but the client
                await client_lost(request, effect.ms / 1000)
            else:
                await asyncio.sleep(effect.ms / 1000)
    except StopIteration as done:
        reply: Reply = done.value
        return reply
    finally:
        exchange.close()
