"""Indexes that find a record by alias, digest or project without scanning the table.

Indexes are derived from the tables and updated with each change. Indexes are never stored.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import chain
from typing import Any, TypeAlias

from rpds import HashTrieMap

from hosting_emulator.world.plans import reacts
from hosting_emulator.world.records import Deployment, Operation
from hosting_emulator.world.tables import (
    API_KEYS,
    DEPLOYMENTS,
    OPERATIONS,
    ORGANIZATIONS,
    PROJECTS,
    TICKETS,
    USERS,
)

#: All indexes, combined in one map. Each key begins with the name of its index: `project:<alias>`,
#: `dev:<label>`, `organization:<alias>`, `user:<alias>`, `api_key:<digest>`, `ticket:<digest>`,
#: `session:<digest>`, `last_ticket:<principal>`, `deployments:<project>` and
#: `removed_deployments:<project>`. The digest in `session:<digest>` is the digest of a dev origin's
#: cookie. The value of `removed_deployments` is the total number of removed deployments in all
#: projects. The value of `reacting` is a set of ids: the operations whose outcomes react to changes
#: in the world.
Indexes: TypeAlias = "HashTrieMap[str, Any]"
NO_INDEXES: Indexes = HashTrieMap()

#: The indexed fields of each table, by the name of the index.
_INDEXED_FIELDS = {
    API_KEYS.name: {"api_key": "digest"},
    TICKETS.name: {"ticket": "digest", "session": "session_digest"},
    PROJECTS.name: {"project": "alias", "dev": "dev_label"},
    ORGANIZATIONS.name: {"organization": "alias"},
    USERS.name: {"user": "alias"},
}
#: The names of the tables that have an index.
INDEXED_TABLES = frozenset([*_INDEXED_FIELDS, DEPLOYMENTS.name, OPERATIONS.name])


def update_indexes(indexes: Indexes, table: str, key: str, old: Any, new: Any) -> Indexes:
    """Return the indexes after a row has changed from `old` to `new`.

    `old` is None for a new row, and `new` is None for a deleted row.
    """
    if table == DEPLOYMENTS.name:
        # A deployment row is never deleted, because cursors contain positions in the list.
        return indexes if new is None else _update_deployments(indexes, key, old, new)
    if table == OPERATIONS.name:
        return _update_reacting(indexes, key, new)
    for name, field in _INDEXED_FIELDS[table].items():
        before = getattr(old, field, None)
        after = getattr(new, field, None)
        if before == after:
            continue
        if before is not None:
            indexes = indexes.discard(f"{name}:{before}")
        if after is not None:
            indexes = indexes.insert(f"{name}:{after}", key)
    if table == TICKETS.name and old is None and new is not None:
        last_ticket = f"last_ticket:{new.principal}"
        # Rows can be read from disk in any order, so compare ids, which sort by creation time.
        if key > indexes.get(last_ticket, ""):
            return indexes.insert(last_ticket, key)
    return indexes


_REACTING = "reacting"
_REMOVED = "removed_deployments"


def _update_reacting(indexes: Indexes, key: str, new: Operation | None) -> Indexes:
    ids = reacting_operations(indexes)
    updated_ids = with_reacting(ids, key, new)
    if updated_ids is ids:
        return indexes
    return indexes.insert(_REACTING, updated_ids)


def with_reacting(ids: frozenset[str], key: str, new: Operation | None) -> frozenset[str]:
    """Return the ids of reacting operations after the operation with the id `key` has changed.

    `new` is None if the operation was deleted.
    """
    if new is not None and reacts(new):
        return ids if key in ids else ids | {key}
    return ids - {key} if key in ids else ids


def reacting_operations(indexes: Indexes) -> frozenset[str]:
    """Return the ids of the operations whose outcomes react to changes in the world."""
    ids: frozenset[str] = indexes.get(_REACTING, frozenset())
    return ids


#: A project's deployments are stored in chunks of this size. A change copies one chunk, and
#: building a page of the list reads two or three chunks. A single tuple per project would be
#: simpler, but adding a deployment to a project with a million deployments would then take 10 ms
#: instead of 1 µs. The benchmark requires that no call takes more than 1.2 times as long with a
#: million deployments as with a hundred. The index stores the number of deployments under
#: `deployments:<project>`, and each chunk under `deployments:<project>:<number>`.
CHUNK_SIZE = 32
DeploymentChunk: TypeAlias = tuple[Deployment, ...]


def _update_deployments(indexes: Indexes, key: str, old: Any, new: Deployment) -> Indexes:
    name = f"deployments:{new.project_id}"
    total = indexes.get(name, 0)
    if new.removed_at is not None and (old is None or old.removed_at is None):
        removed = removed_count(indexes, new.project_id) + 1
        indexes = indexes.insert(f"{_REMOVED}:{new.project_id}", removed)
        indexes = indexes.insert(_REMOVED, removed_total(indexes) + 1)
    if old is None:
        last_key = f"{name}:{total // CHUNK_SIZE}"
        last_chunk = (*indexes.get(last_key, ()), new)
        return indexes.insert(name, total + 1).insert(last_key, last_chunk)
    numbers = range((total + CHUNK_SIZE - 1) // CHUNK_SIZE)
    # Most changes are in the last chunk. For an older deployment, guess the chunk from the id. The
    # guess can be wrong, because rows can be read from disk in any order.
    likely = numbers[-1]
    if new.id < indexes[f"{name}:{likely}"][0].id:
        likely = bisect_right(numbers, new.id, key=lambda n: indexes[f"{name}:{n}"][0].id) - 1
    for number in chain([max(likely, 0)], reversed(numbers)):
        chunk = indexes[f"{name}:{number}"]
        for index, deployment in enumerate(chunk):
            if deployment.id == new.id:
                changed = (*chunk[:index], new, *chunk[index + 1 :])
                return indexes.insert(f"{name}:{number}", changed)
    raise LookupError(f"deployment {key} is not in any chunk")


def without_deployments(indexes: Indexes) -> Indexes:
    """Return the indexes as they would be if the world had no deployments."""
    for key in indexes:
        if key.startswith((f"{_REMOVED}:", "deployments:")) or key == _REMOVED:
            indexes = indexes.discard(key)
    return indexes


def removed_count(indexes: Indexes, project_id: str) -> int:
    """Return the number of removed deployments that still occupy a position in a project's list."""
    return int(indexes.get(f"{_REMOVED}:{project_id}", 0))


def removed_total(indexes: Indexes) -> int:
    """Return the total number of removed deployments in all projects."""
    return int(indexes.get(_REMOVED, 0))


def deployment_count(indexes: Indexes, project_id: str) -> int:
    """Return the number of positions in a project's list, including removed deployments."""
    return int(indexes.get(f"deployments:{project_id}", 0))


def deployment_chunks(
    indexes: Indexes, project_id: str, start: int, stop: int
) -> list[DeploymentChunk]:
    """Return the chunks that contain a project's deployments from index `start` to `stop`
    (exclusive).
    """
    name = f"deployments:{project_id}"
    numbers = range(start // CHUNK_SIZE, (stop + CHUNK_SIZE - 1) // CHUNK_SIZE)
    return [indexes.get(f"{name}:{number}", ()) for number in numbers]


def latest_deployments(indexes: Indexes, project_id: str, most: int) -> list[Deployment]:
    """Return up to `most` of a project's latest deployments, latest first, ignoring removed ones."""
    count = deployment_count(indexes, project_id)
    start = max(0, count - most - removed_count(indexes, project_id))
    chunks = deployment_chunks(indexes, project_id, start, count)
    latest = deployments_between(chunks, start, count)[::-1]
    return [deployment for deployment in latest if deployment.removed_at is None][:most]


def deployments_between(chunks: list[DeploymentChunk], start: int, stop: int) -> list[Deployment]:
    """Return those deployments in `chunks` that have an index from `start` to `stop` (exclusive),
    oldest first.
    """
    deployments = [deployment for chunk in chunks for deployment in chunk]
    first = start // CHUNK_SIZE * CHUNK_SIZE
    return deployments[start - first : stop - first]
