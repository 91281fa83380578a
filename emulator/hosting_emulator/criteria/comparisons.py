"""Comparisons between an expected and an actual value, and where the two differ.

A comparison has three results: True, False, and None where the two values cannot be compared, such as
a number and a text. A claim holds only if the result is True, and the negation of None is None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

from hosting_emulator.criteria import patterns
from hosting_emulator.criteria.patterns import Expression, PatternError
from hosting_emulator.criteria.value_types import (
    ABSENT,
    ANY,
    MISSING,
    Impossible,
    Path,
    Result,
    ValueType,
    any_result,
)


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Where a response differs: a path in it, the expected value and the actual one."""

    at: str
    expected: Any
    actual: Any

    def below(self, path: str) -> Mismatch:
        """Return the mismatch of a part, whose path in the whole is given."""
        return replace(self, at=f"{path}.{self.at}")

    def report(self) -> dict[str, Any]:
        """Return the mismatch as reports of stories show it."""
        return {"at": self.at, "expected": self.expected, "found": self.actual}


def _above(limit: float, actual: float) -> bool:
    return actual > limit


def _at_least(limit: float, actual: float) -> bool:
    return actual >= limit


def _below(limit: float, actual: float) -> bool:
    return actual < limit


def _at_most(limit: float, actual: float) -> bool:
    return actual <= limit


ORDERS: dict[str, Callable[[float, float], bool]] = {
    "at_least": _at_least,
    "at_most": _at_most,
    "above": _above,
    "below": _below,
}


def is_comparison(expected: Any) -> bool:
    """Tell whether an expected value is a comparison by words."""
    return (
        isinstance(expected, Mapping) and bool(expected) and all(w in COMPARISONS for w in expected)
    )


def match(kind: ValueType, expected: Any, actual: Any) -> Result:
    """Compare an expected value with an actual one. None: they cannot be compared."""
    if is_comparison(expected):
        results = [_WORDS[word](kind, operand, actual) for word, operand in expected.items()]
        if None in results:
            return None
        return all(results)
    if actual is MISSING and not isinstance(expected, list | tuple):
        return kind.is_null_when_absent() and kind.means_nothing(expected)
    if isinstance(expected, list | tuple) and not isinstance(actual, list):
        if kind.is_list():
            return None
        return any_result(match(kind, choice, actual) for choice in expected)
    if isinstance(expected, list | tuple | Mapping):
        return _match_parts(kind, expected, actual)
    if isinstance(expected, str) and expected == "*":
        return actual is not None
    if actual is None or kind.means_nothing(expected):
        return actual is None and kind.means_nothing(expected)
    if isinstance(expected, str) and kind.is_pattern(expected):
        return kind.search(compile_pattern(expected), actual)
    return kind.equals(expected, actual)


def _match_parts(kind: ValueType, expected: Any, actual: Any) -> Result:
    """Compare a list, or a mapping of the fields that matter."""
    if isinstance(expected, Mapping):
        parts = _parts(expected, actual)
        if parts is None:
            return None
        pairs = [
            (kind.field(name), value, parts.get(name, MISSING)) for name, value in expected.items()
        ]
    elif len(expected) != len(actual):
        return False
    else:
        pairs = [(kind.items(), *pair) for pair in zip(expected, actual, strict=True)]
    results = [match(inner or ANY, value, part) for inner, value, part in pairs]
    if None in results:
        return None
    return all(results)


def _parts(expected: Mapping[str, Any], actual: Any) -> Mapping[str, Any] | None:
    """Return the fields of an object, or the items of a list by their numbers. None: it is neither."""
    if isinstance(actual, Mapping):
        return actual
    if isinstance(actual, list) and expected and all(str(name).isdecimal() for name in expected):
        return {str(index): item for index, item in enumerate(actual)}
    return None


def _compare_order(
    order: Callable[[float, float], bool], kind: ValueType, limit: Any, actual: Any
) -> Result:
    """Compare the ranks of a limit and a value."""
    if actual is MISSING:
        return None
    limit_rank = kind.rank(limit)
    rank = kind.rank(actual)
    if limit_rank is None or rank is None:
        return None
    return order(limit_rank, rank)


def _compare_not(kind: ValueType, expected: Any, actual: Any) -> Result:
    result = match(kind, expected, actual)
    # A missing value does not count as a different value.
    if result is None or (actual is MISSING and not result):
        return None
    return not result


def _compare_one_of(kind: ValueType, choices: Any, actual: Any) -> Result:
    return any_result(match(kind, choice, actual) for choice in choices)


def _compare_has(kind: ValueType, expected: Any, actual: Any) -> Result:
    """Tell whether a list has an item that matches."""
    if not isinstance(actual, list):
        return None
    item_kind = kind.items() or ANY
    return any_result(match(item_kind, expected, item) for item in actual) or False


def _compare_optional(kind: ValueType, expected: Any, actual: Any) -> Result:
    return actual is MISSING or match(kind, expected, actual)


_WordComparison: TypeAlias = Callable[[ValueType, Any, Any], Result]
_WORDS: dict[str, _WordComparison] = {
    **{word: partial(_compare_order, order) for word, order in ORDERS.items()},
    "not": _compare_not,
    "one_of": _compare_one_of,
    "has": _compare_has,
    "optional": _compare_optional,
}
#: The words of a comparison, such as `{at_least: 3, below: 10}`. All words of one mapping must hold.
#: `checks` says for each word which operands it takes.
COMPARISONS = tuple(_WORDS)


def compare(kind: ValueType, expected: Any, actual: Any, at: str) -> list[Mismatch]:
    """Return where an actual value differs from an expected one.

    Fields that are not expected may have any value. `at` is the path of the value in messages.
    """
    parts = None
    if isinstance(expected, Mapping) and expected and not is_comparison(expected):
        parts = _parts(expected, actual)
    if parts is not None:
        differences = []
        for name, value in expected.items():
            inner = kind.field(name) or ANY
            where = f"{at}.{name}" if at else str(name)
            differences += compare(inner, value, parts.get(str(name), MISSING), where)
        return differences
    if _are_lists_of_one_length(expected, actual):
        item_kind = kind.items() or ANY
        differences = []
        for index, (expected_item, item) in enumerate(zip(expected, actual, strict=True)):
            differences += compare(item_kind, expected_item, item, f"{at}[{index}]")
        return differences
    if match(kind, expected, actual) is True:
        return []
    if actual is MISSING:
        return [Mismatch(at, expected, ABSENT)]
    return [Mismatch(at, expected, actual)]


def _are_lists_of_one_length(expected: Any, actual: Any) -> bool:
    return isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual)


def compile_pattern(text: str, path: Path = ()) -> Expression:
    """Compile the regular expression of a `/pattern/`. Raises Impossible."""
    try:
        return patterns.compile_pattern(text[1:-1])
    except PatternError as error:
        raise Impossible(str(error), path) from None
