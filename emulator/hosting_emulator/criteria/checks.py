"""Checks expected values, and refuses expected values that can never match."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

from hosting_emulator.contract.suggestions import nearest
from hosting_emulator.criteria.comparisons import (
    COMPARISONS,
    ITEM_COUNT,
    ORDERS,
    compile_pattern,
    match,
    names_counted_items,
)
from hosting_emulator.criteria.compound_types import Array, Either
from hosting_emulator.criteria.list_checks import (
    check_distinct,
    check_sorted_by,
    item_type,
    no_field,
)
from hosting_emulator.criteria.type_messages import display_value
from hosting_emulator.criteria.value_types import (
    MISSING,
    ORDERED_VALUES,
    VARIABLE_START,
    Impossible,
    Path,
    Rank,
    ValueType,
)
from hosting_emulator.criteria.word_hints import comparison_hint


def has_variable(expected: Any) -> bool:
    """Tell whether a value contains a variable such as `${operation}`."""
    if isinstance(expected, Mapping):
        return any(map(has_variable, expected.values()))
    if isinstance(expected, list | tuple):
        return any(map(has_variable, expected))
    return isinstance(expected, str) and VARIABLE_START in expected


def check(kind: ValueType, expected: Any, path: Path = (), *, variables: bool = False) -> None:
    """Raise Impossible if no value of type `kind` can ever match `expected`.

    If `variables` is true, strings may contain variables. A string with a variable is accepted,
    because the variable's value is not known yet.
    """
    if variables and isinstance(expected, str) and VARIABLE_START in expected:
        return
    if isinstance(expected, Mapping):
        _check_mapping(kind, expected, path, variables=variables)
    elif isinstance(expected, list | tuple):
        _check_list(kind, expected, path, variables=variables)
    elif expected is None:
        if not kind.nullable:
            raise Impossible(f"it must be {kind.form}, because the value is never null", path)
    elif isinstance(expected, str) and expected == "*":
        return
    elif isinstance(expected, str) and kind.is_pattern(expected):
        kind.check_pattern(compile_pattern(expected, path), path)
    else:
        kind.check_plain(expected, path)


def _check_list(kind: ValueType, expected: Sequence[Any], path: Path, *, variables: bool) -> None:
    items = kind.items()
    if items is None and not expected:
        raise Impossible("an empty list can never match", path)
    most = getattr(kind, "most", None)
    if most is not None and len(expected) > most:
        raise Impossible(f"the list never has more than {most} items", path)
    # An expected list contains alternatives if the value itself is not a list.
    item_kind = items or kind
    for index, item in enumerate(expected):
        check(item_kind, item, (*path, index), variables=variables)


def _check_mapping(
    kind: ValueType, expected: Mapping[str, Any], path: Path, *, variables: bool
) -> None:
    words = [name for name in expected if name in COMPARISONS]
    declared = bool(kind.field_names()) and all(kind.field(str(name)) for name in expected)
    if words and not declared:
        for name in expected:
            if name not in COMPARISONS:
                hint = comparison_hint(str(name))
                message = (
                    f"{name!r} is not a comparison, but {words[0]} in the same mapping is{hint}"
                )
                raise Impossible(message, (*path, name), key=True)
        for word, operand in expected.items():
            _check_word(kind, word, operand, (*path, word), variables=variables)
        _check_range(kind, expected, path)
        if not (variables and has_variable(expected)):
            _check_together(kind, expected, path)
        return
    if not kind.is_mapping():
        for name in expected:
            hint = comparison_hint(str(name))
            raise Impossible(f"there is no comparison {str(name)!r}{hint}", (*path, name), key=True)
        raise Impossible(f"it must be {kind.form}, not a mapping", path)
    if not expected and isinstance(kind, Array):
        raise Impossible(f"it must be {kind.form}, not a mapping", path)
    for name, value in expected.items():
        inner = kind.field(str(name))
        if inner is None:
            raise _unknown_part(kind, str(name), (*path, name))
        check(inner, value, (*path, name), variables=variables)


def _unknown_part(kind: ValueType, name: str, path: Path) -> Impossible:
    """Return the error for a name that is neither a field of the type nor a comparison."""
    field_names = kind.field_names()
    if not field_names:
        hint = comparison_hint(name)
        message = f"{name!r} is neither the index of a list item nor a comparison{hint}"
        return Impossible(message, path, key=True)
    hint = (
        nearest(name, (*field_names, *COMPARISONS)) or f"; the fields are {', '.join(field_names)}"
    )
    return Impossible(f"there is no field {name!r} here{hint}", path, key=True)


def _check_word(kind: ValueType, word: str, operand: Any, path: Path, *, variables: bool) -> None:
    """Raise Impossible if no value of the type can ever match the operand of a comparison word."""
    if variables and isinstance(operand, str) and VARIABLE_START in operand:
        return
    _WORD_CHECKS[word](kind, operand, path, variables)


def _check_order(word: str, kind: ValueType, operand: Any, path: Path, variables: bool) -> None:
    """Check the limit of a word such as `at_least`, which requires a type with an order."""
    if not kind.orders():
        raise Impossible(
            f"{word} compares only {ORDERED_VALUES}, but this is {kind.form}, which has no order",
            path,
        )
    rank = kind.rank(operand)
    if isinstance(operand, bool) or rank is None:
        raise Impossible(
            f"{word} needs a limit that can be compared with {' or '.join(kind.orders())}, not "
            f"{display_value(operand)}",
            path,
        )
    types = kind.types if isinstance(kind, Either) else (kind,)
    if not any(_is_limit_possible(word, member, operand) for member in types):
        raise Impossible(f"it must be {kind.form}, so no value is {word} {operand}", path)


def _is_limit_possible(word: str, kind: ValueType, limit: Any) -> bool:
    """Return whether a value of the type can be within a limit, such as `at_least: 3`."""
    rank = kind.rank(limit)
    if rank is None:
        return False
    least, most = kind.limits()
    extreme = most if word in ("at_least", "above") else least
    return ORDERS[word](rank.position, extreme)


def _check_one_of(kind: ValueType, operand: Any, path: Path, variables: bool) -> None:
    if not isinstance(operand, list | tuple) or not operand:
        raise Impossible("one_of needs a list of allowed values", path)
    for index, choice in enumerate(operand):
        check(kind, choice, (*path, index), variables=variables)


def _check_has(kind: ValueType, operand: Any, path: Path, variables: bool) -> None:
    check(item_type("has", kind, path), operand, path, variables=variables)


def _check_not_in(kind: ValueType, operand: Any, path: Path, variables: bool) -> None:
    if not isinstance(operand, list | tuple) or not operand:
        raise Impossible("not_in needs a list of forbidden values", path)
    for index, value in enumerate(operand):
        _check_same(kind, value, (*path, index), variables)


def _check_same(kind: ValueType, operand: Any, path: Path, variables: bool) -> None:
    """Check a literal value, in which strings are neither patterns nor wildcards."""
    if variables and has_variable(operand):
        return
    if operand is None or kind.means_nothing(operand):
        check(kind, operand, path)
    elif isinstance(operand, Mapping):
        _check_same_fields(kind, operand, path)
    elif isinstance(operand, list | tuple):
        item_kind = item_type("a list in same_as", kind, path)
        for index, item in enumerate(operand):
            _check_same(item_kind, item, (*path, index), variables)
    else:
        kind.check_plain(operand, path)


def _check_same_fields(kind: ValueType, operand: Mapping[str, Any], path: Path) -> None:
    if not kind.is_mapping() or isinstance(kind, Array):
        raise Impossible(f"it must be {kind.form}, not a mapping", path)
    for name, value in operand.items():
        inner = kind.field(str(name))
        if inner is None:
            raise no_field(kind, str(name), (*path, name))
        _check_same(inner, value, (*path, name), variables=False)


def _check_each(kind: ValueType, operand: Any, path: Path, variables: bool) -> None:
    check(item_type("each", kind, path), operand, path, variables=variables)


def _check_item_count(kind: ValueType, operand: Any, path: Path, variables: bool) -> None:
    """Check the operand of `item_count`, which is an expected number or `{of: …, is: …}`."""
    item_kind = item_type("item_count", kind, path)
    most = getattr(kind, "most", None)
    count_kind = ITEM_COUNT
    if most is not None:
        form = f"a number of items from 0 to {most}"
        count_kind = replace(ITEM_COUNT, form=form, greatest=most)
    if names_counted_items(operand):
        check(item_kind, operand["of"], (*path, "of"), variables=variables)
        check(count_kind, operand["is"], (*path, "is"), variables=variables)
        return
    if isinstance(operand, Mapping) and not set(operand).isdisjoint(("of", "is")):
        message = (
            "item_count needs a number, or both `of` and `is`, such as {of: {status: 409}, is: 4}"
        )
        raise Impossible(message, path)
    check(count_kind, operand, path, variables=variables)


def _check_sorted_by(kind: ValueType, operand: Any, path: Path, variables: bool) -> None:
    check_sorted_by(kind, operand, path)


def _check_distinct(kind: ValueType, operand: Any, path: Path, variables: bool) -> None:
    check_distinct(kind, operand, path)


def _check_not(kind: ValueType, operand: Any, path: Path, variables: bool) -> None:
    if operand == "*" and not kind.nullable:
        raise Impossible(f"it must be {kind.form}, because the value is never null", path)
    check(kind, operand, path, variables=variables)
    if operand == {} and not kind.nullable:
        raise Impossible("an empty mapping matches every object", path)


def _check_optional(kind: ValueType, operand: Any, path: Path, variables: bool) -> None:
    check(kind, operand, path, variables=variables)


_WordCheck: TypeAlias = Callable[[ValueType, Any, Path, bool], None]
#: The functions that check the operands of the words in `COMPARISONS`.
_WORD_CHECKS: dict[str, _WordCheck] = {
    **{word: partial(_check_order, word) for word in ORDERS},
    "not": _check_not,
    "one_of": _check_one_of,
    "not_in": _check_not_in,
    "same_as": _check_same,
    "has": _check_has,
    "each": _check_each,
    "item_count": _check_item_count,
    "sorted_by": _check_sorted_by,
    "distinct": _check_distinct,
    "optional": _check_optional,
}


def _check_together(kind: ValueType, expected: Mapping[str, Any], path: Path) -> None:
    """Raise Impossible if no single value can meet all comparisons in a mapping."""
    values = kind.possible_values()
    if values is None:
        return
    possible = [*values, MISSING]
    if kind.nullable:
        possible.append(None)
    if not any(match(kind, expected, value) is True for value in possible):
        raise Impossible(
            f"it must be {kind.form}, but no such value meets all these conditions", path
        )


def _check_range(kind: ValueType, expected: Mapping[str, Any], path: Path) -> None:
    """Raise Impossible if there is no value between the lower and the upper limits."""
    lows = _limit_ranks(kind, expected, ("at_least", "above"))
    highs = _limit_ranks(kind, expected, ("at_most", "below"))
    if not lows or not highs:
        return
    if len({rank.order for rank in (*lows, *highs)}) > 1:
        raise Impossible("these limits are of different kinds and cannot be compared", path)
    low = max(rank.position for rank in lows)
    high = min(rank.position for rank in highs)
    is_low_open = low in [rank.position for rank in _limit_ranks(kind, expected, ("above",))]
    is_high_open = high in [rank.position for rank in _limit_ranks(kind, expected, ("below",))]
    nothing_between = low > high or (low == high and (is_low_open or is_high_open))
    if getattr(kind, "whole", False) and is_low_open and is_high_open:
        nothing_between = nothing_between or high - low <= 1
    if nothing_between:
        raise Impossible("there is no value between these limits", path)


def _limit_ranks(kind: ValueType, expected: Mapping[str, Any], words: Sequence[str]) -> list[Rank]:
    """Return the ranks of the limits for `words`, except limits that contain a variable."""
    ranks = [kind.rank(expected[word]) for word in words if word in expected]
    return [rank for rank in ranks if rank is not None]
