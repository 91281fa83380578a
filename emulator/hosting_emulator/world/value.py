"""The world as a value, the change a call makes to it, and the indexes that follow its tables.

A `World` never changes. A call writes into a `Change`, which reads through to its world; applying
the change gives the next world. Dropping it instead leaves nothing behind: that is why a refused or
failing call cannot alter anything, and why fork, snapshot and reset are a reference.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple, TypeAlias, TypeVar, cast

import msgspec
from msgspec.structs import replace
from rpds import HashTrieMap

from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.world import records as r
from hosting_emulator.world import tables as t

R = TypeVar("R")
#: What a change did, by table and key; None says the row was deleted.
Writes = Mapping[str, Mapping[str, Any]]
#: What is due, in order: (due_ms, sequence, key). A tuple is quick enough: one that waits more costs
#: 0.2 µs where ten wait, 12 µs where a thousand do; each project makes at most two wait.
Schedule: TypeAlias = tuple[tuple[int, int, str], ...]
#: Ways to find records that are worked out from the tables and never stored, in one map. Its keys begin
#: with the name of the index: `project:<alias>`, `dev:<label>`, `organization:<alias>`,
#: `user:<alias>`, `api_key:<digest>`, `ticket:<digest>`, `session:<digest>` (of a dev origin's cookie),
#: `last_ticket:<principal>` and `deployments:<project>`.
Indexes: TypeAlias = "HashTrieMap[str, Any]"
EMPTY: HashTrieMap[str, Any] = HashTrieMap()
#: The rows of a table by their keys. So few are a dict, which nobody writes in: to copy it costs a third
#: of what an insert costs, and to look into it a fifth.
Rows: TypeAlias = "dict[str, Any] | HashTrieMap[str, Any]"
_SMALL = 32
#: Rows that every request looks at, by the field of the world that has them at hand.
_ONLY_ROWS = {
    t.ASSUMPTIONS.name: "assumptions",
    t.CLOCK.name: "clock",
    t.VARIATION.name: "variation",
}


class AnswerQueue(NamedTuple):
    """Answers that expire, in the order they were remembered: (key, record) by number, `first` to `last`.

    One whose key was deleted or remembered anew stays until it comes to the front: the first is always
    one that is there. (A look at the first of a Queue of rpds can be a walk through all of it.)
    """

    first: int = 0
    last: int = 0
    entries: HashTrieMap[int, tuple[str, r.RememberedAnswer]] = HashTrieMap()


class World(msgspec.Struct, frozen=True, gc=False):
    """One isolated simulated hosting service. `commit` counts its accepted changes.

    `seed` and `name` give its random streams and signing key; `at_ms` is the latest moment of world
    time anything in it happened. `assumptions` and `clock` are rows that every request looks at;
    `has_faults` says whether there is any fault or timeline that it must ask, `variation` how its
    answers are varied, if they are.
    """

    name: str
    seed: str
    commit: int
    at_ms: int
    tables: Mapping[str, Rows]
    indexes: Indexes
    schedule: Schedule
    remembered: AnswerQueue
    assumptions: Assumptions
    clock: r.ClockRecord
    has_faults: bool = False
    variation: r.Variation | None = None

    def get(self, table: t.Table[R], key: str) -> R | None:
        """Return a row, or None."""
        return self.tables[table.name].get(key)

    def rows(self, table: t.Table[R]) -> Iterator[tuple[str, R]]:
        """Walk a table, in no particular order."""
        return iter(self.tables[table.name].items())

    def count(self, table: t.Table[Any]) -> int:
        """Return how many rows a table has."""
        return len(self.tables[table.name])

    @property
    def next_due_ms(self) -> int | None:
        """When the next scheduled event is due; None when nothing is scheduled."""
        return self.schedule[0][0] if self.schedule else None

    def remembered_in_order(self) -> Iterator[str]:
        """Walk the storage keys of the answers that expire, the one remembered longest first."""
        rows, (first, last, entries) = self.tables[t.REMEMBERED.name], self.remembered
        ordered = (entries[number] for number in range(first, last))
        return (key for key, record in ordered if rows.get(key) is record)


def empty_world(name: str, seed: str) -> World:
    """Return a world without any row, not even those it cannot be without: CLOCK, ASSUMPTIONS, ORIGIN."""
    tables: dict[str, Rows] = {table: {} for table in t.TABLES}
    clock = r.ClockRecord(mode="frozen", world_ms=0, machine_ms=0)
    return World(name, seed, 0, 0, tables, EMPTY, (), AnswerQueue(), Assumptions(), clock)


def apply(world: World, writes: Writes, *, commit: int, at_ms: int) -> World:
    """Return the world after some writes. The only place where tables, indexes and schedule move."""
    tables, only = dict(world.tables), dict[str, Any]()
    indexes, schedule, remembered = world.indexes, world.schedule, world.remembered
    for name, rows in writes.items():
        before, indexed = tables[name], name in _INDEXED
        table = dict(before) if isinstance(before, dict) else before
        for key, new in rows.items():
            if indexed:
                indexes = index(indexes, name, key, before.get(key), new)
            if not isinstance(table, dict):
                table = table.discard(key) if new is None else table.insert(key, new)
            elif new is not None:
                table[key] = new
            else:
                table.pop(key, None)
        if isinstance(table, dict) and len(table) > _SMALL:
            table = HashTrieMap(table)
        tables[name] = table
        if name == t.SCHEDULE.name:
            for key, event in rows.items():
                schedule = _rescheduled(schedule, key, before.get(key), event)
        elif name == t.REMEMBERED.name:
            first, last, entries = remembered
            for key, record in rows.items():
                if record is not None and record.expires_ms is not None:
                    entries, last = entries.insert(last, (key, record)), last + 1
            while first < last and table.get(entries[first][0]) is not entries[first][1]:
                entries, first = entries.discard(first), first + 1
            if entries is not remembered.entries:
                remembered = AnswerQueue(first, last, entries)
        elif name in _ONLY_ROWS:
            only[_ONLY_ROWS[name]] = table.get(t.ONLY)
    return replace(
        world,
        commit=commit,
        at_ms=at_ms,
        tables=tables,
        indexes=indexes,
        schedule=schedule,
        remembered=remembered,
        has_faults=bool(tables[t.FAULTS.name] or tables[t.TIMELINE.name]),
        **only,
    )


def _rescheduled(
    schedule: Schedule, key: str, old: r.ScheduledEvent | None, new: r.ScheduledEvent | None
) -> Schedule:
    if old is not None:
        place = bisect_left(schedule, (old.due_ms, old.sequence, key))
        schedule = schedule[:place] + schedule[place + 1 :]
    if new is not None:
        item = (new.due_ms, new.sequence, key)
        place = bisect_left(schedule, item)
        schedule = (*schedule[:place], item, *schedule[place:])
    return schedule


class Transition(NamedTuple):
    """A state, phase or standstill that an operation entered, and when."""

    at_ms: int
    operation: r.Operation


class Change:
    """What a call, or a run of due events, is about to do; `entered`: what its operations went through."""

    __slots__ = ("_schedule", "assumptions", "entered", "now_ms", "world", "writes")

    def __init__(self, world: World, now_ms: int) -> None:
        self.world = world
        self.now_ms = now_ms
        self.writes: dict[str, dict[str, Any]] = {}
        self.entered: list[Transition] = []
        self.assumptions = world.assumptions
        self._schedule = world.schedule

    def get(self, table: t.Table[R], key: str) -> R | None:
        """Return a row as it stands in this change, or None."""
        rows = self.writes.get(table.name)
        if rows is not None and key in rows:
            found: R | None = rows[key]
            return found
        return self.world.tables[table.name].get(key)

    def row(self, table: t.Table[R], key: str) -> R:
        """Return a row that must be there. Raises KeyError: a broken link between records."""
        found = self.get(table, key)
        if found is None:
            raise KeyError(f"{table.name} has no {key}")
        return found

    def put(self, table: t.Table[R], key: str, record: R) -> None:
        """Write a row."""
        if table is t.OPERATIONS:
            old, operation = self.get(t.OPERATIONS, key), cast("r.Operation", record)
            if old is None or standing(old) != standing(operation):
                self.entered.append(Transition(self.now_ms, operation))
        elif table is t.SCHEDULE:
            event = cast("r.ScheduledEvent", record)
            self._schedule = _rescheduled(self._schedule, key, self.get(t.SCHEDULE, key), event)
        self.writes.setdefault(table.name, {})[key] = record

    def delete(self, table: t.Table[Any], key: str) -> None:
        """Delete a row; a row that is not there is no error."""
        if table is t.SCHEDULE:
            self._schedule = _rescheduled(self._schedule, key, self.get(t.SCHEDULE, key), None)
        rows = self.writes.setdefault(table.name, {})
        if self.world.get(table, key) is None:
            rows.pop(key, None)
        else:
            rows[key] = None

    def fork(self) -> Change:
        """Return a change that goes on from this one, to be taken back into it or dropped."""
        copy = Change(self.world, self.now_ms)
        copy.writes = {name: dict(rows) for name, rows in self.writes.items()}
        copy.entered = list(self.entered)
        copy._schedule = self._schedule
        return copy

    def take(self, other: Change) -> None:
        """Take over what a fork of this change has done."""
        self.writes, self.entered, self._schedule = other.writes, other.entered, other._schedule

    def next_due(self, until_ms: int) -> str | None:
        """Return the key of the next event due by `until_ms`, as the schedule stands in this change."""
        due = self._schedule and self._schedule[0][0] <= until_ms
        return self._schedule[0][2] if due else None

    @property
    def empty(self) -> bool:
        """True when nothing was written."""
        return not any(self.writes.values())

    def applied(self) -> World:
        """Return the next world, one commit on."""
        world, at_ms = self.world, max(self.world.at_ms, self.now_ms)
        return apply(world, self.writes, commit=world.commit + 1, at_ms=at_ms)


def standing(operation: r.Operation) -> tuple[str, str, bool]:
    """Return what tells where an operation stands: its state, its phase, and whether it is stuck."""
    return operation.state, operation.phase, operation.stuck


# --- Indexes -------------------------------------------------------------------------------------

#: Which fields find a row, each by the name of its index.
_FIELDS = {
    t.API_KEYS.name: {"api_key": "digest"},
    t.TICKETS.name: {"ticket": "digest", "session": "session_digest"},
    t.PROJECTS.name: {"project": "alias", "dev": "dev_label"},
    t.ORGANIZATIONS.name: {"organization": "alias"},
    t.USERS.name: {"user": "alias"},
}
_INDEXED = frozenset((*_FIELDS, t.DEPLOYMENTS.name))


def index(indexes: Indexes, table: str, key: str, old: Any, new: Any) -> Indexes:
    """Return the indexes after a row has changed; None: there was, or is, no row."""
    if table == t.DEPLOYMENTS.name:
        # A deployment is never deleted: its place in the list is what cursors name.
        return indexes if new is None else _listed(indexes, key, old, new)
    for name, field in _FIELDS[table].items():
        before, after = getattr(old, field, None), getattr(new, field, None)
        if before == after:
            continue
        if before is not None:
            indexes = indexes.discard(f"{name}:{before}")
        if after is not None:
            indexes = indexes.insert(f"{name}:{after}", key)
    if table == t.TICKETS.name and old is None and new is not None:
        last = f"last_ticket:{new.principal}"
        # Ids sort as they were made; rows that are read again may come in any order.
        if key > indexes.get(last, ""):
            return indexes.insert(last, key)
    return indexes


#: Deployments are listed in runs of this many: a change copies one run, a page reads two or three.
#: One tuple for each project would be simpler, but a new deployment among a million would then take
#: 10 ms, where it takes 1 µs, and the benchmark of a million holds each call to 1.2 times its cost.
#: Under `deployments:<project>` stands how many there are, behind it with `:<number>` each run.
RUN = 32
Run: TypeAlias = tuple[r.Deployment, ...]


def _listed(indexes: Indexes, key: str, old: Any, new: r.Deployment) -> Indexes:
    name = f"deployments:{new.project_id}"
    total = indexes.get(name, 0)
    if old is None:
        last = f"{name}:{total // RUN}"
        return indexes.insert(name, total + 1).insert(last, (*indexes.get(last, ()), new))
    runs = range((total + RUN - 1) // RUN)
    likely = runs[-1]  # or else where ids have it: rows that are read again may come in any order
    if new.id < indexes[f"{name}:{likely}"][0].id:
        likely = bisect_right(runs, new.id, key=lambda run: indexes[f"{name}:{run}"][0].id) - 1
    for number in chain([max(likely, 0)], reversed(runs)):
        run = indexes[f"{name}:{number}"]
        for place, deployment in enumerate(run):
            if deployment.id == new.id:
                changed = (*run[:place], new, *run[place + 1 :])
                return indexes.insert(f"{name}:{number}", changed)
    raise LookupError(f"deployment {key} is in no list")


def deployment_count(indexes: Indexes, project_id: str) -> int:
    """Return how many deployments a project has had."""
    return int(indexes.get(f"deployments:{project_id}", 0))


def deployment_runs(indexes: Indexes, project_id: str, start: int, stop: int) -> list[Run]:
    """Return the runs that hold a project's deployments from number `start` up to `stop`."""
    name = f"deployments:{project_id}"
    return [indexes.get(f"{name}:{n}", ()) for n in range(start // RUN, (stop + RUN - 1) // RUN)]


def newest_deployments(world: World, project_id: str, most: int) -> list[r.Deployment]:
    """Return a project's last deployments, newest first."""
    count = deployment_count(world.indexes, project_id)
    start = max(0, count - most)
    return in_runs(deployment_runs(world.indexes, project_id, start, count), start, count)[::-1]


def in_runs(runs: list[Run], start: int, stop: int) -> list[r.Deployment]:
    """Return the deployments from number `start` up to `stop`, oldest first, of those runs."""
    deployments = [deployment for run in runs for deployment in run]
    skipped = start // RUN * RUN
    return deployments[start - skipped : stop - skipped]
