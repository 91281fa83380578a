"""Compares expected values with actual values.

The result of a comparison is True or False, or None if the two values cannot be compared, such as a
number and a string. An expectation is met only if the result is True. The negation of None is None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

from hosting_emulator.criteria import patterns
from hosting_emulator.criteria.list_words import (
    ListFinding,
    find_disorder,
    find_repetition,
    identity_of,
    read_sort_keys,
)
from hosting_emulator.criteria.patterns import Expression, PatternError
from hosting_emulator.criteria.simple_types import Number
from hosting_emulator.criteria.value_types import (
    ANY,
    MISSING,
    Impossible,
    Path,
    Result,
    ValueType,
    any_result,
)


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
    """Tell whether an expected value is a comparison such as `{at_least: 3}`."""
    return (
        isinstance(expected, Mapping) and bool(expected) and all(w in COMPARISONS for w in expected)
    )


def match(kind: ValueType, expected: Any, actual: Any) -> Result:
    """Tell whether an actual value matches an expected value.

    Return None if the values cannot be compared.
    """
    if is_comparison(expected):
        results = [match_word(word, kind, operand, actual) for word, operand in expected.items()]
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


def match_word(word: str, kind: ValueType, operand: Any, actual: Any) -> Result:
    """Tell whether an actual value matches a comparison word and its operand.

    `word` must be in COMPARISONS. The result is None if the values cannot be compared.
    """
    return _WORDS[word](kind, operand, actual)


def _match_parts(kind: ValueType, expected: Any, actual: Any) -> Result:
    """Compare all items of a list, or only the fields that an expected mapping names."""
    if isinstance(expected, Mapping):
        parts = parts_of(expected, actual)
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


def parts_of(expected: Mapping[str, Any], actual: Any) -> Mapping[str, Any] | None:
    """Return an object's fields, or a list's items by index. Return None for any other value.

    A list's items are returned only if all names in `expected` are indexes.
    """
    if isinstance(actual, Mapping):
        return actual
    if isinstance(actual, list) and expected and all(str(name).isdecimal() for name in expected):
        return {str(index): item for index, item in enumerate(actual)}
    return None


def _compare_order(
    order: Callable[[float, float], bool], kind: ValueType, limit: Any, actual: Any
) -> Result:
    """Compare a value with a limit by rank. Return None if the two are of different kinds."""
    if actual is MISSING:
        return None
    limit_rank = kind.rank(limit)
    rank = kind.rank(actual)
    if limit_rank is None or rank is None or limit_rank.order != rank.order:
        return None
    return order(limit_rank.position, rank.position)


def _compare_not(kind: ValueType, expected: Any, actual: Any) -> Result:
    result = match(kind, expected, actual)
    # A missing value must not match, because `not` requires a value.
    if result is None or (actual is MISSING and not result):
        return None
    return not result


def _compare_one_of(kind: ValueType, choices: Any, actual: Any) -> Result:
    return any_result(match(kind, choice, actual) for choice in choices)


def _compare_has(kind: ValueType, expected: Any, actual: Any) -> Result:
    """Tell whether any item of a list matches."""
    if not isinstance(actual, list):
        return None
    item_kind = kind.items() or ANY
    return any_result(match(item_kind, expected, item) for item in actual) or False


def _compare_not_in(kind: ValueType, values: Any, actual: Any) -> Result:
    """Tell whether a value differs from all forbidden values."""
    result = any_result(_compare_same(kind, value, actual) for value in values)
    if result is None or actual is MISSING:
        return None
    return not result


def _compare_same(kind: ValueType, expected: Any, actual: Any) -> Result:
    """Tell whether two values are the same in every part.

    A string in the expected value is compared literally and not as a pattern.
    """
    if actual is MISSING:
        return kind.is_null_when_absent() and kind.means_nothing(expected)
    if actual is None or kind.means_nothing(expected):
        return actual is None and kind.means_nothing(expected)
    for container in (Mapping, list):
        if isinstance(expected, container) or isinstance(actual, container):
            if not isinstance(expected, container) or not isinstance(actual, container):
                return None
            return identity_of(kind, expected) == identity_of(kind, actual)
    return kind.equals(expected, actual)


def _compare_each(kind: ValueType, expected: Any, actual: Any) -> Result:
    """Tell whether every item of a list matches.

    The result for an empty list is False, because an empty list proves nothing.
    """
    if not isinstance(actual, list):
        return None
    item_kind = kind.items() or ANY
    results = [match(item_kind, expected, item) for item in actual]
    if False in results or not results:
        return False
    if None in results:
        return None
    return True


def _compare_item_count(kind: ValueType, operand: Any, actual: Any) -> Result:
    """Compare the number of all items in a list, or of the items that match `of`."""
    if not isinstance(actual, list):
        return None
    count, expected = counted_items(kind, operand, actual)
    return match(ITEM_COUNT, expected, count)


def counted_items(kind: ValueType, operand: Any, actual: list[Any]) -> tuple[int, Any]:
    """Return the number of items that an `item_count` counts, and the expected number."""
    if not names_counted_items(operand):
        return len(actual), operand
    item_kind = kind.items() or ANY
    matches = [item for item in actual if match(item_kind, operand["of"], item) is True]
    return len(matches), operand["is"]


def names_counted_items(operand: Any) -> bool:
    """Tell whether an `item_count` has the form `{of: …, is: …}`, which counts only some items."""
    return isinstance(operand, Mapping) and set(operand) == {"of", "is"}


def _compare_list(word: str, kind: ValueType, operand: Any, actual: Any) -> Result:
    """Tell whether a list meets `sorted_by` or `distinct`.

    Return None if the items cannot be compared.
    """
    if not isinstance(actual, list):
        return None
    finding = ITEM_FINDERS[word](kind.items() or ANY, operand, actual)
    if finding is None:
        return True
    if finding.is_undecidable:
        return None
    return False


def _find_disorder(item_kind: ValueType, operand: Any, items: list[Any]) -> ListFinding | None:
    return find_disorder(item_kind, read_sort_keys(operand), items)


def _find_repetition(item_kind: ValueType, operand: Any, items: list[Any]) -> ListFinding | None:
    path = "" if operand is True else str(operand)
    return find_repetition(item_kind, path, items)


#: Functions that find the first violation of `sorted_by` and of `distinct` in a list.
ITEM_FINDERS: dict[str, Callable[[ValueType, Any, list[Any]], ListFinding | None]] = {
    "sorted_by": _find_disorder,
    "distinct": _find_repetition,
}


def _compare_optional(kind: ValueType, expected: Any, actual: Any) -> Result:
    return actual is MISSING or match(kind, expected, actual)


#: The type of the number of items that `item_count` expects.
ITEM_COUNT = Number("a number of items from 0", whole=True, least=0)
_WordComparison: TypeAlias = Callable[[ValueType, Any, Any], Result]
_WORDS: dict[str, _WordComparison] = {
    **{word: partial(_compare_order, order) for word, order in ORDERS.items()},
    "not": _compare_not,
    "one_of": _compare_one_of,
    "not_in": _compare_not_in,
    "same_as": _compare_same,
    "has": _compare_has,
    "each": _compare_each,
    "item_count": _compare_item_count,
    **{word: partial(_compare_list, word) for word in ITEM_FINDERS},
    "optional": _compare_optional,
}
#: The comparison words that apply to the items in a list.
LIST_WORDS = ("has", "each", "item_count", *ITEM_FINDERS)
#: All comparison words. A mapping such as `{at_least: 3, below: 10}` matches a value only if every
#: comparison in it holds. The `checks` module defines the valid operands of each word.
COMPARISONS = tuple(_WORDS)


def compile_pattern(text: str, path: Path = ()) -> Expression:
    """Compile the regular expression in a `/pattern/`.

    Raises Impossible if the expression is invalid or exceeds a limit.
    """
    try:
        return patterns.compile_pattern(text[1:-1])
    except PatternError as error:
        raise Impossible(str(error), path) from None
