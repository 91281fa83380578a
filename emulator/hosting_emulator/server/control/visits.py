"""Visits of a story to a world's pages: its identity provider's, and those of dev origins.

They are answered as any request is, but by no socket, and nothing is waited for in real time.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

from aiohttp import web
from multidict import CIMultiDict

from hosting_emulator.calls.create_dev_access_ticket import REDEEM_PATH, project_at
from hosting_emulator.calls.request import Reply
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.identity import issuer_path
from hosting_emulator.faults.kinds import FaultKind
from hosting_emulator.scenario.document import ScenarioLibrary
from hosting_emulator.scenario.story import PageRequest
from hosting_emulator.server import public
from hosting_emulator.server.answers import ReadyResponse
from hosting_emulator.server.control.context import Context, Facts
from hosting_emulator.server.control.routes import PREFIX, ROUTES, as_reply, respond
from hosting_emulator.server.guard import Site
from hosting_emulator.world.naming import DEFAULT_WORLD
from hosting_emulator.world.value import Change

_IDP = PREFIX + "/idp"


@dataclass(frozen=True)
class _Visitor:
    """As much of a request as pages look at."""

    method: str
    headers: CIMultiDict[str]
    raw_headers: tuple[tuple[bytes, bytes], ...] = ()
    scheme: str = "http"
    remote: None = None


@dataclass(frozen=True, kw_only=True)
class _Visit(Context):
    """A request about one world, however its path names it."""

    of: Engine

    def engine(self, name: str) -> Engine:
        """Return the world's engine."""
        return self.of


def visit(
    engine: Engine, asked: PageRequest, pass_over: Callable[[int], None]
) -> tuple[Reply, FaultKind | None]:
    """Answer a request, and tell what breaks the answer on its wire; delays go to `pass_over`.

    Raises ValueError for an address that has no page.
    """
    url, site = urlsplit(asked.url), Site(asked.own_url)
    host = {} if url.netloc == "" else {"Host": url.netloc}
    visitor = cast("web.BaseRequest", _Visitor(asked.method, CIMultiDict(asked.headers | host)))
    if url.netloc:
        project = project_at(Change(engine.world, engine.world.at_ms), url.hostname or "")
        if project is None or url.path == REDEEM_PATH:
            raise ValueError(f"{asked.url[:80]} is not a page of a dev origin")
        page = public.answer_origin(visitor, engine, project, url.path, url.query, site)
        return _reply_of(_done(page))
    rest = (issuer_path(engine.world.name) + url.path.removeprefix(_IDP)).removeprefix(PREFIX)
    for route in ROUTES:
        found = route.pattern.fullmatch(rest)
        if found is not None and route.door and route.method == asked.method:
            break
    else:
        raise ValueError(f"the identity provider has no {asked.method} {url.path[:80]}")

    async def wait(ms: int) -> None:
        pass_over(ms)

    async def at_once(function: Callable[..., Any], *given: Any) -> Any:
        return function(*given)

    context = _Visit(
        request=visitor,
        worlds=cast("Any", None),  # no page looks at another world
        site=site,
        facts=Facts("", None, "process", "", engine.world.seed),
        query=url.query,
        library=ScenarioLibrary(None),
        kept={"body": asked.body},
        wait=wait,
        apart=at_once,
        of=engine,
    )
    return _reply_of(_done(respond(context, route, {"world": DEFAULT_WORLD})))


def _done(answer: Coroutine[Any, Any, web.StreamResponse]) -> web.StreamResponse:
    """Return what is answered without ever waiting."""
    try:
        answer.send(None)
    except StopIteration as done:
        response: web.StreamResponse = done.value
        return response
    raise AssertionError("a page waits for something")


def _reply_of(response: web.StreamResponse) -> tuple[Reply, FaultKind | None]:
    if isinstance(response, ReadyResponse):
        return response.reply, getattr(response, "effect", None)
    assert isinstance(response, web.Response)
    reply = as_reply(response)
    cookies = [("Set-Cookie", kept.OutputString()) for kept in response.cookies.values()]
    reply.headers = (*reply.headers, *cookies)
    return reply, None
