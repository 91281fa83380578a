"""Collects the requests and manual changes of a world, except those that a rewind undid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import Entry
from hosting_emulator.engine.history import Commit
from hosting_emulator.scenario.recording.refusals import NotRecordable
from hosting_emulator.world.value import World

_COMMIT_PREFIX = "commit:"
_MOST_DIGITS = 9


@dataclass(frozen=True, slots=True)
class SessionEvent:
    """A request or a manual change, with the world time at which it happened.

    `before` is the world before the event. If `is_uncounted` is true, the request only counted
    toward faults and the rate limit, and a rewind undid this.
    """

    title: str
    at_ms: int
    before: World
    first_commit: int
    last_commit: int
    #: The request, or None for a manual change.
    entry: Entry | None = None
    #: The manual change, or None for a request.
    commit: Commit | None = None
    is_uncounted: bool = False

    @property
    def request_number(self) -> int | None:
        """The number of the request in the request log, or None for a manual change."""
        return None if self.entry is None else self.entry.n

    @property
    def order(self) -> tuple[int, int]:
        """The sort key of the event.

        A request is sorted after the latest commit that was made before the request was handled.
        """
        if self.entry is None:
            return self.first_commit, 0
        return self.entry.world.commit, self.entry.n


@dataclass(frozen=True, slots=True)
class Session:
    """A world's events in order, from its state `base` to its current state `world`.

    If the request log and the history are complete, `base` is the world's initial state. Otherwise
    it is the earliest state since which all events are known. `dropped_requests` is the number of
    earlier requests, which the request log no longer contains.
    """

    world: World
    base: World
    events: list[SessionEvent]
    dropped_requests: int = 0

    def span(self, first: str | None, last: str | None) -> range:
        """Return the indexes of the events in a span.

        `first` and `last` are each the number of a request (`12`) or of a commit (`commit:40`).
        Raises NotRecordable if the span is empty.
        """
        start = 0
        stop = len(self.events)
        if first is not None:
            start = self._start_index(first)
        if last is not None:
            stop = self._stop_index(last)
        if start >= stop:
            raise NotRecordable("this span has no requests and no manual changes")
        return range(start, stop)

    def _start_index(self, first: str) -> int:
        limit = _read_limit(first, "first")
        for index, event in enumerate(self.events):
            if limit.is_commit:
                is_inside = event.last_commit >= limit.number
            else:
                is_inside = event.request_number == limit.number
            if is_inside:
                return index
        raise self._nothing_at(first)

    def _stop_index(self, last: str) -> int:
        limit = _read_limit(last, "last")
        for index, event in reversed(list(enumerate(self.events))):
            if limit.is_commit:
                is_inside = event.first_commit <= limit.number
            else:
                is_inside = event.request_number == limit.number
            if is_inside:
                return index + 1
        raise self._nothing_at(last)

    def _nothing_at(self, limit: str) -> NotRecordable:
        numbers = [event.request_number for event in self.events if event.entry is not None]
        available = "no request"
        if numbers:
            available = f"requests {numbers[0]} to {numbers[-1]}"
        return NotRecordable(f"there is nothing at {limit}: the session has {available}")


@dataclass(frozen=True, slots=True)
class _Limit:
    """The first or last event of a span, given as the number of a request or of a commit."""

    number: int
    is_commit: bool


def _read_limit(text: str, name: str) -> _Limit:
    number = text.removeprefix(_COMMIT_PREFIX)
    if not number.isascii() or not number.isdigit() or len(number) > _MOST_DIGITS:
        raise NotRecordable(
            f"{name} must be the number of a request (12) or of a commit (commit:40)"
        )
    return _Limit(int(number), number != text)


class _Lineage:
    """The commits in the history that led to the world's current state, oldest first."""

    def __init__(self, engine: Engine) -> None:
        self.commits = _lineage_commits(engine)
        oldest = self.commits[0]
        self.base = oldest.before if oldest.writes else oldest.world
        self.numbers = {self.base.commit, *(commit.number for commit in self.commits)}
        restored_states = [commit.restored for commit in self.commits if commit.restored]
        #: For each restored state, the time at which it was saved, by the state's commit number.
        self.saved_ms = {state.world.commit: state.at_ms for state in restored_states}
        self._all_commits: Mapping[int, Commit] = {
            commit.number: commit for commit in engine.history
        }

    def equal_state(self, number: int) -> int | None:
        """Return the number of a commit in this lineage that has the same state as commit `number`.

        A commit that only counts requests has the same state as the previous one. Returns None if
        there is no such commit in the lineage.
        """
        while number not in self.numbers:
            commit = self._all_commits.get(number)
            if commit is None or commit.is_listed:
                return None
            number = commit.before.commit
        return number


def _lineage_commits(engine: Engine) -> list[Commit]:
    # If several commits have the same number, keep the oldest, which comes last in this order.
    commits = {commit.number: commit for commit in reversed(engine.history)}
    beginnings = [
        number for number, commit in commits.items() if not commit.writes and not commit.restored
    ]
    first_number = max(beginnings, default=0)
    lineage: list[Commit] = []
    number = engine.world.commit
    while number >= first_number and number in commits:
        commit = commits[number]
        lineage.append(commit)
        previous = commit.restored.world if commit.restored else commit.before
        if previous.commit == commit.number:
            break
        number = previous.commit
    lineage.reverse()
    return lineage


def session_of(engine: Engine) -> Session:
    """Return a world's session, without the events that a rewind undid.

    Raises NotRecordable if the world was rewound to the middle of a request.
    """
    engine.run_due()
    lineage = _Lineage(engine)
    requests = list(_request_events(engine, lineage))
    base = lineage.base
    dropped_requests = engine.log.count - len(engine.log)
    if requests and dropped_requests:
        # The log has dropped earlier requests, so the session must start with the earliest
        # remaining request. Take the minimum, because a delayed request may have been handled in a
        # later world.
        base = min((event.before for event in requests), key=lambda world: world.commit)
    manual_changes = _manual_change_events(lineage, base)
    events = sorted([*requests, *manual_changes], key=lambda event: event.order)
    return Session(engine.world, base, events, dropped_requests)


def _request_events(engine: Engine, lineage: _Lineage) -> Iterator[SessionEvent]:
    for entry in engine.log.after(0):
        if entry.second_delivery_of:
            continue  # the recorded fault will deliver the request again
        event = _request_event(entry, lineage)
        if event is not None:
            yield event


def _request_event(entry: Entry, lineage: _Lineage) -> SessionEvent | None:
    """Return the event for a request, or None if a rewind undid the request."""
    are_present = [commit.number in lineage.numbers for commit in entry.commits]
    has_changed_world = any(commit.is_listed for commit in entry.commits)
    if has_changed_world and are_present[0] and not are_present[-1]:
        raise NotRecordable(f"the world was rewound to the middle of request {entry.n}")
    state = lineage.equal_state(entry.world.commit)
    if state is None:
        return None
    if not all(are_present) and has_changed_world:
        return None
    if not any(are_present) and entry.at_ms > lineage.saved_ms.get(state, entry.at_ms):
        return None  # the world was restored to a state from before this request
    numbers = [commit.number for commit in entry.commits] or [entry.world.commit]
    return SessionEvent(
        title=f"request {entry.n} ({entry.method} {entry.call or 'no call'})",
        at_ms=entry.at_ms,
        before=entry.world,
        first_commit=numbers[0],
        last_commit=numbers[-1],
        entry=entry,
        is_uncounted=not all(are_present),
    )


def _manual_change_events(lineage: _Lineage, base: World) -> Iterator[SessionEvent]:
    for commit in lineage.commits:
        if commit.manual_change is not None and commit.number > base.commit:
            yield SessionEvent(
                title=f"commit {commit.number} ({commit.title})",
                at_ms=commit.world.at_ms,
                before=commit.before,
                first_commit=commit.number,
                last_commit=commit.number,
                commit=commit,
            )
