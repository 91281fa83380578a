"""The door: every request comes in here and is shown to the room that answers it."""

from __future__ import annotations

from aiohttp import web

from hosting_emulator.engine.worlds import Worlds
from hosting_emulator.scenario.library import ScenarioLibrary
from hosting_emulator.server import dev_origins, public
from hosting_emulator.server.control import routes
from hosting_emulator.server.control.context import Context, Facts
from hosting_emulator.server.guard import Guard
from hosting_emulator.server.hosts import Site, granted, is_preflight, preflight
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
        app = None if refused else self._guard.origins.of_app(request)
        if app is None:
            return await public.answer(request, engine, path, query, self.site, refused)
        if is_preflight(request):  # the browser's question, not a call: it is not logged
            return preflight(request, app)
        headers = granted(app)
        return await public.answer(request, engine, path, query, self.site, granted=headers)

    async def _control(self, request: web.BaseRequest, path: str, query: str) -> web.StreamResponse:
        refusal = self._guard.refusal(request, path)
        if refusal is not None:
            return refusal
        app = self._guard.app_of(request, path)
        if app is not None and is_preflight(request):
            return preflight(request, app)
        context = Context(
            request, self.worlds, self.site, self._facts, query, self._library, self._guard.origins
        )
        response = await routes.answer(context, path)
        if app is not None:
            response.headers.update(granted(app))
        return response
