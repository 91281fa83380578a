"""Declares, parses, describes and applies interventions.

An intervention is declared as a function. The function's name is the intervention's name, its
docstring says what the intervention does, and its parameters are the fields of the document. If a
parameter's type is a record, the document contains the record's name, which is looked up in the
world. A document need not name the project or organization if the world has only one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from inspect import Parameter, signature
from typing import Any, ClassVar, TypeVar, get_type_hints

import msgspec

from hosting_emulator.contract.documents import DocumentRefused, read_options
from hosting_emulator.contract.suggestions import unknown
from hosting_emulator.faults.interventions.named_records import (
    OMISSIBLE_RECORDS,
    SUBJECTS,
    TABLES_BY_RECORD,
    Subject,
    find_named_record,
    find_record,
)
from hosting_emulator.messages import InterventionField, InterventionRow
from hosting_emulator.world.partial_effects import NOTHING_ELSE_SHOWN
from hosting_emulator.world.tables import Table
from hosting_emulator.world.value import Change

#: The function that implements an intervention: it changes a world and returns a sentence about the
#: effect.
Function = Callable[..., str]
F = TypeVar("F", bound=Function)


class Intervention(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The base class for interventions that were read from documents. Each declaration creates a
    subclass.
    """

    function: ClassVar[Function]
    #: Example fields. With them, the intervention is possible in the default world, in some cases
    #: only after a request or another intervention.
    example: ClassVar[Mapping[str, Any]]
    parameters: ClassVar[dict[str, Any]]
    #: Maps each field that names a record by its alias to that record's table.
    aliased_fields: ClassVar[dict[str, Table[Any]]]

    def apply(self, change: Change) -> str:
        """Change the world, and return a sentence about the effect.

        If the intervention is impossible, changes nothing and raises DocumentRefused.
        """
        if getattr(self, "all", False):
            return self._apply_to_all(change)
        arguments = {
            name: self._argument(change, name, self.parameters[name])
            for name in self._written_first(self.parameters)
        }
        return self.function(change, **arguments)

    def _written_first(self, fields: Iterable[str]) -> list[str]:
        """Return fields in an order in which those of the document come first.

        An unknown name in the document is then refused before a name that is left out.
        """
        return sorted(fields, key=lambda field: getattr(self, field) is None)

    def _argument(self, change: Change, name: str, kind: Any) -> Any:
        """Return the argument for a parameter: the record that the field names, or the field's value."""
        if kind in TABLES_BY_RECORD:
            return find_named_record(TABLES_BY_RECORD[kind], change, getattr(self, name))
        if kind in SUBJECTS:
            subject = SUBJECTS[kind]
            values = [getattr(self, field) for field in subject.fields]
            return subject.find(change, *values)
        return getattr(self, name)

    def _apply_to_all(self, change: Change) -> str:
        """Apply the intervention to each selected record for which it is possible, oldest first."""
        subject = next(SUBJECTS[kind] for kind in self.parameters.values() if kind in SUBJECTS)
        if getattr(self, subject.name) is not None:
            raise DocumentRefused(f"give either {subject.name} or all, not both", subject.name)
        single_fields: dict[str, Any] = {**dict.fromkeys(subject.owners), "all": False}
        reports: list[str] = []
        refusals: list[str] = []
        for id_ in self._selected_ids(change, subject):
            single = msgspec.structs.replace(self, **single_fields, **{subject.name: id_})
            try:
                reports.append(single.apply(change))
            except DocumentRefused as error:
                refusals.append(str(error))
        if not reports and not refusals:
            raise DocumentRefused(f"there is no active {subject.noun} to act on")
        if not reports:
            raise DocumentRefused(refusals[0])
        message = reports[0]
        if len(reports) > 1:
            message += f", and {len(reports) - 1} more"
        if refusals:
            message += f"; {len(refusals)} skipped: {refusals[0]}"
        return message

    def _selected_ids(self, change: Change, subject: Subject) -> list[str]:
        """Return the ids of all active records that belong to the owners named in the document,
        oldest first.
        """
        owner_ids = {}
        for field, owner in subject.owners.items():
            name = getattr(self, field)
            if name is not None:
                owner_ids[owner.member] = find_record(owner.table, change, name).id
        # Include this change's uncommitted rows, because several interventions can be part of one
        # change.
        rows = change.applied().rows(subject.table)
        selected = [
            key
            for key, record in rows
            if not subject.over(record)
            and all(getattr(record, member) == id_ for member, id_ in owner_ids.items())
        ]
        # Ids sort by creation time.
        return sorted(selected)

    def check_names(self, change: Change) -> None:
        """Raise DocumentRefused if a field names a record that does not exist.

        Does not check names that contain story variables.
        """
        for field in self._written_first(self.aliased_fields):
            table = self.aliased_fields[field]
            name = getattr(self, field)
            try:
                if name is None and self.parameters.get(field) in OMISSIBLE_RECORDS:
                    find_named_record(table, change, None)
                elif name is not None and "${" not in name:
                    find_record(table, change, name)
            except DocumentRefused as error:
                raise DocumentRefused(str(error), field) from None


#: All interventions by name, such as `stick_operation`.
INTERVENTIONS: dict[str, type[Intervention]] = {}


def intervention(**example: Any) -> Callable[[F], F]:
    """Declare a function as an intervention. The arguments are example values for its fields."""

    def declare(function: F) -> F:
        _declare(function, example)
        return function

    return declare


def _declare(function: Function, example: Mapping[str, Any]) -> None:
    hints = get_type_hints(function, include_extras=True)
    parameters = dict(signature(function).parameters)
    del parameters["change"]
    fields: list[Any] = []
    aliased_fields: dict[str, Table[Any]] = {}
    for name, parameter in parameters.items():
        kind = hints[name]
        if kind in OMISSIBLE_RECORDS:
            fields.append((name, str | None, None))
            aliased_fields[name] = TABLES_BY_RECORD[kind]
        elif kind in TABLES_BY_RECORD:
            fields.append((name, str))
            aliased_fields[name] = TABLES_BY_RECORD[kind]
        elif kind in SUBJECTS:
            subject = SUBJECTS[kind]
            fields += [(field, str | None, None) for field in subject.fields]
            fields.append(("all", bool, False))
            for field, owner in subject.owners.items():
                aliased_fields[field] = owner.table
        elif parameter.default is Parameter.empty:
            fields.append((name, kind))
        else:
            fields.append((name, kind, parameter.default))
    word = function.__name__
    namespace = {
        "__doc__": function.__doc__,
        "function": staticmethod(function),
        "example": example,
        "aliased_fields": aliased_fields,
        "parameters": {name: hints[name] for name in parameters},
    }
    class_name = word.title().replace("_", "")
    INTERVENTIONS[word] = msgspec.defstruct(  # type: ignore[assignment]
        class_name, fields, bases=(Intervention,), namespace=namespace, frozen=True, kw_only=True
    )


def read_intervention(document: Mapping[str, Any]) -> Intervention:
    """Parse an intervention such as `{"stick_operation": {"project": "shop"}}`. Raises
    DocumentRefused.
    """
    if len(document) != 1:
        raise DocumentRefused(
            "an intervention must be an object with exactly one key, such as "
            '{"stick_operation": {"project": "shop"}}'
        )
    word, options = next(iter(document.items()))
    kind = INTERVENTIONS.get(str(word))
    if kind is None:
        raise DocumentRefused(unknown("intervention", str(word), INTERVENTIONS))
    try:
        example = json.dumps(kind.example)
        return read_options(str(word), options, kind, "field", ".", example=example)
    except DocumentRefused as refused:
        if not refused.field.startswith("leaves"):
            raise
        message = f"{refused} ({NOTHING_ELSE_SHOWN})"
        raise DocumentRefused(message, refused.field) from None


def describe_interventions() -> list[InterventionRow]:
    """Return a description of every intervention: its name, what it does, and its fields."""
    return [_describe(word, kind) for word, kind in INTERVENTIONS.items()]


def _describe(word: str, kind: type[Intervention]) -> InterventionRow:
    first_paragraph = (kind.__doc__ or "").partition("\n\n")[0]
    fields = [
        InterventionField(name=field.name, required=field.required)
        for field in msgspec.structs.fields(kind)
    ]
    return InterventionRow(
        name=word,
        about=" ".join(first_paragraph.split()),
        fields=fields,
        example=dict(kind.example),
    )
