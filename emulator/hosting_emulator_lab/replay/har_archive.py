"""Reads an HTTP Archive (HAR 1.2): from the emulator, from a browser's network panel, or a proxy."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from hosting_emulator.contract.call_table import CallTable
from hosting_emulator.contract.calls import GET_OPERATION, REDEEM_TICKET
from hosting_emulator.contract.conversion import convert
from hosting_emulator_lab.replay.entry_errors import reading_entry
from hosting_emulator_lab.replay.moments import moment_ms
from hosting_emulator_lab.replay.recording import (
    INCOMPLETE_BODY,
    MISSING_BODY,
    Headers,
    RecordedExchange,
    RecordedWorld,
    Recording,
    RecordRefused,
    header_of,
)

#: The name of the program in recordings of the emulator.
_EMULATOR = "hosting-emulator"
_CALLS = CallTable()
#: The paths at which a service may let operations be polled.
_OPERATION_PATH = re.compile(r"/v1/(?:[^/]+/[^/]+/)?operations/[^/]+")
#: The start of the API's path in a URL, after any prefix.
_API_PATH = re.compile(r"/v1(?=/(?:projects|organizations|operations)/)")
_WORLD_PATH = re.compile(r"/worlds/[a-z0-9-]+(?=/)")
#: Headers that a browser adds to the requests of a page.
_PAGE_HEADER = re.compile("origin|referer|sec-.*|:.*", re.IGNORECASE)
_LONGEST_URL = 100


def read_har(log: Any) -> Recording:
    """Read the `log` of an HTTP Archive.

    Requests to anything but the API are left out. In a browser's archive, preflight requests are
    left out too.

    Raises RecordRefused if the log cannot be read or contains no request to the API.
    """
    if not isinstance(log, Mapping) or not isinstance(log.get("entries"), list):
        raise RecordRefused("log.entries is missing: this is not an HTTP Archive 1.2")
    creator = log.get("creator")
    from_emulator = isinstance(creator, Mapping) and creator.get("name") == _EMULATOR
    exchanges: list[RecordedExchange] = []
    left_out: list[str] = []
    for index, entry in _in_order(log["entries"], from_emulator=from_emulator):
        with reading_entry(f"log.entries[{index}]"):
            number = entry.get("_number", len(exchanges) + len(left_out) + 1)
            target = _target_of(entry, from_emulator=from_emulator)
            if target is None:
                left_out.append(_describe(number, entry["request"]))
            else:
                exchanges.append(_read_entry(number, target, entry, from_emulator=from_emulator))
    if not exchanges:
        reason = f": {left_out[0]} is not one" if left_out else ""
        raise RecordRefused(f"it contains no request to /v1{reason}")
    state = log.get("_state")
    if not isinstance(state, Mapping):
        state = None
    world = _read_world(log.get("_world"))
    return Recording(tuple(exchanges), from_emulator, world, state, tuple(left_out))


def _in_order(entries: list[Any], *, from_emulator: bool) -> list[tuple[int, Any]]:
    """Return the entries with their index, sorted by time, because a browser writes them page by page."""
    numbered = list(enumerate(entries))
    if not from_emulator:
        numbered.sort(key=lambda pair: _start_of(pair[1]))
    return numbered


def _start_of(entry: Any) -> str:
    if isinstance(entry, Mapping):
        return str(entry.get("startedDateTime", ""))
    return ""


def _target_of(entry: Mapping[str, Any], *, from_emulator: bool) -> str | None:
    """Return the path and query of an entry from `/v1` on, or None if it is not a request to the API."""
    request = entry["request"]
    parts = urlsplit(request["url"])
    is_preflight = not from_emulator and request["method"] == "OPTIONS"
    if is_preflight or entry.get("_call") == REDEEM_TICKET:
        return None
    path: str = parts.path
    if from_emulator:
        # The emulator writes a URL without a path only for a request such as OPTIONS *.
        path = _WORLD_PATH.sub("", path, count=1) or "*"
    else:
        match = _API_PATH.search(path)
        if match is None:
            return None
        path = path[match.start() :]
    if parts.query:
        return f"{path}?{parts.query}"
    return path


def _describe(number: int, request: Mapping[str, Any]) -> str:
    url = request["url"].partition("?")[0][:_LONGEST_URL]
    return f"#{number} {request['method']} {url}"


def _read_world(world: Any) -> RecordedWorld:
    with reading_entry("log._world"):
        if not isinstance(world, Mapping):
            return RecordedWorld()
        recorded_world = convert(world, RecordedWorld)
        for timestamp in (recorded_world.at, recorded_world.began_at):
            if timestamp:
                moment_ms(timestamp)  # raises ValueError for any other text
        return recorded_world


def _read_entry(
    number: int, target: str, entry: Mapping[str, Any], *, from_emulator: bool
) -> RecordedExchange:
    request = entry["request"]
    headers = _headers_of(request)
    if not from_emulator:
        headers = _client_headers(headers, request.get("postData"))
    body, missing_part = _read_body(request)
    # Trust the emulator's own recordings, which also say which requests are not calls.
    call = entry.get("_call") if from_emulator else call_of(request["method"], target)
    exchange = {
        "n": number,
        "at_ms": moment_ms(entry["startedDateTime"]),
        "method": request["method"],
        "target": target,
        "headers": headers,
        "body": body,
        "sender": _sender_of(entry),
        "response": _response_of(entry),
        "missing_part": missing_part,
        "call": call,
    }
    return convert(exchange, RecordedExchange)


def _client_headers(headers: Headers, posted: Any) -> Headers:
    """Return the headers without those that a browser adds for its page.

    Some tools write the type of the body only beside the body, so it is added to the headers.
    """
    client_headers = tuple(pair for pair in headers if not _PAGE_HEADER.fullmatch(pair[0]))
    media_type = (posted or {}).get("mimeType")
    if media_type and header_of(client_headers, "content-type") is None:
        return (*client_headers, ("Content-Type", media_type))
    return client_headers


def _read_body(request: Mapping[str, Any]) -> tuple[bytes | None, str | None]:
    """Return the body of a request, and the reason why the body is incomplete, or None if it is complete."""
    posted = request.get("postData") or {}
    text = posted.get("text") or ""
    is_encoded = posted.get("encoding") == "base64"
    body = base64.b64decode(text) if is_encoded else text.encode()
    if not body and (request.get("bodySize") or 0) > 0:
        return None, MISSING_BODY
    if not posted:
        return None, None
    if _is_incomplete(posted):
        return body, INCOMPLETE_BODY
    return body, None


def _sender_of(entry: Mapping[str, Any]) -> dict[str, Any] | None:
    principal = entry.get("_principal")
    if not isinstance(principal, Mapping):
        return None
    return {**principal, "alias": entry.get("_user")}


def _response_of(entry: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the response of an entry, or None if it did not arrive."""
    response = entry["response"]
    if response["status"] <= 0 or entry.get("_lost"):
        return None
    return {
        "status": response["status"],
        "headers": _headers_of(response),
        "text": _text_of(response.get("content") or {}),
    }


def _text_of(content: Mapping[str, Any]) -> str | None:
    """Return a body as text, or None if it is not text or not complete."""
    text = content.get("text")
    if text is not None and content.get("encoding") == "base64":
        encoded = text
        text = None
        with suppress(ValueError):
            text = base64.b64decode(encoded, validate=True).decode()
    is_missing = not text and content.get("size", 0) > 0
    if is_missing or _is_incomplete(content):
        return None
    return text


def _is_incomplete(content: Mapping[str, Any]) -> bool:
    """Return whether the emulator's own recording contains only the beginning of a body."""
    return str(content.get("comment", "")).startswith("Only the beginning")


def _headers_of(message: Mapping[str, Any]) -> Headers:
    return tuple((header["name"], header["value"]) for header in message["headers"])


def call_of(method: str, target: str) -> str | None:
    """Return the call of a request with this method and this path from `/v1` on.

    Return None if it is not a call.
    """
    path = target.partition("?")[0]
    match = _CALLS.recognize(method, path)
    if match is not None and match.subject_id:
        return match.spec.call_id
    if method == "GET" and _OPERATION_PATH.fullmatch(path):
        return GET_OPERATION.call_id
    return None
