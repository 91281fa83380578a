"""The public API: from an HTTP request to the core and back. Decides nothing itself."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from aiohttp import web

from hosting_emulator.contract.problems import Refused
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import Incoming, Outgoing
from hosting_emulator.server.bodies import read_body
from hosting_emulator.server.faulty_response import FaultyResponse, client_lost
from hosting_emulator.server.ready_response import ReadyResponse
from hosting_emulator.server.sites import Site

_log = logging.getLogger("hosting_emulator.public")


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
    """Answer one request of a world's `/v1`, or refuse it. `path` is without the world's prefix.

    `granted` are headers by which a page of another origin may read the answer, whatever it is.
    """
    body = b""
    if refused is None and request.can_read_body:
        body, refused = await read_body(request, engine.world.assumptions.body_limit_bytes)
    values = request.headers.getall
    incoming = Incoming(
        method=request.method,
        path=path,
        query=query,
        docs_url=lambda: site.docs_url(request),
        headers=lambda name: values(name, ()),
        body=body,
        dev_port=site.tls_port,
        refused=refused,
        raw_headers=request.raw_headers,
    )
    outgoing = engine.exchange(incoming)
    if outgoing.resume:  # a fault delays the request before anything is done
        await asyncio.sleep(outgoing.delay_ms / 1000)
        outgoing = engine.exchange(incoming)
    try:
        durable = engine.durable()
        if durable is not None:
            try:
                await durable
            except OSError as error:
                _log.error("a change could not be made durable: %s", error)
                outgoing = _not_durable(engine, incoming)
                outgoing.headers = (*outgoing.headers, *granted)
                return _response(outgoing)
        if outgoing.delay_ms:  # what was asked is done: it is late for nobody but the client
            await client_lost(request, outgoing.delay_ms / 1000)
        outgoing.headers = (*outgoing.headers, *granted)
        return _response(outgoing) if outgoing.breakage is None else FaultyResponse(outgoing)
    finally:
        engine.release(outgoing)


def _response(outgoing: Outgoing) -> ReadyResponse:
    return ReadyResponse(outgoing.status, outgoing.content_type, outgoing.headers, outgoing.body)


def _not_durable(engine: Engine, incoming: Incoming) -> Outgoing:
    incoming.refused = Refused(
        "service_unavailable", "The change could not be written to disk; it may be lost."
    )
    return engine.exchange(incoming)
