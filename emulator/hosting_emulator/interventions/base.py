"""What interventions share: how they refuse, and how they find what they are about."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec

from hosting_emulator.world.naming import N, id_of, not_found
from hosting_emulator.world.operations import finished
from hosting_emulator.world.records import Operation, Organization, Person, Project
from hosting_emulator.world.tables import (
    OPERATIONS,
    ORGANIZATIONS,
    PEOPLE,
    PROJECTS,
    Table,
)
from hosting_emulator.world.value import Change

R = TypeVar("R")


class InterventionRefused(ValueError):
    """An intervention that makes no sense here; the message says why and what would.

    `field` is the field at fault, as far as that can be told from how it is written.
    """

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class Intervention(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of all interventions. `apply` changes the world and says in one sentence what it did."""

    @abstractmethod
    def apply(self, change: Change) -> str:
        """Change the world. Raises InterventionRefused, and then nothing is changed."""
        raise NotImplementedError


def find_project(change: Change, name: str) -> Project:
    """Return a project by alias or id. Raises InterventionRefused."""
    return _find(change, PROJECTS, name)


def find_organization(change: Change, name: str) -> Organization:
    """Return an organization by alias or id. Raises InterventionRefused."""
    return _find(change, ORGANIZATIONS, name)


def find_person(change: Change, name: str) -> Person:
    """Return a person by alias or id. Raises InterventionRefused."""
    return _find(change, PEOPLE, name)


def _find(change: Change, table: Table[N], name: str) -> N:
    found = change.get(table, id_of(change.world, table, name))
    if found is None:
        raise InterventionRefused(not_found(change.world, table, name))
    return found


def rows(change: Change, table: Table[R]) -> Iterator[tuple[str, R]]:
    """Walk a table as it stands in this change, in no particular order.

    Several interventions may share one change, when time jumps over all of them.
    """
    written = change.writes.get(table.name, {})
    for key, record in change.world.rows(table):
        if key not in written:
            yield key, record
    for key, changed in written.items():
        if changed is not None:
            yield key, changed


def find_operation(change: Change, operation: str | None, project: str | None) -> Operation:
    """Return an unfinished operation: by id, or the one that holds a project's claim.

    Raises InterventionRefused when there is none, or it has ended.
    """
    if (operation is None) == (project is None):
        raise InterventionRefused("name either the operation (by id) or the project it holds")
    if operation is None:
        held = find_project(change, str(project))
        if held.claim is None:
            raise InterventionRefused(f"no operation of project {held.alias} is under way")
        return change.row(OPERATIONS, held.claim)
    found = change.get(OPERATIONS, operation)
    if found is None:
        raise InterventionRefused(f"there is no operation {operation[:80]!r}")
    if finished(found):
        raise InterventionRefused(f"operation {found.id} is {found.state} already: that is final")
    return found


def doc_of(kind: type[Any]) -> str:
    """Return the first sentence of an intervention's docstring."""
    return (kind.__doc__ or "").strip().split("\n\n")[0].replace("\n    ", " ")
