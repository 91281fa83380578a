"""HAR: the request log as an HTTP Archive 1.2, which browsers open in their network panel."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl

from aiohttp import web

from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.request_log import Entry
from hosting_emulator.engine.trails import Trails
from hosting_emulator.server import answers
from hosting_emulator.server.control.context import Context
from hosting_emulator.server.control.requests import find_entries, read_limit, read_wanted
from hosting_emulator.server.sites import world_prefix

_ABOUT = (
    "Times are the world's, not the machine's; how long each took is real time in the emulator. "
    "Secrets are cut out, and long bodies are kept in part."
)


async def export(context: Context, world: str) -> web.Response:
    """GET …/requests.har?limit=1000, oldest first, with the filters of `requests`."""
    engine = context.engine(world)
    limit = read_limit(context, "limit", 1000)
    entries = find_entries(engine, read_wanted(context, engine), limit)[::-1]
    prefix = context.base_url + world_prefix(engine.world.name)
    trails = Trails(engine.log)
    document = {
        "log": {
            "version": "1.2",
            "creator": {"name": "hosting-emulator", "version": context.facts.version},
            "pages": [],
            "entries": [_entry(prefix, engine, entry, trails) for entry in entries],
            "comment": f"The request log of the world {engine.world.name}. {_ABOUT}",
        }
    }
    response = answers.json(document)
    name = f"{engine.world.name}.har"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _entry(prefix: str, engine: Engine, entry: Entry, trails: Trails) -> dict[str, Any]:
    found = trails.whole(engine.world, entry)
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
        "_trail": found["trail"],
    }


def _request(prefix: str, found: dict[str, Any]) -> dict[str, Any]:
    sent, query = found["request"], found["query"]
    shown = {
        "method": found["method"],
        "url": prefix + found["path"] + (f"?{query}" if query else ""),
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


def _response(found: dict[str, Any]) -> dict[str, Any]:
    answer, status = found["answer"], found["status"]
    known = status in HTTPStatus._value2member_map_
    content = {
        "size": answer["body_bytes"],
        "mimeType": _value(answer["headers"], "content-type"),
        "text": answer["body"] or "",
        "comment": _kept(answer),
    }
    return {
        "status": status,
        "statusText": HTTPStatus(status).phrase if known else "",
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


def _kept(message: dict[str, Any]) -> str:
    if message["body"] is None:
        return "It is no text, and is left out."
    return "A part of it: its beginning." if message["body_cut"] else ""


def _headers(headers: list[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in headers]


def _value(headers: list[tuple[str, str]], wanted: str) -> str:
    return next((value for name, value in headers if name.lower() == wanted), "")
