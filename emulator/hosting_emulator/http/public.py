"""The public API and the dev origins: from an HTTP request to the core and back. Decides nothing itself.

At a dev origin tickets are redeemed, and a page stands for the developer's site. Dev origins answer by
Host header: over TLS at their own port, and over plain HTTP at the main one, since some runtimes do
not resolve names under `.localhost`. Some do not send another Host either: for those a ticket itself
names the origin, on the main port, where it is redeemed as at its own.
"""

from __future__ import annotations

import asyncio
import logging
import zlib
from collections.abc import Sequence
from functools import partial
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from aiohttp import StreamReader, web

from hosting_emulator.calls.dev_access import (
    DEV_SESSION_COOKIE,
    REDEEM_PATH,
    project_at,
    session_of,
    ticketed_project,
)
from hosting_emulator.calls.request import Reply
from hosting_emulator.contract.assumptions import DEFAULTS, Assumptions
from hosting_emulator.contract.problems import Refused
from hosting_emulator.engine.connection import Passage
from hosting_emulator.engine.driver import list_arrival, run_exchange
from hosting_emulator.engine.effects import Delay, Durable, run_through
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import ExchangeContext
from hosting_emulator.engine.pipeline import CALL_STEPS, MISDIRECTED_STEPS, REDEEM_STEPS, admit
from hosting_emulator.engine.problem_replies import problem_reply, too_large
from hosting_emulator.engine.redaction import beginning
from hosting_emulator.engine.worlds import Worlds
from hosting_emulator.faults.kinds import FaultKind
from hosting_emulator.http import responses
from hosting_emulator.http.guard import PAGE_HEADER, Site, host_name
from hosting_emulator.http.pages import CONTENT_SECURITY_POLICY, DOCS_PATH, html, page
from hosting_emulator.http.protocol import Protocol, protocol_of
from hosting_emulator.http.request_head import RequestHead
from hosting_emulator.world.records import Project
from hosting_emulator.world.value import Change

_log = logging.getLogger("hosting_emulator.public")
#: How many bytes of a request's headers are kept in the log, and of any of them.
HEADERS_KEPT, HEADER_KEPT = 16 * 1024, 2 * 1024
#: What a compressed body may become: so much in any case, else so many times what was sent. An
#: exported state of any size packs less than that; a few bytes that unpack without end do not pass.
_ALWAYS_UNPACKED, _HIGHEST_RATIO = 8 * 1024 * 1024, 50
#: A compressed body may be several, one after the other.
_MOST_MEMBERS = 64
_BROKEN = "The request body does not have the length, chunks or encoding that its headers announce."
_CLOSED = "<p>The dev site of <strong>$name</strong> opens with a dev access ticket.</p>"
_OPEN = "<p>You are at the dev site of <strong>$name</strong>: the ticket was accepted.</p>"


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
    steps = CALL_STEPS if refused is None else MISDIRECTED_STEPS
    passage = protocol_of(request).begin_passage()
    protocol = request.protocol
    assert isinstance(protocol, Protocol)
    raw_headers: Sequence[tuple[bytes, bytes]] = request.raw_headers
    from_page = site.is_from_page(request)
    if from_page:  # the log must not show the secret
        secret_name = PAGE_HEADER.lower().encode()
        raw_headers = [header for header in raw_headers if header[0].lower() != secret_name]
    ctx = ExchangeContext(
        method=request.method,
        path=path,
        query=query,
        headers=request.headers,
        dev_port=site.tls_port,
        raw_headers=raw_headers,
        from_emulator=from_page,
        refused=refused,
        docs_url=partial(site.docs_url, request),
        connection=protocol.connection,
        passage=passage,
    )
    if protocol.framing.large:
        _cut_headers(ctx)
    if refused is None and request.can_read_body:
        await _read_body_of(request, engine, ctx)
    reply = await run_exchange(engine, ctx, steps, partial(wait_for, request))
    if granted:
        reply.headers = (*reply.headers, *granted)
    return _response(engine, reply, ctx.effect, passage)


def _response(
    engine: Engine, reply: Reply, effect: FaultKind | None, passage: Passage | None
) -> responses.ReadyResponse:
    """Return the response of an exchange, which a fault may break."""
    if effect is None:
        return responses.ReadyResponse(reply, engine.date_s(), passage)
    return responses.FaultyResponse(reply, engine.date_s(), effect, passage)


async def _read_body_of(request: web.BaseRequest, engine: Engine, ctx: ExchangeContext) -> None:
    """Read the body of a request. One that is not there yet is listed as in progress meanwhile."""
    assumed = engine.world.assumptions
    if not request.content.is_eof():
        list_arrival(engine, ctx)
    try:
        ctx.body, ctx.refused = await read_body(request, assumed.body_limit_bytes, assumed)
    except BaseException:
        engine.log.abandon(ctx, "the body of the request did not arrive completely")
        raise


def _cut_headers(ctx: ExchangeContext) -> None:
    """Keep the beginning of long headers: the request log keeps a thousand requests."""
    left, kept = HEADERS_KEPT, []
    for name, value in ctx.raw_headers:
        room = min(left, HEADER_KEPT)
        if len(value) > room:
            value = beginning(value, room) + b"... (%d bytes)" % len(value)
            ctx.headers_cut = True
        left = max(0, left - len(name) - len(value))
        kept.append((name, value))
    ctx.raw_headers = kept


async def wait_for(request: web.BaseRequest, effect: Delay | Durable) -> None:
    """Await what the exchange of a request waits for on its way: the one place that does."""
    if isinstance(effect, Durable):
        try:
            if (kept := effect.await_durable()) is not None:
                await kept
        except OSError as failed:
            _log.error("a change could not be made durable: %s", failed)
            raise
    elif effect.is_done:  # what was asked is done: it is late for nobody but the client
        await protocol_of(request).lost(effect.ms / 1000)
    else:
        await asyncio.sleep(effect.ms / 1000)


# --- bodies: bounded, and with a refusal instead of an exception when they are broken --------------


async def read_body(
    request: web.BaseRequest, limit: int, assumptions: Assumptions = DEFAULTS
) -> tuple[bytes, Refused | None]:
    """Return the body of at most `limit` bytes, or what is wrong with it."""
    if not request.can_read_body:
        return b"", None
    coding = request.headers.get("Transfer-Encoding", "chunked").lower()
    if coding != "chunked":  # aiohttp takes the chunks apart and leaves the rest as it is
        return b"", Refused("invalid_request", "The only allowed Transfer-Encoding is chunked.")
    content = request.content
    if not content.is_eof():
        announced = request.content_length
        if announced is not None and announced > limit:
            return b"", too_large(limit, assumptions)
        if request.headers.get("Expect", "").lower() == "100-continue":  # RFC 9110, 10.1.1
            await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            request.writer.output_size = 0  # the answer itself has not begun
    try:
        # Most often all of it is here already.
        body = content.read_nowait() if content.is_eof() else await _arriving(content, limit)
        unpacked = body
        if encoding := request.headers.get("Content-Encoding"):
            limit = min(limit, max(_ALWAYS_UNPACKED, _HIGHEST_RATIO * len(body)))
            unpacked = await asyncio.to_thread(_unpack, body, encoding.lower(), limit)
    except (web.RequestPayloadError, ValueError, zlib.error) as error:
        return b"", Refused("invalid_request", _BROKEN, why=type(error).__name__)
    if len(body) > limit or len(unpacked) > limit:
        return b"", too_large(limit, assumptions)
    return unpacked, None


async def _arriving(content: StreamReader, limit: int) -> bytes:
    body = bytearray()
    while not content.at_eof() and len(body) <= limit:
        body += await content.readany()
    return bytes(body)


def _unpack(body: bytes, coding: str, limit: int) -> bytes:
    """Undo a Content-Encoding, but for what goes beyond the limit. Raises ValueError, zlib.error.

    aiohttp would do this as the bytes come, and let a request wait for the rest of a broken body.
    """
    if coding in ("br", "zstd"):
        raise ValueError(coding)
    if coding not in ("gzip", "deflate"):
        return body
    unpacked = b""
    for _ in range(_MOST_MEMBERS):
        if not body or len(unpacked) > limit:
            return unpacked
        if coding == "gzip":
            window = 16 + zlib.MAX_WBITS
        else:  # some clients leave the two bytes before the stream out
            window = zlib.MAX_WBITS if body[0] & 0x0F == 8 else -zlib.MAX_WBITS
        reader = zlib.decompressobj(window)
        unpacked += reader.decompress(body, limit + 1 - len(unpacked))
        if not reader.eof and len(unpacked) <= limit:
            raise ValueError("cut off")
        body = reader.unused_data
    raise ValueError("too many members")


# --- dev origins ---------------------------------------------------------------------------------


def find_origin(worlds: Worlds, request: web.BaseRequest) -> tuple[Engine, Project] | None:
    """Return the world and project whose dev host the request names, or None."""
    host = host_name(request.headers.get("Host", ""))
    if not host.startswith("dev-"):
        return None
    for engine in worlds:
        project = project_at(Change(engine.world, engine.world.at_ms), host)
        if project is not None:
            return engine, project
    return None


def project_of(engine: Engine, query: str) -> Project | None:
    """Return the project whose ticket a query brings, whatever became of that; None: no ticket's."""
    secret = parse_qs(query).get("ticket", [""])[0]
    return ticketed_project(Change(engine.world, engine.world.at_ms), secret)


async def answer_origin(
    request: web.BaseRequest, engine: Engine, project: Project, path: str, query: str, site: Site
) -> web.StreamResponse:
    """Return the response of a dev origin: it redeems a ticket, or shows a page."""
    if path != REDEEM_PATH or request.method != "GET":
        return show_origin(
            request, engine, project, path, query, site, raw_headers=request.raw_headers
        )
    ctx = _origin_context(
        request, engine, project, path, query, site, raw_headers=request.raw_headers
    )
    protocol = protocol_of(request)
    ctx.connection = protocol.connection
    passage = protocol.begin_passage()
    ctx.passage = passage
    if protocol.framing.large:
        _cut_headers(ctx)
    reply = await run_exchange(engine, ctx, REDEEM_STEPS, partial(wait_for, request))
    return _response(engine, reply, ctx.effect, passage)


def show_origin(
    request: RequestHead,
    engine: Engine,
    project: Project,
    path: str,
    query: str,
    site: Site,
    *,
    raw_headers: Sequence[tuple[bytes, bytes]] = (),
) -> web.StreamResponse:
    """Return the page of a dev origin, or the refusal of a method that it does not have.

    Link checkers and previews send HEAD. It must not redeem a ticket.
    """
    redeems = path == REDEEM_PATH
    methods = ("GET",) if redeems else ("GET", "HEAD")
    if request.method not in methods:
        detail = "Redeem with GET." if request.method == "HEAD" else "A dev origin takes GET."
        refused = Refused("invalid_request", detail, status=405)
        docs_url = _origin_docs_url(request, site)
        reply = problem_reply(refused, engine.request_id(), docs_url, engine.world.assumptions)
        reply.headers = (*reply.headers, ("Allow", ", ".join(methods)))
        return responses.ReadyResponse(reply, engine.date_s())
    home = _home(request, engine, project)
    if "Authorization" in request.headers:
        # A dev origin takes no token. The log shows that the client sent one.
        ctx = _origin_context(request, engine, project, path, query, site, raw_headers=raw_headers)
        logged = Reply(home.status, b"", content_type="", headers=())
        run_through(run_exchange(engine, ctx, (admit, lambda *_: logged)))
    return home


def _origin_context(
    request: RequestHead,
    engine: Engine,
    project: Project,
    path: str,
    query: str,
    site: Site,
    *,
    raw_headers: Sequence[tuple[bytes, bytes]],
) -> ExchangeContext:
    return ExchangeContext(
        method=request.method,
        path=path,
        query=query,
        headers=request.headers,
        dev_port=site.tls_port,
        raw_headers=raw_headers,
        docs_url=partial(_origin_docs_url, request, site),
        record=project,
    )


def _origin_docs_url(request: RequestHead, site: Site) -> str:
    """Return the address of the documentation for a request to a dev origin.

    Tests send the Host of a dev origin to wherever the emulator listens. Without a port, an address
    with that Host leads nowhere.
    """
    if ":" in request.headers.get("Host", ""):
        return site.docs_url(request)
    return site.own_url + DOCS_PATH


def _home(request: RequestHead, engine: Engine, project: Project) -> web.Response:
    """Return the page in place of the developer's own site: it says whether the visitor may see it."""
    change = Change(engine.world, engine.run_due())
    cookie = read_cookie(request, DEV_SESSION_COOKIE)
    if cookie is None or session_of(change, project, cookie) is None:
        title = "Dev access needed"
        text = _CLOSED
        status = 401
    else:
        title = f"{project.handle} (dev)"
        text = _OPEN
        status = 200
    body = html(text, name=project.handle)
    response = responses.html(page(title, body), CONTENT_SECURITY_POLICY, status)
    return responses.dated(response, engine.date_s())


def read_cookie(request: RequestHead, name: str) -> str | None:
    """Return the value of a cookie that a request brings."""
    try:
        sent = SimpleCookie(request.headers.get("Cookie", "")).get(name)
    except CookieError:
        return None
    return None if sent is None else sent.value
