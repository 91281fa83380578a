"""Checks the operands of `sorted_by` and `distinct`."""

from __future__ import annotations

from typing import Any

from hosting_emulator.contract.suggestions import nearest
from hosting_emulator.criteria.list_words import DIRECTIONS, SortKey, read_sort_keys, type_at
from hosting_emulator.criteria.value_types import ORDERED_VALUES, Impossible, Path, ValueType


def item_type(word: str, kind: ValueType, path: Path) -> ValueType:
    """Return the type of a list's items. Raises Impossible if the value is not a list."""
    items = kind.items()
    if items is None:
        raise Impossible(f"{word} applies to the items of a list, but this is {kind.form}", path)
    return items


def no_field(kind: ValueType, name: str, path: Path, *, key: bool = True) -> Impossible:
    """Return the error for a field that does not exist. The message suggests the nearest name."""
    names = kind.field_names()
    hint = nearest(name, names) or f"; the fields are {', '.join(names) or 'none'}"
    return Impossible(f"there is no field {name!r} here{hint}", path, key=key)


def check_sorted_by(kind: ValueType, operand: Any, path: Path) -> None:
    """Check the operand of `sorted_by`, such as `created_at`.

    Raises Impossible if the value is not a list, or if a field does not exist or has no order.
    """
    item_kind = item_type("sorted_by", kind, path)
    for key in read_sort_keys(operand, path):
        _check_sort_key(item_kind, key, path)


def _check_sort_key(item_kind: ValueType, key: SortKey, path: Path) -> None:
    ordered_names = [name for name in item_kind.field_names() if _is_ordered(item_kind, name)]
    choices = ", ".join(ordered_names) or "none"
    kind = type_at(item_kind, key.path)
    if not key.path and ordered_names:
        raise Impossible(f"name the field by which the items are sorted: {choices}", path)
    if kind is None and not item_kind.field_names():
        message = f"each item is {item_kind.form} and has no fields: use {' or '.join(DIRECTIONS)}"
        raise Impossible(message, path)
    if kind is None:
        raise no_field(item_kind, key.path, path, key=False)
    if not kind.orders():
        subject = f"{key.path} is" if key.path else "each item is"
        hint = f"; the fields you can sort by are {choices}" if ordered_names else ""
        raise Impossible(
            f"{subject} {kind.form}, but only {ORDERED_VALUES} can be sorted{hint}",
            path,
        )


def _is_ordered(item_kind: ValueType, name: str) -> bool:
    field_kind = item_kind.field(name)
    return field_kind is not None and bool(field_kind.orders())


def check_distinct(kind: ValueType, operand: Any, path: Path) -> None:
    """Check the operand of `distinct`, which is a field, or `true` to compare whole items.

    Raises Impossible if the value is not a list, or if the field does not exist.
    """
    item_kind = item_type("distinct", kind, path)
    if operand is True:
        return
    if operand is False:
        raise Impossible(
            "distinct must be true or a field. To expect repeated items, use {not: {distinct: …}}",
            path,
        )
    if not isinstance(operand, str) or not operand:
        raise Impossible(
            "distinct must be a field, such as id, or true to compare whole items", path
        )
    if type_at(item_kind, operand) is not None:
        return
    if not item_kind.field_names():
        message = f"each item is {item_kind.form} and has no fields: use distinct: true"
        raise Impossible(message, path)
    raise no_field(item_kind, operand, path, key=False)
