"""Judges for operations and lists that clients start but do not finish.

A client is reported if it stops at an unknown value or field, but continues everywhere else.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from hosting_emulator.conduct.exchange_view import ExchangeView
from hosting_emulator.conduct.findings import Finding
from hosting_emulator.conduct.judge import ConductJudge
from hosting_emulator.conduct.recent import Recent
from hosting_emulator.contract.assumptions import DEFAULTS
from hosting_emulator.variation.draws import objects_in


class _Continuity(ConductJudge):
    """Records, for each client, the unknown fields and values that did not stop it.

    These records show whether a client stops at unknown fields or values. First responses are
    compared only with first responses, and later responses only with later ones.
    """

    resource: ClassVar[str]

    def __init__(self) -> None:
        #: For each client, the unknown fields and values that did not stop it.
        self._passed: Recent[bytes, set[str]] = Recent()
        #: The clients that continued after a response about an operation or a list. Each key is a
        #: pair: the client's credentials, and whether this was the first response (True) or a later
        #: one (False).
        self._goes_on: Recent[tuple[bytes, bool], None] = Recent()
        #: Whether each client has followed an operation or a list to its end. If a client never
        #: does, it may have stopped for any reason.
        self._reaches_end: Recent[bytes, bool] = Recent()

    def _note_continuation(self, response: ExchangeView) -> None:
        """Record that a client continued after a response."""
        credentials = response.credentials
        passed = self._passed.get(credentials) or self._passed.keep(credentials, set())
        passed.update(_unknown_things(self.resource, response.response_body))
        self._goes_on.keep((credentials, _is_first(response)), None)

    def _unknown_at(self, last: ExchangeView) -> str | None:
        """Describe an unknown field or value in the client's last response, or return None if there
        is none.

        Fields and values that have not stopped the client elsewhere are ignored.
        """
        passed = self._passed.get(last.credentials, ())
        for thing, text in _unknown_things(self.resource, last.response_body).items():
            if thing not in passed:
                return text
        return None

    def _stop(self, last: ExchangeView, message: str, *, may_be_meant: bool = False) -> Finding:
        """Return a finding that a client stopped at an unknown field or value.

        The finding is certain if the client has continued after a response of the same kind, has
        followed another operation or list to its end, and has never continued after an unknown
        field or value. Otherwise, or if the client may have stopped on purpose (`may_be_meant`),
        the finding is a note.
        """
        credentials = last.credentials
        is_sure = (
            (credentials, _is_first(last)) in self._goes_on
            and not self._passed.get(credentials)
            and not may_be_meant
            and self._reaches_end.get(credentials, False)
        )
        return Finding("stopped-at-the-unknown", last, message=message, sure=is_sure)


class UnfinishedOperations(_Continuity):
    """Detects operations whose end no client has seen."""

    resource = "Operation"

    def __init__(self) -> None:
        super().__init__()
        #: The most recent response about each operation that a request in this world started, or
        #: None after a response that showed the operation's end.
        self._last: Recent[str, ExchangeView | None] = Recent()

    def observe(self, exchange: ExchangeView) -> Iterable[Finding]:
        is_poll = exchange.call == "get_operation"
        earlier = None
        if is_poll:
            earlier = self._last.get(str(exchange.entry.operation))
        if earlier is not None and earlier.credentials == exchange.credentials:
            self._note_continuation(earlier)
        if exchange.operation is None:
            return ()
        id_ = exchange.operation["id"]
        if exchange.shows_end:
            self._last.keep(id_, None)
            self._reaches_end.keep(exchange.credentials, True)
            return ()
        # Ignore an operation that was started elsewhere, because the client may only want to know
        # its current state. Also ignore a replay, because it shows the operation as unfinished even
        # after the operation has ended.
        is_begun_here = id_ not in self._last and not is_poll
        if is_begun_here or self._last.get(id_) is not None:
            self._last.keep(id_, exchange)
        return ()

    def end(self) -> Iterable[Finding]:
        for id_, last in self._last.items():
            if last is None:
                continue
            state = last.response_body.get("state")
            unknown = self._unknown_at(last)
            if unknown is None:
                yield Finding("operation-not-followed", last, id=id_, state=state)
                continue
            message = (
                f"Operation {id_} ({state}) was not polled again after a response with {unknown}."
            )
            yield self._stop(last, message)


class UnfinishedLists(_Continuity):
    """Detects clients that do not read a list to the end.

    A client may read only the first page, or stop at an unknown value, at a page that is shorter
    than the limit, or at any later page.
    """

    resource = "DeploymentPage"

    def __init__(self) -> None:
        super().__init__()
        #: The most recently received page of each list, by client and project.
        self._last: Recent[tuple[bytes, str], ExchangeView] = Recent()

    def observe(self, exchange: ExchangeView) -> Iterable[Finding]:
        if exchange.call != "list_deployments" or exchange.user is None:
            return ()
        credentials = exchange.credentials
        # There is one entry per client and project, so that reading a list again replaces the
        # entry.
        list_key = (credentials, str(exchange.entry.project))
        cursor = _cursor(exchange)
        earlier = self._last.get(list_key)
        if earlier is not None and cursor is not None:
            next_cursor = earlier.response_body.get("next_cursor")
            if cursor == next_cursor:
                self._note_continuation(earlier)
        page = exchange.response_body
        is_whole = exchange.succeeded and isinstance(page, dict)
        if cursor is not None:
            has_ended = is_whole and not page.get("next_cursor")
            reaches_end = has_ended or self._reaches_end.get(credentials, False)
            self._reaches_end.keep(credentials, reaches_end)
        if is_whole:
            self._last.keep(list_key, exchange)
        elif exchange.succeeded:
            # The log truncated this long page, so it is unknown whether another page follows.
            self._last.pop(list_key, None)
        return ()

    def end(self) -> Iterable[Finding]:
        for page in self._last.values():
            if not page.response_body.get("next_cursor"):
                continue
            unknown = self._unknown_at(page)
            if unknown:
                message = (
                    f"The client stopped reading {page.name} at a page with {unknown}, although there are "
                    "more pages."
                )
                # A client that read only the first page may not need further pages.
                yield self._stop(page, message, may_be_meant=_is_first(page))
            elif not self._reaches_end.get(page.credentials, False):
                rule = self._broken_rule(page)
                if rule:
                    yield Finding(rule, page)

    def _broken_rule(self, page: ExchangeView) -> str:
        """Return the id of the rule that a client breaks by stopping at a page, or an empty string.

        A client that sets the page size may need only that many items.
        """
        if not _is_first(page) or _is_short(page):
            return "list-not-finished"
        has_limit = page.world.assumptions.limit_parameter in page.query
        if has_limit or page.credentials in self._reaches_end:
            return ""
        return "first-page-for-all"


def _cursor(page: ExchangeView) -> str | None:
    return page.query.get(page.world.assumptions.cursor_parameter)


def _is_short(page: ExchangeView) -> bool:
    """Return whether a page has fewer items than the limit in its request."""
    limit = page.query.get(page.world.assumptions.limit_parameter, "")
    items = page.response_body.get("items")
    return limit.isdecimal() and isinstance(items, list) and len(items) < int(limit)


def _is_first(response: ExchangeView) -> bool:
    return response.call != "get_operation" and _cursor(response) is None


def _unknown_things(resource: str, document: Any) -> dict[str, str]:
    """Describe the fields and values that are neither in the contract nor in our default
    assumptions.

    The result contains at most one unknown field, and at most one unknown value for each field.
    """
    unknown: dict[str, str] = {}
    for member in objects_in(resource, document):
        parts = [part for part in member.path.split("/")[1:] if not part.isdigit()]
        prefix = "".join(f"{part}." for part in parts)
        fields = {field.name: field for field in member.resource.fields}
        for name, value in member.members.items():
            if name not in fields:
                unknown.setdefault("a field", f"the unknown field {prefix}{name}")
                continue
            words = getattr(DEFAULTS, fields[name].assumption, None)
            if isinstance(words, tuple) and isinstance(value, str) and value not in words:
                unknown.setdefault(prefix + name, f"the unknown {prefix}{name} {value!r}")
    return unknown
