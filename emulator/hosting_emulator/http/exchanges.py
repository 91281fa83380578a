"""Runs the engine's exchanges for requests that arrive over HTTP.

The engine decides which steps an exchange consists of. This module awaits the steps' effects and
turns the engine's reply into a response.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from functools import partial
from typing import Final

from aiohttp import web

from hosting_emulator.engine.driver import run_exchange
from hosting_emulator.engine.effects import Delay, Durable
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import ExchangeContext
from hosting_emulator.engine.pipeline import Step
from hosting_emulator.engine.redaction import beginning
from hosting_emulator.http.protocol import protocol_of
from hosting_emulator.http.ready_responses import FaultyResponse, ReadyResponse
from hosting_emulator.http.world_pauses import pass_world_time

_log = logging.getLogger("hosting_emulator.http")
#: If a request's head is long, the request log stores at most this many bytes of all its headers
#: together, and of each single header. The limits are low because the log contains up to a thousand
#: requests.
_HEADERS_LIMIT: Final = 16 * 1024
_HEADER_LIMIT: Final = 2 * 1024


def begin_exchange(request: web.BaseRequest, ctx: ExchangeContext) -> None:
    """Record an exchange's connection and the time at which its request arrived."""
    protocol = protocol_of(request)
    ctx.connection = protocol.connection
    ctx.passage = protocol.begin_passage()
    ctx.is_connection_reused = protocol.response_count > 0
    if protocol.framing.has_long_heads:
        _shorten_headers(ctx)


async def respond(
    request: web.BaseRequest,
    engine: Engine,
    ctx: ExchangeContext,
    steps: Sequence[Step],
    *,
    extra_headers: Sequence[tuple[str, str]] = (),
) -> ReadyResponse:
    """Run an exchange and return its response, which a fault may delay, truncate or corrupt."""
    reply = await run_exchange(engine, ctx, steps, partial(wait_for, request))
    if extra_headers:
        reply.headers = [*reply.headers, *extra_headers]
    if ctx.effect is None:
        return ReadyResponse(reply, engine.date_s(), ctx.passage)
    pause = partial(pass_world_time, engine)
    return FaultyResponse(reply, engine.date_s(), ctx.effect, pause, ctx)


async def wait_for(request: web.BaseRequest, effect: Delay | Durable) -> None:
    """Await an exchange's effect. Raises OSError if a change was not saved."""
    if isinstance(effect, Durable):
        try:
            saving = effect.await_durable()
            if saving is not None:
                await saving
        except OSError as error:
            _log.error("a change could not be made durable: %s", error)
            raise
    elif effect.is_done:
        # The request has already been carried out, so stop waiting as soon as the client
        # disconnects.
        await protocol_of(request).wait_for_client_to_leave(effect.ms / 1000)
    else:
        await asyncio.sleep(effect.ms / 1000)


def _shorten_headers(ctx: ExchangeContext) -> None:
    """Truncate long headers for the request log."""
    remaining = _HEADERS_LIMIT
    headers = []
    for name, value in ctx.raw_headers:
        limit = min(remaining, _HEADER_LIMIT)
        if len(value) > limit:
            value = beginning(value, limit) + b"... (%d bytes)" % len(value)
            ctx.headers_cut = True
        remaining = max(0, remaining - len(name) - len(value))
        headers.append((name, value))
    ctx.raw_headers = headers
