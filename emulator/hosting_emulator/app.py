"""Routes requests to their handlers: a world's `/v1`, the control API, or a dev origin."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from aiohttp import web

from hosting_emulator.calls.dev_access import REDEEM_PATH
from hosting_emulator.conduct.observation import Observations
from hosting_emulator.control import dispatch
from hosting_emulator.control.route import PREFIX
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.worlds import Worlds
from hosting_emulator.http import dev_origins, public_api, responses
from hosting_emulator.http.cors import cors_headers, preflight_refusal, preflight_response
from hosting_emulator.http.endpoint import Context, Facts
from hosting_emulator.http.guard import Site
from hosting_emulator.http.pages import DOCS_PATH
from hosting_emulator.http.protocol import protocol_of
from hosting_emulator.http.request_head import wants_page
from hosting_emulator.scenario.library import ScenarioLibrary
from hosting_emulator.world.naming import DEFAULT_WORLD

_WORLDS_PATH: Final = "/worlds/"


@dataclass(slots=True)
class App:
    """Handles the requests to a set of worlds."""

    worlds: Worlds
    site: Site
    facts: Facts
    library: ScenarioLibrary
    observations: Observations = field(default_factory=Observations)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Return the response to a request."""
        protocol_of(request).begin_request(request)
        path, _, query = request.raw_path.partition("?")
        if path.startswith("/v1/"):
            return await self._handle_call(request, self._default_engine, path, query)
        if path == PREFIX or path.startswith(PREFIX + "/"):
            return await self._handle_control_request(request, path, query)
        engine, rest = self._find_world(path)
        if engine is not None:
            return await self._handle_call(request, engine, rest, query)
        origin = dev_origins.find_origin(self.worlds, request)
        if origin is not None:
            engine, project = origin
            return await dev_origins.handle(request, engine, project, path, query, self.site)
        if path == "/" and wants_page(request):
            return responses.redirect(PREFIX)
        return await self._handle_call(request, self._default_engine, path, query)

    def _find_world(self, path: str) -> tuple[Engine | None, str]:
        """Return the engine of the world named in a path, and the rest of the path.

        The engine is None if the path names no world or an unknown one.
        """
        if not path.startswith(_WORLDS_PATH):
            return None, path
        name, slash, rest = path[len(_WORLDS_PATH) :].partition("/")
        if not slash:
            return None, path
        return self.worlds.get(name), f"/{rest}"

    async def _handle_call(
        self, request: web.BaseRequest, engine: Engine, path: str, query: str
    ) -> web.StreamResponse:
        """Return the response from a world's public API or, if the request redeems a ticket, from
        the ticket's dev origin.
        """
        refusal = self.site.host_refusal(request.headers.getall("Host", ()))
        if path == REDEEM_PATH and refusal is None:
            project = dev_origins.project_of_ticket(engine, query)
            refusal = dev_origins.redemption_refusal(
                self.worlds, request, engine, project, self.site
            )
            if project is not None and refusal is None:
                return await dev_origins.handle(request, engine, project, path, query, self.site)
        if refusal is not None or "Origin" not in request.headers:
            return await public_api.handle(request, engine, path, query, self.site, refusal)
        origin = self.site.allowed_origin(request)
        if origin is None:
            refusal = preflight_refusal(request)
            return await public_api.handle(request, engine, path, query, self.site, refusal)
        preflight = preflight_response(request, origin)
        if preflight is not None:
            # Preflight requests are not calls, so they are not logged.
            return responses.dated(preflight, engine.date_s())
        headers = cors_headers(origin)
        return await public_api.handle(
            request, engine, path, query, self.site, cors_headers=headers
        )

    async def _handle_control_request(
        self, request: web.BaseRequest, path: str, query: str
    ) -> web.StreamResponse:
        refusal = self.site.control_refusal(request, path)
        if refusal is not None:
            return refusal
        origin = self.site.allowed_control_origin(request, path)
        if origin is not None:
            preflight = preflight_response(request, origin)
            if preflight is not None:
                return preflight
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
        if origin is not None:
            response.headers.update(cors_headers(origin))
        return response

    # --- Responses of the default world to requests that cannot be parsed -------------------------

    def docs_url(self) -> str:
        """Return the base URL of the documentation to which problems link."""
        docs_url = self._default_engine.world.assumptions.docs_url
        if docs_url == "own":
            return self.site.own_url + DOCS_PATH
        return docs_url

    def date_s(self) -> int:
        """Return the time for the Date header, in seconds since 1970."""
        return self._default_engine.date_s()

    def request_id(self) -> str:
        """Return a new request id."""
        return self._default_engine.request_id()

    @property
    def _default_engine(self) -> Engine:
        engine = self.worlds.get(DEFAULT_WORLD)
        assert engine is not None
        return engine
