"""The door: every request comes in here and is shown to the room that answers it."""

from __future__ import annotations

from aiohttp import web

from hosting_emulator.engine.worlds import Worlds
from hosting_emulator.scenario.library import ScenarioLibrary
from hosting_emulator.server import dev_origins, public
from hosting_emulator.server.control import routes
from hosting_emulator.server.control.context import Context, Facts
from hosting_emulator.server.guard import Guard, granted, preflight
from hosting_emulator.server.hosts import Site
from hosting_emulator.world.naming import DEFAULT_WORLD


class App:
    """Answers requests for one set of worlds."""

    def __init__(
        self, worlds: Worlds, site: Site, guard: Guard, facts: Facts, library: ScenarioLibrary
    ) -> None:
        self.worlds = worlds
        self.site = site
        self._guard = guard
        self._facts = facts
        self._library = library

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer any request."""
        path, _, query = request.raw_path.partition("?")
        if path.startswith("/v1/"):
            return await self._public(request, DEFAULT_WORLD, path, query)
        if path == routes.PREFIX or path.startswith(routes.PREFIX + "/"):
            return await self._control(request, path, query)
        if path.startswith("/worlds/"):
            name, slash, rest = path[len("/worlds/") :].partition("/")
            if slash and self.worlds.get(name) is not None:
                return await self._public(request, name, "/" + rest, query)
        found = dev_origins.find_origin(self.worlds, request)
        if found is not None:
            return await dev_origins.answer(request, *found, path, query, self.site)
        return await self._public(request, DEFAULT_WORLD, path, query)

    async def _public(
        self, request: web.BaseRequest, name: str, path: str, query: str
    ) -> web.StreamResponse:
        engine = self.worlds.get(name)
        assert engine is not None
        refused = self._guard.refused_host(request)
        app = None if refused else self._guard.app_of(request)
        if app is None:
            return await public.answer(request, engine, path, query, self.site, refused)
        # The browser's question before it is not a call, and is not logged.
        return preflight(request, app) or await public.answer(
            request, engine, path, query, self.site, granted=granted(app)
        )

    async def _control(self, request: web.BaseRequest, path: str, query: str) -> web.StreamResponse:
        refusal = self._guard.refusal(request, path)
        if refusal is not None:
            return refusal
        app = self._guard.app_of(request, path)
        if app is not None and (permission := preflight(request, app)) is not None:
            return permission
        context = Context(
            request, self.worlds, self.site, self._facts, query, self._library, self._guard.hosts
        )
        response = await routes.answer(context, path)
        if app is not None:
            response.headers.update(granted(app))
        return response
