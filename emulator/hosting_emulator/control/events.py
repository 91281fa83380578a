"""The events of worlds, as server-sent events."""

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
#: A part of an event's id: the name of a world, and the number of the world's last event.
_WORLD_EVENT: Final = re.compile(r"([a-z0-9-]+)=(\d+)")


async def listen(
    context: Context, engine: Engine, filters: RequestFilters, only: Annotated[Words, _EVENT_KINDS]
) -> web.StreamResponse:
    """Stream a world's events: `request`, `commit`, `clock`, `fault`, `outcome` and `world`.

    The event `worlds` is sent to every listener when any world is created or deleted. `only` (such
    as `request,fault`) selects kinds of events, and filters select requests. With the header
    `Last-Event-ID` the stream continues after an event, if the event is still stored. `gap` means
    that events were missed and that the client must read everything again. To miss nothing, listen
    first and then read.
    """
    request_filter = read_filter(engine, filters)
    last_ids = {"": context.request.headers.get("Last-Event-ID", "")}
    writer = EventWriter(context.request, {"": engine}, last_ids, only, request_filter)
    return await writer.run()


async def listen_to_worlds(
    context: Context,
    worlds: Annotated[
        Words,
        Query(
            "The worlds to listen to (default: all). `default` also reports new and deleted worlds."
        ),
    ],
    only: Annotated[Words, _EVENT_KINDS],
    seen: Annotated[Text, Query("The id of the last event that the client has seen.")] = None,
) -> web.StreamResponse:
    """Stream the events of several worlds at once: the listed worlds, or all.

    Each event names its `world`. An event id is a position in every world. `seen`, or the header
    `Last-Event-ID`, continues after it. A world that does not exist is skipped; `worlds` reports
    its creation.
    """
    names = worlds or [engine.world.name for engine in context.worlds]
    engines = {}
    # The default world reports the creation and deletion of worlds.
    for name in [DEFAULT_WORLD, *names]:
        engine = context.worlds.get(name)
        if engine is not None:
            engines[name] = engine
    for engine in engines.values():
        engine.control_requests += 1
    last_id = context.request.headers.get("Last-Event-ID") or seen or ""
    last_ids = dict(_WORLD_EVENT.findall(last_id))
    writer = EventWriter(context.request, engines, last_ids, only, RequestFilter())
    return await writer.run()
