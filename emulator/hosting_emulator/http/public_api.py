"""Handles requests under a world's `/v1`: passes them to the engine and returns its responses."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from aiohttp import web

from hosting_emulator.contract.problems import Refused
from hosting_emulator.engine.driver import list_arrival
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import ExchangeContext
from hosting_emulator.engine.pipeline import CALL_STEPS, MISDIRECTED_STEPS
from hosting_emulator.engine.uploads import begin_upload
from hosting_emulator.http.exchanges import begin_exchange, respond
from hosting_emulator.http.guard import PAGE_HEADER, Site
from hosting_emulator.http.request_body import read_body

_PAGE_HEADER_BYTES = PAGE_HEADER.lower().encode()


async def handle(
    request: web.BaseRequest,
    engine: Engine,
    path: str,
    query: str,
    site: Site,
    refusal: Refused | None = None,
    *,
    cors_headers: Sequence[tuple[str, str]] = (),
) -> web.StreamResponse:
    """Return the response to a request. `path` does not include the world's prefix.

    `refusal` is None, unless the request must be refused because its Host is not safe.
    `cors_headers` are added to every response, so that a page from another origin can read it.
    """
    raw_headers: Sequence[tuple[bytes, bytes]] = request.raw_headers
    is_from_page = site.is_from_page(request)
    if is_from_page:
        # The page secret must not appear in the request log.
        raw_headers = [pair for pair in raw_headers if pair[0].lower() != _PAGE_HEADER_BYTES]
    ctx = ExchangeContext(
        method=request.method,
        path=path,
        query=query,
        headers=request.headers,
        dev_port=site.tls_port,
        raw_headers=raw_headers,
        from_emulator=is_from_page,
        refused=refusal,
        docs_url=partial(site.docs_url, request),
    )
    begin_exchange(request, ctx)
    steps = MISDIRECTED_STEPS
    if refusal is None:
        steps = CALL_STEPS
        if request.can_read_body:
            await _read_body(request, engine, ctx)
    return await respond(request, engine, ctx, steps, extra_headers=cors_headers)


async def _read_body(request: web.BaseRequest, engine: Engine, ctx: ExchangeContext) -> None:
    """Read a request's body. Until it has arrived, the request is listed as in progress."""
    assumptions = engine.world.assumptions
    if not request.content.is_eof():
        list_arrival(engine, ctx)
    upload = None
    if engine.world.has_faults_or_timeline or engine.protected:
        upload = begin_upload(engine, ctx)
    try:
        ctx.body, ctx.refused = await read_body(
            request, assumptions.body_limit_bytes, assumptions, upload
        )
    except BaseException:
        engine.log.abandon(ctx, "the body of the request did not arrive completely")
        raise
    if ctx.refused is not None:
        # A refused body is not kept. Its length, which is at least 1, shows that there was one.
        ctx.body_bytes = max(request.content_length or 0, request.content.total_bytes, 1)
    elif upload is not None and upload.most_bytes is not None:
        ctx.body_bytes = max(len(ctx.body), request.content_length or 0)
