"""Finds misplaced and repeated items in a list.

The `comparisons` module uses this module for `sorted_by` and `distinct`. The `list_checks` module
checks the operands of these two words.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hosting_emulator.criteria.value_types import (
    ABSENT,
    ANY,
    MISSING,
    TIMESTAMPS,
    Impossible,
    Path,
    Rank,
    ValueType,
    is_number,
    timestamp_rank,
)

ASCENDING = "ascending"
DESCENDING = "descending"
DIRECTIONS = (ASCENDING, DESCENDING)


@dataclass(frozen=True, slots=True)
class SortKey:
    """A field by which a list is sorted.

    `path` is the field's dotted path in an item. An empty path means the item itself.
    """

    path: str
    is_descending: bool


@dataclass(frozen=True, slots=True)
class ListFinding:
    """A value in a list that violates the expected order or distinctness.

    `at` is the path of the value in the list, such as `[2].created_at`. If `is_undecidable` is
    true, the value cannot be compared, for example because plain words have no order.
    """

    at: str
    expected: str
    actual: Any
    is_undecidable: bool = False


def read_sort_keys(operand: Any, path: Path = ()) -> list[SortKey]:
    """Parse the operand of `sorted_by`.

    Valid operands are a field such as `created_at`, a mapping such as `{created_at: descending}`,
    and a direction. Raises Impossible for other operands.
    """
    if isinstance(operand, str) and operand in DIRECTIONS:
        return [SortKey("", operand == DESCENDING)]
    if isinstance(operand, str) and operand.startswith("-"):
        field = operand[1:]
        raise Impossible(f"write {{{field}: descending}} instead of {operand}", path)
    if isinstance(operand, str) and operand:
        return [SortKey(operand, False)]
    if isinstance(operand, Mapping) and operand:
        for field, direction in operand.items():
            if direction not in DIRECTIONS:
                message = f"the direction of {field} must be ascending or descending"
                raise Impossible(message, (*path, field))
        return [SortKey(str(field), word == DESCENDING) for field, word in operand.items()]
    message = (
        "sorted_by needs a field such as created_at, or {created_at: descending}. For a list of "
        "plain values, use ascending or descending"
    )
    raise Impossible(message, path)


def type_at(kind: ValueType, path: str) -> ValueType | None:
    """Return the type at a dotted path, or None if there is no such field.

    The type at an empty path is `kind` itself.
    """
    inner: ValueType | None = kind
    for name in filter(None, path.split(".")):
        if inner is None:
            return None
        inner = inner.field(name)
    return inner


def find_disorder(
    item_kind: ValueType, keys: Sequence[SortKey], items: Sequence[Any]
) -> ListFinding | None:
    """Return the first item that is misplaced or cannot be compared, or None if the list is sorted."""
    first_ranks: list[Rank] = []
    previous: list[Rank] = []
    for index, item in enumerate(items):
        ranks: list[Rank] = []
        for key in keys:
            value = _value_at(item, key.path)
            rank = (type_at(item_kind, key.path) or ANY).rank(value)
            if rank is None:
                expected = "a value that can be sorted: a number, a timestamp or an id"
                return _finding(index, key.path, expected, value, is_undecidable=True)
            ranks.append(rank)
        first_ranks = first_ranks or ranks
        for key, first, rank in zip(keys, first_ranks, ranks, strict=True):
            if first.order != rank.order:
                expected = f"a value of the same kind as in item 0 ({first.order})"
                value = _value_at(item, key.path)
                return _finding(index, key.path, expected, value, is_undecidable=True)
        misplaced = _first_difference(keys, previous, ranks)
        if misplaced is not None:
            limit = _value_at(items[index - 1], misplaced.path)
            word = "at most" if misplaced.is_descending else "at least"
            expected = f"{word} {limit}, the value of item {index - 1}"
            return _finding(index, misplaced.path, expected, _value_at(item, misplaced.path))
        previous = ranks
    return None


def _first_difference(
    keys: Sequence[SortKey], previous: Sequence[Rank], ranks: Sequence[Rank]
) -> SortKey | None:
    """Return the key that puts an item before the previous item, or None if there is none."""
    for key, former, rank in zip(keys, previous, ranks, strict=False):
        if former.position == rank.position:
            continue
        is_lower = rank.position < former.position
        return key if is_lower != key.is_descending else None
    return None


def find_repetition(item_kind: ValueType, path: str, items: Sequence[Any]) -> ListFinding | None:
    """Return the first item whose value is missing or repeats an earlier value, or None."""
    value_kind = type_at(item_kind, path) or ANY
    first_indexes: dict[Hashable, int] = {}
    for index, item in enumerate(items):
        value = _value_at(item, path)
        if value is MISSING:
            expected = "a value that can be compared with the values of other items"
            return _finding(index, path, expected, value, is_undecidable=True)
        first_index = first_indexes.setdefault(identity_of(value_kind, value), index)
        if first_index != index:
            expected = f"a value that differs from item {first_index}"
            return _finding(index, path, expected, value)
    return None


def identity_of(kind: ValueType, value: Any) -> Hashable:
    """Return a hashable key for a value.

    Two values have equal keys only if the values are the same.

    Timestamps are the same if they denote the same time. Numbers are the same if they are equal.
    """
    if isinstance(value, Mapping):
        parts = [(name, identity_of(kind.field(name) or ANY, part)) for name, part in value.items()]
        return ("object", frozenset(parts))
    if isinstance(value, list | tuple):
        return ("list", tuple(identity_of(kind.items() or ANY, item) for item in value))
    if is_number(value):
        return ("number", value)
    rank = timestamp_rank(value)
    if rank is not None and TIMESTAMPS in kind.orders():
        return rank
    return (type(value).__name__, value)


def _value_at(item: Any, path: str) -> Any:
    """Return the value at a dotted path of an item, or MISSING if the item has no such value."""
    value = item
    for name in filter(None, path.split(".")):
        if not isinstance(value, Mapping) or name not in value:
            return MISSING
        value = value[name]
    return value


def _finding(
    index: int, path: str, expected: str, value: Any, *, is_undecidable: bool = False
) -> ListFinding:
    at = f"[{index}].{path}" if path else f"[{index}]"
    actual = ABSENT if value is MISSING else value
    return ListFinding(at, expected, actual, is_undecidable)
