"""HAR: the request log as an HTTP Archive 1.2, which browsers open in their network panel."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl

from aiohttp import web

from hosting_emulator.calls.request import Principal
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.explanations import Explanations
from hosting_emulator.engine.history import CAPACITY as HISTORY_KEPT
from hosting_emulator.engine.pipeline import REDEEM_TICKET
from hosting_emulator.engine.request_log import Entry
from hosting_emulator.server import answers
from hosting_emulator.server.control.context import Context
from hosting_emulator.server.control.requests import find_entries, read_filter
from hosting_emulator.server.hosts import world_prefix
from hosting_emulator.storage.documents import export_state
from hosting_emulator.world import clock as clocks
from hosting_emulator.world import tables as t
from hosting_emulator.world.value import apply

_ABOUT = (
    "Times are the world's, not the machine's; how long each took is real time in the emulator. "
    "Secrets are cut out, and long bodies are kept in part."
)


def export(context: Context, engine: Engine) -> web.Response:
    """GET …/requests.har?limit=1000, oldest first, with the filters of `requests`.

    With `state=true` it holds the world as the first of them found it, so that they can be sent
    again to one that is the same.
    """
    limit = context.limit("limit", 1000)
    entries = find_entries(engine, read_filter(context, engine), limit)[::-1]
    prefix = context.base_url + world_prefix(engine.world.name)
    explanations = Explanations(engine.log)
    document: dict[str, Any] = {
        "log": {
            "version": "1.2",
            "creator": {"name": "hosting-emulator", "version": context.facts.version},
            "pages": [],
            "entries": [_entry(prefix, engine, entry, explanations) for entry in entries],
            "comment": f"The request log of the world {engine.world.name}. {_ABOUT}",
            "_world": _world(engine, entries),
        }
    }
    if context.choice("state") and entries:
        document["log"]["_state"] = _state_before(entries[0])
    response = answers.json(document)
    name = f"{engine.world.name}.har"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _state_before(entry: Entry) -> dict[str, Any]:
    """Return the state document of the world as an exchange found it, its clock standing still.

    What fell due before the exchange is still pending in it: time is to be moved on to that.
    """
    found = entry.world
    clock = clocks.start("frozen", None, found.at_ms, 0)
    still = apply(found, {t.CLOCK.name: {t.ONLY: clock}}, commit=found.commit, at_ms=found.at_ms)
    return export_state(still)


def _entry(prefix: str, engine: Engine, entry: Entry, explanations: Explanations) -> dict[str, Any]:
    found = explanations.whole(engine.world, entry)
    took_ms = found["duration_us"] / 1000
    return {
        "startedDateTime": found["at"],
        "time": took_ms,
        "request": _request(prefix, found),
        "response": _response(found),
        "cache": {},
        "timings": {"send": 0, "wait": took_ms, "receive": 0},
        "comment": "; ".join(found["why"]),
        "_resourceType": "fetch",
        "_number": found["n"],
        "_call": found["call"],
        "_who": found["who"],
        "_principal": _principal(entry.principal),
        "_lost": found["lost"],
        "_trail": found["trail"],
    }


def _world(engine: Engine, entries: Sequence[Entry]) -> dict[str, Any]:
    """Return what the ids in the requests stand for, so that they can be sent to another world."""
    world = engine.world
    named: dict[str, t.Table[Any]] = {
        "organizations": t.ORGANIZATIONS,
        "people": t.PEOPLE,
        "projects": t.PROJECTS,
    }
    return {
        "name": world.name,
        "seed": world.seed,
        "at": format_timestamp(entries[0].world.at_ms if entries else engine.run_due()),
        "began_at": _began_at(engine),
        "assumptions": world.assumptions.changes(),
        **{
            name: {
                row.alias: row.id
                for _, row in sorted(world.rows(table), key=lambda found: found[0])
            }
            for name, table in named.items()
        },
    }


def _began_at(engine: Engine) -> str | None:
    """When the world last began as its seed or scenario makes it; None if that is forgotten."""
    for title, world, _ in engine.history.newest(HISTORY_KEPT):
        if title == "began" and world.commit > 1:  # a fork, or a world that was kept
            return None
        if title in ("began", "reset") or title.startswith("scenario "):
            return format_timestamp(world.at_ms)
    return None


def _principal(principal: Principal | None) -> dict[str, Any] | None:
    if principal is None:
        return None
    allowed = principal.permissions
    return {
        "person": principal.person_id,
        "organization": principal.organization_id,
        "interactive": principal.interactive,
        "api_key": principal.api_key_id,
        "permissions": None if allowed is None else sorted(allowed),
    }


def _request(prefix: str, found: dict[str, Any]) -> dict[str, Any]:
    sent, query = found["request"], found["query"]
    shown = {
        "method": found["method"],
        "url": _base(prefix, found) + found["path"] + (f"?{query}" if query else ""),
        "httpVersion": "HTTP/1.1",
        "cookies": [],  # all that a cookie holds is secret; the headers name them
        "headers": _headers(sent["headers"]),
        "queryString": [
            {"name": name, "value": value}
            for name, value in parse_qsl(query, keep_blank_values=True)
        ],
        "headersSize": -1,
        "bodySize": sent["body_bytes"],
    }
    if sent["body_bytes"]:
        shown["postData"] = {
            "mimeType": _value(sent["headers"], "content-type"),
            "text": sent["body"] or "",
            "comment": _kept(sent),
        }
    return shown


def _base(prefix: str, found: dict[str, Any]) -> str:
    """Return what stands before the path: a ticket is redeemed at its own origin."""
    if found["call"] == REDEEM_TICKET:
        return f"https://{_value(found['request']['headers'], 'host')}"
    return prefix


def _response(found: dict[str, Any]) -> dict[str, Any]:
    answer, status = found["answer"], found["status"]
    content = {
        "size": answer["body_bytes"],
        "mimeType": _value(answer["headers"], "content-type"),
        "text": answer["body"] or "",
        "comment": _kept(answer),
    }
    return {
        "status": status,
        "statusText": _phrase(status),
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _headers(answer["headers"]),
        "content": content,
        "redirectURL": _value(answer["headers"], "location"),
        "headersSize": -1,
        "bodySize": answer["body_bytes"],
        "_transferSize": answer["body_bytes"],  # Chromium would take the unknown headers for -1
        "comment": f"It did not arrive: {found['lost']}." if found["lost"] else "",
    }


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _kept(message: dict[str, Any]) -> str:
    if message["body"] is None:
        return "It is no text, and is left out."
    return "A part of it: its beginning." if message["body_cut"] else ""


def _headers(headers: list[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in headers]


def _value(headers: list[tuple[str, str]], header: str) -> str:
    return next((value for name, value in headers if name.lower() == header), "")
