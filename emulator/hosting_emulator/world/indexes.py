"""Indexes: ways to find records that are worked out from the tables and never stored.

`INDEXERS` has, by table, what is told each change of a row and returns the new indexes. One persistent
map holds them all; its keys begin with the name of the index: `project:<alias>`, `dev:<label>`,
`organization:<alias>`, `person:<alias>`, `api_key:<digest>`, `ticket:<digest>`,
`last_ticket:<principal>` and `deployments:<project>`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from rpds import HashTrieMap

from hosting_emulator.world import records as r
from hosting_emulator.world.tables import (
    API_KEYS,
    DEPLOYMENTS,
    ORGANIZATIONS,
    PEOPLE,
    PROJECTS,
    TICKETS,
)

Indexes: TypeAlias = "HashTrieMap[str, Any]"
NO_INDEXES: Indexes = HashTrieMap()
Indexer: TypeAlias = Callable[[Indexes, str, Any, Any], Indexes]
#: Deployments are listed in runs of this many: a change copies one run, a page reads two or three.
#: One tuple for each project would be simpler, but a new deployment among a million would then take
#: 10 ms, where it takes 0.2 µs, and the benchmark of a million holds each call to 1.2 times its cost.
RUN = 32
Run: TypeAlias = tuple[r.Deployment, ...]
#: Which fields find a row, each by the name of its index.
_FIELDS = {
    API_KEYS.name: {"api_key": "digest"},
    TICKETS.name: {"ticket": "digest"},
    PROJECTS.name: {"project": "alias", "dev": "dev_label"},
    ORGANIZATIONS.name: {"organization": "alias"},
    PEOPLE.name: {"person": "alias"},
}


def _by_fields(table: str) -> Indexer:
    fields = list(_FIELDS[table].items())

    def indexer(indexes: Indexes, key: str, old: Any, new: Any) -> Indexes:
        for name, field in fields:
            before, after = getattr(old, field, None), getattr(new, field, None)
            if before == after:
                continue
            if before is not None:
                indexes = indexes.discard(f"{name}:{before}")
            if after is not None:
                indexes = indexes.insert(f"{name}:{after}", key)
        return indexes

    return indexer


_ticket_by_digest = _by_fields(TICKETS.name)


def _ticket(indexes: Indexes, key: str, old: Any, new: r.Ticket | None) -> Indexes:
    indexes = _ticket_by_digest(indexes, key, old, new)
    if old is not None or new is None:
        return indexes
    last = f"last_ticket:{new.holder or new.principal}"
    # Ids sort as they were made; rows that are read again may come in any order.
    return indexes.insert(last, key) if key > indexes.get(last, "") else indexes


class DeploymentList(NamedTuple):
    """A project's deployments: how many, and the newest of them; full runs are put away before it.

    They lie under `deployments:<project>:<number of the run>`. That a new deployment touches this
    one entry is what keeps it as cheap in a large world as in a small one.
    """

    total: int = 0
    tail: Run = ()


_NONE_LISTED = DeploymentList()


def _deployment(indexes: Indexes, key: str, old: Any, new: r.Deployment | None) -> Indexes:
    if new is None:
        return indexes  # a deployment is never deleted: its place in the list is what cursors name
    name = f"deployments:{new.project_id}"
    total, tail = indexes.get(name, _NONE_LISTED)
    if old is None:
        if len(tail) == RUN:
            indexes, tail = indexes.insert(f"{name}:{total // RUN - 1}", tail), ()
        return indexes.insert(name, DeploymentList(total + 1, (*tail, new)))
    if changed := _with(tail, new):
        return indexes.insert(name, DeploymentList(total, changed))
    full = (total - len(tail)) // RUN
    # Where it is if ids sort as they were made; rows that are read again may come in any order.
    likely = bisect_right(range(full), new.id, key=lambda run: indexes[f"{name}:{run}"][0].id) - 1
    for number in (*range(max(likely, 0), full), *range(likely)):
        if changed := _with(indexes[f"{name}:{number}"], new):
            return indexes.insert(f"{name}:{number}", changed)
    raise LookupError(f"deployment {key} is in no list")


def _with(run: Run, new: r.Deployment) -> Run | None:
    """Return a run with a deployment that has changed in its place; None when it is not there."""
    for place in range(len(run) - 1, -1, -1):
        if run[place].id == new.id:
            return (*run[:place], new, *run[place + 1 :])
    return None


def deployment_count(indexes: Indexes, project_id: str) -> int:
    """Return how many deployments a project has had."""
    listed: DeploymentList = indexes.get(f"deployments:{project_id}", _NONE_LISTED)
    return listed.total


def deployment_runs(indexes: Indexes, project_id: str, start: int, stop: int) -> list[Run]:
    """Return the runs that hold a project's deployments from number `start` up to `stop`."""
    name = f"deployments:{project_id}"
    total, tail = indexes.get(name, _NONE_LISTED)
    newest = (total - len(tail)) // RUN
    return [
        tail if run == newest else indexes.get(f"{name}:{run}", ())
        for run in range(start // RUN, (stop + RUN - 1) // RUN)
    ]


def in_runs(runs: list[Run], start: int, stop: int) -> list[r.Deployment]:
    """Return the deployments from number `start` up to `stop`, oldest first, of those runs."""
    deployments = [deployment for run in runs for deployment in run]
    skipped = start // RUN * RUN
    return deployments[start - skipped : stop - skipped]


#: What keeps a table's indexes: given (indexes, key, old row, new row; None: no row).
INDEXERS: dict[str, Indexer] = {
    **{table: _by_fields(table) for table in _FIELDS},
    TICKETS.name: _ticket,
    DEPLOYMENTS.name: _deployment,
}
