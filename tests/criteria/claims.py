"""Claims about a value, generated from its declared type: true ones, false ones and impossible ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from hosting_emulator.criteria.compound_types import Array, Either, Fields
from hosting_emulator.criteria.simple_types import Boolean, Number, Text, Timestamp, Ulid, Word
from hosting_emulator.criteria.value_types import MISSING, AnyValue, ValueType

Verdict = Literal["green", "red", "refused"]


class Claim(NamedTuple):
    """An expected value, and what a check must say about it."""

    expected: Any
    verdict: Verdict


def claims(kind: ValueType, actual: Any) -> Iterator[Claim]:
    """Yield claims about an actual value of a type."""
    if isinstance(kind, Either):
        kind = next(candidate for candidate in kind.types if not isinstance(candidate, Either))
    if isinstance(kind, AnyValue):
        return
    yield from _impossible(kind)
    if actual is MISSING:
        other = _other(kind, None)
        if other is not None:
            yield Claim(other, "red")
            yield Claim({"not": other}, "red")
            yield Claim({"optional": other}, "green")
        return
    if actual is None:
        yield from _of_null(kind)
        return
    yield Claim("*", "green")
    if not kind.nullable:
        yield Claim(None, "refused")
        yield Claim({"not": None}, "refused")
    else:
        yield Claim(None, "red")
        yield Claim({"not": None}, "green")
    if isinstance(kind, Array):
        yield from _of_list(kind, actual)
    elif isinstance(kind, Fields):
        yield Claim({}, "green")
        yield Claim({"same_as": actual}, "green")
        yield Claim({"same_as": dict(list(actual.items())[1:])}, "red")
        yield Claim({"same_as": {**actual, "no such field": 1}}, "refused")
    else:
        yield from _of_scalar(kind, actual)


def _of_null(kind: ValueType) -> Iterator[Claim]:
    yield Claim(None, "green")
    yield Claim("*", "red")
    yield Claim({"not": None}, "red")
    other = _other(kind, None)
    if other is not None:
        yield Claim(other, "red")
        yield Claim({"not": other}, "green")


def _of_scalar(kind: ValueType, actual: Any) -> Iterator[Claim]:
    other = _other(kind, actual)
    yield Claim(actual, "green")
    yield Claim({"not": actual}, "red")
    yield Claim({"one_of": [actual]}, "green")
    yield Claim([actual], "green")
    yield Claim({"optional": actual}, "green")
    yield Claim({"same_as": actual}, "green")
    yield Claim({"not_in": [actual]}, "red")
    if other is not None:
        yield Claim({"same_as": other}, "red")
        yield Claim({"not_in": [other]}, "green")
        yield Claim({"not_in": [other, actual]}, _verdict_without(kind, {other, actual}))
        yield Claim(other, "red")
        yield Claim({"not": other}, "green")
        yield Claim({"one_of": [other]}, "red")
        yield Claim({"one_of": [other, actual]}, "green")
        yield Claim([other], "red")
        yield Claim([other, actual], "green")
        yield Claim({"not": [other]}, "green")
        yield Claim({"not": [other, actual]}, _verdict_without(kind, {other, actual}))
        yield Claim({"not": {"not": actual}}, "green")
        yield Claim({"optional": other}, "red")
    if isinstance(kind, Text):
        yield Claim("/./", "green")
        every_word = set(kind.words) if isinstance(kind, Word) else set()
        yield Claim({"not": "/./"}, _verdict_without(kind, every_word))
    if isinstance(kind, Number | Timestamp):
        yield Claim({"at_least": actual, "at_most": actual}, "green")
        yield Claim({"not": {"at_least": actual}}, "red")
        yield Claim({"above": actual, "not": None} if kind.nullable else {"above": actual}, "red")
        yield Claim({"at_least": actual, "not": actual}, "red")
        yield Claim({"at_most": actual, "not": actual}, "red")
    if isinstance(kind, Ulid):
        yield Claim({"at_least": actual, "at_most": actual}, "green")
        yield Claim({"above": "0" * 26}, "green")
        yield Claim({"below": "0" * 26}, "red")
        yield Claim({"above": 3}, "refused")
    if isinstance(kind, Timestamp):
        yield Claim({"above": "1999-01-01T00:00:00Z"}, "green")
        yield Claim({"below": "1999-01-01T00:00:00Z"}, "red")
        yield Claim({"at_most": "2999-01-01T00:00:00Z"}, "green")
        yield Claim({"below": "2999-01-01T00:00:00Z"}, "green")


def _verdict_without(kind: ValueType, excluded: set[Any]) -> Verdict:
    """Return the verdict on a false claim that excludes some values. It is refused if none is left."""
    possible_values: set[Any]
    if isinstance(kind, Word):
        possible_values = set(kind.words)
    elif isinstance(kind, Boolean):
        possible_values = {True, False}
    else:
        return "red"
    return "refused" if possible_values <= excluded and not kind.nullable else "red"


def _of_list(kind: Array, actual: list[Any]) -> Iterator[Claim]:
    yield Claim(actual, "green")
    yield Claim({"not": actual}, "red")
    yield Claim({"not": []}, "green" if actual else "red")
    if actual:
        yield Claim([], "red")
        yield Claim({"has": actual[0]}, "green")
        yield Claim({"not": {"has": actual[0]}}, "red")
        yield Claim({"0": actual[0]}, "green")
        yield Claim({"each": "*"}, "green")
        yield Claim({"each": {"not": actual[0]}}, "red")
        yield Claim({"item_count": {"of": actual[0], "is": 1}}, "green")
        yield Claim({"item_count": {"of": actual[0], "is": 0}}, "red")
    yield from _of_order(kind, actual)
    yield Claim({"same_as": actual}, "green")
    yield Claim({"same_as": [*actual, *actual]}, "red" if actual else "green")
    yield Claim({"not_in": [actual]}, "red")
    yield Claim({"item_count": len(actual)}, "green")
    yield Claim({"item_count": {"not": len(actual)}}, "red")
    yield Claim({"item_count": -1}, "refused")
    yield Claim({"item_count": {"of": "*"}}, "refused")
    yield Claim({"distinct": True}, "green")
    yield Claim({"not": {"distinct": True}}, "red")
    yield Claim({"distinct": False}, "refused")
    yield Claim({"distinct": "no such field"}, "refused")
    other = _other(kind.item, actual[0] if len(actual) == 1 else None)
    if other is not None and other not in actual:
        yield Claim({"each": other}, "red")
        yield Claim({"each": {"not_in": [other]}}, "green" if actual else "red")
        yield Claim({"has": other}, "red")
        yield Claim({"not": {"has": other}}, "green")


def _of_order(kind: Array, actual: list[Any]) -> Iterator[Claim]:
    """Yield claims about the order of a list, by the times and ids of its items."""
    yield Claim({"sorted_by": "no such field"}, "refused")
    yield Claim({"sorted_by": "-id"}, "refused")
    if not isinstance(kind.item, Fields):
        yield Claim({"sorted_by": "ascending"}, "refused")
        return
    yield Claim({"sorted_by": "descending"}, "refused")
    yield Claim({"sorted_by": {"id": "down"}}, "refused")
    for name, field_kind in kind.item.fields.items():
        if not isinstance(field_kind, Timestamp | Ulid):
            yield Claim({"sorted_by": name}, "refused")
            continue
        values = [item.get(name) for item in actual]
        if None in values:
            continue
        is_ascending = values == sorted(values)
        is_descending = values == sorted(values, reverse=True)
        yield Claim({"sorted_by": name}, "green" if is_ascending else "red")
        yield Claim({"sorted_by": {name: "descending"}}, "green" if is_descending else "red")
        yield Claim({"distinct": name}, "green" if len(set(values)) == len(values) else "red")


def _impossible(kind: ValueType) -> Iterator[Claim]:
    """Yield values that no value of a type can match."""
    if isinstance(kind, Array | Fields):
        impossible: list[Any] = ["text", 7, True, {"at_leest": 1}]
    else:
        impossible = [{}, [], {"at_leest": 1}, {"has": 1}, {"each": 1}, {"item_count": 1}]
        impossible += [{"distinct": True}, {"sorted_by": "ascending"}, {"not_in": []}]
        impossible += [{"same_as": {"a": 1}}, {"same_as": [1]}, {"not_in": [{"a": 1}]}]
    if isinstance(kind, Word):
        impossible += [f"{kind.words[0]}x", 7, True, "/no such word/", {"above": 3}]
    elif isinstance(kind, Timestamp):
        impossible += ["yesterday", 7, {"above": "soon"}]
    elif isinstance(kind, Text):
        impossible += [7, True, {"above": 3}]
        impossible += ["nonsense"] if kind.pattern else []
    elif isinstance(kind, Boolean):
        impossible += ["true", 1, "/true/", {"at_least": 0}]
    elif isinstance(kind, Number):
        impossible += ["7", True, "/7/", {"above": "soon"}, {"at_least": 3, "below": 3}]
        impossible += [{"at_most": "soon"}]
    for value in impossible:
        yield Claim(value, "refused")
        yield Claim({"not": value}, "refused")
        yield Claim({"optional": value}, "refused")
        yield Claim({"one_of": [value]}, "refused")


def _other(kind: ValueType, actual: Any) -> Any:
    """Return another possible value of a type. None: there is none."""
    candidates: list[Any] = []
    if isinstance(kind, Word):
        candidates = list(kind.words)
    elif isinstance(kind, Boolean):
        candidates = [True, False]
    elif isinstance(kind, Timestamp):
        candidates = ["2001-02-03T04:05:06Z"]
    elif isinstance(kind, Text):
        candidates = ["0" * 26] if kind.pattern else ["another text"]
    elif isinstance(kind, Number):
        least = 0 if kind.least == float("-inf") else int(kind.least)
        candidates = [least, least + 1]
    return next((candidate for candidate in candidates if candidate != actual), None)
