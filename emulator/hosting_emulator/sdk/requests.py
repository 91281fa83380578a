"""The request log of a world, to read and to assert on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Unpack, overload

from hosting_emulator.sdk import telling
from hosting_emulator.sdk.calls import RequestName
from hosting_emulator.sdk.control import ControlClient
from hosting_emulator.sdk.filters import Aliased, Filters, Wanted
from hosting_emulator.sdk.made import RecordedRequest, recorded_request
from hosting_emulator.sdk.observed import WholeExchange
from hosting_emulator.sdk.telling import Count, Log

#: How many requests a world remembers.
CAPACITY = 1000
_NONE = Count(None, 0)


class Requests(Sequence[RecordedRequest]):
    """The requests that reached a world, oldest first; only the last 1,000 are held.

    It is read anew each time it is looked at. What takes filters takes those of `Filters`: `who`,
    `status`, `code`, `project`, `operation`, `method`, `path`, `key`, `replayed`, `lost`, `failed`.
    A call, person or project that does not exist is an error that names the nearest.
    """

    def __init__(
        self,
        control: ControlClient,
        world: str,
        base_url: str,
        aliased: Aliased,
        *,
        after: int = 0,
    ) -> None:
        self._control = control
        self._world = world
        self._base_url = base_url
        self._aliased = aliased
        self._after = after

    # --- Reading -----------------------------------------------------------------------------

    def __iter__(self) -> Iterator[RecordedRequest]:
        return iter(self._read().held)

    def __len__(self) -> int:
        return len(self._read().held)

    @overload
    def __getitem__(self, place: int) -> RecordedRequest: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[RecordedRequest]: ...

    def __getitem__(self, place: int | slice) -> RecordedRequest | Sequence[RecordedRequest]:
        return self._read().held[place]

    def __repr__(self) -> str:
        return f"<Requests of {self._world!r}>"

    @property
    def total(self) -> int:
        """How many requests there were in all, held or not."""
        page = self._control.request_page(self._world, limit=1)
        return max(0, page["total"] - self._after)

    def from_now(self) -> Requests:
        """Return the requests that will be made from now on."""
        page = self._control.request_page(self._world, limit=1)
        return Requests(
            self._control, self._world, self._base_url, self._aliased, after=page["total"]
        )

    def of(
        self, call: RequestName | None = None, **filters: Unpack[Filters]
    ) -> list[RecordedRequest]:
        """Return the requests of a call (of any, for None) that fit all filters, oldest first."""
        wanted = Wanted(call, filters, self._aliased)
        return [made for made in self._read().held if wanted.fits(made)]

    # --- Asserting ---------------------------------------------------------------------------

    def assert_made(
        self,
        call: RequestName | None = None,
        *,
        times: int | None = None,
        at_least: int | None = None,
        at_most: int | None = None,
        **filters: Unpack[Filters],
    ) -> list[RecordedRequest]:
        """Assert that such requests were made, at least once unless told otherwise; return them.

        `times` is exact; `at_least` and `at_most` are bounds. The AssertionError says what was
        expected, what was made and what is nearest. When the log has dropped requests, a count that
        they could change fails too, and says so.
        """
        __tracebackhide__ = True  # pytest then shows the test's own line
        return self._assert(call, filters, _count(times, at_least, at_most))

    def assert_not_made(self, call: RequestName | None = None, **filters: Unpack[Filters]) -> None:
        """Assert that no such request was made. Errors as for `assert_made`."""
        __tracebackhide__ = True
        self._assert(call, filters, _NONE)

    def assert_none_failed(self) -> None:
        """Assert that every request held was answered below 400, and that its answer arrived."""
        __tracebackhide__ = True
        log = self._read()
        failed = [made for made in log.held if made.failed]
        if failed:
            raise AssertionError(telling.not_all_well(failed, log))

    def _assert(self, call: str | None, filters: Filters, count: Count) -> list[RecordedRequest]:
        __tracebackhide__ = True
        wanted = Wanted(call, filters, self._aliased)
        log = self._read()
        matching = [made for made in log.held if wanted.fits(made)]
        if not count.allows(len(matching)):
            raise AssertionError(telling.miscounted(wanted, count, matching, log))
        if count.most is not None and log.lost:
            raise AssertionError(telling.untellable(wanted, count, matching, log))
        return matching

    def _read(self) -> Log:
        page = self._control.request_page(self._world, limit=CAPACITY, trail=False)
        held = [
            recorded_request(told, self._fetch)
            for told in reversed(page["items"])
            if told["n"] > self._after
        ]
        full = len(page["items"]) == CAPACITY
        lost = max(0, page["total"] - self._after - len(held)) if full else 0
        return Log(self._world, self._base_url, held, lost)

    def _fetch(self, n: int) -> WholeExchange:
        return self._control.request(n, self._world)


def _count(times: int | None, at_least: int | None, at_most: int | None) -> Count:
    if times is None:
        return Count(1 if at_least is None and at_most is None else at_least, at_most)
    if at_least is not None or at_most is not None:
        raise TypeError("times is exact: give no at_least or at_most beside it")
    return Count(times, times)
