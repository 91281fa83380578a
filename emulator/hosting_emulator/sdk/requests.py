"""Reads and filters a world's request log and makes assertions about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, Protocol, Unpack, overload

from hosting_emulator import messages
from hosting_emulator.sdk.errors import ControlRefused
from hosting_emulator.sdk.names import Aliases
from hosting_emulator.sdk.recorded_requests import HeldRequests, RecordedRequest
from hosting_emulator.sdk.request_filters import Filters, ImpossibleFilter, RequestName
from hosting_emulator.sdk.transport import Transport
from hosting_emulator.sdk.world_handle import WorldHandle

if TYPE_CHECKING:
    from hosting_emulator.sdk.event_stream import EventStream
    from hosting_emulator.sdk.request_matching import RequestMatcher

#: Makes pytest show the line in the test instead of lines in this module.
__tracebackhide__ = True

#: The maximum number of requests in a world's log.
CAPACITY = 1000
_SUMMARY_MEMBERS = messages.ExchangeSummary.__struct_fields__


class LoggedWorld(Protocol):
    """The attributes of a world that are needed for filters and messages."""

    name: str
    base_url: str
    users: Aliases
    projects: Aliases


class Requests(WorldHandle, Sequence[RecordedRequest]):
    """The last 1,000 requests that reached a world, oldest first.

    The requests are fetched again each time they are used. The filters are `user`, `status`,
    `code`, `project`, `operation`, `method`, `path`, `key`, `replayed`, `lost` and `failed` (see
    `Filters`). The error for an unknown name suggests the closest name.
    """

    def __init__(self, transport: Transport, world: LoggedWorld) -> None:
        super().__init__(transport, world.name)
        self._world = world
        self._after = 0
        #: How many times the log had been cleared when `from_now` was called, or None if this
        #: object was not returned by `from_now`.
        self._times_cleared: int | None = None

    def __iter__(self) -> Iterator[RecordedRequest]:
        return iter(self._read().requests)

    def __len__(self) -> int:
        return len(self._read().requests)

    @overload
    def __getitem__(self, index: int) -> RecordedRequest: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[RecordedRequest]: ...

    def __getitem__(self, index: int | slice) -> RecordedRequest | Sequence[RecordedRequest]:
        return self._read().requests[index]

    @property
    def total(self) -> int:
        """The total number of requests, including those that the log has dropped."""
        page = self.page(limit=1)
        return max(0, page.total - self._offset(page))

    def from_now(self) -> Requests:
        """Return a view of the requests that are made after this call.

        Resetting or replacing the world clears the log, and the view then contains only requests
        made since. Assertions about a maximum then fail, because earlier requests are unknown.
        """
        page = self.page(limit=1)
        later = copy(self)
        later._after = page.total
        later._times_cleared = page.times_cleared
        return later

    def _was_cleared(self, page: messages.RequestPage) -> bool:
        """Return whether the log has been cleared since `from_now` was called."""
        return self._times_cleared not in (None, page.times_cleared)

    def _offset(self, page: messages.RequestPage) -> int:
        """Return the number of the last request before `from_now` was called, or 0 if there was
        none.

        When the log is cleared, request numbers start again at 1, so the result is then 0.
        """
        return 0 if self._was_cleared(page) else self._after

    def of(
        self, call: RequestName | None = None, **filters: Unpack[Filters]
    ) -> list[RecordedRequest]:
        """Return the requests that match all filters, oldest first.

        Without `call`, this includes all calls.
        """
        matcher = self._matcher(call, filters)
        return [request for request in self if matcher.matches(request)]

    def _matcher(self, call: RequestName | None, filters: Filters) -> RequestMatcher:
        # Imported here because the import takes 60 ms and many programs never filter requests.
        from hosting_emulator.sdk.request_matching import RequestMatcher

        return RequestMatcher(call, filters, self._world)

    def page(
        self, *, limit: int = 50, trail: bool = True, **filters: Unpack[messages.RequestFilters]
    ) -> messages.RequestPage:
        """Return the latest exchanges, newest first, and their total number.

        `limit` must be from 1 to 1000. With `trail`, each exchange includes its trail.
        """
        query: dict[str, Any] = {"limit": limit}
        if not trail:
            query["trail"] = "false"
        return self._fetch(messages.RequestPage, "GET", "requests", **query, **filters)

    def whole(self, n: int) -> messages.WholeExchange:
        """Return exchange `n` with its headers, bodies and trail.

        Raises ControlRefused (404) if the exchange is no longer in the log.
        """
        return self._fetch(messages.WholeExchange, "GET", "requests", n)

    def har(
        self, *, limit: int = 1000, state: bool = False, **filters: Unpack[messages.RequestFilters]
    ) -> messages.JsonObject:
        """Return the latest exchanges as an HTTP Archive (HAR) 1.2.

        With `state`, the archive includes the world's state from before the first exchange.
        """
        query: dict[str, Any] = {"limit": limit}
        if state:
            query["state"] = "true"
        archive: messages.JsonObject = self._ask("GET", "requests.har", **query, **filters)
        return archive

    def resend(self, n: int, *, same_key: bool = False) -> messages.WholeExchange:
        """Resend request `n` as the same user.

        If the request has an Idempotency-Key, a new key replaces it, unless `same_key` is true.
        Raises ControlRefused (409) if the request was not logged in full or redeems a ticket.
        """
        body = {"same_key": same_key}
        return self._fetch(messages.WholeExchange, "POST", "requests", n, "resend", body=body)

    def listen(
        self,
        *,
        kinds: Sequence[str] = (),
        last_id: int | None = None,
        **filters: Unpack[messages.RequestFilters],
    ) -> EventStream:
        """Listen to events on a separate connection.

        Without `last_id`, the stream starts now. With `last_id`, it starts after the event with
        this id. `kinds` limits it to these kinds of events.
        """
        path = self.control_path("events", kinds=",".join(kinds) or None, **filters)
        headers = {}
        if last_id is not None:
            headers["Last-Event-ID"] = str(last_id)
        return self._transport.open_stream(path, headers)

    def assert_made(
        self,
        call: RequestName | None = None,
        *,
        times: int | None = None,
        at_least: int | None = None,
        at_most: int | None = None,
        **filters: Unpack[Filters],
    ) -> list[RecordedRequest]:
        """Assert that matching requests were made, by default at least one, and return them.

        The AssertionError lists the world's latest requests. If too few requests match, it also
        describes how the requests that come closest to matching differ from the filters. If there
        is a maximum, AssertionError is also raised if the log has dropped requests that could
        match.
        """
        # Imported here because the import is slow, as in `_matcher`.
        from hosting_emulator.sdk.request_assertions import check_made, expected_count

        count = expected_count(times, at_least, at_most)
        matcher = self._matcher(call, filters)
        held = self._read()
        matching = [request for request in held.requests if matcher.matches(request)]
        self._check_operations(matcher.operation_ids(), held.requests)
        check_made(held, matcher, matching, count, self.name, self._world.base_url)
        return matching

    def assert_not_made(self, call: RequestName | None = None, **filters: Unpack[Filters]) -> None:
        """Assert that no matching request was made. Raises the same exceptions as `assert_made`."""
        self.assert_made(call, times=0, **filters)

    def assert_none_failed(self) -> None:
        """Assert that no request failed: no response was lost or had a status of 400 or higher.

        The assertion also fails if the log has dropped requests, because they may have failed.
        """
        from hosting_emulator.sdk.request_assertions import check_none_failed

        check_none_failed(self._read())

    def _check_operations(self, ids: set[str], requests: Iterable[RecordedRequest]) -> None:
        """Raise ImpossibleFilter if any of `ids` is not the id of an operation in the world."""
        for id_ in ids - {request.operation for request in requests}:
            try:
                self._fetch(messages.Why, "GET", "operations", id_, "why")
            except ControlRefused as refused:
                if refused.status == 404:
                    raise ImpossibleFilter(f"there is no operation {id_}") from None
                raise

    def _read(self) -> HeldRequests:
        """Fetch the logged requests to consider: all of them, or those since `from_now` was called."""
        page = self.page(limit=CAPACITY, trail=False)
        offset = self._offset(page)
        requests = [
            self._recorded(exchange) for exchange in reversed(page.items) if exchange.n > offset
        ]
        dropped = 0
        if len(page.items) == CAPACITY:
            dropped = max(0, page.total - offset - len(requests))
        return HeldRequests(requests, dropped, self._was_cleared(page))

    def _recorded(self, exchange: messages.ExchangeSummary) -> RecordedRequest:
        members = {name: getattr(exchange, name) for name in _SUMMARY_MEMBERS}
        return RecordedRequest(**members, _fetch_whole=self.whole)
