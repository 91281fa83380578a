"""Serves the identity provider's and dev origins' pages to a scenario's story.

This needs neither a socket nor waiting in real time.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import SplitResult, urlsplit

from aiohttp import web
from multidict import CIMultiDict

from hosting_emulator.calls.dev_access import REDEEM_PATH, project_at
from hosting_emulator.control.provider import provider_exchange
from hosting_emulator.control.route import PREFIX, Route
from hosting_emulator.control.routes import ROUTES
from hosting_emulator.engine.access_tokens import issuer_path
from hosting_emulator.engine.engine import Engine
from hosting_emulator.http import dev_origins
from hosting_emulator.http.guard import Site
from hosting_emulator.http.ready_responses import FaultyResponse, ReadyResponse
from hosting_emulator.http.request_head import PlainHead
from hosting_emulator.identity import faults
from hosting_emulator.identity.request import IdentityRequest
from hosting_emulator.scenario.arrival import PageRequest, PageVisit

_PROVIDER_PATH: Final = f"{PREFIX}/idp"


def respond_to_page(engine: Engine, request: PageRequest) -> PageVisit:
    """Request a page and return the response. Raises ValueError if there is no page at the URL.

    The generator yields each delay in real milliseconds.
    """
    url = urlsplit(request.url)
    if url.netloc:
        response = _visit_origin(engine, request, url)
    else:
        response = yield from _visit_provider(engine, request, url)
    if isinstance(response, FaultyResponse):
        return response.reply, response.effect
    if isinstance(response, ReadyResponse):
        return response.reply, None
    assert isinstance(response, web.Response)
    reply = faults.as_reply(response)
    cookies = [("Set-Cookie", cookie.OutputString()) for cookie in response.cookies.values()]
    reply.headers = (*reply.headers, *cookies)
    return reply, None


def _visit_origin(engine: Engine, request: PageRequest, url: SplitResult) -> web.StreamResponse:
    project = project_at(engine.begin_change(), url.hostname or "")
    if project is None or url.path == REDEEM_PATH:
        raise ValueError(f"{request.url[:80]} is not a page of a dev origin")
    head = PlainHead(request.method, CIMultiDict({**request.headers, "Host": url.netloc}))
    site = Site(request.own_url)
    return dev_origins.show_page(head, engine, project, url.path, url.query, site)


def _visit_provider(engine: Engine, request: PageRequest, url: SplitResult) -> faults.Exchange:
    route = _provider_route(engine, request, url)
    head = PlainHead(request.method, CIMultiDict(request.headers))
    identity_request = IdentityRequest(head, url.query, request.body, Site(request.own_url))
    return provider_exchange(identity_request, engine, route)


def _provider_route(engine: Engine, request: PageRequest, url: SplitResult) -> Route:
    """Return the identity provider route that a request matches.

    Raises ValueError if the identity provider has no such route.
    """
    path = url.path.removeprefix(_PROVIDER_PATH)
    rest = (issuer_path(engine.world.name) + path).removeprefix(PREFIX)
    for route in ROUTES:
        if not route.is_identity or route.method != request.method:
            continue
        if route.match(rest):
            return route
    raise ValueError(f"the identity provider has no {request.method} {url.path[:80]}")
