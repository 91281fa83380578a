"""Endpoints that stream worlds' events as server-sent events."""

from __future__ import annotations

import re
from typing import Annotated, Final

from aiohttp import web

from hosting_emulator.control.event_stream import EventWriter
from hosting_emulator.control.request_filters import read_filter
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.request_views import RequestFilter
from hosting_emulator.http.endpoint import Context
from hosting_emulator.http.query import Query, Text, Words
from hosting_emulator.messages import RequestFilters
from hosting_emulator.world.naming import DEFAULT_WORLD

_EVENT_KINDS: Final = Query("The kinds of events to send. Default: all.")
#: Part of an event id: a world's name and the number of one of its events.
_WORLD_EVENT: Final = re.compile(r"([a-z0-9-]+)=(\d+)")


async def listen(
    context: Context, engine: Engine, filters: RequestFilters, kinds: Annotated[Words, _EVENT_KINDS]
) -> web.StreamResponse:
    """Stream a world's events: `request`, `commit`, `clock`, `fault`, `outcome` and `world`.

    Every listener also receives a `worlds` event when any world is created or deleted. `kinds`
    selects kinds of events, as in `request,fault`. Filters select the requests to report. With the
    `Last-Event-ID` header, the stream continues after the event with this id, if that event is
    still stored. A `gap` event means that the client has missed events and must read the world's
    state again. To avoid missing any, start listening before you read the state.
    """
    request_filter = read_filter(engine, filters)
    last_ids = {"": context.request.headers.get("Last-Event-ID", "")}
    writer = EventWriter(context.request, {"": engine}, last_ids, kinds, request_filter)
    return await writer.run()


async def listen_to_worlds(
    context: Context,
    worlds: Annotated[
        Words,
        Query(
            "The worlds to listen to. Default: all. The `default` world, which reports new and "
            "deleted worlds, is always included."
        ),
    ],
    kinds: Annotated[Words, _EVENT_KINDS],
    seen: Annotated[Text, Query("The id of the last event that the client has seen.")] = None,
) -> web.StreamResponse:
    """Stream events from the listed worlds, or from all worlds.

    The `world` member of each event is the name of its world. An event's id marks a position in the
    events of every world. The stream continues after the id in `seen` or in the `Last-Event-ID`
    header. Listed worlds that do not exist are skipped. A `worlds` event reports each world that is
    created or deleted.
    """
    names = worlds or [engine.world.name for engine in context.worlds]
    engines = {}
    # Always include the default world, because its feed reports the creation and deletion of
    # worlds.
    for name in [DEFAULT_WORLD, *names]:
        engine = context.worlds.get(name)
        if engine is not None:
            engines[name] = engine
    for engine in engines.values():
        engine.control_requests += 1
    last_id = context.request.headers.get("Last-Event-ID") or seen or ""
    last_ids = dict(_WORLD_EVENT.findall(last_id))
    writer = EventWriter(context.request, engines, last_ids, kinds, RequestFilter())
    return await writer.run()
