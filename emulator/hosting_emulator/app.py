"""The door: every request comes in here and is shown to the room that answers it."""

from __future__ import annotations

from dataclasses import dataclass, field

from aiohttp import web

from hosting_emulator.calls.dev_access import REDEEM_PATH
from hosting_emulator.conduct.observation import Observations
from hosting_emulator.control import dispatch
from hosting_emulator.control.routes import PREFIX
from hosting_emulator.engine.worlds import Worlds
from hosting_emulator.http import guard as guards
from hosting_emulator.http import public, responses
from hosting_emulator.http.endpoint import Context, Facts
from hosting_emulator.http.pages import DOCS_PATH
from hosting_emulator.http.protocol import Protocol
from hosting_emulator.scenario.document import ScenarioLibrary
from hosting_emulator.world.naming import DEFAULT_WORLD


@dataclass(slots=True)
class App:
    """Answers requests for one set of worlds."""

    worlds: Worlds
    site: guards.Site
    facts: Facts
    library: ScenarioLibrary
    observations: Observations = field(default_factory=Observations)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer any request."""
        protocol = request.protocol
        assert isinstance(protocol, Protocol)
        protocol.begun = (protocol.answered + 1, request)
        if protocol.refusal is not None:
            protocol.break_off_body()
        path, _, query = request.raw_path.partition("?")
        engine = self.worlds.get(DEFAULT_WORLD)
        if not path.startswith("/v1/"):
            if path == PREFIX or path.startswith(PREFIX + "/"):
                return await self._control(request, path, query)
            name, slash, rest = path.removeprefix("/worlds/").partition("/")
            if path.startswith("/worlds/") and slash and (named := self.worlds.get(name)):
                engine, path = named, f"/{rest}"
            elif (found := public.find_origin(self.worlds, request)) is not None:
                return await public.answer_origin(request, *found, path, query, self.site)
            elif path == "/" and guards.asks_for_page(request):
                return responses.redirect(PREFIX)
        assert engine is not None
        hosts, known = request.headers.getall("Host", ()), self.site.known
        usual = len(hosts) == 1 and hosts[0] in known
        refused = None if usual else self.site.refused_host(hosts)
        if path == REDEEM_PATH and refused is None:
            project = public.project_of(engine, query)
            if project is not None:
                return await public.answer_origin(request, engine, project, path, query, self.site)
        if refused is not None or "Origin" not in request.headers:
            return await public.answer(request, engine, path, query, self.site, refused)
        app = self.site.app_of(request)
        if app is None:
            refused = guards.refused_origin(request)
            return await public.answer(request, engine, path, query, self.site, refused)
        # The browser's question before it is not a call, and is not logged.
        if (permission := guards.preflight(request, app)) is not None:
            return responses.dated(permission, engine.date_s())
        granted = guards.granted(app)
        return await public.answer(request, engine, path, query, self.site, granted=granted)

    def docs_url(self) -> str:
        """Return where a problem points whose request nobody can parse: as in the default world."""
        engine = self.worlds.get(DEFAULT_WORLD)
        assert engine is not None
        chosen = engine.world.assumptions.docs_url
        return self.site.own_url + DOCS_PATH if chosen == "own" else chosen

    def date_s(self) -> int:
        """Return the Date of a response to a request that nobody can parse: the default world's."""
        engine = self.worlds.get(DEFAULT_WORLD)
        assert engine is not None
        return engine.date_s()

    def request_id(self) -> str:
        """Return the id of a request that nobody can parse: one that the default world draws."""
        engine = self.worlds.get(DEFAULT_WORLD)
        assert engine is not None
        return engine.request_id()

    async def _control(self, request: web.BaseRequest, path: str, query: str) -> web.StreamResponse:
        refusal = self.site.refusal(request, path)
        if refusal is not None:
            return refusal
        app = self.site.app_of(request, path)
        if app is not None and (permission := guards.preflight(request, app)) is not None:
            return permission
        context = Context(
            request,
            self.worlds,
            self.site,
            self.facts,
            query,
            self.library,
            observations=self.observations,
        )
        response = await dispatch.handle(context, path)
        if app is not None:
            response.headers.update(guards.granted(app))
        return response
