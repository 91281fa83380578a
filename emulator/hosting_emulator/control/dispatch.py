"""Routes requests under `/_emulator` to their endpoints, and converts the endpoints' results to responses."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from inspect import isawaitable
from typing import Any
from urllib.parse import parse_qs, unquote

from aiohttp import web

from hosting_emulator.contract.suggestions import unknown
from hosting_emulator.control.endpoints import Endpoint, load_endpoint
from hosting_emulator.control.provider import provider_exchange
from hosting_emulator.control.route import PREFIX, JsonList, Media, NoContent, Route
from hosting_emulator.control.routes import ROUTES
from hosting_emulator.engine.keeper import StoreFailed
from hosting_emulator.http import responses
from hosting_emulator.http.endpoint import Context, ControlRefusal
from hosting_emulator.http.query import read_parameter
from hosting_emulator.identity.request import IdentityRequest
from hosting_emulator.world.naming import DEFAULT_WORLD


async def handle(context: Context, path: str) -> web.StreamResponse:
    """Return the response to a request. `path` is the complete path, without the query.

    Any change is stored durably before the response is returned.
    """
    method = context.request.method
    if method == "HEAD":
        method = "GET"
    rest = path[len(PREFIX) :]
    if method != "DELETE":
        # The trailing slash in `DELETE …/faults/` is significant: this path names a fault with an
        # empty id, but the path without the slash names all faults.
        rest = rest.rstrip("/")
    try:
        route, values = _find_route(method, rest)
        response = await _respond(context, route, values)
    except _WrongMethod as refusal:
        allowed = str(refusal)
        return responses.problem(
            405, "Wrong method", f"this path accepts only {allowed}", Allow=allowed
        )
    except ControlRefusal as refusal:
        return responses.problem(refusal.status, refusal.title, refusal.detail)
    except StoreFailed as error:
        return responses.problem(503, "Not kept", f"nothing was changed: {error}")
    engine = context.worlds.get(values.get("world", DEFAULT_WORLD))
    if engine is None:
        return response
    durable = engine.keeper.durable()
    if durable is None:
        return response
    try:
        await durable
    except OSError as error:
        return responses.problem(503, "Not durable", f"the change may be lost: {error}")
    return response


class _WrongMethod(Exception):
    """Raised if the path exists but does not accept the request's method.

    The message lists the methods that the path accepts.
    """


def _find_route(method: str, path: str) -> tuple[Route, dict[str, str]]:
    """Return the route for a request and the values of its path parameters.

    Raises ControlRefusal 404 for an unknown path, and _WrongMethod if the path does not accept the
    method.
    """
    matched_path = None
    allowed = set()
    for route in ROUTES:
        if matched_path not in (None, route.path):
            continue
        match = route.match(path)
        if match is None:
            continue
        matched_path = route.path
        if route.method == method:
            values = {name: unquote(value) for name, value in match.groupdict().items()}
            return route, values
        allowed.add(route.method)
    if not allowed:
        detail = "the control API has no such path; see /_emulator/docs/control-api"
        raise ControlRefusal(404, "No such path", detail)
    raise _WrongMethod(", ".join(sorted(allowed)))


async def _respond(context: Context, route: Route, values: Mapping[str, str]) -> web.StreamResponse:
    if route.is_identity:
        return await _respond_as_provider(context, route, values)
    endpoint = load_endpoint(route.endpoint)
    arguments: dict[str, Any] = {"context": context, **values}
    if "engine" in endpoint.parameters:
        arguments["engine"] = context.engine(values.get("world", DEFAULT_WORLD))
    if endpoint.body is not None:
        arguments["body"] = await context.read(endpoint.body, route.body_limit)
    arguments.update(_read_query(context, route, endpoint))
    value = endpoint.function(**{name: arguments[name] for name in endpoint.parameters})
    if isawaitable(value):
        value = await value
    return await _write(context, route, value)


async def _respond_as_provider(
    context: Context, route: Route, values: Mapping[str, str]
) -> web.StreamResponse:
    """Return a response from the identity provider.

    Its Date header is in world time, like the timestamps in tokens.
    """
    engine = context.engine(values.get("world", DEFAULT_WORLD))
    body = await context.bytes()
    request = IdentityRequest(context.request, context.query, body, context.site)
    exchange = provider_exchange(request, engine, route)
    while True:
        try:
            delay_ms = next(exchange)
        except StopIteration as end:
            response: web.StreamResponse = end.value
            break
        await asyncio.sleep(delay_ms / 1000)
    return response


def _read_query(context: Context, route: Route, endpoint: Endpoint) -> dict[str, Any]:
    """Return the values of the query parameters. Raises ControlRefusal 400 for an unknown parameter.

    A page that declares no parameters accepts any query, because the page's scripts read it.
    """
    query = parse_qs(context.query, keep_blank_values=True)
    if endpoint.query or not isinstance(route.response, Media):
        names = [name for parameter in endpoint.query.values() for name in parameter.names]
        for name in query:
            if name not in names:
                detail = unknown("query parameter", name, names)
                raise ControlRefusal(400, "Bad query", detail)
    return {name: read_parameter(query, parameter) for name, parameter in endpoint.query.items()}


async def _write(context: Context, route: Route, value: Any) -> web.StreamResponse:
    """Convert an endpoint's result to a response."""
    if isinstance(value, web.StreamResponse):
        return value
    if isinstance(route.response, NoContent):
        return web.Response(status=204)
    if not isinstance(route.response, JsonList):
        return responses.json(value, route.status)
    if isinstance(value, Iterator):
        return await responses.json_list(context.request, {"items": []}, "items", value)
    return responses.json({"items": value}, route.status)
