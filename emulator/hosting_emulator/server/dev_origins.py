"""Dev origins: where tickets are redeemed, and a page that stands for the developer's site.

They answer by Host header: over TLS at their own port, and over plain HTTP at the main one, since
some runtimes do not resolve names under `.localhost`. Some do not send another Host either: for those
a ticket itself names the origin, on the main port, where it is redeemed as at its own.
"""

from __future__ import annotations

from functools import partial
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from aiohttp import web

from hosting_emulator.calls.create_dev_access_ticket import (
    REDEEM_PATH,
    project_at,
    session_of,
    ticketed_project,
)
from hosting_emulator.calls.request import Reply
from hosting_emulator.contract.problems import Refused
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import ExchangeContext, run_through
from hosting_emulator.engine.pipeline import REDEEM_STEPS, admit
from hosting_emulator.engine.problem_documents import problem_reply
from hosting_emulator.engine.worlds import Worlds
from hosting_emulator.server import answers
from hosting_emulator.server.faulty_response import FaultyResponse
from hosting_emulator.server.hosts import Site, host_name
from hosting_emulator.server.pages.layout import CONTENT_SECURITY_POLICY, html, page
from hosting_emulator.server.public import carry_out, note_connection
from hosting_emulator.world.records import Project
from hosting_emulator.world.value import Change

_CLOSED = "<p>The dev site of <strong>$name</strong> opens with a dev access ticket.</p>"
_OPEN = "<p>You are at the dev site of <strong>$name</strong>: the ticket was accepted.</p>"


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


async def answer(
    request: web.BaseRequest, engine: Engine, project: Project, path: str, query: str, site: Site
) -> web.StreamResponse:
    """Answer a request to a dev origin."""
    if request.method not in ("GET", "HEAD"):
        return _wrong_method("A dev origin takes GET.", engine, request, site)
    if request.method == "HEAD" and path == REDEEM_PATH:
        # Link checkers and previews ask with HEAD: that must not use a ticket up.
        return _wrong_method("Redeem with GET.", engine, request, site)
    ctx = ExchangeContext(
        method=request.method,
        path=path,
        query=query,
        headers=request.headers,
        dev_port=site.tls_port,
        raw_headers=request.raw_headers,
        docs_url=partial(_docs_url, request, site),
        record=project,
    )
    if path != REDEEM_PATH:
        now_ms = engine.run_due()
        home = _home(request, Change(engine.world, now_ms), project)
        if "Authorization" in request.headers:  # which does not belong here: the log tells of it
            seen = Reply(home.status, b"", content_type="", headers=())
            run_through(engine.exchange(ctx, (admit, lambda *_: seen)))
        return home
    note_connection(ctx, request)
    reply = await carry_out(engine.exchange(ctx, REDEEM_STEPS), request)
    return _response(reply) if ctx.effect is None else FaultyResponse(reply, ctx.effect)


def _response(reply: Reply) -> web.Response:
    headers = dict(reply.headers)
    if reply.content_type:
        headers["Content-Type"] = reply.content_type
    return web.Response(status=reply.status, body=reply.body or None, headers=headers)


def _wrong_method(
    detail: str, engine: Engine, request: web.BaseRequest, site: Site
) -> web.Response:
    refused, docs_url = Refused("invalid_request", detail, status=405), _docs_url(request, site)
    reply = problem_reply(refused, engine.request_id(), docs_url, engine.world.assumptions)
    reply.headers = (*reply.headers, ("Allow", "GET"))
    return _response(reply)


def _docs_url(request: web.BaseRequest, site: Site) -> str:
    """Return where the documentation is, for an asker who may have named a dev host only.

    Tests send that as the Host to wherever the emulator is: without a port it leads nowhere.
    """
    return site.docs_url(request) if ":" in request.headers.get("Host", "") else site.own_docs_url


def _home(request: web.BaseRequest, change: Change, project: Project) -> web.Response:
    """Stand for the developer's own site: it only says whether the visitor may see it."""
    try:
        cookie = SimpleCookie(request.headers.get("Cookie", "")).get(
            change.assumptions.dev_session_cookie
        )
    except CookieError:
        cookie = None
    if cookie is None or session_of(change, project, cookie.value) is None:
        title, text, status = "Dev access needed", _CLOSED, 401
    else:
        title, text, status = f"{project.handle} (dev)", _OPEN, 200
    body = html(text, name=project.handle)
    return answers.html(page(title, body), CONTENT_SECURITY_POLICY, status)
