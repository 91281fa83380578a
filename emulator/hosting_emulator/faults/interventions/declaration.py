"""How an intervention is declared, read as people write it, described and carried out.

A declaration is one function: its name is the word of the intervention, its docstring says what it does,
and its parameters are the fields. A parameter whose type is a record is written as a name, and looked up
in the world.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from typing import Any, ClassVar, NamedTuple, TypeVar, get_type_hints

import msgspec

from hosting_emulator.contract.documents import DocumentRefused, read_options
from hosting_emulator.contract.suggestions import unknown
from hosting_emulator.messages import InterventionField, InterventionRow
from hosting_emulator.world import lifecycles
from hosting_emulator.world.naming import ALIASED_TABLES, AliasedRecord, id_of, not_found_message
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

#: An intervention. It changes a world, and returns one sentence about what it did.
Function = Callable[..., str]
F = TypeVar("F", bound=Function)


def _find(table: Table[AliasedRecord], change: Change, name: str) -> AliasedRecord:
    record = change.get(table, id_of(change.world, table, name))
    if record is None:
        raise DocumentRefused(not_found_message(change.world, table, name))
    return record


def _find_operation(change: Change, operation: str | None, project: str | None) -> Operation:
    """Return an unfinished operation: by id, or the one that holds a project's claim."""
    if (operation is None) == (project is None):
        raise DocumentRefused("name either the operation (by id) or the project it holds")
    if operation is None:
        held = _find(PROJECTS, change, str(project))
        if held.claim is None:
            raise DocumentRefused(f"project {held.alias} has no operation in progress")
        return change.row(OPERATIONS, held.claim)
    record = change.get(OPERATIONS, operation)
    if record is None:
        raise DocumentRefused(f"there is no operation {operation[:80]!r}")
    if is_finished(record):
        raise DocumentRefused(f"operation {record.id} is already {record.state}, which is final")
    return record


def _find_ticket(change: Change, ticket: str | None, user: str | None) -> Ticket:
    """Return an unused ticket: by id, or the last one of a user."""
    if (ticket is None) == (user is None):
        raise DocumentRefused("name either the ticket (by id) or the user it was issued to")
    if ticket is None:
        holder = _find(USERS, change, str(user))
        ticket = change.world.indexes.get(f"last_ticket:{holder.id}")
        if ticket is None:
            raise DocumentRefused(f"{holder.alias} has no ticket")
    record = change.get(TICKETS, ticket)
    if record is None:
        raise DocumentRefused(f"there is no ticket {ticket[:80]!r}")
    over = record.expires_ms <= change.now_ms
    state = "expired" if over else record.state
    if not lifecycles.TICKET.may(state, "revoked"):
        raise DocumentRefused(f"ticket {record.id} is already {state}")
    return record


def _find_key(
    change: Change, key: str | None, user: str | None, organization: str | None
) -> ApiKey:
    """Return an active API key by id, or the one active one of a name."""

    def state_of(record: ApiKey) -> str:
        over = record.expires_ms <= change.now_ms
        return "revoked" if record.revoked else "expired" if over else "active"

    if key is None or user is not None or organization is not None:
        raise DocumentRefused(
            "name the key (by id or name), or all keys, optionally of one user or organization"
        )
    record = change.get(API_KEYS, key)
    if record is None:
        matches = [each for _, each in change.applied().rows(API_KEYS) if each.name == key]
        active = [each for each in matches if state_of(each) == "active"]
        if len(active) > 1:
            ids = ", ".join(sorted(each.id for each in active))
            raise DocumentRefused(
                f"{len(active)} active API keys are named {key!r}; name one by id: {ids}"
            )
        record = max(active or matches, key=lambda each: each.id, default=None)
    if record is None:
        raise DocumentRefused(f"there is no API key {key[:80]!r} (by id or name)")
    if not lifecycles.API_KEY.may(state_of(record), "revoked"):
        raise DocumentRefused(f"API key {record.id} is already {state_of(record)}")
    return record


#: Records that are named by alias or id, in a field of their parameter's own name.
_ALIASED: dict[Any, Table[Any]] = {table.kind: table for table in ALIASED_TABLES.values()}


class _Subject(NamedTuple):
    """A record that is named by itself, in the field `name`, or by others that it is of.

    `find` gets the values of these fields. `of` has the others: what its table holds of each, and
    what the record calls its id. One that is `over` is not among `all`.
    """

    name: str
    table: Table[Any]
    find: Callable[..., Any]
    over: Callable[[Any], bool]
    of: dict[str, tuple[Table[Any], str]]
    noun: str


_SUBJECTS: dict[Any, _Subject] = {
    Operation: _Subject(
        name="operation",
        table=OPERATIONS,
        find=_find_operation,
        over=is_finished,
        of={"project": (PROJECTS, "project_id")},
        noun="operation",
    ),
    Ticket: _Subject(
        name="ticket",
        table=TICKETS,
        find=_find_ticket,
        over=lambda ticket: ticket.state != "unused",
        of={"user": (USERS, "principal")},
        noun="ticket",
    ),
    ApiKey: _Subject(
        name="key",
        table=API_KEYS,
        find=_find_key,
        over=lambda key: key.revoked,
        of={
            "user": (USERS, "user_id"),
            "organization": (ORGANIZATIONS, "organization_id"),
        },
        noun="API key",
    ),
}


class Intervention(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An intervention as it is written: base of the types that the declarations give."""

    function: ClassVar[Function]
    parameters: ClassVar[dict[str, Any]]
    #: The fields that name a record by its alias, each with its table.
    aliased_fields: ClassVar[dict[str, Table[Any]]]

    def apply(self, change: Change) -> str:
        """Change the world and say what was done; or raise DocumentRefused, with nothing changed."""
        if getattr(self, "all", False):
            return self._apply_to_all(change)
        arguments = {}
        for name, kind in self.parameters.items():
            if kind in _ALIASED:
                arguments[name] = _find(_ALIASED[kind], change, getattr(self, name))
            elif kind in _SUBJECTS:
                subject = _SUBJECTS[kind]
                values = [getattr(self, field) for field in (subject.name, *subject.of)]
                arguments[name] = subject.find(change, *values)
            else:
                arguments[name] = getattr(self, name)
        return self.function(change, **arguments)

    def _apply_to_all(self, change: Change) -> str:
        """Apply the intervention to all records, the oldest first. Records that refuse it are skipped."""
        subject = next(_SUBJECTS[kind] for kind in self.parameters.values() if kind in _SUBJECTS)
        if getattr(self, subject.name) is not None:
            raise DocumentRefused(f"give either {subject.name} or all, not both", subject.name)
        owners = {
            id_: _find(table, change, owner).id
            for field, (table, id_) in subject.of.items()
            if (owner := getattr(self, field)) is not None
        }
        alone = dict.fromkeys(subject.of) | {"all": False}
        reports: list[str] = []
        refusals: list[str] = []
        rows = change.applied().rows(subject.table)  # several interventions may share a change
        for key, record in sorted(rows):  # ids sort as they were made
            others = any(getattr(record, id_) != its for id_, its in owners.items())
            if others or subject.over(record):
                continue
            single = msgspec.structs.replace(self, **alone, **{subject.name: key})
            try:
                reports.append(single.apply(change))
            except DocumentRefused as error:
                refusals.append(str(error))
        if not reports:
            raise DocumentRefused(refusals[0] if refusals else f"there is no such {subject.noun}")
        rest = f", and {len(reports) - 1} more" if len(reports) > 1 else ""
        skipped = f"; {len(refusals)} skipped: {refusals[0]}" if refusals else ""
        return f"{reports[0]}{rest}{skipped}"

    def check_names(self, change: Change) -> None:
        """Check the records it names by alias, but for variables of a story. Raises DocumentRefused."""
        for field, table in self.aliased_fields.items():
            name = getattr(self, field)
            if name is not None and "${" not in name:
                try:
                    _find(table, change, name)
                except DocumentRefused as error:
                    raise DocumentRefused(str(error), field) from None


#: Every intervention by its word, such as `stick_operation`.
INTERVENTIONS: dict[str, type[Intervention]] = {}


def intervention(function: F) -> F:
    """Declare an intervention."""
    hints = get_type_hints(function, include_extras=True)
    declared = [
        parameter
        for parameter in signature(function).parameters.values()
        if parameter.name != "change"
    ]
    fields: list[Any] = []
    aliased_fields: dict[str, Table[Any]] = {}
    for parameter in declared:
        name = parameter.name
        default = parameter.default
        kind = hints[name]
        if kind in _ALIASED:
            fields.append((name, str))
            aliased_fields[name] = _ALIASED[kind]
        elif kind in _SUBJECTS:
            subject = _SUBJECTS[kind]
            fields += [(field, str | None, None) for field in (subject.name, *subject.of)]
            fields.append(("all", bool, False))
            aliased_fields |= {field: table for field, (table, _) in subject.of.items()}
        else:
            fields.append((name, kind) if default is Parameter.empty else (name, kind, default))
    word = function.__name__
    namespace = {
        "__doc__": function.__doc__,
        "function": staticmethod(function),
        "aliased_fields": aliased_fields,
        "parameters": {parameter.name: hints[parameter.name] for parameter in declared},
    }
    name = word.title().replace("_", "")
    kind = msgspec.defstruct(name, fields, bases=(Intervention,), namespace=namespace, frozen=True)
    INTERVENTIONS[word] = kind  # type: ignore[assignment]
    return function


def read_intervention(document: Mapping[str, Any]) -> Intervention:
    """Read an intervention, `{"stick_operation": {"project": "shop"}}`. Raises DocumentRefused."""
    if len(document) != 1:
        raise DocumentRefused(
            "an intervention is an object with one word, such as "
            '{"stick_operation": {"project": "shop"}}'
        )
    word, options = next(iter(document.items()))
    kind = INTERVENTIONS.get(str(word))
    if kind is None:
        raise DocumentRefused(unknown("intervention", str(word), INTERVENTIONS))
    return read_options(str(word), options, kind, "field", ".")


def describe_interventions() -> list[InterventionRow]:
    """Return every intervention: its word, what it does, its fields and which are required."""
    return [_describe(word, kind) for word, kind in INTERVENTIONS.items()]


def _describe(word: str, kind: type[Intervention]) -> InterventionRow:
    first_paragraph = (kind.__doc__ or "").partition("\n\n")[0]
    fields = [
        InterventionField(name=field.name, required=field.required)
        for field in msgspec.structs.fields(kind)
    ]
    return InterventionRow(name=word, about=" ".join(first_paragraph.split()), fields=fields)
