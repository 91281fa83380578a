"""Finds the records that an intervention refers to by alias, by id or by owner."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.world import lifecycles
from hosting_emulator.world.naming import (
    ALIASED_TABLES,
    AliasedRecord,
    id_of,
    in_order,
    kind_of,
    not_found_message,
    only_record,
)
from hosting_emulator.world.plans import is_finished
from hosting_emulator.world.records import ApiKey, Operation, Ticket
from hosting_emulator.world.tables import (
    API_KEYS,
    OPERATIONS,
    ORGANIZATIONS,
    PROJECTS,
    TICKETS,
    USERS,
    Table,
)
from hosting_emulator.world.value import Change

#: Maps each type of record that a field can name by alias or id to its table.
TABLES_BY_RECORD: Mapping[Any, Table[Any]] = {
    table.kind: table for table in ALIASED_TABLES.values()
}


def find_record(table: Table[AliasedRecord], change: Change, name: str) -> AliasedRecord:
    """Return the record with the given alias or id. Raises DocumentRefused if there is no such record."""
    record = change.get(table, id_of(change.world, table, name))
    if record is None:
        raise DocumentRefused(not_found_message(change.world, table, name))
    return record


#: The types of records that need not be named if the world contains only one.
OMISSIBLE_RECORDS: frozenset[Any] = frozenset({PROJECTS.kind, ORGANIZATIONS.kind})


def find_named_record(
    table: Table[AliasedRecord], change: Change, name: str | None
) -> AliasedRecord:
    """Return the record with this alias or id, or the table's only record if `name` is None.

    Raises DocumentRefused if there is no such record, or if `name` is None and there are several.
    """
    if name is not None:
        return find_record(table, change, name)
    world = change.applied()
    record = only_record(world, table)
    if record is not None:
        return record
    noun = kind_of(table)
    aliases = [record.alias for record in in_order(world, table)]
    if not aliases:
        raise DocumentRefused(f"the world has no {noun}", noun)
    message = f"name the {noun}: the world has {len(aliases)} ({', '.join(aliases)})"
    raise DocumentRefused(message, noun)


@dataclass(frozen=True, slots=True)
class Owner:
    """The table that contains an owner, and the member of the owned record that contains the
    owner's id.
    """

    table: Table[Any]
    member: str


@dataclass(frozen=True, slots=True)
class Subject:
    """A type of record that a document can name by id, in the field `name`, or by its owner.

    `owners` are the fields that name an owner. `find` takes a change and the values of all
    `fields`, and returns the record or raises DocumentRefused. `over` returns whether a record is
    no longer active. An intervention with `all` skips such records.
    """

    name: str
    noun: str
    table: Table[Any]
    owners: Mapping[str, Owner]
    find: Callable[..., Any]
    over: Callable[[Any], bool]

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that a document can use to name the record."""
        return (self.name, *self.owners)


def _find_operation(change: Change, operation_id: str | None, project: str | None) -> Operation:
    """Return the unfinished operation with this id, or the operation that holds the project's claim.

    A document need not name the project if the world has only one. Raises DocumentRefused if there
    is no such operation, or if it has ended.
    """
    is_ambiguous = operation_id is None and project is None and not _has_only_project(change)
    if is_ambiguous or (operation_id is not None and project is not None):
        raise DocumentRefused(
            "name either the operation (by id) or the project whose claim it holds"
        )
    if operation_id is None:
        holder = find_named_record(PROJECTS, change, project)
        if holder.claim is None:
            raise DocumentRefused(f"project {holder.alias} has no operation in progress")
        return change.row(OPERATIONS, holder.claim)
    operation = change.get(OPERATIONS, operation_id)
    if operation is None:
        raise DocumentRefused(f"there is no operation {operation_id[:80]!r}")
    if is_finished(operation):
        raise DocumentRefused(
            f"operation {operation.id} is already {operation.state}, which is final"
        )
    return operation


def _has_only_project(change: Change) -> bool:
    return only_record(change.applied(), PROJECTS) is not None


def _find_ticket(change: Change, ticket_id: str | None, user: str | None) -> Ticket:
    """Return the unused ticket with this id, or the latest ticket of a user.

    Raises DocumentRefused if there is no such ticket, or if it can no longer be used.
    """
    if (ticket_id is None) == (user is None):
        raise DocumentRefused("name either the ticket (by id) or the user to whom it was issued")
    if ticket_id is None:
        holder = find_record(USERS, change, str(user))
        ticket_id = change.world.indexes.get(f"last_ticket:{holder.id}")
        if ticket_id is None:
            raise DocumentRefused(f"{holder.alias} has no ticket")
    ticket = change.get(TICKETS, ticket_id)
    if ticket is None:
        raise DocumentRefused(f"there is no ticket {ticket_id[:80]!r}")
    state: str = ticket.state
    if ticket.expires_ms <= change.now_ms:
        state = "expired"
    if not lifecycles.TICKET.may(state, "revoked"):
        raise DocumentRefused(f"ticket {ticket.id} is already {state}")
    return ticket


def _find_key(
    change: Change, name: str | None, user: str | None, organization: str | None
) -> ApiKey:
    """Return the active API key with this id, or else the only active key with this name.

    Raises DocumentRefused if no key is named, or if there is no such active key.
    """
    if name is None or user is not None or organization is not None:
        raise DocumentRefused(
            "name the key (by id or name), or set all, with or without user and organization"
        )
    key = change.get(API_KEYS, name)
    if key is None:
        key = _find_key_by_name(change, name)
    state = _key_state(key, change.now_ms)
    if not lifecycles.API_KEY.may(state, "revoked"):
        raise DocumentRefused(f"API key {key.id} is already {state}")
    return key


def _find_key_by_name(change: Change, name: str) -> ApiKey:
    """Return the only active key with this name, or the newest key if none is active.

    Raises DocumentRefused if there is no key with this name, or if several keys are active.
    """
    keys = [key for _, key in change.applied().rows(API_KEYS) if key.name == name]
    if not keys:
        raise DocumentRefused(f"there is no API key with the id or name {name[:80]!r}")
    active = [key for key in keys if _key_state(key, change.now_ms) == "active"]
    if len(active) > 1:
        ids = ", ".join(sorted(key.id for key in active))
        raise DocumentRefused(
            f"{len(active)} active API keys are named {name!r}; use one of these ids: {ids}"
        )
    if active:
        return active[0]
    return max(keys, key=lambda key: key.id)


def _key_state(key: ApiKey, now_ms: int) -> str:
    if key.revoked:
        return "revoked"
    if key.expires_ms <= now_ms:
        return "expired"
    return "active"


SUBJECTS: Mapping[Any, Subject] = {
    Operation: Subject(
        name="operation",
        noun="operation",
        table=OPERATIONS,
        owners={"project": Owner(PROJECTS, "project_id")},
        find=_find_operation,
        over=is_finished,
    ),
    Ticket: Subject(
        name="ticket",
        noun="ticket",
        table=TICKETS,
        owners={"user": Owner(USERS, "principal")},
        find=_find_ticket,
        over=lambda ticket: ticket.state != "unused",
    ),
    ApiKey: Subject(
        name="key",
        noun="API key",
        table=API_KEYS,
        owners={
            "user": Owner(USERS, "user_id"),
            "organization": Owner(ORGANIZATIONS, "organization_id"),
        },
        find=_find_key,
        over=lambda key: key.revoked,
    ),
}
