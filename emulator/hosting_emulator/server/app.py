"""The door: every request comes in here and is shown to the room that answers it."""

from __future__ import annotations

from aiohttp import web

from hosting_emulator.engine.worlds import Worlds
from hosting_emulator.scenario.library import Library
from hosting_emulator.server import origin, origins, public
from hosting_emulator.server.control import routes
from hosting_emulator.server.control.context import Context, Facts
from hosting_emulator.server.guard import Guard
from hosting_emulator.server.prompt import Whole
from hosting_emulator.server.sites import Site
from hosting_emulator.world.zones import DEFAULT_WORLD


class App:
    """Answers requests for one set of worlds."""

    def __init__(
        self, worlds: Worlds, site: Site, guard: Guard, facts: Facts, library: Library
    ) -> None:
        self.worlds = worlds
        self.site = site
        self._guard = guard
        self._facts = facts
        self._library = library

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer any request."""
        target = request.raw_path
        if not target.startswith("/"):  # absolute form, or `*`
            target = request.rel_url.raw_path_qs if "://" in target else "/"
        path, _, query = target.partition("?")
        if path.startswith("/v1/"):
            return await self._public(request, DEFAULT_WORLD, path, query)
        if path == routes.PREFIX or path.startswith(routes.PREFIX + "/"):
            return await self._control(request, path, query)
        if path.startswith("/worlds/"):
            name, slash, rest = path[len("/worlds/") :].partition("/")
            if slash and self.worlds.get(name) is not None:
                return await self._public(request, name, "/" + rest, query)
        found = origin.find_origin(self.worlds, request)
        if found is not None:
            return await origin.answer(request, *found, path, query, self.site)
        return await self._public(request, DEFAULT_WORLD, path, query)

    def answer_promptly(self, whole: Whole) -> bytes | None:
        """Answer a request of the public API that has nothing to wait for; None: it has, or is not one."""
        if self._facts.durability == "disk":
            return None
        name, (path, _, query) = DEFAULT_WORLD, whole.message.path.partition("?")
        if path.startswith("/worlds/"):
            name, _, rest = path[len("/worlds/") :].partition("/")
            path = "/" + rest
        engine = self.worlds.get(name)
        if engine is None or engine.world.has_faults or not path.startswith("/v1/"):
            return None
        headers = whole.message.headers
        if "Origin" in headers or not self._guard.hosts.harmless(headers.get("Host", "")):
            return None
        return public.answer_promptly(whole, engine, path, query, self.site)

    async def _public(
        self, request: web.BaseRequest, name: str, path: str, query: str
    ) -> web.StreamResponse:
        engine = self.worlds.get(name)
        assert engine is not None
        refused = self._guard.refused_host(request)
        app = None if refused else self._guard.origins.of_app(request)
        if app is None:
            return await public.answer(request, engine, path, query, self.site, refused)
        if origins.is_preflight(request):  # the browser's question, not a call: it is not logged
            return origins.preflight(request, app)
        granted = origins.granted(app)
        return await public.answer(request, engine, path, query, self.site, granted=granted)

    async def _control(self, request: web.BaseRequest, path: str, query: str) -> web.StreamResponse:
        refusal = self._guard.refusal(request, path)
        if refusal is not None:
            return refusal
        app = self._guard.app_of(request, path)
        if app is not None and origins.is_preflight(request):
            return origins.preflight(request, app)
        context = Context(
            request, self.worlds, self.site, self._facts, query, self._library, self._guard.origins
        )
        response = await routes.answer(context, path)
        if app is not None:
            response.headers.update(origins.granted(app))
        return response
