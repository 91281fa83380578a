"""Following: what was begun is followed to its end, also past words that did not exist yesterday."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from hosting_emulator.conduct.rule import CONTRACT, Finding, Judge, Recent, Rule, found
from hosting_emulator.conduct.seen import ENDED, Seen, named
from hosting_emulator.conduct.unknown import unknown_in

NOT_FOLLOWED = Rule(
    id="operation-not-followed",
    severity="note",
    title="An operation was begun and not followed to its end",
    because="Project mutations that take time are accepted as durable asynchronous operations that "
    "the caller polls.",
    place=f"{CONTRACT}, What the service does",
    matters="Accepted is not done: the operation may fail, and nobody would know.",
    instead="Poll the operation until its state is succeeded, failed or cancelled.",
)
STOPPED = Rule(
    id="stopped-at-the-unknown",
    severity="warning",
    title="Stopped at a value or field it did not know",
    because="Allowed values of progress.phase, reconciliation.state and error.code beyond those given "
    "above: not shown.",
    place=f"{CONTRACT}, Resources, Gaps in this resource",
    matters="The sets are open: the service may send a new word any day, and such a client breaks "
    "on that day.",
    instead="Take a word that you do not know for one that means nothing to you, ignore fields that "
    "you do not know, and go on.",
)

#: Answers that a client went on from, of one kind, that are kept to compare.
_COMPARED = 20
_PAGES = "list_deployments"


class _Kind(NamedTuple):
    """Answers of one kind, to one client: only such can be compared."""

    credentials: bytes
    first: bool


class _Went:
    """What clients went on from: whether it is the unknown that they stop at can be told by it."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._from: Recent[_Kind, deque[Seen]] = Recent()

    def on(self, kind: _Kind, seen: Seen) -> None:
        """Note that a client went on from an answer."""
        if kind not in self._from:
            self._from.keep(kind, deque(maxlen=_COMPARED))
        self._from[kind].append(seen)

    def past_unknown(self, credentials: bytes) -> bool:
        """Tell whether a client went on from an answer with something unknown."""
        kinds = (_Kind(credentials, True), _Kind(credentials, False))
        return any(self._unknown(seen) for kind in kinds for seen in self._from.get(kind, ()))

    def past_known(self, kind: _Kind) -> bool:
        """Tell whether a client went on from such an answer with nothing unknown."""
        return any(not self._unknown(seen) for seen in self._from.get(kind, ()))

    def _unknown(self, seen: Seen) -> bool:
        return bool(unknown_in(self._model, seen.answer))


class Following(Judge):
    """Operations whose end nobody heard of, whoever asked."""

    rules = (NOT_FOLLOWED, STOPPED)

    def __init__(self) -> None:
        #: The last that was heard of those that were begun here; None: their end.
        self._last: Recent[str, Seen | None] = Recent()
        self._went = _Went("Operation")

    def see(self, seen: Seen) -> Iterable[Finding]:
        """Remember the last that was heard of each operation."""
        if seen.call == "get_operation":
            before = self._last.get(str(seen.entry.operation))
            if before is not None and before.credentials == seen.credentials:
                self._went.on(_kind(before), before)
        operation = seen.operation()
        if operation is None:
            return ()
        id_ = operation["id"]
        if operation.get("state") in ENDED:
            self._last.keep(id_, None)
        elif id_ in self._last:
            if self._last[id_] is not None:  # else it is the first answer again
                self._last.keep(id_, seen)
        elif seen.call != "get_operation":  # what was begun elsewhere may be looked at only
            self._last.keep(id_, seen)
        return ()

    def end(self) -> Iterable[Finding]:
        """Say what was left."""
        for operation_id, seen in self._last.items():
            if seen is not None:
                yield self._unfinished(operation_id, seen)

    def _unfinished(self, operation_id: str, seen: Seen) -> Finding:
        unknown, state = unknown_in("Operation", seen.answer), seen.answer.get("state")
        if unknown and not self._went.past_unknown(seen.credentials):
            says = (
                f"Nothing was asked of operation {operation_id} ({state}) after an answer with "
                f"{unknown[0]}."
            )
            shown = self._went.past_known(_kind(seen))
            return found(STOPPED, [seen], says, severity=None if shown else "note")
        says = f"The last that was heard of operation {operation_id} is that it is {state}."
        return found(NOT_FOLLOWED, [seen], says)


def _kind(seen: Seen) -> _Kind:
    return _Kind(seen.credentials, seen.call != "get_operation")


class Paging(Judge):
    """A list that was left at a page with something unknown on it.

    It may have been left for what was found there, unless its reader is known to read to the end.
    """

    rules = (STOPPED,)

    def __init__(self) -> None:
        #: The last page of each list that is being read, by its reader and project.
        self._last: Recent[tuple[bytes, str], Seen] = Recent()
        self._went = _Went("DeploymentPage")
        #: Who read a list of several pages to its end.
        self._to_the_end: Recent[bytes, bool] = Recent()

    def see(self, seen: Seen) -> Iterable[Finding]:
        """Remember the last page of each list; one that is begun takes the place of another."""
        if seen.call != _PAGES or seen.who is None:
            return ()
        place = (seen.credentials, str(seen.entry.project))
        before = self._last.get(place)
        if before is not None and _turned(before, seen):
            self._went.on(_page_kind(before), before)
        if seen.succeeded and isinstance(seen.answer, dict):
            self._last.keep(place, seen)
            if not _is_first(seen) and not seen.answer.get("next_cursor"):
                self._to_the_end.keep(seen.credentials, True)
        elif seen.succeeded:  # too long to be kept whole: nobody knows whether there is another
            self._last.pop(place, None)
        return ()

    def end(self) -> Iterable[Finding]:
        """Say which lists were left."""
        for seen in self._last.values():
            yield from self._left(seen)

    def _left(self, seen: Seen) -> Iterator[Finding]:
        if not seen.answer.get("next_cursor"):
            return
        unknown = unknown_in("DeploymentPage", seen.answer)
        if not unknown or self._went.past_unknown(seen.credentials):
            return
        # Who asks for the first page may only want that.
        shown = not _is_first(seen) and seen.credentials in self._to_the_end
        yield found(
            STOPPED,
            [seen],
            f"{named(seen)} was left at a page with {unknown[0]}, though there is another.",
            severity=None if shown and self._went.past_known(_page_kind(seen)) else "note",
        )


def _page_kind(seen: Seen) -> _Kind:
    return _Kind(seen.credentials, _is_first(seen))


def _is_first(page: Seen) -> bool:
    return page.world.assumptions.cursor_parameter not in page.query


def _turned(page: Seen, seen: Seen) -> bool:
    """Tell whether a request asks for the page after this one."""
    cursor = seen.query.get(seen.world.assumptions.cursor_parameter)
    return cursor is not None and cursor == page.answer.get("next_cursor")
