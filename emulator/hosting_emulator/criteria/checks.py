"""Checks of expected values: a value that can never match is refused where it is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from hosting_emulator.contract.suggestions import nearest
from hosting_emulator.criteria.comparisons import COMPARISONS, ORDERS, compile_pattern, match
from hosting_emulator.criteria.compound_types import Array, Either
from hosting_emulator.criteria.type_messages import display_value
from hosting_emulator.criteria.value_types import (
    MISSING,
    VARIABLE_START,
    Impossible,
    Path,
    ValueType,
)


def has_variable(expected: Any) -> bool:
    """Tell whether a value contains a variable such as `${operation}`."""
    if isinstance(expected, Mapping):
        return any(map(has_variable, expected.values()))
    if isinstance(expected, list | tuple):
        return any(map(has_variable, expected))
    return isinstance(expected, str) and VARIABLE_START in expected


def check(kind: ValueType, expected: Any, path: Path = (), *, variables: bool = False) -> None:
    """Raise Impossible if no value of a type can ever match.

    With `variables`, a text may contain variables whose values are unknown, and so it may match.
    """
    if variables and isinstance(expected, str) and VARIABLE_START in expected:
        return
    if isinstance(expected, Mapping):
        _check_mapping(kind, expected, path, variables=variables)
    elif isinstance(expected, list | tuple):
        _check_list(kind, expected, path, variables=variables)
    elif expected is None:
        if not kind.nullable:
            raise Impossible(f"it must be {kind.form}: it is never null", path)
    elif isinstance(expected, str) and expected == "*":
        return
    elif isinstance(expected, str) and kind.is_pattern(expected):
        kind.check_pattern(compile_pattern(expected, path), path)
    else:
        kind.check_plain(expected, path)


def _check_list(kind: ValueType, expected: Sequence[Any], path: Path, *, variables: bool) -> None:
    items = kind.items()
    if items is None and not expected:
        raise Impossible("an empty list has no value that could match", path)
    most = getattr(kind, "most", None)
    if most is not None and len(expected) > most:
        raise Impossible(f"the list never has more than {most} items", path)
    # Without items, the value is not a list, and the expected list holds alternatives.
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
                hint = nearest(str(name), COMPARISONS) or f"; those are {', '.join(COMPARISONS)}"
                message = f"{name!r} is next to {words[0]} but is not a comparison{hint}"
                raise Impossible(message, (*path, name), key=True)
        for word, operand in expected.items():
            _check_word(kind, word, operand, (*path, word), variables=variables)
        _check_range(kind, expected, path)
        if not (variables and has_variable(expected)):
            _check_together(kind, expected, path)
        return
    if not kind.is_mapping():
        for name in expected:
            hint = nearest(str(name), COMPARISONS) or f"; those are {', '.join(COMPARISONS)}"
            raise Impossible(f"there is no comparison {str(name)!r}{hint}", (*path, name), key=True)
        raise Impossible(f"it must be {kind.form}, not a mapping", path)
    if not expected and isinstance(kind, Array):
        raise Impossible(f"it must be {kind.form}, not a mapping", path)
    for name, value in expected.items():
        inner = kind.field(str(name))
        if inner is None:
            names = (*kind.field_names(), *COMPARISONS)
            hint = nearest(str(name), names) or f"; there are {', '.join(kind.field_names())}"
            message = f"there is no field {str(name)!r} here{hint}"
            raise Impossible(message, (*path, name), key=True)
        check(inner, value, (*path, name), variables=variables)


def _check_word(kind: ValueType, word: str, operand: Any, path: Path, *, variables: bool) -> None:
    """Raise Impossible if a word of a comparison does not take an operand."""
    if variables and isinstance(operand, str) and VARIABLE_START in operand:
        return
    _WORD_CHECKS[word](kind, operand, path, variables)


def _check_order(word: str, kind: ValueType, operand: Any, path: Path, variables: bool) -> None:
    """Check a limit of a type whose values have an order."""
    if isinstance(operand, bool) or kind.rank(operand) is None:
        raise Impossible(
            f"{word} needs a number or a timestamp, not {display_value(operand)}", path
        )
    if isinstance(kind, Either):
        kind = next(member for member in kind.types if member.rank(operand) is not None)
    least, most = kind.limits()
    extreme = most if word in ("at_least", "above") else least
    if not ORDERS[word](kind.rank(operand) or 0, extreme):
        raise Impossible(f"it must be {kind.form}: it is never {word} {operand}", path)


def _check_one_of(kind: ValueType, operand: Any, path: Path, variables: bool) -> None:
    if not isinstance(operand, list | tuple) or not operand:
        raise Impossible("one_of needs a list of the values that it may be", path)
    for index, choice in enumerate(operand):
        check(kind, choice, (*path, index), variables=variables)


def _check_has(kind: ValueType, operand: Any, path: Path, variables: bool) -> None:
    items = kind.items()
    if items is None:
        raise Impossible(f"has looks for an item of a list; this is {kind.form}", path)
    check(items, operand, path, variables=variables)


def _check_not(kind: ValueType, operand: Any, path: Path, variables: bool) -> None:
    if operand == "*" and not kind.nullable:
        raise Impossible(f"it must be {kind.form}: it is never null", path)
    check(kind, operand, path, variables=variables)
    if operand == {} and not kind.nullable:
        raise Impossible("an empty mapping matches every object", path)


def _check_optional(kind: ValueType, operand: Any, path: Path, variables: bool) -> None:
    check(kind, operand, path, variables=variables)


_WordCheck: TypeAlias = Callable[[ValueType, Any, Path, bool], None]
#: The checks of the operands of words in `COMPARISONS`.
_WORD_CHECKS: dict[str, _WordCheck] = {
    **{word: partial(_check_order, word) for word in ORDERS},
    "not": _check_not,
    "one_of": _check_one_of,
    "has": _check_has,
    "optional": _check_optional,
}


def _check_together(kind: ValueType, expected: Mapping[str, Any], path: Path) -> None:
    """Refuse comparisons of which each can hold, but not all of them for one value."""
    values = kind.possible_values()
    if values is None:
        return
    possible = [*values, MISSING]
    if kind.nullable:
        possible.append(None)
    if not any(match(kind, expected, value) is True for value in possible):
        raise Impossible(f"it must be {kind.form}, and none is like that", path)


def _check_range(kind: ValueType, expected: Mapping[str, Any], path: Path) -> None:
    """Refuse two limits between which no value lies."""
    lows = [kind.rank(expected[word]) for word in ("at_least", "above") if word in expected]
    highs = [kind.rank(expected[word]) for word in ("at_most", "below") if word in expected]
    if None in lows or None in highs or not lows or not highs:
        return
    low = max(rank for rank in lows if rank is not None)
    high = min(rank for rank in highs if rank is not None)
    is_low_open = "above" in expected and kind.rank(expected["above"]) == low
    is_high_open = "below" in expected and kind.rank(expected["below"]) == high
    nothing_between = low > high or (low == high and (is_low_open or is_high_open))
    if getattr(kind, "whole", False) and is_low_open and is_high_open:
        nothing_between = nothing_between or high - low <= 1
    if nothing_between:
        raise Impossible("no value lies between these limits", path)
