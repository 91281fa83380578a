"""Words of open sets: other ones than ours, for a thing whose state the contract gives no name.

A thing keeps its word for as long as it stays in a state, whoever asks and however often. The words
that the contract names itself are left alone, where they mean something: `queued`, `shared`, `init`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from hosting_emulator.variation.drawing import Draws
from hosting_emulator.variation.shapes import Found


class _Words(NamedTuple):
    """A member that may have any word, and what it is drawn for: members, or the answer's own id."""

    member: str
    point: str
    words: tuple[str, ...]
    named: tuple[str, ...] = ()


_OF: dict[str, tuple[_Words, ...]] = {
    "Progress": (
        _Words(
            "phase",
            "unknown-phase",
            ("awaiting_capacity", "attesting", "phase_17", "warming caches", "Propagating"),
            ("queued",),
        ),
    ),
    "Reconciliation": (
        _Words(
            "state",
            "unknown-reconciliation-state",
            ("comparing", "suspended_by_operator", "state_9", "Deferred"),
            ("required",),
        ),
    ),
    "OperationError": (
        _Words(
            "code",
            "unknown-error-code",
            ("upstream_quota_exhausted", "E4107", "dependency-timeout", "artifact_rejected"),
        ),
    ),
    "Deployment": (
        _Words(
            "status",
            "unknown-deployment-status",
            ("superseded", "canary", "rolled_back", "status_12", "Archived"),
            ("queued",),
        ),
    ),
    "DatabasePlacement": (
        _Words(
            "state",
            "unknown-database-state",
            ("migrating", "read_only", "state_5", "Draining"),
            ("init",),
        ),
        _Words(
            "pending_state",
            "unknown-database-state",
            ("migrating", "read_only", "state_5", "Draining"),
            ("init",),
        ),
    ),
    "DatabaseCompute": (
        _Words("data_mode", "unknown-data-mode", ("branched", "mode_3", "Isolated"), ("shared",)),
    ),
}


def vary_words(draws: Draws, found: Found, whole: dict[str, Any]) -> None:
    """Give the members of an object that are words of open sets other ones."""
    for member, point, words, named in _OF.get(found.shape, ()):
        word = found.members.get(member)
        if not isinstance(word, str) or word in named:
            continue
        thing = (*thing_of(found, whole), member, word)
        if draws.wants(point, *thing):
            others = [other for other in words if other != word]
            found.members[member] = draws.pick(point, others, *thing)
            draws.note(point)


def thing_of(found: Found, whole: dict[str, Any]) -> tuple[str, ...]:
    """Return what an object is about: its own id, or that of what it is part of."""
    if "id" in found.members:
        return (str(found.members["id"]),)
    if whole.get("data_mode") == "shared":  # both environments show the same database
        return (str(whole["project_id"]),)
    return (str(whole.get("id") or whole.get("project_id")), str(whole.get("environment")))
