"""The request log: what was asked, what was answered and why. A ring of cheap records.

An entry is kept as it came and rendered when somebody looks. Secrets are cut out then (`redaction`).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, NamedTuple

import msgspec

from hosting_emulator.calls.request import Reply
from hosting_emulator.contract.calls import CALLS
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.exchange import Entry, ExchangeContext, stopwatch_ns
from hosting_emulator.engine.observers import EndReason, LogObserver, notify
from hosting_emulator.engine.redaction import Redactor, beginning
from hosting_emulator.world.tables import USERS
from hosting_emulator.world.value import World

#: How many exchanges are kept, and how many bytes of each body.
CAPACITY = 1000
BODY_KEPT = 16 * 1024
_TURNS = 100
#: Stand for the user of a request without a token that is known, and for a path that no call has.
NOBODY, NO_CALL = "nobody", "none"


def _beginning(body: bytes) -> bytes:
    """Return what is kept of a body. It ends with a whole character, so that text stays text."""
    end = BODY_KEPT
    while end > BODY_KEPT - 3 and body[end] & 0xC0 == 0x80:
        end -= 1
    return beginning(body, end)


class PastLog(NamedTuple):
    """The last exchanges of a log that was cleared before any judge saw it, of `requests` in all."""

    entries: Sequence[Entry]
    requests: int
    reason: EndReason


class RequestLog:
    """The last exchanges of one world."""

    def __init__(self) -> None:
        self._entries: deque[Entry] = deque(maxlen=CAPACITY)
        #: How many answers varied, by point.
        self.varied = Counter[str]()
        #: How many requests there were, and so the number of the last.
        self.count = 0
        self._answered = 0
        #: How often it was cleared: numbers begin anew then.
        self.cleared = 0
        #: After which numbers the world was last put back to an earlier state.
        self.turned: deque[int] = deque(maxlen=_TURNS)
        #: Judges that must see every exchange before the log drops it.
        self.observers: list[LogObserver] = []
        #: What was cleared unjudged, and how many requests of it were dropped.
        self.past: deque[PastLog] = deque()
        self.past_unseen = 0
        #: Exchanges that arrived and whose response has not left, by number.
        self.in_progress: dict[int, Entry] = {}
        #: How many answers there were of each kind, and the names of those under a key.
        self._answers = Counter[str]()
        self._keyed: dict[str, str] = {}

    def name_answer(self, asked: str, key: str = "") -> str:
        """Return a name for an answer: what was asked, and the how manieth it is.

        Under one key it is the same again.
        """
        if key not in self._keyed:
            self._answers[asked] += 1
            name = f"{asked} {self._answers[asked]}"
            if not key:
                return name
            self._keyed[key] = name
        return self._keyed[key]

    def record(self, ctx: ExchangeContext, reply: Reply) -> None:
        """Keep an exchange that is over; when the ring is full, the oldest goes, seen by the watcher."""
        body, answer, effect = ctx.body, reply.body, ctx.effect
        ctx.status, ctx.content_type = reply.status, reply.content_type
        ctx.answer_headers = reply.headers
        ctx.body_bytes, ctx.answer_bytes = ctx.body_bytes or len(body), len(answer)
        ctx.answer = answer if len(answer) <= BODY_KEPT else _beginning(answer)
        if len(body) > BODY_KEPT:
            ctx.body = _beginning(body)
        ctx.late_ms += ctx.delay_ms
        if effect is not None:
            ctx.late_ms += effect.late_ms(len(answer))
            ctx.lost = None if effect.arrives else effect.name
            if said := effect.remark(len(answer)):
                ctx.why += (said,)
        ctx.took_ns = stopwatch_ns() - ctx.took_ns
        self._answered += 1
        ctx.answered = self._answered
        if not ctx.in_progress:
            self._append(ctx)
        if ctx.varied:
            self.varied.update(ctx.varied)

    def _append(self, entry: Entry) -> None:
        if self.observers and len(self._entries) == CAPACITY:
            oldest = self._entries[0]
            notify(self.observers, lambda observer: observer.on_evict(oldest))
        self._entries.append(entry)

    def hold(self, entry: Entry) -> None:
        """List an exchange whose response has to wait, from its arrival on."""
        if not entry.in_progress and not entry.answered:
            self._append(entry)
        entry.body_bytes = entry.body_bytes or len(entry.body)
        entry.in_progress = True
        self.in_progress[entry.n] = entry

    def holds(self, entry: Entry) -> bool:
        """Tell whether an exchange is listed as in progress; clearing the log ends that."""
        return self.in_progress.get(entry.n) is entry

    def release(self, entry: Entry) -> None:
        """Note that the response of an exchange need not wait any longer."""
        if self.holds(entry):
            del self.in_progress[entry.n]
        entry.in_progress = False

    def abandon(self, entry: Entry, why: str) -> None:
        """Note that an exchange ends without a response."""
        entry.why += (why,)
        if not entry.answered:
            entry.took_ns = stopwatch_ns() - entry.took_ns
            self._answered += 1
            entry.answered = self._answered
        self.release(entry)

    def end(self, reason: EndReason) -> None:
        """Report to the observers that this log ends. Without any, keep it for a later judge."""
        if self.observers:
            notify(self.observers, lambda observer: observer.on_end(reason))
        if self.count and reason != "deleted":
            self.past.append(PastLog(tuple(self._entries), self.count, reason))
            while sum(len(past.entries) for past in self.past) > CAPACITY:
                self.past_unseen += self.past.popleft().requests

    def clear(self) -> None:
        """Forget everything and count from 1 again."""
        self._entries.clear()
        self.varied.clear()
        self._answers.clear()
        self._keyed.clear()
        self.count = 0
        self.cleared += 1
        self.turned.clear()
        self.in_progress = {}

    def restore(self, entries: Iterable[Entry], count: int) -> None:
        """Fill an empty log with the last entries of an earlier one that had `count` requests."""
        self._entries.extend(entries)
        for entry in self._entries:
            self.varied.update(entry.varied)
        self.count = count

    def __len__(self) -> int:
        """How many exchanges are kept."""
        return len(self._entries)

    def newest(self, limit: int) -> list[Entry]:
        """Return the last `limit` exchanges, newest first."""
        return list(self._entries)[::-1][:limit]

    def after(self, n: int) -> list[Entry]:
        """Return the exchanges after a number that are kept, oldest first."""
        return [*takewhile(lambda entry: entry.n > n, reversed(self._entries))][::-1]

    def find(self, n: int) -> Entry | None:
        """Return the exchange of this number; None when it has left the ring, or never was."""
        return next((entry for entry in self._entries if entry.n == n), None)


@dataclass(frozen=True, slots=True)
class RequestFilter:
    """Which exchanges are meant: all that is given must fit, and None lets everything through.

    `call` may be NO_CALL; `status` and `status_class` (4 for 4xx) are of the answer; `user` (or NOBODY)
    and `project` are ids; `since_ms` and `until_ms` (not included) are world time; `text` is looked
    for in what the log shows, whatever its case; `after` leaves out the exchanges up to that number.
    """

    call: str | None = None
    status: int | None = None
    status_class: int | None = None
    user: str | None = None
    project: str | None = None
    since_ms: int | None = None
    until_ms: int | None = None
    text: str | None = None
    after: int | None = None

    def fits(self, entry: Entry) -> bool:
        """Tell whether an exchange is one of those meant."""
        return (
            (self.after is None or entry.n > self.after)
            and (self.status is None or entry.status == self.status)
            and (self.status_class is None or entry.status // 100 == self.status_class)
            and (self.call is None or (entry.call or NO_CALL) == self.call)
            and (self.user is None or _user_id(entry) == self.user)
            and (self.since_ms is None or entry.at_ms >= self.since_ms)
            and (self.until_ms is None or entry.at_ms < self.until_ms)
            and (self.project is None or project_of(entry) == self.project)
            and (self.text is None or self._stands_in(entry, self.text.lower()))
        )

    def _stands_in(self, entry: Entry, text: str) -> bool:
        # First in what was kept, then, for it may stand in a secret, in what is shown.
        target = f"{entry.path}?{entry.query}" if entry.query else entry.path
        kept = [f"{entry.method} {target}", entry.call or "", entry.code or "", *entry.why]
        kept += [body.decode("utf-8", "replace") for body in (entry.body, entry.answer)]
        redactor = Redactor(entry.world)
        return any(text in one.lower() and text in redactor.text(one).lower() for one in kept)


def _user_id(entry: Entry) -> str | None:
    """Return who asked; NOBODY where a token was looked for, and is nobody's."""
    if entry.principal:
        return entry.principal.user_id
    return NOBODY if entry.code == "unauthenticated" else None


def entry_view(world: World, entry: Entry) -> dict[str, Any]:
    """Return an exchange in short, as lists show it."""
    redactor = Redactor(world)
    user_id = _user_id(entry)
    alias = NOBODY if user_id == NOBODY else None
    if user_id is not None and (user := world.get(USERS, user_id)) is not None:
        alias = user.alias

    def shown(text: str | None) -> str | None:
        return None if text is None else redactor.text(text)

    return {
        "n": entry.n,
        "at": format_timestamp(entry.at_ms),
        "method": entry.method,
        "path": redactor.text(entry.path),
        "query": redactor.text(entry.query),
        "call": entry.call,
        "project": shown(project_of(entry)),
        "operation": shown(_operation_of(entry)),
        "principal": entry.principal.user_id or None,
        "user": alias,
        "status": entry.status,
        "code": entry.code,
        "idempotency_key": shown(sent_header(entry, b"idempotency-key")),
        "replayed": entry.replayed,
        "lost": entry.lost,
        "why": [redactor.text(sentence) for sentence in entry.why],
        "varied": list(entry.varied),
        "duration_us": round(_took_ns(entry) / 1000, 1),
        "in_progress": entry.in_progress,
    }


def _took_ns(entry: Entry) -> int:
    """Return how long an exchange took; until it is answered, `took_ns` is when it began."""
    return entry.took_ns if entry.answered else stopwatch_ns() - entry.took_ns


def exchange_view(world: World, entry: Entry) -> dict[str, Any]:
    """Return a whole exchange: the short form, and both sides' headers and bodies."""
    redactor = Redactor(world)
    sent = [(name.decode("latin-1"), header_text(value)) for name, value in entry.raw_headers]
    # Where there was no answer at all, it has no type.
    typed = [("Content-Type", entry.content_type)] if entry.content_type else []
    return {
        **entry_view(world, entry),
        "request": {
            "headers": redactor.headers(sent),
            "body": redactor.body(entry.body),
            "body_bytes": entry.body_bytes,
            "body_cut": entry.body_bytes > len(entry.body),
        },
        "answer": {
            "headers": redactor.headers([*entry.answer_headers, *typed]),
            "body": redactor.body(entry.answer),
            "body_bytes": entry.answer_bytes,
            "body_cut": entry.answer_bytes > len(entry.answer),
        },
    }


def _operation_of(entry: Entry) -> str | None:
    """Return the operation that a request's path names, or that it began: its response."""
    spec = CALLS.get(entry.call or "")
    if entry.operation or spec is None or spec.response != "Operation" or entry.status >= 300:
        return entry.operation
    id_ = _answered(entry).get("id")
    return None if id_ is None else str(id_)


def _answered(entry: Entry) -> dict[str, Any]:
    """Return the document that an exchange was answered with; an empty one where that is none."""
    document = document_of(entry.answer)
    return document if isinstance(document, dict) else {}


def document_of(body: bytes) -> Any:
    """Return the JSON document in a body. None: the body is not JSON, or is not UTF-8."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def project_of(entry: Entry) -> str | None:
    """Return the project that a request was about: the path's, or that of the path's operation."""
    project, _ = entry.about(entry.commits[-1].world if entry.commits else entry.world)
    return project


def problem_of(entry: Entry) -> dict[str, str] | None:
    """Return code and detail of the problem an exchange was answered with; None for any other."""
    if entry.code is None and entry.status < 400:
        return None
    document = _answered(entry)
    if "code" not in document or "detail" not in document:
        return None
    detail = Redactor(entry.world).text(str(document["detail"]))
    return {"code": str(document["code"]), "detail": detail}


def sent_header(entry: Entry, name: bytes) -> str | None:
    """Return the first header of a name, which is to be in lower case; None: there is none."""
    found = [value for known, value in entry.raw_headers if known.lower() == name]
    return header_text(found[0]) if found else None


def header_text(value: bytes) -> str:
    """Return a header's value as calls read it; of one that is not UTF-8 each byte is a character."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")
