"""Filters the exchanges in the request log, and converts them to documents without secrets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from hosting_emulator.contract.access import NOBODY
from hosting_emulator.contract.calls import CALLS
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.exchange import Entry
from hosting_emulator.engine.machine_clock import stopwatch_ns
from hosting_emulator.engine.redaction import Redactor
from hosting_emulator.messages import ExchangeSummary, Message, ReportedProblem
from hosting_emulator.world.tables import USERS
from hosting_emulator.world.value import World

#: The name that filters use in place of a call if a request matches no call.
NO_CALL = "none"


@dataclass(frozen=True, slots=True)
class RequestFilter:
    """Selects exchanges in a log. An exchange must satisfy all conditions that are not None.

    `call` is the id of a call, or NO_CALL. `status` is the response's status, and `status_class` is
    its first digit (4 for 4xx). `user` is an id or NOBODY, and `project` is an id. `since_ms`
    (inclusive) and `before_ms` (exclusive) are world times in milliseconds. `text` must occur in
    the request line, the call, the code, the notes or a body, ignoring case. Secrets never match
    `text`. Only exchanges with numbers greater than `after` match.
    """

    call: str | None = None
    status: int | None = None
    status_class: int | None = None
    user: str | None = None
    project: str | None = None
    since_ms: int | None = None
    before_ms: int | None = None
    text: str | None = None
    after: int | None = None

    def matches(self, entry: Entry) -> bool:
        """Return whether an exchange satisfies all conditions."""
        return (
            (self.after is None or entry.n > self.after)
            and (self.status is None or entry.status == self.status)
            and (self.status_class is None or entry.status // 100 == self.status_class)
            and (self.call is None or (entry.call or NO_CALL) == self.call)
            and (self.user is None or _user_id(entry) == self.user)
            and (self.since_ms is None or entry.at_ms >= self.since_ms)
            and (self.before_ms is None or entry.at_ms < self.before_ms)
            and (self.project is None or project_of(entry) == self.project)
            and (self.text is None or _contains(entry, self.text.lower()))
        )


def _contains(entry: Entry, text: str) -> bool:
    """Return whether an exchange contains `text`, which must be lowercase, ignoring case and secrets."""
    parts = [
        f"{entry.method} {_target(entry)}",
        entry.call or "",
        entry.code or "",
        *entry.reasons,
        entry.body.decode("utf-8", "replace"),
        entry.response_body.decode("utf-8", "replace"),
    ]
    redactor = Redactor(entry.world)
    # Redaction is slow, so only redact parts that contain the text.
    return any(text in part.lower() and text in redactor.text(part).lower() for part in parts)


def _target(entry: Entry) -> str:
    if not entry.query:
        return entry.path
    return f"{entry.path}?{entry.query}"


def _user_id(entry: Entry) -> str | None:
    """Return the id of the user who sent a request, NOBODY if authentication failed, or None if the
    request was refused before authentication.
    """
    if entry.principal:
        return entry.principal.user_id
    if entry.code == "unauthenticated":
        return NOBODY
    return None


def _user_name(world: World, entry: Entry) -> str | None:
    """Return the alias of the user who sent a request, or else NOBODY or None (see `_user_id`)."""
    user_id = _user_id(entry)
    if user_id is None or user_id == NOBODY:
        return user_id
    user = world.get(USERS, user_id)
    return None if user is None else user.alias


def summary_members(world: World, entry: Entry) -> dict[str, Any]:
    """Return the members of the ExchangeSummary for an exchange, by name."""
    redactor = Redactor(world)

    def redacted(text: str | None) -> str | None:
        return None if text is None else redactor.text(text)

    return {
        "n": entry.n,
        "at": format_timestamp(entry.at_ms),
        "method": entry.method,
        "path": redactor.text(entry.path),
        "query": redactor.text(entry.query),
        "call": entry.call,
        "project": redacted(project_of(entry)),
        "operation": redacted(_operation_of(entry)),
        "user_id": entry.principal.user_id or None,
        "user": _user_name(world, entry),
        "status": entry.status,
        "code": entry.code,
        "idempotency_key": redacted(sent_header(entry, b"idempotency-key")),
        "replayed": entry.replayed,
        "lost": entry.lost,
        "why": tuple(redactor.text(sentence) for sentence in entry.reasons),
        "varied": list(entry.varied),
        "duration_us": round(_took_ns(entry) / 1000, 1),
        "in_progress": entry.in_progress,
        "altered": list(entry.altered) or None,
        "stale_at": None if entry.stale_at_ms is None else format_timestamp(entry.stale_at_ms),
        "second_delivery_of": entry.second_delivery_of or None,
        "second_delivery": None if entry.second_delivery is None else entry.second_delivery.n,
        "discarded": entry.is_discarded or None,
    }


def exchange_summary(world: World, entry: Entry) -> ExchangeSummary:
    """Return the summary of an exchange, as it appears in lists."""
    return ExchangeSummary(**summary_members(world, entry))


def _took_ns(entry: Entry) -> int:
    """Return how many nanoseconds an exchange has spent in the engine."""
    if entry.response_number:
        return entry.took_ns
    return stopwatch_ns() - entry.took_ns


def request_message(world: World, entry: Entry) -> Message:
    """Return the headers and the body of a request."""
    redactor = Redactor(world)
    sent = [(name.decode("latin-1"), header_text(value)) for name, value in entry.raw_headers]
    return Message(
        headers=redactor.headers(sent),
        body=redactor.body(entry.body),
        body_bytes=entry.body_bytes,
        body_cut=entry.body_bytes > len(entry.body),
    )


def response_message(world: World, entry: Entry) -> Message:
    """Return the headers and the body of a response. A response to HEAD has no body."""
    body = entry.response_body
    body_bytes = entry.response_bytes
    if entry.method == "HEAD":
        body = b""
        body_bytes = 0
    redactor = Redactor(world)
    headers = list(entry.response_headers)
    # The content type is empty if and only if there is no response.
    if entry.content_type:
        headers.append(("Content-Type", entry.content_type))
    return Message(
        headers=redactor.headers(headers),
        body=redactor.body(body),
        body_bytes=body_bytes,
        body_cut=body_bytes > len(body),
    )


def _operation_of(entry: Entry) -> str | None:
    """Return the id of the operation that is in the path or was started by the request, or None."""
    spec = CALLS.get(entry.call or "")
    if entry.operation or spec is None or spec.response != "Operation" or entry.status >= 300:
        return entry.operation
    id_ = _response_object(entry).get("id")
    return None if id_ is None else str(id_)


def _response_object(entry: Entry) -> dict[str, Any]:
    """Return the JSON object in a response, or an empty dict if there is none."""
    document = document_of(entry.response_body)
    return document if isinstance(document, dict) else {}


def document_of(body: bytes) -> Any:
    """Return the JSON document in a body, or None if the body is not UTF-8 encoded JSON."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def project_of(entry: Entry) -> str | None:
    """Return the id of the project in the path, or of the project that the operation in the path
    belongs to.
    """
    world = entry.commits[-1].world if entry.commits else entry.world
    project, _ = entry.about(world)
    return project


def problem_of(entry: Entry) -> ReportedProblem | None:
    """Return the code and the detail of a problem response, or None if the response is not a problem."""
    if entry.code is None and entry.status < 400:
        return None
    document = _response_object(entry)
    if "code" not in document or "detail" not in document:
        return None
    detail = Redactor(entry.world).text(str(document["detail"]))
    return ReportedProblem(code=str(document["code"]), detail=detail)


def sent_header(entry: Entry, name: bytes) -> str | None:
    """Return the value of the first request header called `name` (in lowercase), or None."""
    for header_name, value in entry.raw_headers:
        if header_name.lower() == name:
            return header_text(value)
    return None


def header_text(value: bytes) -> str:
    """Decode a header value as UTF-8, or as Latin-1 if it is not valid UTF-8."""
    if is_utf8(value):
        return value.decode()
    return value.decode("latin-1")


def is_utf8(value: bytes) -> bool:
    """Return whether bytes are valid UTF-8."""
    if value.isascii():
        return True
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True
