"""Control of the request log: the last exchanges, those that are meant of them, one whole, or again.

As HAR (an HTTP Archive 1.2) they open in the network panel of browsers.
"""

from __future__ import annotations

import asyncio
import difflib
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from operator import itemgetter
from typing import Any, cast
from urllib.parse import parse_qsl

from aiohttp import web

from hosting_emulator.calls.request import PlainHeaders, Principal
from hosting_emulator.conduct.watch import OWN
from hosting_emulator.contract.calls import ALL_CALLS, call_named
from hosting_emulator.contract.doors import REDEEM_TICKET
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.timestamps import format_timestamp, parse_timestamp
from hosting_emulator.control_api import RequestFilters
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import Entry, ExchangeContext
from hosting_emulator.engine.explanations import Explanations
from hosting_emulator.engine.history import CAPACITY as HISTORY_KEPT
from hosting_emulator.engine.request_log import NO_CALL, NOBODY, RequestFilter, entry_view
from hosting_emulator.server import answers
from hosting_emulator.server.control.context import (
    Body,
    Context,
    ControlRefusal,
    Limit,
    find,
    found,
)
from hosting_emulator.server.hosts import world_prefix
from hosting_emulator.server.public import carry_out
from hosting_emulator.storage.documents import export_state
from hosting_emulator.world import clock as clocks
from hosting_emulator.world import tables as t
from hosting_emulator.world.tables import PEOPLE, PROJECTS
from hosting_emulator.world.value import apply

_STATUS = re.compile(r"0|[1-5]([0-9]{2}|xx)", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]{1,15}")
_CALLS = (*ALL_CALLS, REDEEM_TICKET)
Headers = list[tuple[bytes, bytes]]
_ABOUT = (
    "Times are world time; durations are real time in the emulator. Secrets "
    "are removed, and long bodies are truncated."
)
#: Who is rendering exchanges now.
_walks: set[object] = set()
_PHRASES = {status.value: status.phrase for status in HTTPStatus}


async def list_requests(
    context: Context,
    engine: Engine,
    filters: RequestFilters,
    limit: Limit = 50,
    trail: bool = True,
) -> web.StreamResponse:
    """List the last exchanges that match, newest first, and how many there have been in total.

    Filters: `call` (or `none`), `status` (404 or 4xx), `who` and `project` (alias or id; `nobody`),
    `since` and `until` (world time, or a duration back from now; until is exclusive), `text` and
    `after` (a number). Without `trail` the response is shorter and faster.
    """
    view = Explanations(engine.log).item if trail else entry_view
    entries = await _find_entries(engine, read_filter(engine, filters), limit)
    items = (view(engine.world, entry) async for entry in _in_turns(entries))
    document = {"total": engine.log.count, "items": []}
    return await answers.json_list(context.request, document, "items", items)


def show_request(engine: Engine, n: str) -> dict[str, Any]:
    """Show one exchange with headers, bodies and trail, secrets cut out."""
    return Explanations(engine.log).whole(engine.world, _find_entry(engine, n))


def _find_entry(engine: Engine, n: str) -> Entry:
    """Return the exchange of a number, as a path gives it. Raises ControlRefusal 404."""
    count = len(engine.log)
    kept = f"it keeps the last {count} of {engine.log.count}" if count else "it is empty"
    detail = f"the log has no request {n[:40]!r}: {kept}"
    entry = engine.log.find(int(n)) if _NUMBER.fullmatch(n) else None
    return found(entry, "No such request", detail)


async def _find_entries(engine: Engine, chosen: RequestFilter, limit: int) -> list[Entry]:
    """Return the last `limit` exchanges that are meant, newest first."""
    if chosen == RequestFilter():
        return engine.log.newest(limit)
    entries = engine.log.newest(len(engine.log))
    return [entry async for entry in _in_turns(entries) if chosen.fits(entry)][:limit]


async def _in_turns(entries: list[Entry]) -> AsyncIterator[Entry]:
    """Walk exchanges, each of which may take milliseconds; others are answered meanwhile.

    Of several walks one goes on in each turn of the loop, however many there are.
    """
    walk = object()
    _walks.add(walk)
    try:
        for entry in entries:
            for _ in range(len(_walks)):
                await asyncio.sleep(0)
            yield entry
    finally:
        _walks.discard(walk)


def read_filter(engine: Engine, given: RequestFilters) -> RequestFilter:
    """Return which exchanges the query means. Raises ControlRefusal 400 or 404, naming the filter."""
    world = engine.world
    who, about = given.get("who"), given.get("project")
    status = given.get("status") or ""
    if status and not _STATUS.fullmatch(status):
        message = f"{status[:40]!r} is not a status: write one like 404, or a class like 4xx"
        raise ControlRefusal(400, "Bad status", message)
    whole_class = status.lower().endswith("xx")
    return RequestFilter(
        call=_known_call(given.get("call")),
        status=int(status) if status and not whole_class else None,
        status_class=int(status[0]) if whole_class else None,
        who=who if who in (None, NOBODY) else find(world, PEOPLE, who).id,
        project=None if about is None else find(world, PROJECTS, about).id,
        since_ms=_moment(engine, "since", given.get("since")),
        until_ms=_moment(engine, "until", given.get("until")),
        text=given.get("text"),
        after=_after(cast("str | None", given.get("after"))),
    )


def _known_call(call: str | None) -> str | None:
    if call is None or (call := call_named(call)) in (NO_CALL, *_CALLS):
        return call
    near = difflib.get_close_matches(call, _CALLS, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(_CALLS)} and {NO_CALL}"
    raise ControlRefusal(400, "Bad call", f"no call is named {call[:80]!r}; {hint}")


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


def _after(text: str | None) -> int | None:
    if text is not None and not _NUMBER.fullmatch(text):
        raise ControlRefusal(400, "Bad after", "after must be the number of a request")
    return None if text is None else int(text)


# --- sent again ----------------------------------------------------------------------------------


class Replay(Body):
    """Whether the request keeps its Idempotency-Key."""

    same_key: bool = False


async def replay_request(context: Context, engine: Engine, n: str, body: Replay) -> dict[str, Any]:
    """Send a request of the log again, and return the new exchange.

    The request is sent to the world as it is now, with a new access token for the same user and
    organization (an API key is sent unchanged), and with a new Idempotency-Key unless `same_key`. A fault
    that delays applies; one that breaks a connection is only noted, as there is no connection.
    """
    entry = _find_entry(engine, n)
    if entry.headers_cut:
        raise ControlRefusal(
            409,
            "Not kept completely",
            f"only the beginning of the headers of request {entry.n} was kept",
        )
    if entry.body_bytes != len(entry.body):
        raise ControlRefusal(
            409,
            "Not kept completely",
            f"only the first {len(entry.body)} of {entry.body_bytes} bytes "
            f"of the body of request {entry.n} were kept",
        )
    if entry.call == REDEEM_TICKET:
        raise ControlRefusal(
            409, "Not replayed", f"request {entry.n} redeemed a ticket, which works only once"
        )
    exchange = engine.exchange(_sent_again(context, engine, entry, body.same_key))
    await carry_out(exchange, context.request)
    made = engine.log.newest(1)[0]
    return Explanations(engine.log).whole(engine.world, made)


def _sent_again(context: Context, engine: Engine, entry: Entry, same_key: bool) -> ExchangeContext:
    headers = [*entry.raw_headers, (OWN, b"replay")]
    token = _token(context, engine, entry)
    if token is not None:
        headers = _put(headers, b"Authorization", f"Bearer {token}")
    if not same_key:
        # A key is only remembered with a commit, so the number of the last one makes it a new one.
        headers = _put(headers, b"Idempotency-Key", f"replay-of-{entry.n}-at-{engine.world.commit}")
    sent = [(name.decode(), value.decode("utf-8", "surrogateescape")) for name, value in headers]
    return ExchangeContext(
        method=entry.method,
        path=entry.path,
        query=entry.query,
        docs_url=partial(context.site.docs_url, context.request),
        headers=PlainHeaders(sent),
        body=entry.body,
        dev_port=context.site.tls_port,
        raw_headers=headers,
    )


def _token(context: Context, engine: Engine, entry: Entry) -> str | None:
    """Mint the access token that the request's own has become; None: it had none, or has a key."""
    principal = entry.principal
    person = engine.world.get(PEOPLE, principal.person_id)
    if principal.api_key_id is not None or person is None:
        return None
    organization_id, interactive = principal.organization_id, principal.interactive
    engine.run_due()
    return engine.mint(person, organization_id, context.base_url, interactive=interactive)


def _put(headers: Headers, name: bytes, value: str) -> Headers:
    """Put a value in place of a header's; a header that was not sent is not added."""
    return [
        (known, value.encode() if known.lower() == name.lower() else found)
        for known, found in headers
    ]


# --- as an HTTP Archive --------------------------------------------------------------------------


async def export_har(
    context: Context,
    engine: Engine,
    filters: RequestFilters,
    limit: Limit = 1000,
    state: bool = False,
) -> web.StreamResponse:
    """Return the last exchanges that match, oldest first, as an HTTP Archive 1.2.

    With `state` it includes the world as it was before the first of them, so that they can
    be replayed to an identical one.
    """
    entries = (await _find_entries(engine, read_filter(engine, filters), limit))[::-1]
    prefix = context.base_url + world_prefix(engine.world.name)
    explanations = Explanations(engine.log)
    items = (_entry(prefix, engine, entry, explanations) async for entry in _in_turns(entries))
    document: dict[str, Any] = {
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
        document["log"]["_state"] = await asyncio.to_thread(_state_before, entries[0])
    named = f'attachment; filename="{engine.world.name}.har"'
    return await answers.json_list(
        context.request, document, "entries", items, Content_Disposition=named
    )


def _state_before(entry: Entry) -> dict[str, Any]:
    """Return the state document of the world as an exchange found it, its clock standing still.

    What fell due before the exchange is still pending in it: time is to be moved on to that.
    """
    world = entry.world
    clock = clocks.start("frozen", None, world.at_ms, 0)
    still = apply(world, {t.CLOCK.name: {t.ONLY: clock}}, commit=world.commit, at_ms=world.at_ms)
    return export_state(still)


def _entry(prefix: str, engine: Engine, entry: Entry, explanations: Explanations) -> dict[str, Any]:
    whole = explanations.whole(engine.world, entry)
    sent, answer = whole["request"], whole["answer"]
    took_ms = whole["duration_us"] / 1000
    if whole["call"] == REDEEM_TICKET and (host := _value(sent, "host")).startswith("dev-"):
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
            redirectURL=_value(answer, "location"),
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
        "_who": whole["who"],
        "_principal": _principal(entry.principal),
        "_lost": whole["lost"],
        "_trail": whole["trail"],
    }


def _message(message: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "httpVersion": "HTTP/1.1",
        "cookies": [],  # all that a cookie holds is secret; the headers name them
        "headers": _pairs(message["headers"]),
        **more,
        "headersSize": -1,
        "bodySize": message["body_bytes"],
    }


def _content(message: dict[str, Any]) -> dict[str, str]:
    kept = "A part of it: its beginning." if message["body_cut"] else ""
    if message["body"] is None:
        kept = "It is not text, and is left out."
    kind = _value(message, "content-type")
    return {"mimeType": kind, "text": message["body"] or "", "comment": kept}


def _pairs(pairs: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in pairs]


def _value(message: dict[str, Any], header: str) -> str:
    return next((value for name, value in message["headers"] if name.lower() == header), "")


def _principal(principal: Principal) -> dict[str, Any] | None:
    if not principal:
        return None
    allowed = principal.permissions
    return {
        "person": principal.person_id,
        "organization": principal.organization_id,
        "interactive": principal.interactive,
        "api_key": principal.api_key_id,
        "permissions": None if allowed is None else sorted(allowed),
    }


def _world(engine: Engine, entries: Sequence[Entry]) -> dict[str, Any]:
    """Return what the ids in the requests stand for, so that they can be sent to another world."""
    world = engine.world
    named: tuple[t.Table[Any], ...] = (t.ORGANIZATIONS, t.PEOPLE, t.PROJECTS)
    return {
        "name": world.name,
        "at": format_timestamp(entries[0].world.at_ms if entries else engine.run_due()),
        "began_at": _began_at(engine),
        "assumptions": world.assumptions.changes(),
        **{
            table.name: {
                row.alias: id_ for id_, row in sorted(world.rows(table), key=itemgetter(0))
            }
            for table in named
        },
    }


def _began_at(engine: Engine) -> str | None:
    """When the world last began as its seed or scenario makes it; None if that is forgotten."""
    for commit in engine.history.newest(HISTORY_KEPT):
        title, world = commit.title, commit.world
        if title == "began" and world.commit > 1:  # a fork, or a world that was kept
            return None
        if title in ("began", "reset") or title.startswith("scenario "):
            return format_timestamp(world.at_ms)
    return None
