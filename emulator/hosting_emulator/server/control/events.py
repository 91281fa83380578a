"""Server-sent events: what happens in a world, written to whoever listens.

A listener that does not read holds up nobody: it misses events and is told so (`gap`), and one that
reads nothing at all is let go.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import msgspec
from aiohttp import web

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.control_api import RequestFilters
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.events import KINDS, FeedEvent
from hosting_emulator.engine.explanations import Explanations
from hosting_emulator.faults.decisions import spent
from hosting_emulator.server import answers
from hosting_emulator.server.control.context import Context, ControlRefusal, Words
from hosting_emulator.server.control.requests import read_filter
from hosting_emulator.server.control.worlds import clock_view
from hosting_emulator.server.protocol import Protocol

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
    """Listen to what happens in a world: `request`, `commit`, `clock`, `fault`, `outcome`
    and `world`; and to `worlds`: which worlds are made and which go, whatever world is listened to.

    `only` (such as `request,fault`) leaves out the other kinds; filters choose requests. The header
    `Last-Event-ID` goes on after an event, if it is still kept; `gap` says that some were
    missed and that all is to be read anew. To miss nothing, listen first and read then.
    """
    kinds = frozenset(only or KINDS)
    if not kinds <= set(KINDS):
        raise ControlRefusal(400, "Bad only", f"only names some of {', '.join(KINDS)}")
    chosen, request = read_filter(engine, filters), context.request

    def fits(event: FeedEvent) -> bool:
        return event.kind in kinds and (event.kind != "request" or chosen.fits(event.facts))

    response = answers.stream("text/event-stream")
    response.headers["X-Accel-Buffering"] = "no"  # a proxy is to hand on each event as it comes
    await response.prepare(request)
    if request.method == "HEAD":
        return response
    connection, feed, awake = request.protocol, engine.feed, asyncio.Event()
    assert isinstance(connection, Protocol)
    gone = asyncio.ensure_future(connection.lost())
    gone.add_done_callback(lambda _: awake.set())
    feed.listen(awake.set)
    place = _last_event_id(request, feed.last_id)
    text = f"retry: {_RETRY_MS}\nid: {place}\n\n".encode()
    try:
        while not (gone.done() or feed.ended):
            if text:
                await asyncio.wait_for(response.write(text), STUCK_S)
            awake.clear()
            events = feed.since(place, _BATCH)
            if events is None:
                missed, place = max(0, feed.last_id - place), feed.last_id
                text = _event(place, "gap", {"missed": missed})
            elif events:
                place = events[-1].id
                text = _text(engine, filter(fits, events))
            elif await _quiet(awake):
                text = f": still here\nid: {place}\n\n".encode()
            else:
                text = b""
    except ConnectionError:
        pass  # there is nobody to tell
    except TimeoutError:
        if request.transport is not None:
            request.transport.abort()
    finally:
        feed.leave(awake.set)
        gone.cancel()
    return response


async def _quiet(awake: asyncio.Event) -> bool:
    """Wait for something to happen. True: it is time for a heartbeat."""
    try:
        await asyncio.wait_for(awake.wait(), HEARTBEAT_S)
    except TimeoutError:
        return True
    return False


def _last_event_id(request: web.BaseRequest, newest: int) -> int:
    given = request.headers.get("Last-Event-ID", "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 19 else newest


def _text(engine: Engine, events: Iterable[FeedEvent]) -> bytes:
    explanations = Explanations(engine.log)
    texts = []
    for event in events:
        if event.text is None:  # written once, however many listen
            event.text = _event(event.id, event.kind, _data(engine, event, explanations))
        texts.append(event.text)
    return b"".join(texts)


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


def _event(id_: int, kind: str, data: dict[str, Any]) -> bytes:
    # JSON is written in one line, so one `data` field holds it.
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (id_, kind.encode(), msgspec.json.encode(data))
