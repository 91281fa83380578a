"""Server-sent events: what happens in a world, written to whoever listens.

A listener that does not read holds up nobody: it misses events and is told so (`gap`), and one that
reads nothing at all is let go.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from aiohttp import web

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.control_api import RequestFilters
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.events import KINDS, FeedEvent
from hosting_emulator.engine.exchange import Entry
from hosting_emulator.engine.explanations import Explanations
from hosting_emulator.faults.decisions import spent
from hosting_emulator.server import answers
from hosting_emulator.server.control.context import Context, ControlRefusal, Text, Words
from hosting_emulator.server.control.requests import read_filter
from hosting_emulator.server.control.worlds import clock_view
from hosting_emulator.server.protocol import Protocol
from hosting_emulator.world.naming import DEFAULT_WORLD

#: How often a comment shows that the connection lives, in seconds of real time.
HEARTBEAT_S = 15.0
#: How long a listener may take nothing while something waits for it, in seconds of real time.
STUCK_S = 30.0
#: After how many milliseconds a browser comes back by itself.
_RETRY_MS = 1000
#: So many events at most are written at once.
_BATCH = 50


async def listen(
    context: Context, engine: Engine, filters: RequestFilters, only: Words
) -> web.StreamResponse:
    """Stream a world's events: `request`, `commit`, `clock`, `fault`, `outcome`
    and `world`; and `worlds`, sent to every listener when any world is created or deleted.

    `only` (such as `request,fault`) selects kinds; filters select requests. The header
    `Last-Event-ID` continues after an event, if it is still kept; `gap` says that some were
    missed and everything must be read again. To miss nothing, listen first, then read.
    """
    chosen = read_filter(engine, filters)
    places = {"": context.request.headers.get("Last-Event-ID", "")}
    return await _Stream(context, {"": engine}, places, only, chosen.fits).run()


async def listen_to_worlds(
    context: Context, worlds: Words, only: Words, seen: Text = None
) -> web.StreamResponse:
    """Stream the events of several worlds at once: the named ones, or all.

    Each event names its `world`. An id stands for a place in each of them: `seen`, or the header
    `Last-Event-ID`, continues after it. A world that does not exist is left out; `worlds` says when
    it is created.
    """
    names = worlds or [engine.world.name for engine in context.worlds]
    found = {name: context.worlds.get(name) for name in (DEFAULT_WORLD, *names)}
    engines = {name: engine for name, engine in found.items() if engine is not None}
    for engine in engines.values():
        engine.asked += 1
    last = context.request.headers.get("Last-Event-ID") or seen or ""
    places = dict(re.findall(r"([a-z0-9-]+)=(\d+)", last))
    return await _Stream(context, engines, places, only, lambda _: True).run()


class _Stream:
    """What one listener hears: of one world, whose name is "" then, or of several by name."""

    def __init__(
        self,
        context: Context,
        engines: Mapping[str, Engine],
        places: Mapping[str, str],
        only: Words,
        chosen: Callable[[Entry], bool],
    ) -> None:
        self._kinds = frozenset(only or KINDS)
        if not self._kinds <= set(KINDS):
            raise ControlRefusal(400, "Bad only", f"only takes some of {', '.join(KINDS)}")
        self._request, self._engines, self._chosen = context.request, dict(engines), chosen
        self._places = {
            name: _event_id(places.get(name, ""), engine.feed.last_id)
            for name, engine in engines.items()
        }

    async def run(self) -> web.StreamResponse:
        """Write what happens, until the listener goes or nothing is left to listen to."""
        response, request = answers.stream("text/event-stream"), self._request
        response.headers["X-Accel-Buffering"] = "no"  # a proxy is to hand on each event as it comes
        await response.prepare(request)
        if request.method == "HEAD":
            return response
        connection, awake = request.protocol, asyncio.Event()
        assert isinstance(connection, Protocol)
        gone = asyncio.ensure_future(connection.lost())
        gone.add_done_callback(lambda _: awake.set())
        feeds = [engine.feed for engine in self._engines.values()]
        for feed in feeds:
            feed.listen(awake.set)
        text = b"retry: %d\nid: %s\n\n" % (_RETRY_MS, self._id())
        try:
            while not gone.done() and self._drop_ended():
                if text:
                    await asyncio.wait_for(response.write(text), STUCK_S)
                awake.clear()
                before = dict(self._places)
                text = b"".join([self._news(name) for name in self._engines])
                if self._places == before and await _quiet(awake):
                    text = b": still here\nid: %s\n\n" % self._id()
        except ConnectionError:
            pass  # there is nobody to tell
        except TimeoutError:
            if request.transport is not None:
                request.transport.abort()
        finally:
            for feed in feeds:
                feed.leave(awake.set)
            gone.cancel()
        return response

    def _drop_ended(self) -> bool:
        """Let go of worlds that are gone; tell whether one is left."""
        self._engines = {name: one for name, one in self._engines.items() if not one.feed.ended}
        return bool(self._engines)

    def _id(self) -> bytes:
        """Return where the listener is: a number, or one for each world."""
        if "" in self._places:
            return b"%d" % self._places[""]
        return ",".join(f"{name}={place}" for name, place in self._places.items()).encode()

    def _news(self, name: str) -> bytes:
        """Return what happened in a world since the listener was told, and note that it is."""
        engine, place = self._engines[name], self._places[name]
        events = engine.feed.since(place, _BATCH)
        if events is None:
            missed, self._places[name] = max(0, engine.feed.last_id - place), engine.feed.last_id
            return self._event(name, "gap", msgspec.json.encode({"missed": missed}))
        explanations, texts = Explanations(engine.log), []
        for event in events:
            self._places[name] = event.id
            if self._fits(name, event):
                if event.text is None:  # written once, however many listen
                    event.text = msgspec.json.encode(_data(engine, event, explanations))
                texts.append(self._event(name, event.kind, event.text))
        return b"".join(texts)

    def _fits(self, name: str, event: FeedEvent) -> bool:
        if event.kind == "worlds" and name not in ("", DEFAULT_WORLD):
            return False  # all worlds tell it
        return event.kind in self._kinds and (event.kind != "request" or self._chosen(event.facts))

    def _event(self, name: str, kind: str, data: bytes) -> bytes:
        # JSON is written in one line, so one `data` field holds it.
        if name:
            data = b'{"world":"%s",%s' % (name.encode(), data[1:])
        return b"id: %s\nevent: %s\ndata: %s\n\n" % (self._id(), kind.encode(), data)


async def _quiet(awake: asyncio.Event) -> bool:
    """Wait for something to happen. True: it is time for a heartbeat."""
    try:
        await asyncio.wait_for(awake.wait(), HEARTBEAT_S)
    except TimeoutError:
        return True
    return False


def _event_id(given: str, newest: int) -> int:
    return int(given) if given.isascii() and given.isdigit() and len(given) < 19 else newest


def _data(engine: Engine, event: FeedEvent, explanations: Explanations) -> dict[str, Any]:
    facts = event.facts
    if event.kind == "request":
        return explanations.item(engine.world, facts)
    if event.kind == "clock":
        return clock_view(engine)
    if event.kind == "commit":
        commit, at_ms, title, refused = facts
        at = format_timestamp(at_ms)
        return {"commit": commit, "at": at, "title": title, "refused": refused}
    if event.kind == "world":
        commit, title = facts
        return {"commit": commit, "title": title}
    if event.kind == "worlds":
        name, made = facts
        return {"name": name, "made": made}
    id_, fault, at_ms = facts
    if fault is None:
        return {"id": id_, "removed": True}
    counts = {"seen": fault.seen, "hits": fault.hits, "spent": spent(fault, at_ms)}
    return {"id": id_, **counts, "removed": False}
