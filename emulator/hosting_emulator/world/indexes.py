"""Indexes: ways to find records that are worked out from the tables and never stored.

`index(indexes, table, old, new)` is told each change of a row and returns the new indexes. One
persistent map holds them all; its keys begin with the name of the index.
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


def index(indexes: Indexes, table: str, key: str, old: Any, new: Any) -> Indexes:
    """Return the indexes after row `key` of `table` went from `old` to `new` (None: no row)."""
    indexer = _INDEXERS.get(table)
    return indexer(indexes, key, old, new) if indexer else indexes


def _deployment(indexes: Indexes, key: str, old: Any, new: r.Deployment | None) -> Indexes:
    if new is None:
        return indexes  # a deployment is never deleted: its place in the list is what cursors name
    count_key = f"deployments:{new.project_id}"
    if old is not None:
        run_key, place = indexes[f"deployment:{key}"]
        run = indexes[run_key]
        return indexes.insert(run_key, (*run[:place], new, *run[place + 1 :]))
    count = indexes.get(count_key, 0)
    run_key = f"{count_key}:{count // RUN}"
    return (
        indexes.insert(run_key, (*indexes.get(run_key, ()), new))
        .insert(count_key, count + 1)
        .insert(f"deployment:{key}", (run_key, count % RUN))
    )


def deployment_count(indexes: Indexes, project_id: str) -> int:
    """Return how many deployments a project has had."""
    return int(indexes.get(f"deployments:{project_id}", 0))


def deployment_runs(indexes: Indexes, project_id: str, start: int, stop: int) -> list[Run]:
    """Return the runs that hold a project's deployments from number `start` up to `stop`."""
    return [
        indexes.get(f"deployments:{project_id}:{run}", ())
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
    return indexes.insert(f"ticket:{new.digest}", key).insert(f"last_ticket:{new.principal}", key)


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


_INDEXERS: dict[str, Callable[[Indexes, str, Any, Any], Indexes]] = {
    DEPLOYMENTS.name: _deployment,
    API_KEYS.name: _api_key,
    TICKETS.name: _ticket,
    PROJECTS.name: _project,
    ORGANIZATIONS.name: _alias("organization"),
    PEOPLE.name: _alias("person"),
    REMEMBERED.name: _remembered,
}
