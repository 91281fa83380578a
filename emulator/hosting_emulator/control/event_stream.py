"""Streams server-sent events to one listener.

A listener that reads too slowly does not delay requests. Instead, it misses events and receives a
`gap` event. If a listener stops reading, its connection is closed.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any

import msgspec
from aiohttp import web

from hosting_emulator.control.clock import get_clock
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.explanations.trail import Explanations
from hosting_emulator.engine.feed import KINDS, FeedEvent
from hosting_emulator.engine.request_views import RequestFilter
from hosting_emulator.http import responses
from hosting_emulator.http.endpoint import ControlRefusal
from hosting_emulator.http.protocol import protocol_of
from hosting_emulator.http.query import Words
from hosting_emulator.world.naming import DEFAULT_WORLD

#: How often a comment is sent to show that the connection is alive: the interval in real seconds.
HEARTBEAT_S = 15.0
#: If a listener does not read waiting events for this many real seconds, its connection is closed.
STUCK_S = 30.0
#: How long a browser waits before it reconnects, in real milliseconds.
_RETRY_MS = 1000
#: The maximum number of events to write at once.
_BATCH = 50
_EVENT_NUMBER = re.compile(r"[0-9]{1,18}")


class EventWriter:
    """Writes the events of one or more worlds to a single listener.

    In a stream for a single world, the world's name is "". `last_ids` maps each world to the number
    of the last event that the listener has seen, as a string. If it has no valid number for a
    world, the stream starts with that world's next event. `kinds` contains the kinds of events to
    write, or is empty for all kinds. `request_filter` selects the requests to report. Raises
    ControlRefusal 400 for an unknown kind.
    """

    def __init__(
        self,
        request: web.BaseRequest,
        engines: Mapping[str, Engine],
        last_ids: Mapping[str, str],
        kinds: Words,
        request_filter: RequestFilter,
    ) -> None:
        self._kinds = frozenset(kinds or KINDS)
        if not self._kinds <= set(KINDS):
            raise ControlRefusal(
                400, "Bad kinds", f"kinds must name kinds of events: {', '.join(KINDS)}"
            )
        self._request = request
        self._engines = dict(engines)
        self._request_filter = request_filter
        #: The number of the last event that was written, by world.
        self._last_ids: dict[str, int] = {}
        for name, engine in engines.items():
            last_id = last_ids.get(name, "")
            if _EVENT_NUMBER.fullmatch(last_id):
                self._last_ids[name] = int(last_id)
            else:
                self._last_ids[name] = engine.feed.last_id

    async def run(self) -> web.StreamResponse:
        """Write events until the client disconnects or all of the stream's worlds have been deleted."""
        response = responses.stream("text/event-stream")
        # This makes proxies forward each event immediately.
        response.headers["X-Accel-Buffering"] = "no"
        await response.prepare(self._request)
        if self._request.method == "HEAD":
            return response
        awake = asyncio.Event()
        client_left = asyncio.ensure_future(protocol_of(self._request).wait_for_client_to_leave())
        client_left.add_done_callback(lambda _: awake.set())
        feeds = [engine.feed for engine in self._engines.values()]
        for feed in feeds:
            feed.listen(awake.set)
        try:
            await self._write_events(response, awake, client_left)
        except ConnectionError:
            # The client has disconnected, so no more events can be written.
            pass
        except TimeoutError:
            if self._request.transport is not None:
                self._request.transport.abort()
        finally:
            for feed in feeds:
                feed.leave(awake.set)
            client_left.cancel()
        return response

    async def _write_events(
        self, response: web.StreamResponse, awake: asyncio.Event, client_left: asyncio.Future[None]
    ) -> None:
        """Write events as they occur.

        Raises ConnectionError if the client disconnects, or TimeoutError if the client stops
        reading.
        """
        text = b"retry: %d\nid: %s\n\n" % (_RETRY_MS, self._id())
        while not client_left.done():
            # Clear the flag before reading the events, so that any later event wakes the stream
            # again.
            awake.clear()
            self._engines = {
                name: engine for name, engine in self._engines.items() if not engine.feed.ended
            }
            if not self._engines:
                return
            if text:
                await asyncio.wait_for(response.write(text), STUCK_S)
            before = dict(self._last_ids)
            text = b"".join([self._next_events(name) for name in self._engines])
            if self._last_ids == before:
                try:
                    await asyncio.wait_for(awake.wait(), HEARTBEAT_S)
                except TimeoutError:
                    text = b": still here\nid: %s\n\n" % self._id()

    def _id(self) -> bytes:
        """Return the id of the last event.

        In a stream for a single world, the id is the event's number. In a stream for several
        worlds, it contains a number for each world.
        """
        if "" in self._last_ids:
            return b"%d" % self._last_ids[""]
        parts = [f"{name}={last_id}" for name, last_id in self._last_ids.items()]
        return ",".join(parts).encode()

    def _next_events(self, name: str) -> bytes:
        """Return a world's next events as encoded text, and mark them as written."""
        engine = self._engines[name]
        last_id = self._last_ids[name]
        events = engine.feed.since(last_id, _BATCH)
        if events is None:
            self._last_ids[name] = engine.feed.last_id
            missed = max(0, engine.feed.last_id - last_id)
            return self._event(name, "gap", msgspec.json.encode({"missed": missed}))
        explanations = Explanations(engine.log)
        texts = []
        for event in events:
            self._last_ids[name] = event.id
            if self._is_selected(name, event):
                if event.text is None:
                    # Store the encoded event, because it is the same for all listeners.
                    event.text = msgspec.json.encode(_data(engine, event, explanations))
                texts.append(self._event(name, event.kind, event.text))
        return b"".join(texts)

    def _is_selected(self, name: str, event: FeedEvent) -> bool:
        """Return whether the listener should receive a world's event."""
        if event.kind not in self._kinds:
            return False
        if event.kind == "worlds":
            # Every world's feed contains this event, but a listener to several worlds must receive
            # it only once, so take it from only one feed.
            return name in ("", DEFAULT_WORLD)
        if event.kind == "request":
            return self._request_filter.matches(event.facts)
        return True

    def _event(self, name: str, kind: str, data: bytes) -> bytes:
        # The JSON contains no line breaks, so it fits into a single `data` field.
        if name:
            data = b'{"world":"%s",%s' % (name.encode(), data[1:])
        return b"id: %s\nevent: %s\ndata: %s\n\n" % (self._id(), kind.encode(), data)


def _data(engine: Engine, event: FeedEvent, explanations: Explanations) -> Any:
    """Return an event's data. Its shape depends on the kind of event (see `Feed`)."""
    if event.kind == "request":
        return explanations.item(engine.world, event.facts)
    if event.kind == "clock":
        return get_clock(engine)
    return event.facts
