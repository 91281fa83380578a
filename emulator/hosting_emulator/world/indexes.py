"""Indexes: ways to find records that are worked out from the tables and never stored.

`index(indexes, table, old, new)` is told each change of a row and returns the new indexes. One
persistent map holds them all; its keys begin with the name of the index.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

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
#: Deployment ids are listed in runs of this many: adding one copies one run, reading a page two.
RUN = 32


def index(indexes: Indexes, table: str, key: str, old: Any, new: Any) -> Indexes:
    """Return the indexes after row `key` of `table` went from `old` to `new` (None: no row)."""
    indexer = _INDEXERS.get(table)
    return indexer(indexes, key, old, new) if indexer else indexes


def _deployment(indexes: Indexes, key: str, old: Any, new: r.Deployment | None) -> Indexes:
    if old is not None or new is None:
        return indexes
    count = indexes.get(f"deployments:{new.project_id}", 0)
    run_key = f"deployments:{new.project_id}:{count // RUN}"
    return indexes.insert(run_key, (*indexes.get(run_key, ()), key)).insert(
        f"deployments:{new.project_id}", count + 1
    )


def deployment_count(indexes: Indexes, project_id: str) -> int:
    """Return how many deployments a project has had."""
    return int(indexes.get(f"deployments:{project_id}", 0))


def deployment_ids(indexes: Indexes, project_id: str, start: int, stop: int) -> list[str]:
    """Return the ids of a project's deployments, oldest first, from number `start` up to `stop`."""
    found: list[str] = []
    for run in range(start // RUN, (stop + RUN - 1) // RUN):
        found.extend(indexes.get(f"deployments:{project_id}:{run}", ()))
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


def _remembered(indexes: Indexes, key: str, old: Any, new: r.Remembered | None) -> Indexes:
    """Keep the order in which answers were remembered, so that the oldest can be forgotten."""
    first, last = indexes.get("remembered", (0, 0))
    if new is not None:
        if old is not None:
            return indexes
        return indexes.insert(f"remembered:{last}", key).insert("remembered", (first, last + 1))
    while first < last and indexes.get(f"remembered:{first}") == key:
        indexes = indexes.discard(f"remembered:{first}")
        first += 1
    return indexes.insert("remembered", (first, last))


def oldest_remembered(indexes: Indexes) -> str | None:
    """Return the storage key of the answer remembered longest; None when there is none."""
    first, last = indexes.get("remembered", (0, 0))
    return indexes.get(f"remembered:{first}") if first < last else None


_INDEXERS: dict[str, Callable[[Indexes, str, Any, Any], Indexes]] = {
    DEPLOYMENTS.name: _deployment,
    API_KEYS.name: _api_key,
    TICKETS.name: _ticket,
    PROJECTS.name: _project,
    ORGANIZATIONS.name: _alias("organization"),
    PEOPLE.name: _alias("person"),
    REMEMBERED.name: _remembered,
}
