"""Whether what was begun is followed to its end, also past words that did not exist yesterday."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from hosting_emulator.conduct.exchange import ExchangeView
from hosting_emulator.conduct.rules import Finding, Judge, Recent, finding
from hosting_emulator.contract.assumptions import DEFAULTS
from hosting_emulator.contract.resources import RESOURCES

#: Answers that a client went on from, of one kind, that are kept to compare.
_COMPARED = 20


class _Kind(NamedTuple):
    """Answers of one kind, to one client: only such can be compared."""

    credentials: bytes
    first: bool


class _Continued:
    """What clients went on from: whether it is the unknown that they stop at can be told by it."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._from: Recent[_Kind, deque[ExchangeView]] = Recent()

    def add(self, kind: _Kind, exchange: ExchangeView) -> None:
        """Note that a client went on from an answer."""
        if kind not in self._from:
            self._from.keep(kind, deque(maxlen=_COMPARED))
        self._from[kind].append(exchange)

    def past_unknown(self, credentials: bytes) -> bool:
        """Tell whether a client went on from an answer with something unknown."""
        kinds = (_Kind(credentials, True), _Kind(credentials, False))
        return any(self._unknown(one) for kind in kinds for one in self._from.get(kind, ()))

    def past_known(self, kind: _Kind) -> bool:
        """Tell whether a client went on from such an answer with nothing unknown."""
        return any(not self._unknown(one) for one in self._from.get(kind, ()))

    def _unknown(self, exchange: ExchangeView) -> bool:
        return first_unknown(self._model, exchange.answer) is not None


class Following(Judge):
    """Operations whose end nobody heard of, whoever asked."""

    def __init__(self) -> None:
        #: The last that was heard of those that were begun here; None: their end.
        self._last: Recent[str, ExchangeView | None] = Recent()
        self._continued = _Continued("Operation")

    def see(self, now: ExchangeView) -> Iterable[Finding]:
        if now.call == "get_operation":
            before = self._last.get(str(now.entry.operation))
            if before is not None and before.credentials == now.credentials:
                self._continued.add(_operation_kind(before), before)
        if now.operation is None:
            return ()
        id_ = now.operation["id"]
        if now.shows_end:
            self._last.keep(id_, None)
        elif id_ in self._last:
            if self._last[id_] is not None:  # else it is the first answer again
                self._last.keep(id_, now)
        elif now.call != "get_operation":  # what was begun elsewhere may be looked at only
            self._last.keep(id_, now)
        return ()

    def end(self) -> Iterable[Finding]:
        for operation_id, last in self._last.items():
            if last is not None:
                yield self._unfinished(operation_id, last)

    def _unfinished(self, operation_id: str, last: ExchangeView) -> Finding:
        unknown, state = first_unknown("Operation", last.answer), last.answer.get("state")
        if unknown and not self._continued.past_unknown(last.credentials):
            says = (
                f"Nothing was asked of operation {operation_id} ({state}) after an answer with "
                f"{unknown}."
            )
            shown = self._continued.past_known(_operation_kind(last))
            return finding("stopped-at-the-unknown", says, last, severity=None if shown else "note")
        says = f"The last that was heard of operation {operation_id} is that it is {state}."
        return finding("operation-not-followed", says, last)


def _operation_kind(exchange: ExchangeView) -> _Kind:
    return _Kind(exchange.credentials, exchange.call != "get_operation")


class Paging(Judge):
    """A list that was left at a page with something unknown on it.

    It may have been left for what was found there, unless its reader is known to read to the end.
    """

    def __init__(self) -> None:
        #: The last page of each list that is being read, by its reader and project.
        self._last: Recent[tuple[bytes, str], ExchangeView] = Recent()
        self._continued = _Continued("DeploymentPage")
        #: Who read a list of several pages to its end.
        self._to_the_end: Recent[bytes, bool] = Recent()

    def see(self, now: ExchangeView) -> Iterable[Finding]:
        if now.call != "list_deployments" or now.who is None:
            return ()
        # A list that is begun takes the place of another.
        place = (now.credentials, str(now.entry.project))
        before = self._last.get(place)
        cursor = _cursor(now)
        if before is not None and cursor is not None and cursor == before.answer.get("next_cursor"):
            self._continued.add(_page_kind(before), before)
        if now.succeeded and isinstance(now.answer, dict):
            self._last.keep(place, now)
            if cursor is not None and not now.answer.get("next_cursor"):
                self._to_the_end.keep(now.credentials, True)
        elif now.succeeded:  # too long to be kept whole: nobody knows whether there is another
            self._last.pop(place, None)
        return ()

    def end(self) -> Iterable[Finding]:
        for page in self._last.values():
            unknown = first_unknown("DeploymentPage", page.answer)
            left = unknown and page.answer.get("next_cursor")
            if not left or self._continued.past_unknown(page.credentials):
                continue
            # Who asks for the first page may only want that.
            shown = _cursor(page) is not None and page.credentials in self._to_the_end
            yield finding(
                "stopped-at-the-unknown",
                f"{page.name} was left at a page with {unknown}, though there is another.",
                page,
                severity=None if shown and self._continued.past_known(_page_kind(page)) else "note",
            )


def _page_kind(page: ExchangeView) -> _Kind:
    return _Kind(page.credentials, _cursor(page) is None)


def _cursor(page: ExchangeView) -> str | None:
    return page.query.get(page.world.assumptions.cursor_parameter)


def first_unknown(resource: str, document: Any) -> str | None:
    """Return the first thing in a document that neither the contract nor our defaults name."""
    return next(_unknown(resource, document, ""), None)


def _unknown(resource: str, document: Any, at: str) -> Iterator[str]:
    if isinstance(document, list):
        for item in document:
            yield from _unknown(resource, item, at)
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
            yield from _unknown(field.kind.part, value, f"{place}.")
