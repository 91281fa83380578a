"""Serves dev origins, which redeem tickets and show a placeholder for the developer's site.

A request's Host header names the dev origin. Dev origins are served over TLS on a separate port,
and also over plain HTTP on the main port, because some runtimes do not resolve names under
`.localhost`. A client that cannot set the Host header can redeem a ticket on the main port, because
the ticket itself identifies the dev origin.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final
from urllib.parse import parse_qs

from aiohttp import web

from hosting_emulator.calls.dev_access import (
    DEV_SESSION_COOKIE,
    REDEEM_PATH,
    project_at,
    session_of,
    ticketed_project,
)
from hosting_emulator.calls.request import Reply
from hosting_emulator.contract.problems import Refused
from hosting_emulator.engine.driver import run_exchange
from hosting_emulator.engine.effects import run_through
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import ExchangeContext
from hosting_emulator.engine.pipeline import REDEEM_STEPS, admit
from hosting_emulator.engine.problem_replies import problem_reply
from hosting_emulator.engine.worlds import Worlds
from hosting_emulator.http import responses
from hosting_emulator.http.addresses import host_name
from hosting_emulator.http.exchanges import begin_exchange, respond
from hosting_emulator.http.guard import Site
from hosting_emulator.http.pages import CONTENT_SECURITY_POLICY, DOCS_PATH, html, page
from hosting_emulator.http.ready_responses import ReadyResponse
from hosting_emulator.http.request_head import RequestHead, read_cookie
from hosting_emulator.world.naming import MAIL_ZONE, PRODUCTION_ZONE, zone_of
from hosting_emulator.world.records import Project
from hosting_emulator.world.value import Change

_CLOSED: Final = "<p>The dev site of <strong>$name</strong> opens with a dev access ticket.</p>"
_OPEN: Final = "<p>You are at the dev site of <strong>$name</strong>: the ticket was accepted.</p>"


def find_origin(worlds: Worlds, request: web.BaseRequest) -> tuple[Engine, Project] | None:
    """Return the world and project whose dev host a request names, or None if no project has this host."""
    host = host_name(request.headers.get("Host", ""))
    if not host.startswith("dev-"):
        return None
    for engine in worlds:
        project = project_at(Change(engine.world, engine.world.at_ms), host)
        if project is not None:
            return engine, project
    return None


def project_of_ticket(engine: Engine, query: str) -> Project | None:
    """Return the project for which the ticket in a query was created, even if the ticket is no
    longer valid.

    Returns None if the query contains no ticket from this world.
    """
    secret = parse_qs(query).get("ticket", [""])[0]
    return ticketed_project(Change(engine.world, engine.world.at_ms), secret)


def redemption_refusal(
    worlds: Worlds,
    request: web.BaseRequest,
    engine: Engine,
    project: Project | None,
    site: Site,
) -> Refused | None:
    """Return the refusal of a ticket that a client redeems under the base URL, or None.

    A host in the emulator's own zones that is not the dev host of the ticket's project is a
    different origin. `project` is None if the ticket is unknown.
    """
    host = host_name(request.headers.get("Host", ""))
    if host in site.names or not _is_in_own_zone(worlds, host):
        return None
    if find_origin(worlds, request) == (engine, project):
        return None
    return Refused(
        "resource_not_found",
        "This ticket cannot be redeemed here.",
        why=f"the Host {host!r} is not the dev host of the ticket's project",
        action="Open the ticket's redeem_url, or send its path and query to the base URL.",
    )


def _is_in_own_zone(worlds: Worlds, host: str) -> bool:
    """Return whether a host is below a zone in which the emulator derives hostnames of projects."""
    zones = {PRODUCTION_ZONE, MAIL_ZONE}
    zones.update(zone_of(engine.world.name, engine.world.assumptions.dev_zone) for engine in worlds)
    return any(host.endswith(f".{zone}") for zone in zones)


async def handle(
    request: web.BaseRequest, engine: Engine, project: Project, path: str, query: str, site: Site
) -> web.StreamResponse:
    """Return a dev origin's response to a request, which either redeems a ticket or shows a page."""
    if path != REDEEM_PATH or request.method != "GET":
        return show_page(
            request, engine, project, path, query, site, raw_headers=request.raw_headers
        )
    ctx = _context(request, engine, project, path, query, site, raw_headers=request.raw_headers)
    begin_exchange(request, ctx)
    return await respond(request, engine, ctx, REDEEM_STEPS)


def show_page(
    request: RequestHead,
    engine: Engine,
    project: Project,
    path: str,
    query: str,
    site: Site,
    *,
    raw_headers: Sequence[tuple[bytes, bytes]] = (),
) -> web.StreamResponse:
    """Return a dev origin's page, or a refusal if the path does not accept the method.

    A HEAD request must not redeem a ticket, because link checkers and link previews send HEAD
    requests.
    """
    methods = ["GET"]
    if path != REDEEM_PATH:
        methods.append("HEAD")
    if request.method not in methods:
        return _refuse_method(request, engine, site, methods)
    response = _home_page(request, engine, project)
    if "Authorization" in request.headers:
        # Log the request, because the client sent a token, and dev origins never accept tokens.
        ctx = _context(request, engine, project, path, query, site, raw_headers=raw_headers)
        reply = Reply(response.status, b"", content_type="", headers=())
        run_through(run_exchange(engine, ctx, (admit, lambda *_: reply)))
    return response


def _refuse_method(
    request: RequestHead, engine: Engine, site: Site, methods: Sequence[str]
) -> web.StreamResponse:
    detail = f"This path on a dev origin accepts only {' and '.join(methods)}."
    refusal = Refused("invalid_request", detail, status=405)
    docs_url = _docs_url(request, site)
    reply = problem_reply(refusal, engine.request_id(), docs_url, engine.world.assumptions)
    reply.headers = [*reply.headers, ("Allow", ", ".join(methods))]
    return ReadyResponse(reply, engine.date_s())


def _context(
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
        docs_url=partial(_docs_url, request, site),
        record=project,
    )


def _docs_url(request: RequestHead, site: Site) -> str:
    """Return the documentation URL to include in a response from a dev origin.

    A client can reach a dev origin by sending its name in the Host header to the emulator's own
    address. If this header has no port, a URL built from it would not reach the emulator, so the
    emulator's own address is used instead.
    """
    if ":" in request.headers.get("Host", ""):
        return site.docs_url(request)
    return site.own_url + DOCS_PATH


def _home_page(request: RequestHead, engine: Engine, project: Project) -> web.Response:
    """Return the page that is shown in place of the developer's own site.

    The page says whether the visitor has access.
    """
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
