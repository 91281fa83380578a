"""How an intervention is declared, read as people write it, described and carried out.

A declaration is one function in `table`: its name is the word, its docstring what it does, its
parameters the fields. A parameter of a record's type is written as a name and found in the world.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from inspect import Parameter, signature
from typing import Any, NamedTuple, TypeVar, get_type_hints

import msgspec

from hosting_emulator.contract.words import DocumentRefused, nearest, read_fields
from hosting_emulator.world import lifecycles
from hosting_emulator.world import tables as t
from hosting_emulator.world.naming import N, id_of, not_found
from hosting_emulator.world.operations import finished
from hosting_emulator.world.records import (
    ApiKey,
    Operation,
    Organization,
    Person,
    Project,
    Ticket,
)
from hosting_emulator.world.value import Change

R = TypeVar("R")
#: An intervention: what it does to a change, said in one sentence.
Function = Callable[..., str]
F = TypeVar("F", bound=Function)


def rows(change: Change, table: t.Table[R]) -> Iterator[tuple[str, R]]:
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


def _find(table: t.Table[N], change: Change, name: str) -> N:
    record = change.get(table, id_of(change.world, table, name))
    if record is None:
        raise DocumentRefused(not_found(change.world, table, name))
    return record


_find_project, _find_person = partial(_find, t.PROJECTS), partial(_find, t.PEOPLE)
_find_organization = partial(_find, t.ORGANIZATIONS)


def _find_operation(change: Change, operation: str | None, project: str | None) -> Operation:
    """Return an unfinished operation: by id, or the one that holds a project's claim."""
    if (operation is None) == (project is None):
        raise DocumentRefused("name either the operation (by id) or the project it holds")
    if operation is None:
        held = _find_project(change, str(project))
        if held.claim is None:
            raise DocumentRefused(f"project {held.alias} has no operation in progress")
        return change.row(t.OPERATIONS, held.claim)
    record = change.get(t.OPERATIONS, operation)
    if record is None:
        raise DocumentRefused(f"there is no operation {operation[:80]!r}")
    if finished(record):
        raise DocumentRefused(f"operation {record.id} is already {record.state}, which is final")
    return record


def _find_ticket(change: Change, ticket: str | None, person: str | None) -> Ticket:
    """Return an unused ticket: by id, or the last one of a person."""
    if (ticket is None) == (person is None):
        raise DocumentRefused("name either the ticket (by id) or the user it was issued to")
    if ticket is None:
        holder = _find_person(change, str(person))
        ticket = change.world.indexes.get(f"last_ticket:{holder.id}")
        if ticket is None:
            raise DocumentRefused(f"{holder.alias} has no ticket")
    record = change.get(t.TICKETS, ticket)
    if record is None:
        raise DocumentRefused(f"there is no ticket {ticket[:80]!r}")
    over = change.assumptions.is_over(record.expires_ms, change.now_ms)
    state = "expired" if over else record.state
    if not lifecycles.TICKET.may(state, "revoked"):
        raise DocumentRefused(f"ticket {record.id} is already {state}")
    return record


def _find_key(change: Change, key: str) -> ApiKey:
    """Return an active API key by id, or the one active one of a name."""

    def state_of(record: ApiKey) -> str:
        if record.revoked:
            return "revoked"
        over = change.assumptions.is_over(record.expires_ms, change.now_ms)
        return "expired" if over else "active"

    record = change.get(t.API_KEYS, key)
    if record is None:
        named = [each for _, each in rows(change, t.API_KEYS) if each.name == key]
        active = [each for each in named if state_of(each) == "active"]
        if len(active) > 1:
            ids = ", ".join(sorted(each.id for each in active))
            raise DocumentRefused(
                f"{len(active)} active API keys are named {key!r}; name one by id: {ids}"
            )
        record = max(active or named, key=lambda each: each.id, default=None)
    if record is None:
        raise DocumentRefused(f"there is no API key {key[:80]!r} (by id or name)")
    if not lifecycles.API_KEY.may(state_of(record), "revoked"):
        raise DocumentRefused(f"API key {record.id} is already {state_of(record)}")
    return record


def _find_one_key(
    change: Change, key: str | None, person: str | None, organization: str | None
) -> ApiKey:
    if key is None or person is not None or organization is not None:
        raise DocumentRefused(
            "name the key (by id or name), or all keys, optionally of one user or organization"
        )
    return _find_key(change, key)


def _all_operations(change: Change, operation: str | None, project: str | None) -> list[str]:
    """Return every unfinished operation, or those of a project, also those that wait."""
    of = _find_project(change, project).id if project is not None else None
    return [
        row.id
        for _, row in rows(change, t.OPERATIONS)
        if not finished(row) and of in (None, row.project_id)
    ]


def _all_tickets(change: Change, ticket: str | None, person: str | None) -> list[str]:
    of = _find_person(change, person).id if person is not None else None
    return [
        row.id
        for _, row in rows(change, t.TICKETS)
        if row.state == "unused" and of in (None, row.principal)
    ]


def _all_keys(
    change: Change, key: str | None, person: str | None, organization: str | None
) -> list[str]:
    of = _find_person(change, person).id if person is not None else None
    place = _find_organization(change, organization).id if organization is not None else None
    return [
        row.id
        for _, row in rows(change, t.API_KEYS)
        if not row.revoked and of in (None, row.person_id) and place in (None, row.organization_id)
    ]


class _Subject(NamedTuple):
    """How a record that is a parameter is found, and the fields that name it, the id's first.

    Without any it is named by a field of the parameter's own name. Each field has what finds what it
    names, where that can be told before the intervention is carried out. `all` finds the ids of all
    that the other fields leave, `noun` is what they are.
    """

    find: Callable[..., Any]
    fields: Mapping[str, Callable[[Change, str], Any] | None] = {}
    all: Callable[..., list[str]] | None = None
    noun: str = ""


_SUBJECTS: dict[Any, _Subject] = {
    Organization: _Subject(_find_organization),
    Person: _Subject(_find_person),
    Project: _Subject(_find_project),
    Operation: _Subject(
        _find_operation, {"operation": None, "project": _find_project}, _all_operations, "operation"
    ),
    Ticket: _Subject(
        _find_ticket, {"ticket": None, "person": _find_person}, _all_tickets, "ticket"
    ),
    ApiKey: _Subject(
        _find_one_key,
        {"key": None, "person": _find_person, "organization": _find_organization},
        _all_keys,
        "API key",
    ),
}


class Intervention(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An intervention as it is written: base of the types that the declarations give."""

    def apply(self, change: Change) -> str:
        """Change the world and say in one sentence what was done.

        Raises DocumentRefused, and then nothing is changed.
        """
        function, parameters = _DECLARED[type(self)]
        if getattr(self, "all", False):
            return self._apply_to_all(change)
        arguments = {}
        for name, kind in parameters.items():
            subject = _SUBJECTS.get(kind)
            fields = (name,) if subject is None else tuple(subject.fields) or (name,)
            values = [getattr(self, field) for field in fields]
            arguments[name] = values[0] if subject is None else subject.find(change, *values)
        return function(change, **arguments)

    def _apply_to_all(self, change: Change) -> str:
        """Do it to all that there are, the oldest first; what makes no sense for one passes it over."""
        subject = next(
            s for kind in _DECLARED[type(self)][1].values() if (s := _SUBJECTS.get(kind))
        )
        assert subject.all is not None
        id_, *others = subject.fields
        if getattr(self, id_) is not None:
            raise DocumentRefused(f"give either {id_} or all, not both", id_)
        found = subject.all(change, *(getattr(self, field) for field in subject.fields))
        alone = dict.fromkeys(others) | {"all": False}
        said, refused = [], []
        for one in sorted(found):  # ids sort as they were made
            try:
                said.append(msgspec.structs.replace(self, **alone, **{id_: one}).apply(change))
            except DocumentRefused as error:
                refused.append(str(error))
        if not said:
            raise DocumentRefused(refused[0] if refused else f"there is no such {subject.noun}")
        rest = f", and {len(said) - 1} more" if len(said) > 1 else ""
        over = f"; {len(refused)} skipped: {refused[0]}" if refused else ""
        return f"{said[0]}{rest}{over}"

    def check_names(self, change: Change) -> None:
        """Check the organizations, people and projects it names, but for variables of a story.

        Raises DocumentRefused.
        """
        for name, kind in _DECLARED[type(self)][1].items():
            subject = _SUBJECTS.get(kind)
            for field, find in (subject.fields or {name: subject.find}).items() if subject else ():
                written = getattr(self, field)
                if find is None or written is None or "${" in written:
                    continue
                try:
                    find(change, written)
                except DocumentRefused as error:
                    raise DocumentRefused(str(error), field) from None


#: Every intervention by its word, such as `stick_operation`.
INTERVENTIONS: dict[str, type[Intervention]] = {}
_DECLARED: dict[type[Intervention], tuple[Function, dict[str, Any]]] = {}


def intervention(function: F) -> F:
    """Declare an intervention."""
    hints = get_type_hints(function, include_extras=True)
    parameters = {name: hints[name] for name in signature(function).parameters if name != "change"}
    fields: list[Any] = []
    for name, kind in parameters.items():
        default = signature(function).parameters[name].default
        if kind in _SUBJECTS:
            subject = _SUBJECTS[kind]
            fields += [(field, str | None, None) for field in subject.fields] or [(name, str)]
            fields += [("all", bool, False)] if subject.all else []
        else:
            fields.append((name, kind) if default is Parameter.empty else (name, kind, default))
    word = function.__name__
    declared: Any = msgspec.defstruct(
        word.title().replace("_", ""),
        fields,
        bases=(Intervention,),
        namespace={"__doc__": function.__doc__},
        frozen=True,
    )
    INTERVENTIONS[word] = declared
    _DECLARED[declared] = (function, parameters)
    return function


def read_intervention(document: Mapping[str, Any]) -> Intervention:
    """Read an intervention as people write it: `{"stick_operation": {"project": "shop"}}`.

    Raises DocumentRefused, naming what is unknown and what is near.
    """
    if len(document) != 1:
        raise DocumentRefused(
            "an intervention is an object with one word, such as "
            '{"stick_operation": {"project": "shop"}}'
        )
    word, options = next(iter(document.items()))
    kind = INTERVENTIONS.get(str(word))
    if kind is None:
        hint = nearest(str(word), INTERVENTIONS) or f"; there are {', '.join(INTERVENTIONS)}"
        raise DocumentRefused(f"there is no intervention {str(word)[:80]!r}{hint}")
    options = {} if options is None else options
    if not isinstance(options, Mapping):
        raise DocumentRefused(f"{word} takes an object of fields")
    for name in options:
        if name not in kind.__struct_fields__:
            hint = nearest(str(name), kind.__struct_fields__)
            takes = ", ".join(sorted(kind.__struct_fields__))
            message = f"{word} has no field {name!r} (it takes {takes}){hint}"
            raise DocumentRefused(message, str(name))
    try:
        return read_fields(options, kind)
    except DocumentRefused as refused:
        where = f"{word}.{refused.field}" if refused.field else word
        raise DocumentRefused(f"{where}: {refused}", refused.field) from None


def describe_interventions() -> list[dict[str, Any]]:
    """Return every intervention: its word, what it does, its fields and which are required."""
    return [
        {
            "word": word,
            "about": " ".join((kind.__doc__ or "").split("\n\n")[0].split()),
            "fields": [
                {"name": field.name, "required": field.required}
                for field in msgspec.structs.fields(kind)
            ],
        }
        for word, kind in INTERVENTIONS.items()
    ]
