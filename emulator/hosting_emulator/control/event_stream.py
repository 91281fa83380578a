"""Streams server-sent events to one listener.

A listener that reads too slowly does not delay requests. A slow listener misses events, and
receives a `gap` event instead. The connection of a listener that stops reading is closed.
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

#: The time in real seconds between two comments that show that the connection is alive.
HEARTBEAT_S = 15.0
#: The time in real seconds after which the connection is closed if a listener does not read waiting
#: events.
STUCK_S = 30.0
#: The time in real milliseconds after which a browser reconnects.
_RETRY_MS = 1000
#: The maximum number of events to write at once.
_BATCH = 50
_EVENT_NUMBER = re.compile(r"[0-9]{1,18}")


class EventWriter:
    """Writes the events of worlds to one listener.

    In a stream of a single world, the world's name is "". `last_ids` maps each world to the number
    of the last event that the listener has seen, as a string. For a world without a valid number in
    `last_ids`, the stream starts with the world's next event. `kinds` contains the kinds of events
    to write, or is empty for all kinds. `request_filter` selects the requests to report. Raises
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
        #: The number of the last written event, by world.
        self._last_ids: dict[str, int] = {}
        for name, engine in engines.items():
            last_id = last_ids.get(name, "")
            if _EVENT_NUMBER.fullmatch(last_id):
                self._last_ids[name] = int(last_id)
            else:
                self._last_ids[name] = engine.feed.last_id

    async def run(self) -> web.StreamResponse:
        """Write events until the client disconnects or all worlds of the stream are deleted."""
        response = responses.stream("text/event-stream")
        # Make proxies forward each event immediately.
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
            # Clear the flag before reading events, because a later event must wake the stream
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

        In a stream of a single world, the id is the event's number. In a stream of several worlds,
        the id contains a number for each world.
        """
        if "" in self._last_ids:
            return b"%d" % self._last_ids[""]
        parts = [f"{name}={last_id}" for name, last_id in self._last_ids.items()]
        return ",".join(parts).encode()

    def _next_events(self, name: str) -> bytes:
        """Return the next events of a world as encoded text, and mark them as written."""
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
                    # Store the encoded event, because all listeners share it.
                    event.text = msgspec.json.encode(_data(engine, event, explanations))
                texts.append(self._event(name, event.kind, event.text))
        return b"".join(texts)

    def _is_selected(self, name: str, event: FeedEvent) -> bool:
        """Return whether the listener receives an event of a world."""
        if event.kind not in self._kinds:
            return False
        if event.kind == "worlds":
            # Take this event only from one feed, because every world's feed contains it, and a
            # listener to several worlds must receive it only once.
            return name in ("", DEFAULT_WORLD)
        if event.kind == "request":
            return self._request_filter.matches(event.facts)
        return True

    def _event(self, name: str, kind: str, data: bytes) -> bytes:
        # The JSON contains no line break, so it fits in one `data` field.
        if name:
            data = b'{"world":"%s",%s' % (name.encode(), data[1:])
        return b"id: %s\nevent: %s\ndata: %s\n\n" % (self._id(), kind.encode(), data)


def _data(engine: Engine, event: FeedEvent, explanations: Explanations) -> Any:
    """Return the data of an event. The shape of the data depends on the kind of event (see `Feed`)."""
    if event.kind == "request":
        return explanations.item(engine.world, event.facts)
    if event.kind == "clock":
        return get_clock(engine)
    return event.facts
