"""Control of the request log: the last exchanges, those that are meant of them, one whole, or again.

As HAR (an HTTP Archive 1.2) they open in the network panel of browsers. What happens in a world is also
written to whoever listens, as server-sent events. A listener that does not read holds up nobody: it
misses events and is told so (`gap`), and one that reads nothing at all is let go.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from operator import itemgetter
from typing import Annotated, Any, Final, cast
from urllib.parse import parse_qsl

import msgspec
from aiohttp import web
from multidict import CIMultiDict

from hosting_emulator.contract.calls import REDEEM_TICKET, call_named
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.timestamps import format_timestamp, parse_timestamp
from hosting_emulator.control.clock import get_clock
from hosting_emulator.criteria.checks import check
from hosting_emulator.criteria.request_filters import request_filters
from hosting_emulator.criteria.value_types import Impossible
from hosting_emulator.engine.driver import run_exchange
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import Entry, ExchangeContext
from hosting_emulator.engine.explanations.trail import Explanations
from hosting_emulator.engine.feed import KINDS, FeedEvent
from hosting_emulator.engine.request_views import NOBODY, RequestFilter, entry_view
from hosting_emulator.http import responses
from hosting_emulator.http.endpoint import Body, Context, ControlRefusal, Example, find, require
from hosting_emulator.http.exchanges import wait_for
from hosting_emulator.http.guard import world_prefix
from hosting_emulator.http.protocol import protocol_of
from hosting_emulator.http.query import Limit, Query, Text, Words
from hosting_emulator.http.time_slices import LongJob, in_thread
from hosting_emulator.messages import HeaderValues, JsonObject, RequestFilters
from hosting_emulator.storage.export import export_state
from hosting_emulator.world import clock as clocks
from hosting_emulator.world import tables as t
from hosting_emulator.world.naming import DEFAULT_WORLD
from hosting_emulator.world.value import World, apply

_NUMBER = re.compile(r"[0-9]{1,15}")
_PLACE = re.compile(r"[0-9]{1,18}")
_ABOUT = (
    "Times are world time; durations are real time in the emulator. Secrets "
    "are removed, and long bodies are truncated."
)
_PHRASES = {status.value: status.phrase for status in HTTPStatus}
#: How often a comment shows that the connection lives, in seconds of real time.
HEARTBEAT_S = 15.0
_EVENT_KINDS: Final = Query("The kinds of events to send. Default: all.")
#: How long a listener may take nothing while something waits for it, in seconds of real time.
STUCK_S = 30.0
#: After how many milliseconds a browser comes back by itself.
_RETRY_MS = 1000
#: So many events at most are written at once.
_BATCH = 50


async def list_requests(
    context: Context,
    engine: Engine,
    filters: RequestFilters,
    limit: Limit = 50,
    trail: Annotated[bool, Query("Include every decision that led to each response.")] = True,
) -> web.StreamResponse:
    """List the last exchanges that match, newest first, and how many there have been in total.

    Filters: `call` (or `none`), `status` (404 or 4xx), `user` and `project` (alias or id; `nobody`),
    `since` and `until` (world time, or a duration back from now; until is exclusive), `text` and
    `after` (a number). Without `trail` the response is shorter and faster.
    """
    view = Explanations(engine.log).item if trail else entry_view
    entries = await _find_entries(engine, filters, limit)
    items = (view(engine.world, entry) for entry in entries)
    document = {"total": engine.log.count, "times_cleared": engine.log.cleared, "items": []}
    return await responses.json_list(context.request, document, "items", items)


def show_request(engine: Engine, n: str) -> JsonObject:
    """Show one exchange with headers, bodies and trail, secrets cut out."""
    return Explanations(engine.log).whole(engine.world, _find_entry(engine, n))


def _find_entry(engine: Engine, n: str) -> Entry:
    count = len(engine.log)
    kept = f"it keeps the last {count} of {engine.log.count}" if count else "it is empty"
    detail = f"the log has no request {n[:40]!r}: {kept}"
    entry = engine.log.find(int(n)) if _NUMBER.fullmatch(n) else None
    return require(entry, "No such request", detail)


async def _find_entries(engine: Engine, filters: RequestFilters, limit: int) -> list[Entry]:
    chosen = read_filter(engine, filters)
    if chosen == RequestFilter():
        return engine.log.newest(limit)
    entries = engine.log.newest(len(engine.log))
    matches: list[Entry] = []
    async with LongJob() as job:
        for entry in entries:
            await job.pause()
            if chosen.matches(entry):
                matches.append(entry)
                if len(matches) == limit:
                    break
    return matches


def read_filter(engine: Engine, given: RequestFilters) -> RequestFilter:
    """Return which exchanges the query means. Raises ControlRefusal 400 or 404, naming the filter."""
    world, call = engine.world, given.get("call")
    user, about = given.get("user"), given.get("project")
    status, after = given.get("status") or "", cast("str | None", given.get("after"))
    is_number = re.fullmatch("0|[1-9][0-9]{0,9}", status) is not None
    if status:
        _check_filter("status", int(status) if is_number else status)
    if call is not None:
        _check_filter("call", call)
        call = call_named(call)
    whole_class = status.lower().endswith("xx")
    chosen = RequestFilter(
        call=call,
        status=int(status) if status and not whole_class else None,
        status_class=int(status[0]) if whole_class else None,
        user=user if user in (None, NOBODY) else find(world, t.USERS, user).id,
        project=None if about is None else find(world, t.PROJECTS, about).id,
        since_ms=_moment(engine, "since", given.get("since")),
        until_ms=_moment(engine, "until", given.get("until")),
        text=given.get("text"),
        after=int(after) if after and _NUMBER.fullmatch(after) else None,
    )
    since_ms, until_ms = chosen.since_ms, chosen.until_ms
    if since_ms is not None and until_ms is not None and since_ms >= until_ms:
        raise ControlRefusal(400, "Bad until", "until must be later than since")
    if after is not None and chosen.after is None:
        raise ControlRefusal(400, "Bad after", "after must be the number of a request")
    return chosen


def _check_filter(name: str, value: Any) -> None:
    """Raise ControlRefusal 400 for a value that no request can have, or that is no plain value."""
    if isinstance(value, str) and (value == "*" or value.startswith("/")):
        message = f"{name} takes one value here, not {value[:80]!r}: leave it out for any"
        raise ControlRefusal(400, f"Bad {name}", message)
    try:
        check(request_filters()[name], value)
    except Impossible as error:
        raise ControlRefusal(400, f"Bad {name}", f"{name} can never match: {error}") from None


def _moment(engine: Engine, name: str, text: str | None) -> int | None:
    if text is None:
        return None
    with suppress(ValueError):
        return engine.run_due() - parse_duration_ms(text)
    try:
        return parse_timestamp(text)
    except ValueError as error:
        message = f"{error}; or a duration back from now, like 90s or 5m"
        raise ControlRefusal(400, f"Bad {name}", message) from None


# --- sent again ----------------------------------------------------------------------------------


class Resend(Body):
    """Whether the request keeps its Idempotency-Key."""

    same_key: bool = False


async def resend_request(
    context: Context, engine: Engine, n: str, body: Annotated[Resend, Example({"same_key": True})]
) -> JsonObject:
    """Send a request of the log again, and return the new exchange.

    The request is sent to the world as it is now, with a new access token for the same user and
    organization (an API key is sent unchanged), and with a new Idempotency-Key unless `same_key`. A fault
    that delays applies; one that breaks a connection is only noted, as there is no connection.
    """
    entry, cut = _find_entry(engine, n), ""
    if entry.headers_cut:
        cut = f"only the beginning of the headers of request {entry.n} was kept"
    elif entry.body_bytes != len(entry.body):
        first = f"only the first {len(entry.body)} of {entry.body_bytes} bytes "
        cut = f"{first}of the body of request {entry.n} were kept"
    if cut:
        raise ControlRefusal(409, "Not kept completely", cut)
    if entry.call == REDEEM_TICKET:
        message = f"request {entry.n} redeemed a ticket, which works only once"
        raise ControlRefusal(409, "Not replayed", message)
    # A header that was not sent is not added.
    instead: dict[bytes, bytes] = {}
    principal = entry.principal
    user = engine.world.get(t.USERS, principal.user_id)
    if principal.api_key_id is None and user is not None:
        engine.run_due()
        token = engine.mint(
            user,
            principal.organization_id,
            context.base_url,
            interactive=principal.interactive,
        )
        instead[b"authorization"] = f"Bearer {token}".encode()
    if not body.same_key:
        # A key is only remembered with a commit, so the number of the last one makes it a new one.
        key = f"replay-of-{entry.n}-at-{engine.world.commit}"
        instead[b"idempotency-key"] = key.encode()
    headers = [(name, instead.get(name.lower(), value)) for name, value in entry.raw_headers]
    sent = [(name.decode(), value.decode("utf-8", "surrogateescape")) for name, value in headers]
    ctx = ExchangeContext(
        method=entry.method,
        path=entry.path,
        query=entry.query,
        docs_url=partial(context.site.docs_url, context.request),
        headers=CIMultiDict(sent),
        body=entry.body,
        dev_port=context.site.tls_port,
        raw_headers=headers,
        from_emulator=True,
    )
    await run_exchange(engine, ctx, wait=partial(wait_for, context.request))
    # Not the newest of the log: others may have come while this one was waited for.
    return Explanations(engine.log).whole(engine.world, ctx)


# --- as an HTTP Archive --------------------------------------------------------------------------


async def export_har(
    context: Context,
    engine: Engine,
    filters: RequestFilters,
    limit: Limit = 1000,
    state: Annotated[
        bool, Query("Include the world as it was before the first exchange, for replays.")
    ] = False,
) -> web.StreamResponse:
    """Return the last exchanges that match, oldest first, as an HTTP Archive 1.2.

    With `state` it includes the world as it was before the first of them, so that they can
    be replayed to an identical one.
    """
    entries = (await _find_entries(engine, filters, limit))[::-1]
    prefix = context.base_url + world_prefix(engine.world.name)
    explanations = Explanations(engine.log)
    items = (_entry(prefix, engine, entry, explanations) for entry in entries)
    document: JsonObject = {
        "log": {
            "version": "1.2",
            "creator": {"name": "hosting-emulator", "version": context.facts.version},
            "pages": [],
            "entries": [],
            "comment": f"The request log of the world {engine.world.name}. {_ABOUT}",
            "_world": _world(engine, entries),
        }
    }
    if state and entries:
        # What the first exchange found, the clock standing still; what fell due before is pending.
        world, at_ms = entries[0].world, entries[0].world.at_ms
        clock = clocks.start("frozen", None, at_ms, 0)
        still = apply(
            world, {t.CLOCK.name: {t.SINGLETON_KEY: clock}}, commit=world.commit, at_ms=at_ms
        )
        document["log"]["_state"] = await in_thread(_encoded_state, still)
    named = f'attachment; filename="{engine.world.name}.har"'
    return await responses.json_list(
        context.request, document, "entries", items, Content_Disposition=named
    )


def _encoded_state(world: World) -> msgspec.Raw:
    """Return the state of a world as JSON: a large one takes long to encode."""
    return msgspec.Raw(msgspec.json.encode(export_state(world)))


def _entry(prefix: str, engine: Engine, entry: Entry, explanations: Explanations) -> JsonObject:
    whole = explanations.whole(engine.world, entry)
    sent, answer, principal = whole["request"], whole["response"], entry.principal
    took_ms, allowed = whole["duration_us"] / 1000, principal.permissions
    host = HeaderValues(sent["headers"]).get("host", "")
    if whole["call"] == REDEEM_TICKET and host.startswith("dev-"):
        prefix = f"https://{host}"
    query = whole["query"]
    request = {
        "method": whole["method"],
        "url": prefix + whole["path"] + (f"?{query}" if query else ""),
        **_message(sent, queryString=_pairs(parse_qsl(query, keep_blank_values=True))),
    }
    if sent["body_bytes"]:
        request["postData"] = _content(sent)
    response = {
        "status": whole["status"],
        "statusText": _PHRASES.get(whole["status"], ""),
        **_message(
            answer,
            content={"size": answer["body_bytes"], **_content(answer)},
            redirectURL=HeaderValues(answer["headers"]).get("location", ""),
        ),
        "_transferSize": answer["body_bytes"],  # Chromium would take the unknown headers for -1
        "comment": f"It did not arrive: {whole['lost']}." if whole["lost"] else "",
    }
    return {
        "startedDateTime": whole["at"],
        "time": took_ms,
        "request": request,
        "response": response,
        "cache": {},
        "timings": {"send": 0, "wait": took_ms, "receive": 0},
        "comment": "; ".join(whole["why"]),
        "_resourceType": "fetch",
        "_number": whole["n"],
        "_call": whole["call"],
        "_user": whole["user"],
        "_principal": {
            "user": principal.user_id,
            "organization": principal.organization_id,
            "interactive": principal.interactive,
            "api_key": principal.api_key_id,
            "permissions": None if allowed is None else sorted(allowed),
        }
        if principal
        else None,
        "_lost": whole["lost"],
        "_trail": whole["trail"],
    }


def _message(message: JsonObject, **more: Any) -> JsonObject:
    return {
        "httpVersion": "HTTP/1.1",
        "cookies": [],  # all that a cookie holds is secret; the headers name them
        "headers": _pairs(message["headers"]),
        **more,
        "headersSize": -1,
        "bodySize": message["body_bytes"],
    }


def _content(message: JsonObject) -> dict[str, str]:
    kept = "A part of it: its beginning." if message["body_cut"] else ""
    if message["body"] is None:
        kept = "It is not text, and is left out."
    kind = HeaderValues(message["headers"]).get("content-type", "")
    return {"mimeType": kind, "text": message["body"] or "", "comment": kept}


def _pairs(pairs: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in pairs]


def _world(engine: Engine, entries: Sequence[Entry]) -> JsonObject:
    """Return what the ids in the requests stand for, so that they can be sent to another world."""
    world, began_at = engine.world, None
    for commit in reversed(engine.history):  # as its seed or scenario makes it
        title, then = commit.title, commit.world
        if title == "began" and then.commit > 1:  # a fork, or a world that was kept
            break
        if title in ("began", "reset") or title.startswith("scenario "):
            began_at = format_timestamp(then.at_ms)
            break
    named: tuple[t.Table[Any], ...] = (t.ORGANIZATIONS, t.USERS, t.PROJECTS)
    by_id = itemgetter(0)
    return {
        "name": world.name,
        "at": format_timestamp(entries[0].world.at_ms if entries else engine.run_due()),
        "began_at": began_at,
        "assumptions": world.assumptions.changes(),
        **{
            table.name: {row.alias: id_ for id_, row in sorted(world.rows(table), key=by_id)}
            for table in named
        },
    }


# --- events --------------------------------------------------------------------------------------


async def listen(
    context: Context, engine: Engine, filters: RequestFilters, only: Annotated[Words, _EVENT_KINDS]
) -> web.StreamResponse:
    """Stream a world's events: `request`, `commit`, `clock`, `fault`, `outcome`
    and `world`; and `worlds`, sent to every listener when any world is created or deleted.

    `only` (such as `request,fault`) selects kinds; filters select requests. The header
    `Last-Event-ID` continues after an event, if it is still kept; `gap` says that some were
    missed and everything must be read again. To miss nothing, listen first, then read.
    """
    chosen = read_filter(engine, filters)
    places = {"": context.request.headers.get("Last-Event-ID", "")}
    return await _Stream(context, {"": engine}, places, only, chosen.matches).run()


async def listen_to_worlds(
    context: Context,
    worlds: Annotated[
        Words, Query("The worlds to listen to; `default` for news of others. Default: all.")
    ],
    only: Annotated[Words, _EVENT_KINDS],
    seen: Annotated[Text, Query("The id of the last event that was seen.")] = None,
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
        engine.control_requests += 1
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
            name: int(given)
            if _PLACE.fullmatch(given := places.get(name, ""))
            else one.feed.last_id
            for name, one in engines.items()
        }

    async def run(self) -> web.StreamResponse:
        """Write what happens, until the listener goes or nothing is left to listen to."""
        response, request = responses.stream("text/event-stream"), self._request
        response.headers["X-Accel-Buffering"] = "no"  # a proxy is to hand on each event as it comes
        await response.prepare(request)
        if request.method == "HEAD":
            return response
        awake = asyncio.Event()
        gone = asyncio.ensure_future(protocol_of(request).wait_for_client_to_leave())
        gone.add_done_callback(lambda _: awake.set())
        feeds = [engine.feed for engine in self._engines.values()]
        for feed in feeds:
            feed.listen(awake.set)
        text = b"retry: %d\nid: %s\n\n" % (_RETRY_MS, self._id())
        try:
            while not gone.done():
                awake.clear()  # before any look at what wakes it
                engines = self._engines.items()
                self._engines = {name: one for name, one in engines if not one.feed.ended}
                if not self._engines:
                    break
                if text:
                    await asyncio.wait_for(response.write(text), STUCK_S)
                before = dict(self._places)
                text = b"".join([self._news(name) for name in self._engines])
                if self._places == before:
                    try:
                        await asyncio.wait_for(awake.wait(), HEARTBEAT_S)
                    except TimeoutError:
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
            self._places[name], kind = event.id, event.kind
            told = kind != "worlds" or name in ("", DEFAULT_WORLD)  # all worlds tell of it
            chosen = kind != "request" or self._chosen(event.facts)
            if told and chosen and kind in self._kinds:
                if event.text is None:  # written once, however many listen
                    event.text = msgspec.json.encode(_data(engine, event, explanations))
                texts.append(self._event(name, kind, event.text))
        return b"".join(texts)

    def _event(self, name: str, kind: str, data: bytes) -> bytes:
        # JSON is written in one line, so one `data` field holds it.
        if name:
            data = b'{"world":"%s",%s' % (name.encode(), data[1:])
        return b"id: %s\nevent: %s\ndata: %s\n\n" % (self._id(), kind.encode(), data)


def _data(engine: Engine, event: FeedEvent, explanations: Explanations) -> Any:
    if event.kind == "request":
        return explanations.item(engine.world, event.facts)
    if event.kind == "clock":
        return get_clock(engine)
    return event.facts
