"""Reading an HTTP Archive: ours, a browser's or a proxy's."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from hosting_emulator.replay.calls import call_of
from hosting_emulator.replay.moments import moment_ms
from hosting_emulator.replay.parts import (
    NOT_KEPT,
    REDEEM,
    At,
    a_number,
    a_text,
    maybe_text,
    read_who,
    why_not_sent,
)
from hosting_emulator.replay.record import (
    Answered,
    Headers,
    Origin,
    Record,
    Recorded,
    RecordRefused,
)

_OURS = "hosting-emulator"
#: Where the API begins in an address, whatever stands before it.
_API = re.compile(r"/v1(?=/(?:projects|organizations|operations)/)")
_WORLD = re.compile(r"/worlds/[a-z0-9-]+(?=/)")
#: Headers that tell of the page a browser was at, not of the request.
_OF_A_PAGE = re.compile("origin|referer|sec-.*|:.*", re.IGNORECASE)


def read_har(log: Any) -> Record:
    """Read the `log` of an archive. Raises RecordRefused."""
    if not isinstance(log, Mapping) or not isinstance(log.get("entries"), list):
        raise RecordRefused("log.entries is missing: this is no HTTP Archive 1.2")
    creator = log.get("creator")
    own = isinstance(creator, Mapping) and creator.get("name") == _OURS
    found: list[Recorded] = []
    left_out: list[str] = []
    entries = list(enumerate(log["entries"]))
    if not own:  # a browser writes them page by page
        entries.sort(key=lambda pair: _started(pair[1]))
    for place, entry in entries:
        with At(f"log.entries[{place}]"):
            number = a_number(entry.get("_number", len(found) + len(left_out) + 1))
            target = _target(entry, own)
            # A browser's preflights are its own affair.
            preflight = not own and entry["request"]["method"] == "OPTIONS"
            if target is None or preflight or entry.get("_call") == REDEEM:
                left_out.append(f"#{number} {entry['request']['method']} {_short(entry)}")
            else:
                found.append(_har_entry(number, target, entry, own))
    if not found:
        where = f": {left_out[0]} is none" if left_out else ""
        raise RecordRefused(f"there is no request to /v1 in it{where}")
    state = log.get("_state")
    return Record(
        tuple(found),
        own,
        _origin(log.get("_world")),
        state if isinstance(state, Mapping) else None,
        tuple(left_out),
    )


def _har_entry(number: int, target: str, entry: Mapping[str, Any], own: bool) -> Recorded:
    request, response = entry["request"], entry["response"]
    headers = _har_headers(request)
    if not own:
        headers = tuple(pair for pair in headers if not _OF_A_PAGE.fullmatch(pair[0]))
    body, why_not = _har_body(request)
    credential = any(name.lower() == "authorization" for name, _ in headers)
    return Recorded(
        n=number,
        at_ms=moment_ms(entry["startedDateTime"]),
        method=a_text(request["method"]),
        target=target,
        headers=headers,
        body=body,
        who=read_who(entry.get("_principal"), entry.get("_who")),
        # A browser leaves credentials out of what it saves, unless it is told not to.
        credential=credential if own or credential else None,
        answer=_har_answer(response)
        if a_number(response["status"]) > 0 and not entry.get("_lost")
        else None,
        unsendable=why_not or why_not_sent(request["method"], target, headers, body),
        # Our own record tells, also that it was no call at all.
        call=maybe_text(entry.get("_call")) if own else call_of(request["method"], target),
    )


def _har_body(request: Mapping[str, Any]) -> tuple[bytes | None, str | None]:
    """Return the body that was sent, and why it cannot be sent again."""
    posted = request.get("postData")
    if not posted:
        return None, None
    text = a_text(posted.get("text") or "")
    content = base64.b64decode(text) if posted.get("encoding") == "base64" else text.encode()
    size = request.get("bodySize", -1)
    if size > 0 and not content:
        return None, "its body is no text, and was not kept"
    return content, NOT_KEPT if _is_part(posted) else None


def _har_answer(response: Mapping[str, Any]) -> Answered:
    content = response.get("content") or {}
    text = maybe_text(content.get("text"))
    if text is not None and content.get("encoding") == "base64":
        try:
            text = base64.b64decode(text, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            text = None
    if _is_part(content) or (not text and content.get("size", 0) > 0):
        text = None
    return Answered(response["status"], _har_headers(response), text)


def _is_part(content: Mapping[str, Any]) -> bool:
    """Whether our own record says that only the beginning of a body was kept."""
    return str(content.get("comment", "")).startswith("A part of it")


def _har_headers(message: Mapping[str, Any]) -> Headers:
    return tuple((a_text(one["name"]), a_text(one["value"])) for one in message["headers"])


def _target(entry: Mapping[str, Any], own: bool) -> str | None:
    """Return path and query of an entry from `/v1` on; None: it is to something else."""
    parts = urlsplit(entry["request"]["url"])
    query = f"?{parts.query}" if parts.query else ""
    if own:
        return _WORLD.sub("", parts.path, count=1) + query
    found = _API.search(parts.path)
    return None if found is None else parts.path[found.start() :] + query


def _started(entry: Any) -> str:
    return str(entry.get("startedDateTime", "")) if isinstance(entry, Mapping) else ""


def _short(entry: Mapping[str, Any]) -> str:
    return str(entry["request"]["url"]).partition("?")[0][:100]


def _origin(told: Any) -> Origin:
    if not isinstance(told, Mapping):
        return Origin()
    with At("log._world"):
        return Origin(
            name=a_text(told.get("name") or ""),
            seed=maybe_text(told.get("seed")),
            at=_a_moment(told.get("at")),
            began_at=_a_moment(told.get("began_at")),
            assumptions=dict(told.get("assumptions") or {}),
            ids={
                name: {alias: a_text(id_) for alias, id_ in told[name].items()}
                for name in ("organizations", "people", "projects")
            },
        )


def _a_moment(value: Any) -> str | None:
    if value is not None:
        moment_ms(value)
    return maybe_text(value)
