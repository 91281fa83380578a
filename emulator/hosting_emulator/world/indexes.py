"""Indexes: ways to find records that are worked out from the tables and never stored.

`indexer_of(table)` is told each change of a row and returns the new indexes. One persistent map
holds them all; its keys begin with the name of the index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

from rpds import HashTrieMap

from hosting_emulator.world import records as r
from hosting_emulator.world.tables import (
    API_KEYS,
    DEPLOYMENTS,
    ORGANIZATIONS,
    PEOPLE,
    PROJECTS,
    REMEMBERED,
    TICKETS,
)

Indexes: TypeAlias = "HashTrieMap[str, Any]"
NO_INDEXES: Indexes = HashTrieMap()
#: Deployments are listed in runs of this many: a change copies one run, a page reads two or three.
RUN = 32
Run: TypeAlias = tuple[r.Deployment, ...]


Indexer: TypeAlias = Callable[[Indexes, str, Any, Any], Indexes]


def indexer_of(table: str) -> Indexer | None:
    """Return what keeps a table's indexes: given (indexes, key, old row, new row; None: no row).

    None for a table without any.
    """
    return _INDEXERS.get(table)


class Listed(NamedTuple):
    """A project's deployments: how many, and the newest of them; full runs are put away before it.

    They lie under `deployments:<project>:<number of the run>`. That a new deployment touches this
    one entry is what keeps it as cheap in a large world as in a small one.
    """

    total: int = 0
    tail: Run = ()


_NONE_LISTED = Listed()


def _deployment(indexes: Indexes, key: str, old: Any, new: r.Deployment | None) -> Indexes:
    if new is None:
        return indexes  # a deployment is never deleted: its place in the list is what cursors name
    name = f"deployments:{new.project_id}"
    listed: Listed = indexes.get(name, _NONE_LISTED)
    if old is not None:
        return _in_its_place(indexes, name, listed, key, new)
    count, tail = listed
    if len(tail) == RUN:
        indexes = indexes.insert(f"{name}:{count // RUN - 1}", tail)
        tail = ()
    return indexes.insert(name, Listed(count + 1, (*tail, new)))


def _in_its_place(
    indexes: Indexes, name: str, listed: Listed, key: str, new: r.Deployment
) -> Indexes:
    """Put a deployment that has changed where it was: nearly always among the newest."""
    count, tail = listed
    place = _place_in(tail, key)
    if place is not None:
        return indexes.insert(name, Listed(count, (*tail[:place], new, *tail[place + 1 :])))
    older = range((count - len(tail)) // RUN - 1, -1, -1)
    for look_at_all in (False, True):  # ids sort as they were made, unless time began before 2025
        for number in older:
            run: Run = indexes[f"{name}:{number}"]
            if not (look_at_all or run[0].id <= key <= run[-1].id):
                continue
            place = _place_in(run, key)
            if place is not None:
                changed = (*run[:place], new, *run[place + 1 :])
                return indexes.insert(f"{name}:{number}", changed)
    raise LookupError(f"deployment {key} is in no list")


def _place_in(run: Run, key: str) -> int | None:
    for place in range(len(run) - 1, -1, -1):
        if run[place].id == key:
            return place
    return None


def deployment_count(indexes: Indexes, project_id: str) -> int:
    """Return how many deployments a project has had."""
    listed: Listed = indexes.get(f"deployments:{project_id}", _NONE_LISTED)
    return listed.total


def deployment_runs(indexes: Indexes, project_id: str, start: int, stop: int) -> list[Run]:
    """Return the runs that hold a project's deployments from number `start` up to `stop`."""
    name = f"deployments:{project_id}"
    count, tail = indexes.get(name, _NONE_LISTED)
    newest = (count - len(tail)) // RUN
    return [
        tail if run == newest else indexes.get(f"{name}:{run}", ())
        for run in range(start // RUN, (stop + RUN - 1) // RUN)
    ]


def in_runs(runs: list[Run], start: int, stop: int) -> list[r.Deployment]:
    """Return the deployments from number `start` up to `stop`, oldest first, of those runs."""
    found = [deployment for run in runs for deployment in run]
    skipped = start // RUN * RUN
    return found[start - skipped : stop - skipped]


def _api_key(indexes: Indexes, key: str, old: Any, new: r.ApiKey | None) -> Indexes:
    if new is None:
        return indexes.discard(f"api_key:{old.digest}")
    return indexes if old is not None else indexes.insert(f"api_key:{new.digest}", key)


def _ticket(indexes: Indexes, key: str, old: Any, new: r.Ticket | None) -> Indexes:
    if new is None:
        return indexes.discard(f"ticket:{old.digest}")
    if old is not None:
        return indexes
    indexes = indexes.insert(f"ticket:{new.digest}", key)
    last = f"last_ticket:{new.principal}"
    # Ids sort as they were made; rows that are read again may come in any order.
    return indexes.insert(last, key) if key > indexes.get(last, "") else indexes


def _alias(name: str) -> Callable[[Indexes, str, Any, Any], Indexes]:
    def indexer(indexes: Indexes, key: str, old: Any, new: Any) -> Indexes:
        if old is not None and (new is None or new.alias != old.alias):
            indexes = indexes.discard(f"{name}:{old.alias}")
        return indexes if new is None else indexes.insert(f"{name}:{new.alias}", key)

    return indexer


_project_alias = _alias("project")


def _project(indexes: Indexes, key: str, old: Any, new: r.Project | None) -> Indexes:
    if new is not None and old is not None and old.alias == new.alias:
        return indexes  # alias and dev label never change apart: the hot path of every mutation
    indexes = _project_alias(indexes, key, old, new)
    if new is None:
        return indexes.discard(f"dev:{old.dev_label}")
    return indexes.insert(f"dev:{new.dev_label}", key)


class Queue(NamedTuple):
    """The order in which answers were remembered: numbers `first` up to `last`, newest in `tail`.

    Full tails are put away as runs under `remembered:<number of the run>`, so that remembering an
    answer touches one small, often used entry however many there are. A key remembered anew has a
    new place; how many old ones to pass over is kept under `remembered_left:<key>`.
    """

    first: int = 0
    last: int = 0
    tail: tuple[str, ...] = ()


_EMPTY_QUEUE = Queue()


def _remembered(indexes: Indexes, key: str, old: Any, new: r.Remembered | None) -> Indexes:
    if old is not None:
        indexes = _left(indexes, key)
    if new is None:
        return indexes
    first, last, tail = indexes.get("remembered", _EMPTY_QUEUE)
    if len(tail) == RUN:
        if first < last:
            indexes = indexes.insert(f"remembered:{last // RUN - 1}", tail)
        tail = ()
    return indexes.insert("remembered", Queue(first, last + 1, (*tail, key)))


def _left(indexes: Indexes, key: str) -> Indexes:
    """Take a key's place out of the queue: at once at the front, else when the front comes there."""
    if oldest_remembered(indexes) != key:
        name = f"remembered_left:{key}"
        return indexes.insert(name, indexes.get(name, 0) + 1)
    indexes = _without_front(indexes)
    while (front := oldest_remembered(indexes)) is not None:
        name = f"remembered_left:{front}"
        places = indexes.get(name)
        if places is None:
            break
        indexes = indexes.discard(name) if places == 1 else indexes.insert(name, places - 1)
        indexes = _without_front(indexes)
    return indexes


def _without_front(indexes: Indexes) -> Indexes:
    queue: Queue = indexes["remembered"]
    first = queue.first + 1
    if first % RUN == 0:
        indexes = indexes.discard(f"remembered:{first // RUN - 1}")
    return indexes.insert("remembered", queue._replace(first=first))


def oldest_remembered(indexes: Indexes) -> str | None:
    """Return the storage key of the answer remembered longest; None when there is none."""
    first, last, tail = indexes.get("remembered", _EMPTY_QUEUE)
    if first == last:
        return None
    tail_start = last - len(tail)
    run = tail if first >= tail_start else indexes[f"remembered:{first // RUN}"]
    place = first - tail_start if first >= tail_start else first % RUN
    found: str = run[place]
    return found


def remembered_in_order(indexes: Indexes) -> Iterator[str]:
    """Walk the storage keys of all remembered answers, the one remembered longest first."""
    first, last, tail = indexes.get("remembered", _EMPTY_QUEUE)
    tail_start = last - len(tail)
    passed: dict[str, int] = {}
    for number in range(first, last):
        run = tail if number >= tail_start else indexes[f"remembered:{number // RUN}"]
        key = run[number - tail_start if number >= tail_start else number % RUN]
        passed[key] = passed.get(key, 0) + 1
        if passed[key] > indexes.get(f"remembered_left:{key}", 0):
            yield key


_INDEXERS: dict[str, Indexer] = {
    DEPLOYMENTS.name: _deployment,
    API_KEYS.name: _api_key,
    TICKETS.name: _ticket,
    PROJECTS.name: _project,
    ORGANIZATIONS.name: _alias("organization"),
    PEOPLE.name: _alias("person"),
    REMEMBERED.name: _remembered,
}
