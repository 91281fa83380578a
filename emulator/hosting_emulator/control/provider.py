"""Handles requests to the identity provider's endpoints."""

from __future__ import annotations

from aiohttp import web

from hosting_emulator.control.endpoints import load_endpoint
from hosting_emulator.control.route import Route
from hosting_emulator.engine.engine import Engine
from hosting_emulator.http import responses
from hosting_emulator.identity import faults
from hosting_emulator.identity.request import IdentityRequest


def provider_exchange(request: IdentityRequest, engine: Engine, route: Route) -> faults.Exchange:
    """Return an exchange with one of the identity provider's endpoints.

    The exchange is a generator that yields delays in real milliseconds and returns the response.
    The identity provider ignores unknown parameters (RFC 6749, section 3.1). The Date header is in
    world time, like the timestamps in tokens.
    """
    endpoint = load_endpoint(route.endpoint)
    arguments = {"request": request, "engine": engine}

    def respond() -> web.Response:
        value = endpoint.function(**{name: arguments[name] for name in endpoint.parameters})
        if isinstance(value, web.Response):
            return value
        return responses.json(value, route.status)

    response = yield from faults.exchange(request, engine, route.identity_call, route.path, respond)
    if isinstance(response, web.Response):
        responses.dated(response, engine.date_s())
    return response
