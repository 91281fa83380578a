"""The request log of a world and how its client behaved, to read and to assert on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, Unpack, overload

from msgspec.structs import asdict

from hosting_emulator import messages
from hosting_emulator.sdk import text as wording
from hosting_emulator.sdk.control import ControlRefused, EventStream, InWorld

if TYPE_CHECKING:
    from hosting_emulator.contract.calls import CallName
    from hosting_emulator.sdk.emulator import HostingEmulator

#: How many requests a world remembers.
CAPACITY = 1000
#: More rows than these bury what matters; the newest are shown.
_ROWS = 20
_NEAREST = 3
_FLAGS = {"replayed": "replayed", "lost": "lost", "failed": "refused or lost"}
#: What a request of the log can be besides a call: a ticket was opened at its dev origin.
RequestName: TypeAlias = "CallName | Literal['redeem_ticket']"


class RecordedRequest(messages.Exchange, frozen=True, kw_only=True, dict=True):
    """A request that reached the world, and its answer.

    Headers and bodies, redacted and cut at 16 KiB, are fetched when first asked for: ControlRefused
    (404) once the log has dropped the request.
    """

    _fetch_whole: Callable[[int], messages.WholeExchange]

    def __repr__(self) -> str:
        response = wording.response_text(self)
        return f"<RecordedRequest #{self.n} {self.method} {self.path}: {response}>"

    @property
    def body(self) -> Any:
        """The body that was sent: JSON read, other text as it was, None for none."""
        return self._whole.request.content

    @property
    def headers(self) -> messages.HeaderValues:
        """The headers that were sent."""
        return messages.HeaderValues(self._whole.request.headers)

    @property
    def answer(self) -> Any:
        """The body that was answered: JSON read, other text as it was, None for none."""
        return self._whole.response.content

    @property
    def answer_headers(self) -> messages.HeaderValues:
        """The headers that were answered."""
        return messages.HeaderValues(self._whole.response.headers)

    @cached_property
    def _whole(self) -> messages.WholeExchange:
        return self._fetch_whole(self.n)


#: A filter: a value, several that it may be, or a comparison such as `{"at_least": 400}`.
TextFilter: TypeAlias = str | Collection[str] | Mapping[str, Any]
StatusFilter: TypeAlias = int | str | Collection[int | str] | Mapping[str, Any]
#: An operation's id, or its document as a call responded with it.
OperationFilter: TypeAlias = TextFilter


class Filters(TypedDict, total=False):
    """Filters of requests, beside the call. All of them must match.

    `user` and `project` are aliases or ids; `nobody` is a request without a known token.
    `operation` is an id or the document of an operation. `path` is without the world's prefix;
    `*` stands for any text and `{name}` for one segment. `status` may be a class such as `4xx`.
    `key` is the Idempotency-Key. `lost` is the kind of fault that lost the response, or whether it
    was lost. `failed` says whether it was lost or refused. A list holds alternatives. A value that
    can never match is a TypeError.
    """

    user: TextFilter
    project: TextFilter
    operation: OperationFilter
    method: TextFilter
    path: TextFilter
    key: TextFilter
    status: StatusFilter
    code: TextFilter
    replayed: bool
    lost: bool | TextFilter
    failed: bool


class ImpossibleFilter(TypeError, ValueError):
    """A filter that no request can ever match; the message names the right form."""


class UnknownFilterName(wording.NoSuchName, ImpossibleFilter):
    """A filter names a user or a project that the world does not have."""


class Requests(InWorld, Sequence[RecordedRequest]):
    """The last 1,000 requests that reached a world, oldest first, read anew each time.

    Filters are those of `Filters`: `user`, `status`, `code`, `project`, `operation`, `method`, `path`,
    `key`, `replayed`, `lost`, `failed`. A name that does not exist is an error that names the nearest.
    """

    def __init__(self, emulator: HostingEmulator) -> None:
        super().__init__(emulator.control, emulator.name)
        self._emulator = emulator
        self._after = 0
        #: How often the log had been cleared when `from_now` was called; None: it was not called.
        self._times_cleared: int | None = None

    def __iter__(self) -> Iterator[RecordedRequest]:
        return iter(self._read()[0])

    def __len__(self) -> int:
        return len(self._read()[0])

    @overload
    def __getitem__(self, place: int) -> RecordedRequest: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[RecordedRequest]: ...

    def __getitem__(self, place: int | slice) -> RecordedRequest | Sequence[RecordedRequest]:
        return self._read()[0][place]

    @property
    def total(self) -> int:
        """How many requests there were in all, held or not."""
        page = self.page(limit=1)
        return max(0, page.total - self._offset(page))

    def from_now(self) -> Requests:
        """Return the requests that will be made from now on.

        A reset of the world, or a scenario that is loaded, clears the log. The result then holds the
        requests since that. Assertions about a highest count fail, because earlier requests are gone.
        """
        page = self.page(limit=1)
        later = copy(self)
        later._after = page.total
        later._times_cleared = page.times_cleared
        return later

    def _was_cleared(self, page: messages.RequestPage) -> bool:
        """Return whether the log was cleared since `from_now`."""
        return self._times_cleared not in (None, page.times_cleared)

    def _offset(self, page: messages.RequestPage) -> int:
        """Return the number after which requests count: numbers begin at 1 again in a cleared log."""
        return 0 if self._was_cleared(page) else self._after

    def of(
        self, call: RequestName | None = None, **filters: Unpack[Filters]
    ) -> list[RecordedRequest]:
        """Return the requests of a call (of any, for None) that fit all filters, oldest first."""
        meant = RequestMatcher(call, filters, self._emulator)
        return [request for request in self if not meant.misses(request)]

    def page(
        self, *, limit: int = 50, trail: bool = True, **filters: Unpack[messages.RequestFilters]
    ) -> messages.RequestPage:
        """The last 1 to 1000 exchanges, newest first, and their total; with their `trail` or without."""
        query = {"limit": limit, "trail": None if trail else "false", **filters}
        return self._fetch(messages.RequestPage, "GET", "requests", **query)

    def whole(self, n: int) -> messages.WholeExchange:
        """One exchange with headers and bodies; 404 when newer ones have taken its place."""
        return self._fetch(messages.WholeExchange, "GET", "requests", n)

    def har(
        self, *, limit: int = 1000, state: bool = False, **filters: Unpack[messages.RequestFilters]
    ) -> messages.JsonObject:
        """The last exchanges as an HTTP Archive 1.2, with the `state` that the first found if wanted."""
        query = {"limit": limit, "state": "true" if state else None, **filters}
        archive: messages.JsonObject = self._ask("GET", "requests.har", **query)
        return archive

    def resend(self, n: int, *, same_key: bool = False) -> messages.WholeExchange:
        """Send a request again, with a new Idempotency-Key or its own. 409 if it was not kept whole."""
        body = {"same_key": same_key}
        return self._fetch(messages.WholeExchange, "POST", "requests", n, "resend", body=body)

    def listen(
        self,
        *,
        only: Sequence[str] = (),
        last_id: int | None = None,
        **filters: Unpack[messages.RequestFilters],
    ) -> EventStream:
        """Listen to events (`only` some kinds) from now on or after `last_id`, on a connection of its own."""
        path = self.control_path("events", only=",".join(only) or None, **filters)
        headers = {} if last_id is None else {"Last-Event-ID": str(last_id)}
        return self.control.open_stream(path, headers)

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

        The AssertionError tells what was made and what is nearest. A count that requests could change which
        the log has dropped fails too.
        """
        __tracebackhide__ = True  # pytest then shows the test's own line
        if times is not None:
            if at_least is not None or at_most is not None:
                raise TypeError("times is exact: do not give at_least or at_most with it")
            at_least = at_most = times
        elif at_least is None and at_most is None:
            at_least = 1
        for name, count in (("at_least", at_least), ("at_most", at_most)):
            _check_count(name if times is None else "times", count)
        if at_least is not None and at_most is not None and at_least > at_most:
            raise ImpossibleFilter("at_least must not be greater than at_most")
        meant = RequestMatcher(call, filters, self._emulator)
        page, held, lost = self._read_page()
        matching = [request for request in held if not meant.misses(request)]
        made = f"made {_often(len(matching))}" if matching else "never made"
        meant.check_operations(held)
        expected = f"expected {meant.text()} {_times_text(at_least, at_most)}"
        too_few = at_least is not None and len(matching) < at_least
        if too_few or (at_most is not None and len(matching) > at_most):
            lines = [
                f"{expected}, but it was {made}",
                *(_nearest(meant, held) if too_few else ()),
                "",
            ]
            lines += self._table(held, lost, {request.n for request in matching})
            raise AssertionError("\n".join(lines))
        if at_most is not None and self._was_cleared(page):
            raise AssertionError(
                f"{expected}, which is no longer known: the world was reset or replaced after "
                "`requests.from_now()`, and that cleared its log\nsince then it was "
                f"{made}; take `requests.from_now()` after the reset"
            )
        if at_most is not None and lost:
            raise AssertionError(
                f"{expected}, which is no longer known: the log keeps only the last "
                f"{wording.count_text(len(held), 'request')}, {lost:,} older ones have left it\nin those it "
                f"was {made}; take `requests.from_now()` before what you count"
            )
        return matching

    def assert_not_made(self, call: RequestName | None = None, **filters: Unpack[Filters]) -> None:
        """Assert that no such request was made. Errors as for `assert_made`."""
        __tracebackhide__ = True
        self.assert_made(call, times=0, **filters)

    def assert_none_failed(self) -> None:
        """Assert that every request got a status below 400, and that its response arrived.

        Requests that the log no longer has make the assertion fail: nobody can tell whether they failed.
        """
        __tracebackhide__ = True
        page, held, lost = self._read_page()
        failed = [request for request in held if request.failed]
        if not failed:
            if lost or self._was_cleared(page):
                raise AssertionError(
                    "expected every request to succeed, which is no longer known: earlier requests "
                    "have left the log; take `requests.from_now()` later, or assert more often"
                )
            return
        lines = [f"expected every request to succeed, but {len(failed)} of {len(held)} did not", ""]
        shown = failed[-_ROWS:]
        if len(failed) > len(shown):
            lines.append(
                f"  … {wording.count_text(len(failed) - len(shown), 'earlier one')} left out"
            )
        for request, line in zip(
            shown, wording.align([wording.exchange_row(r) for r in shown]), strict=True
        ):
            lines += [line, *(f"      {sentence}" for sentence in request.why)]
        raise AssertionError("\n".join(lines))

    def _table(self, held: list[RecordedRequest], lost: int, marked: set[int]) -> list[str]:
        if not held:
            return [f"no request has reached this world; its base URL is {self._emulator.base_url}"]
        lines = [f"made in world {self._emulator.name}{', > are those counted' if marked else ''}:"]
        shown = held[-_ROWS:]
        if left_out := len(held) - len(shown) + lost:
            lines.append(f"    … {wording.count_text(left_out, 'earlier request')} left out")
        rows = []
        for request in shown:
            number, *rest = wording.exchange_row(request)
            key = f"key {request.idempotency_key}" if request.idempotency_key else ""
            rows.append([f"  {'>' if request.n in marked else ' '}{number[1:]}", *rest, key])
        return [*lines, *wording.align(rows)]

    def _read(self) -> tuple[list[RecordedRequest], int]:
        """Return what the log holds, and how many older ones have left it."""
        return self._read_page()[1:]

    def _read_page(self) -> tuple[messages.RequestPage, list[RecordedRequest], int]:
        """Return a page of the whole log, the requests in it, and how many older ones have left it."""
        page = self.page(limit=CAPACITY, trail=False)
        after = self._offset(page)
        held = [
            RecordedRequest(**asdict(exchange), _fetch_whole=self.whole)
            for exchange in reversed(page.items)
            if exchange.n > after
        ]
        full = len(page.items) == CAPACITY
        return page, held, max(0, page.total - after - len(held)) if full else 0


class RequestMatcher:
    """A call and filters. Raises ImpossibleFilter for a value that no request can have."""

    def __init__(self, call: TextFilter | None, filters: Filters, world: HostingEmulator) -> None:
        # Only once somebody filters.
        from hosting_emulator.criteria import request_filters as criteria

        known, fields = Filters.__annotations__, dict(filters)
        for name in fields.keys() - known.keys():
            raise TypeError(wording.unknown("filter", name, known))
        # A filter of None is as if not given, so that a test may hand one through.
        given: dict[str, Any] = {n: fields[n] for n in known if fields.get(n) is not None}
        self._world = world
        self._aliases = {"user": world.users, "project": world.projects}
        for name, aliases in self._aliases.items():
            if isinstance(given.get(name), str):
                given[name] = _id_named(name, aliases, given[name])
        if "operation" in given:
            given["operation"] = _operation_ids(given["operation"])
        if call is not None:
            given = {"call": _call_filter(call)} | given
        names = [[*aliases, *aliases.values()] for aliases in self._aliases.values()]
        self._kinds = criteria.request_filters(*names)
        self.given = {name: _plain(value) for name, value in given.items()}
        self._check()

    def _check(self) -> None:
        from hosting_emulator.criteria.checks import check
        from hosting_emulator.criteria.value_types import Impossible

        try:
            for name, value in self.given.items():
                check(self._kinds[name], value, (name,))
        except Impossible as error:
            where = ".".join(map(str, error.path))
            raise ImpossibleFilter(f"{where} can never match: {error}") from None

    def check_operations(self, held: Iterable[RecordedRequest]) -> None:
        """Raise ImpossibleFilter for the id of an operation that never was in the world."""
        missing = {id_ for id_ in _texts_in(self.given.get("operation")) if id_.isalnum()}
        for id_ in missing - {request.operation for request in held}:
            try:
                self._world.why(id_)
            except ControlRefused as refused:
                if refused.status == 404:
                    raise ImpossibleFilter(f"there is no operation {id_}") from None
                raise

    def misses(self, request: RecordedRequest) -> list[str]:
        """Return the filters that a request does not match."""
        from hosting_emulator.criteria.comparisons import match

        kinds, view = self._kinds, _view(request, self._aliases["project"])
        return [
            name
            for name, value in self.given.items()
            if match(kinds[name], value, view[name]) is not True
        ]

    def differs(self, request: RecordedRequest, name: str) -> str:
        """Say what a request has at the filter `name`, where it does not fit."""
        value = _value(request, name)
        if name == "call":
            return f"calls {value}" if value else "matches no call of the API"
        if name == "user":
            made = f"made by {request.user}" if request.user else ""
            return f"was {made or 'refused before its user was known'}"
        if name == "project":
            return f"was about {self._aliases[name].alias_of(value)}"
        if name == "status":
            text = wording.response_text(request)
            return f"got {text}" if value else f"was {text}"
        if name in _FLAGS:
            return f"was {'' if value else 'not '}{_FLAGS[name]}"
        return "had no key" if name == "key" and not value else f"had the {name} {value}"

    def text(self) -> str:
        """Say which requests are meant."""
        words = [_in_words(self.given.get("call", "a request"))]
        for name, value in self.given.items():
            if name in self._aliases:
                alias = self._aliases[name].alias_of(value) if isinstance(value, str) else value
                words.append(f"{'by' if name == 'user' else 'of'} {_in_words(alias)}")
            elif name in _FLAGS:
                words.append(f"that was {'' if value else 'not '}{_FLAGS[name]}")
            elif name != "call":
                words.append(f"with the {name} {_in_words(value)}")
        return " ".join(words)


def known_call(name: str | None) -> str | None:
    """Return the call_id of the call that `name` is, or None. Raises ValueError, naming the nearest."""
    if name is not None:
        # Only once somebody names a call.
        from hosting_emulator.contract.calls import ALL_CALLS, call_named

        name, names = call_named(name), (*ALL_CALLS, "redeem_ticket")
        if name not in names:
            raise ValueError(wording.unknown("call", name, names))
    return name


def _value(request: RecordedRequest, name: str) -> Any:
    has = getattr(request, {"user": "principal", "key": "idempotency_key"}.get(name, name))
    return bool(has) if name in _FLAGS else has


def _view(request: RecordedRequest, projects: wording.Aliases) -> dict[str, Any]:
    """Return what filters compare of a request: users and projects by their ids and aliases."""
    project = request.project
    alias = projects.alias_of(project) if project else None
    names = {"user": (request.principal, request.user), "project": (project, alias)}
    view: dict[str, Any] = {n: tuple(filter(None, found)) or None for n, found in names.items()}
    view |= {name: getattr(request, name) for name in ("call", "method", "path", "operation")}
    view |= {name: getattr(request, name) for name in ("status", "code", "lost")}
    flags = {"replayed": bool(request.replayed), "failed": bool(request.failed)}
    return view | flags | {"key": request.idempotency_key}


def _call_filter(call: TextFilter) -> Any:
    """Return the call_id of a named call. Raises ValueError, naming the nearest."""
    if not isinstance(call, str) or call == "none" or _is_open(call):
        return call
    return known_call(call)


def _id_named(name: str, aliases: wording.Aliases, value: str) -> str:
    """Return the id for an alias. Raises UnknownFilterName."""
    if _is_open(value) or (name == "user" and value == "nobody"):
        return value
    try:
        return aliases.id_of(value)
    except wording.NoSuchName as error:
        raise UnknownFilterName(str(error)) from None


def _is_open(value: str) -> bool:
    """Tell whether a text means any value, or is a regular expression."""
    return value == "*" or (len(value) > 2 and value[0] == value[-1] == "/")


def _operation_ids(value: Any) -> Any:
    """Return a filter with the id of an operation in the place of each operation's document."""
    if isinstance(value, Mapping):
        id_ = value.get("id")
        if isinstance(id_, str):
            return id_
        return {name: _operation_ids(inner) for name, inner in value.items()}
    if _is_collection(value):
        return [_operation_ids(item) for item in value]
    return value


def _is_collection(value: Any) -> bool:
    """Tell whether a value holds alternatives."""
    return isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping)


def _texts_in(value: Any) -> Iterator[str]:
    """Yield every text in a filter."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts_in(inner)
    elif isinstance(value, list):
        for item in value:
            yield from _texts_in(item)


def _in_words(value: Any) -> str:
    """Write a wanted value into a sentence."""
    return " or ".join(map(str, value)) if isinstance(value, list) else str(value)


def _plain(value: Any) -> Any:
    """Return a value with every collection as a list."""
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    if _is_collection(value):
        return [_plain(item) for item in value]
    return value


def _check_count(name: str, count: object) -> None:
    """Raise ImpossibleFilter for a count that is no whole number of 0 or more."""
    is_count = isinstance(count, int) and not isinstance(count, bool) and count >= 0
    if count is not None and not is_count:
        raise ImpossibleFilter(f"{name} must be a whole number of 0 or more, not {count!r}")


def _times_text(least: int | None, most: int | None) -> str:
    if most == 0:
        return "not to be made"
    if most is None:
        return f"to be made{'' if least == 1 else f' at least {_often(least)}'}"
    if least == most:
        return f"to be made {_often(most)}"
    return f"to be made {f'{least} to {most} times' if least else f'at most {_often(most)}'}"


def _nearest(meant: RequestMatcher, held: Sequence[RecordedRequest]) -> list[str]:
    # Nobody is near who shares nothing with what is meant, but for a call that was misspelt.
    ranked = [
        (len(misses) + ("call" in misses), request, misses)
        for request in held
        if (misses := meant.misses(request))
        and (len(misses) < len(meant.given) or ("call" in misses and request.call is None))
    ]
    if not ranked:
        return []
    least = min(far for far, _, _ in ranked)
    nearest = [(request, misses) for far, request, misses in ranked if far == least]
    lines = ["", "nearest:"]
    for request, misses in nearest[-_NEAREST:]:
        differs = ", and ".join(meant.differs(request, name) for name in misses)
        why = f" ({'; '.join(request.why)})" if request.failed and request.why else ""
        lines.append(f"  #{request.n} {differs}{why}")
    return lines


def _often(times: int | None) -> str:
    return {1: "once", 2: "twice"}.get(times or 0, f"{times:,} times")


class WorldConduct(InWorld):
    """What the client of a world did that the real service would not bear, by the emulator's rules.

    `skip_rules` are ids of rules that do not count; one that does not exist is a ControlRefused.
    """

    def read(
        self, *, skip_rules: Collection[str] = (), final: bool = False
    ) -> messages.ConductReport:
        """Read what was found by now, of any severity; with `final` as for `findings`."""
        rules = skip_rules if isinstance(skip_rules, str) else ",".join(skip_rules)
        query = {"skip_rules": rules or None, "final": "true" if final else None}
        return self._fetch(messages.ConductReport, "GET", "conduct", **query)

    def findings(
        self,
        *,
        skip_rules: Collection[str] = (),
        at_least: messages.Severity = "note",
        final: bool = True,
    ) -> list[messages.ConductFinding]:
        """Return what was found, in order; if `final`, also operations that were not followed."""
        return wording.of_severity(self.read(skip_rules=skip_rules, final=final), at_least).findings

    def report(
        self,
        *,
        skip_rules: Collection[str] = (),
        at_least: messages.Severity = "note",
        final: bool = True,
    ) -> str:
        """Tell what was found: each rule with its requests, why it matters and what to do instead."""
        return wording.conduct_text(
            wording.of_severity(self.read(skip_rules=skip_rules, final=final), at_least)
        )

    def assert_clean(
        self,
        *,
        skip_rules: Collection[str] = (),
        at_least: messages.Severity = "warning",
        final: bool = True,
    ) -> None:
        """Assert that nothing was found of `at_least` this severity. The AssertionError tells all."""
        __tracebackhide__ = True  # pytest then shows the test's own line
        report = wording.of_severity(self.read(skip_rules=skip_rules, final=final), at_least)
        if report.findings:
            raise AssertionError(
                f"{wording.headline(report.findings)}\n\n{wording.conduct_text(report)}"
            )
