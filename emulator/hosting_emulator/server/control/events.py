"""Server-sent events: what happens in a world, written to whoever listens.

A listener that does not read holds up nobody: it misses events and is told so (`gap`), and one that
reads nothing at all is let go.
"""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from aiohttp import web

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.events import KINDS, Event
from hosting_emulator.engine.explanations import Explanations
from hosting_emulator.engine.request_log import RequestFilter
from hosting_emulator.faults.decisions import spent
from hosting_emulator.server import answers
from hosting_emulator.server.control.context import Context, ControlRefused
from hosting_emulator.server.control.requests import read_filter
from hosting_emulator.server.control.views import clock_view
from hosting_emulator.server.protocol import Protocol

#: How often a comment shows that the connection lives, in seconds of real time.
HEARTBEAT_S = 15.0
#: How long a listener may take nothing while something waits for it, in seconds of real time.
STUCK_S = 30.0
#: After how many milliseconds a browser comes back by itself.
_RETRY_MS = 1000
#: So many events at most are written at once.
_BATCH = 50


async def listen(context: Context, engine: Engine) -> web.StreamResponse:
    """GET …/events: `request`, `commit`, `clock`, `fault` and `world`, as they happen.

    `only=request,fault` leaves out the other kinds; the filters of `requests` choose requests. The
    header `Last-Event-ID` goes on after an event, if it is still kept; `gap` says that some were
    missed and that all is to be read anew. To miss nothing, listen first and read then.
    """
    kinds, chosen = _read_kinds(context), read_filter(context, engine)
    response = answers.stream("text/event-stream")
    response.headers["X-Accel-Buffering"] = "no"  # a proxy is to hand on each event as it comes
    request = context.request
    await response.prepare(request)
    if request.method != "HEAD":
        await _Stream(engine, kinds, chosen, request, response).run()
    return response


class _Stream:
    """One listener: its place in the feed, and what it wants to hear."""

    def __init__(
        self,
        engine: Engine,
        kinds: frozenset[str],
        chosen: RequestFilter,
        request: web.BaseRequest,
        response: web.StreamResponse,
    ) -> None:
        self._engine = engine
        self._kinds = kinds
        self._chosen = chosen
        self._request = request
        self._response = response
        self._place = _last_event_id(request, engine.feed.last_id)
        self._wake = asyncio.Event()

    async def run(self) -> None:
        """Write events until the listener or the world is gone."""
        feed, wake = self._engine.feed, self._wake.set
        connection = self._request.protocol
        assert isinstance(connection, Protocol)
        gone = asyncio.ensure_future(connection.lost())
        gone.add_done_callback(lambda _: wake())
        feed.listen(wake)
        try:
            await self._write(f"retry: {_RETRY_MS}\nid: {self._place}\n\n".encode())
            while not (gone.done() or feed.ended):
                self._wake.clear()
                await self._write_next()
        except ConnectionError:
            pass  # there is nobody to tell
        except TimeoutError:
            if self._request.transport is not None:
                self._request.transport.abort()
        finally:
            feed.leave(wake)
            gone.cancel()

    async def _write_next(self) -> None:
        """Write what there is; with nothing there, wait for it or for the next heartbeat."""
        feed = self._engine.feed
        found = feed.since(self._place, _BATCH)
        if found is None:
            missed, self._place = max(0, feed.last_id - self._place), feed.last_id
            await self._write(_event(self._place, "gap", {"missed": missed}))
            return
        if found:
            self._place = found[-1].id
            text = b"".join(self._texts(found))
            if text:
                await self._write(text)
            return
        try:
            await asyncio.wait_for(self._wake.wait(), HEARTBEAT_S)
        except TimeoutError:
            await self._write(f": still here\nid: {self._place}\n\n".encode())

    def _texts(self, found: list[Event]) -> list[bytes]:
        explanations = Explanations(self._engine.log)
        texts = []
        for event in found:
            if event.kind not in self._kinds:
                continue
            if event.kind == "request" and not self._chosen.fits(event.facts):
                continue
            if event.text is None:  # written once, however many listen
                event.text = _event(event.id, event.kind, _data(self._engine, event, explanations))
            texts.append(event.text)
        return texts

    async def _write(self, text: bytes) -> None:
        await asyncio.wait_for(self._response.write(text), STUCK_S)


def _data(engine: Engine, event: Event, explanations: Explanations) -> dict[str, Any]:
    facts = event.facts
    if event.kind == "request":
        return explanations.item(engine.world, facts)
    if event.kind == "commit":
        commit, at_ms, title = facts
        return {"commit": commit, "at": format_timestamp(at_ms), "title": title}
    if event.kind == "clock":
        return clock_view(engine)
    if event.kind == "fault":
        id_, fault, at_ms = facts
        if fault is None:
            return {"id": id_, "removed": True}
        counts = {"seen": fault.seen, "hits": fault.hits, "spent": spent(fault, at_ms)}
        return {"id": id_, **counts, "removed": False}
    commit, title = facts
    return {"commit": commit, "title": title}


def _event(id_: int, kind: str, data: dict[str, Any]) -> bytes:
    # JSON is written in one line, so one `data` field holds it.
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (id_, kind.encode(), msgspec.json.encode(data))


def _last_event_id(request: web.BaseRequest, newest: int) -> int:
    given = request.headers.get("Last-Event-ID", "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 19 else newest


def _read_kinds(context: Context) -> frozenset[str]:
    given = context.given.get("only", "")
    kinds = frozenset(filter(None, given.split(","))) or frozenset(KINDS)
    if not kinds <= set(KINDS):
        raise ControlRefused(400, "Bad only", f"only names some of {', '.join(KINDS)}")
    return kinds
