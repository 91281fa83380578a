"""Whether what was begun is followed to its end, also past words that did not exist yesterday."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from hosting_emulator.conduct.rules import (
    ConductJudge,
    ExchangeView,
    Finding,
    Recent,
    Severity,
    finding,
)
from hosting_emulator.contract.assumptions import DEFAULTS
from hosting_emulator.contract.resources import RESOURCES

#: Answers that a client went on from, of one kind, that are kept to compare.
_COMPARED = 20


class _Continuity(ConductJudge):
    """What clients went on from: whether it is the unknown that they stop at can be told by it.

    Only answers of one kind (`first`: the first of several), to one client, can be compared.
    """

    resource: ClassVar[str]

    def __init__(self) -> None:
        self._from: Recent[tuple[bytes, bool], deque[str | None]] = Recent()

    def _went_on(self, answered: ExchangeView, *, first: bool) -> None:
        place = (answered.credentials, first)
        if place not in self._from:
            self._from.keep(place, deque(maxlen=_COMPARED))
        self._from[place].append(_unknown(self.resource, answered.answer))

    def _stopped_at(self, last: ExchangeView) -> str | None:
        """Return what is unknown in the last answer, unless its client went on past such."""
        passed = (self._from.get((last.credentials, first), ()) for first in (True, False))
        if any(unknown for kind in passed for unknown in kind):
            return None
        return _unknown(self.resource, last.answer)

    def _severity(self, last: ExchangeView, *, first: bool) -> Severity | None:
        """A note, unless the client is known to go on from what holds nothing unknown."""
        known = self._from.get((last.credentials, first), ())
        return None if any(unknown is None for unknown in known) else "note"


class UnfinishedOperations(_Continuity):
    """Operations whose end nobody heard of, whoever asked."""

    resource = "Operation"

    def __init__(self) -> None:
        super().__init__()
        #: The last that was heard of those that were begun here; None: their end.
        self._last: Recent[str, ExchangeView | None] = Recent()

    def see(self, now: ExchangeView) -> Iterable[Finding]:
        polled = now.call == "get_operation"
        before = self._last.get(str(now.entry.operation)) if polled else None
        if before is not None and before.credentials == now.credentials:
            self._went_on(before, first=before.call != "get_operation")
        if now.operation is None:
            return ()
        id_ = now.operation["id"]
        if now.shows_end:
            self._last.keep(id_, None)
        # What was begun elsewhere may be looked at only; after the end it is the first answer again.
        elif self._last.get(id_) is not None or (id_ not in self._last and not polled):
            self._last.keep(id_, now)
        return ()

    def end(self) -> Iterable[Finding]:
        for id_, last in self._last.items():
            if last is None:
                continue
            unknown, state = self._stopped_at(last), last.answer.get("state")
            if unknown:
                yield finding(
                    "stopped-at-the-unknown",
                    f"Nothing was asked of operation {id_} ({state}) after an answer with {unknown}.",
                    last,
                    severity=self._severity(last, first=last.call != "get_operation"),
                )
            else:
                says = f"The last that was heard of operation {id_} is that it is {state}."
                yield finding("operation-not-followed", says, last)


class UnfinishedLists(_Continuity):
    """A list that was left at a page with something unknown on it.

    It may have been left for what was found there, unless its reader is known to read to the end.
    """

    resource = "DeploymentPage"

    def __init__(self) -> None:
        super().__init__()
        #: The last page of each list that is being read, by its reader and project.
        self._last: Recent[tuple[bytes, str], ExchangeView] = Recent()
        #: Who read a list of several pages to its end.
        self._to_the_end: Recent[bytes, bool] = Recent()

    def see(self, now: ExchangeView) -> Iterable[Finding]:
        if now.call != "list_deployments" or now.who is None:
            return ()
        # A list that is begun takes the place of another.
        place, cursor = (now.credentials, str(now.entry.project)), _cursor(now)
        before = self._last.get(place)
        if before is not None and cursor is not None and cursor == before.answer.get("next_cursor"):
            self._went_on(before, first=_cursor(before) is None)
        if now.succeeded and isinstance(now.answer, dict):
            self._last.keep(place, now)
            if cursor is not None and not now.answer.get("next_cursor"):
                self._to_the_end.keep(now.credentials, True)
        elif now.succeeded:  # too long to be kept whole: nobody knows whether there is another
            self._last.pop(place, None)
        return ()

    def end(self) -> Iterable[Finding]:
        for page in self._last.values():
            unknown = self._stopped_at(page) if page.answer.get("next_cursor") else None
            if unknown:
                # Who asks for the first page may only want that.
                first = _cursor(page) is None
                reads = not first and page.credentials in self._to_the_end
                yield finding(
                    "stopped-at-the-unknown",
                    f"{page.name} was left at a page with {unknown}, though there is another.",
                    page,
                    severity=self._severity(page, first=first) if reads else "note",
                )


def _cursor(page: ExchangeView) -> str | None:
    return page.query.get(page.world.assumptions.cursor_parameter)


def _unknown(resource: str, document: Any) -> str | None:
    """Return the first thing in a document that neither the contract nor our defaults name."""
    return next(_all_unknown(resource, document, ""), None)


def _all_unknown(resource: str, document: Any, at: str) -> Iterator[str]:
    if isinstance(document, list):
        for item in document:
            yield from _all_unknown(resource, item, at)
    if not isinstance(document, dict):
        return
    known = {field.name: field for field in RESOURCES[resource].fields}
    for name, value in document.items():
        place, field = f"{at}{name}", known.get(name)
        if field is None:
            yield f"the unknown field {place}"
            continue
        words = getattr(DEFAULTS, field.assumption, None)
        if isinstance(words, tuple) and isinstance(value, str) and value not in words:
            yield f"the unknown {place} {value!r}"
        if field.kind.part:
            yield from _all_unknown(field.kind.part, value, f"{place}.")
