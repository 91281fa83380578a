"""Endpoints that stream the events of worlds as server-sent events."""

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
#: A part of an event's id: the name of a world, and the number of one of its events.
_WORLD_EVENT: Final = re.compile(r"([a-z0-9-]+)=(\d+)")


async def listen(
    context: Context, engine: Engine, filters: RequestFilters, kinds: Annotated[Words, _EVENT_KINDS]
) -> web.StreamResponse:
    """Stream a world's events: `request`, `commit`, `clock`, `fault`, `outcome` and `world`.

    The `worlds` event is sent to every listener when any world is created or deleted. `kinds`, such
    as `request,fault`, selects kinds of events. Filters select the requests to report. With the
    `Last-Event-ID` header, the stream continues after the event with this id, if the event is still
    stored. The `gap` event means that the client missed events and must read the world's state
    again. To miss nothing, start to listen before you read the state.
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
    """Stream the events of the listed worlds, or of all worlds.

    The `world` member of each event is the name of its world. The id of an event is a position in
    the events of every world. `seen`, or the `Last-Event-ID` header, is the id after which the
    stream continues. A listed world that does not exist is skipped. The `worlds` event reports each
    world that is created or deleted.
    """
    names = worlds or [engine.world.name for engine in context.worlds]
    engines = {}
    # Always include the default world, because it reports the creation and deletion of worlds.
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
