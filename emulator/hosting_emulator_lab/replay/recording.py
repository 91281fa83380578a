"""Recordings: an HTTP Archive, or whole exchanges of our log, read to be sent again to any world."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from msgspec import Struct, field

from hosting_emulator.contract.call_table import CallTable
from hosting_emulator.contract.conversion import convert
from hosting_emulator.contract.json_values import each_text

Headers = tuple[tuple[str, str], ...]

_OURS = "hosting-emulator"
_REDEEM = "redeem_ticket"
_NOT_KEPT = "only a part of its body was kept"
_CALLS = CallTable()
#: A poll is known at any place that a service may give it.
_POLL = re.compile(r"/v1/(?:[^/]+/[^/]+/)?operations/[^/]+")
#: Where the API begins in an address, whatever stands before it.
_API = re.compile(r"/v1(?=/(?:projects|organizations|operations)/)")
_WORLD = re.compile(r"/worlds/[a-z0-9-]+(?=/)")
#: Headers that tell of the page a browser was at, not of the request.
_OF_A_PAGE = re.compile("origin|referer|sec-.*|:.*", re.IGNORECASE)
#: Headers that a replay fills itself, or does not send.
_REPLACED = ("authorization", "cookie", "x-control-token")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ULID = "[0-9A-HJKMNP-TV-Z]{26}"
#: Each kind of thing that is made anew, and how it looks wherever it stands.
_KINDS = {
    "time": r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)",
    "request_id": rf"(?<![0-9A-Za-z])[a-z]+_{_ULID}(?![0-9A-Za-z])",
    "id": rf"(?<![0-9A-Za-z_]){_ULID}(?![0-9A-Za-z])",
    "secret": r"<redacted>|(?<![\w-])(?:[a-z]{2,8}_)?[A-Za-z0-9_-]{43}(?![\w-])",
    "shortened_key": r"[a-z]{2,8}_…[\w-]{4}(?![\w-])",
    "digest": r"(?<![0-9A-Za-z])(?:sha256:[0-9a-f]{64}|[0-9a-f]{40})(?![0-9A-Za-z])",
    "uuid": r"(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f])",
    "dev_host": r"(?<![\w-])dev-[a-z]+-[a-z]+-[a-z]+(?![\w-])",
    "place": r"(?<=://)(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?(?:/worlds/[a-z0-9-]+(?=/))?",
    "port": r"(?<=\.localhost):\d+",
}
_NAMES = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _KINDS.items()))
#: What stands in a recording for a secret that was cut out of it.
CUT = "<redacted>"


def header_of(headers: Headers, name: str) -> str | None:
    """Return the first header of a name, in lower case; None: there is none."""
    return next((value for known, value in headers if known.lower() == name), None)


class RecordRefused(ValueError):
    """A recording that cannot be read; the message says what is wrong, where, and what would be right."""


class Sender(Struct, frozen=True):
    """The sender of a request, as our own recordings tell it. `alias` is None for a user without one."""

    user: str
    alias: str | None = None
    organization: str | None = None
    interactive: bool = False
    api_key: str | None = None
    permissions: tuple[str, ...] | None = None


class RecordedAnswer(Struct, frozen=True):
    """An answer that arrived. `text` is None where it was no text or was not kept whole."""

    status: int
    headers: Headers
    text: str | None

    @property
    def members(self) -> dict[str, Any]:
        """The members of its body, where that is a JSON object; else none."""
        try:
            document = json.loads(self.text or "")
        except ValueError:
            return {}
        return document if isinstance(document, dict) else {}

    @property
    def code(self) -> str | None:
        """The code of the problem that it is; None for any other answer."""
        code = self.members.get("code") if self.status >= 400 else None
        return code if isinstance(code, str) else None


class RecordedCall(Struct, frozen=True):
    """A request of a recording, and its answer, if one arrived.

    `call` is the name of its call, if it is one; `at_ms` when it was answered, in milliseconds since
    1970; `target` its path and query from `/v1` on. `cut` says what of it the recording lacks.
    """

    n: int
    at_ms: int
    method: str
    target: str
    headers: Headers
    body: bytes | None
    sender: Sender | None
    answer: RecordedAnswer | None
    cut: str | None = None
    call: str | None = None

    @property
    def path(self) -> str:
        """Its path without the query."""
        return self.target.partition("?")[0]

    @property
    def authorization(self) -> str | None:
        """Its Authorization header; None: the recording has none."""
        return header_of(self.headers, "authorization")

    @property
    def unsendable(self) -> str | None:
        """Why it cannot be sent as it was: a part or a secret was cut out of it, or it is no request."""
        if self.cut:
            return self.cut
        if CUT in self.target:
            return "a secret was cut out of its address"
        if not _TOKEN.fullmatch(self.method):
            return "its method cannot be sent"
        if not self.target.isascii() or not self.target.isprintable() or " " in self.target:
            return "its address cannot be sent"
        for name, value in self.headers:
            if CUT in value and name.lower() not in _REPLACED:
                return f"what looks like a secret was cut out of its header {name}"
            if not _TOKEN.fullmatch(name.removeprefix(":")) or _CONTROL.search(value):
                return "one of its headers cannot be sent"
        secret = self.body is not None and CUT.encode() in self.body
        return "a secret was cut out of its body" if secret else None


class RecordedWorld(Struct, frozen=True):
    """The world a recording is of; ids by alias.

    `at` is its time before the first request, `began_at` when it was as its seed makes it; RFC 3339.
    """

    name: str = ""
    at: str | None = None
    began_at: str | None = None
    assumptions: dict[str, Any] = {}
    organizations: dict[str, str] = {}
    users: dict[str, str] = {}
    projects: dict[str, str] = {}


class Recording(Struct, frozen=True):
    """Requests in the order they were sent.

    An emulator's `own` tells who asked. `state` is the world as the first request found it. `left_out`
    says which requests of the file are not among them.
    """

    requests: tuple[RecordedCall, ...]
    own: bool
    world: RecordedWorld = field(default_factory=RecordedWorld)
    state: Mapping[str, object] | None = None
    left_out: tuple[str, ...] = ()


def read_record(document: Any) -> Recording:
    """Read parsed JSON: a HAR, or whole exchanges of our request log. Raises RecordRefused."""
    if isinstance(document, Mapping) and "log" in document:
        return _read_har(document["log"])
    if isinstance(document, Mapping) and "items" in document:
        document = document["items"]
    if isinstance(document, Mapping) and "response" in document:
        document = [document]
    if isinstance(document, Sequence) and not isinstance(document, str):
        return _read_exchanges(document)
    raise RecordRefused(
        "this is not a recording of requests: give an HTTP Archive, such as "
        "`hosting-emulator requests har` or a browser's network panel writes"
    )


def call_of(method: str, target: str) -> str | None:
    """Return the call that a request is, of its path from `/v1` on; None: it is none."""
    path = target.partition("?")[0]
    match = _CALLS.recognize(method, path)
    if match is not None and match.subject_id:
        return match.spec.call_id
    return "get_operation" if method == "GET" and _POLL.fullmatch(path) else None


def _read_exchanges(items: Sequence[Any]) -> Recording:
    found = []
    for place, item in enumerate(items):
        with _at(f"[{place}]"):
            if "request" not in item or "response" not in item:
                raise RecordRefused(
                    f"request {item['n']} is there without headers and bodies: write the record "
                    "with `hosting-emulator requests har`, or with `requests list --json --whole`"
                )
            # The record's own fault delivers a request the second time.
            if item.get("call") != _REDEEM and not item.get("second_delivery_of"):
                found.append(_exchange(item, _delivered(item, items)))
    if not found:
        raise RecordRefused("there is no request in it")
    return Recording(tuple(sorted(found, key=lambda one: one.n)), own=True)


def _delivered(item: Mapping[str, Any], items: Sequence[Any]) -> Mapping[str, Any]:
    """Return the exchange whose response the client received: the second delivery, if it is there."""
    if item.get("discarded"):
        for other in items:
            if other.get("second_delivery_of") == item["n"] and "response" in other:
                return other  # type: ignore[no-any-return]
    return item


def _exchange(item: Mapping[str, Any], delivered: Mapping[str, Any]) -> RecordedCall:
    target = item["path"] + (f"?{item['query']}" if item["query"] else "")
    request, answer = item["request"], delivered["response"]
    text = None if _is_cut(answer) else answer["body"]
    arrived = {"status": delivered["status"], "headers": answer["headers"], "text": text}
    sender = {"user": item["principal"], "alias": item["user"], "interactive": True}
    found = {
        "n": item["n"],
        "at_ms": moment_ms(item["at"]),
        "method": item["method"],
        "target": target,
        "headers": request["headers"],
        "body": (request["body"] or "").encode() if request["body_bytes"] else None,
        "sender": sender if item["principal"] else None,
        "answer": arrived if delivered["lost"] is None and delivered["status"] else None,
        "cut": _NOT_KEPT if _is_cut(request) else None,
        "call": item.get("call"),
    }
    return convert(found, RecordedCall)


def _is_cut(message: Mapping[str, Any]) -> bool:
    return message["body"] is None or bool(message["body_cut"])


def _read_har(log: Any) -> Recording:
    if not isinstance(log, Mapping) or not isinstance(log.get("entries"), list):
        raise RecordRefused("log.entries is missing: this is no HTTP Archive 1.2")
    creator, state = log.get("creator"), log.get("_state")
    own = isinstance(creator, Mapping) and creator.get("name") == _OURS
    found: list[RecordedCall] = []
    left_out: list[str] = []
    entries = list(enumerate(log["entries"]))
    if not own:  # a browser writes them page by page
        begun = (entry if isinstance(entry, Mapping) else {} for entry in log["entries"])
        started = [str(entry.get("startedDateTime", "")) for entry in begun]
        entries.sort(key=lambda pair: started[pair[0]])
    for place, entry in entries:
        with _at(f"log.entries[{place}]"):
            number = entry.get("_number", len(found) + len(left_out) + 1)
            request = entry["request"]
            target = _target(request["url"], own)
            # A browser's preflights are its own affair.
            preflight = not own and request["method"] == "OPTIONS"
            if target is None or preflight or entry.get("_call") == _REDEEM:
                url = request["url"].partition("?")[0][:100]
                left_out.append(f"#{number} {request['method']} {url}")
            else:
                found.append(_har_entry(number, target, entry, own))
    if not found:
        where = f": {left_out[0]} is none" if left_out else ""
        raise RecordRefused(f"there is no request to /v1 in it{where}")
    with _at("log._world"):
        was = log.get("_world")
        world = convert(was if isinstance(was, Mapping) else {}, RecordedWorld)
        for moment in filter(None, (world.at, world.began_at)):
            moment_ms(moment)  # refuses what is none
    state = state if isinstance(state, Mapping) else None
    return Recording(tuple(found), own, world, state, tuple(left_out))


def _har_entry(number: int, target: str, entry: Mapping[str, Any], own: bool) -> RecordedCall:
    request, response = entry["request"], entry["response"]
    method, headers, posted = request["method"], _har_headers(request), request.get("postData")
    if not own:
        headers = tuple(pair for pair in headers if not _OF_A_PAGE.fullmatch(pair[0]))
        typed = (posted or {}).get("mimeType")
        if typed and header_of(headers, "content-type") is None:
            headers = (*headers, ("Content-Type", typed))  # which some leave out of the headers
    body, cut = None, None
    if posted:
        text = posted.get("text") or ""
        body = base64.b64decode(text) if posted.get("encoding") == "base64" else text.encode()
        cut = _NOT_KEPT if _is_part(posted) else None
        if request.get("bodySize", -1) > 0 and not body:
            body, cut = None, "its body is not text, and was not kept"
    arrived = response["status"] > 0 and not entry.get("_lost")
    sender = entry.get("_principal")
    call = {
        "n": number,
        "at_ms": moment_ms(entry["startedDateTime"]),
        "method": method,
        "target": target,
        "headers": headers,
        "body": body,
        "sender": {**sender, "alias": entry.get("_user")} if isinstance(sender, Mapping) else None,
        "answer": _har_answer(response) if arrived else None,
        "cut": cut,
        # Our own recording tells, also that it was no call at all.
        "call": entry.get("_call") if own else call_of(method, target),
    }
    return convert(call, RecordedCall)


def _har_answer(response: Mapping[str, Any]) -> dict[str, Any]:
    content = response.get("content") or {}
    text = content.get("text")
    if text is not None and content.get("encoding") == "base64":
        encoded, text = text, None
        with suppress(ValueError):
            text = base64.b64decode(encoded, validate=True).decode()
    if _is_part(content) or (not text and content.get("size", 0) > 0):
        text = None
    return {"status": response["status"], "headers": _har_headers(response), "text": text}


def _is_part(content: Mapping[str, Any]) -> bool:
    """Whether our own recording says that only the beginning of a body was kept."""
    return str(content.get("comment", "")).startswith("Only the beginning")


def _har_headers(message: Mapping[str, Any]) -> Headers:
    return tuple((one["name"], one["value"]) for one in message["headers"])


def _target(url: str, own: bool) -> str | None:
    """Return path and query of an address from `/v1` on; None: it is to something else."""
    parts = urlsplit(url)
    query = f"?{parts.query}" if parts.query else ""
    if own:
        return _WORLD.sub("", parts.path, count=1) + query
    found = _API.search(parts.path)
    return None if found is None else parts.path[found.start() :] + query


@contextmanager
def _at(place: str) -> Iterator[None]:
    """Turn whatever is missing or of the wrong kind in one entry into one clear line."""
    try:
        yield
    except RecordRefused:
        raise
    except KeyError as error:
        raise RecordRefused(f"{place}: {error.args[0]} is missing") from error
    except ValueError as error:
        raise RecordRefused(f"{place} cannot be read: {error}") from error
    except (TypeError, AttributeError) as error:
        kind = (
            "it, or a part of it, is of another kind (text, number, list, object) than it must be"
        )
        raise RecordRefused(f"{place} cannot be read: {kind}") from error


class Names(dict[str, str]):
    """Which recorded name (id, cursor, digest: what each server makes anew) stands for which new one."""

    def learn(self, recorded: str, new: str) -> str | None:
        """Pair two names; returns None, or the name that the recorded one had been paired with."""
        known = self.setdefault(recorded, new)
        return None if known == new else known

    def new_for(self, recorded: str) -> str:
        """Return what a recorded name is called now, itself if nobody knows."""
        return self.get(recorded, recorded)

    def in_text(self, text: str) -> str:
        """Put new names in place of the recorded ones in a text."""
        if text in self:
            return self[text]
        return _NAMES.sub(lambda found: self.new_for(found.group()), text)

    def in_target(self, target: str) -> str:
        """Put new names in place of the recorded ones in a path and its query."""
        path, mark, query = target.partition("?")
        fields = []
        for each in query.split("&"):
            name, equals, value = each.partition("=")
            named = self.in_text(unquote(value))
            fields.append(name + equals + (value if named == unquote(value) else quote(named, "")))
        return self.in_text(path) + mark + "&".join(fields)


def names_in(text: str) -> Iterator[tuple[str, str]]:
    """Cut a text into names, each with its kind, and the plain text between them, of the kind ""."""
    done = 0
    for found in _NAMES.finditer(text):
        if found.start() > done:
            yield "", text[done : found.start()]
        yield str(found.lastgroup), found.group()
        done = found.end()
    if done < len(text):
        yield "", text[done:]


def without_secrets(value: Any) -> Any:
    """Return a JSON value with the secrets cut out of its texts."""

    def cut(text: str) -> str:
        return "".join(CUT if kind == "secret" else piece for kind, piece in names_in(text))

    return each_text(value, cut)


def moment_ms(text: str) -> int:
    """Read an ISO 8601 timestamp as milliseconds since 1970. Raises ValueError."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        example = "write it like 2026-01-31T09:30:00Z"
        raise ValueError(f"{text[:80]!r} is not a timestamp: {example}") from None
    since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
    return since.days * 86_400_000 + since.seconds * 1000 + since.microseconds // 1000
