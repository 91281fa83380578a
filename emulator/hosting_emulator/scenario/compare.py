"""What an answer must be, against what it is: plain values, `*`, `/patterns/`, comparisons by words.

A mapping whose keys are all words of COMPARISONS compares (`{at_least: 3, below: 10}`: all of them
hold); any other names the fields that matter. Two timestamps are compared as moments, however each
of them is written.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.contract.words import nearest
from hosting_emulator.scenario.source import Path

ABSENT = "(absent)"


class Mismatch(NamedTuple):
    """Where an answer differs: a path in it, what was expected and what was found."""

    at: str
    expected: Any
    found: Any


def compare(expected: Any, found: Any, at: str) -> list[Mismatch]:
    """Compare the fields that `expected` names, or places of a list by their numbers, from 0."""
    if is_comparison(expected):
        same = all(COMPARISONS[word](wanted, found) for word, wanted in expected.items())
    elif isinstance(expected, dict):
        return _compare_fields(expected, found, at)
    elif isinstance(expected, list) and isinstance(found, list) and len(found) == len(expected):
        pairs = enumerate(zip(expected, found, strict=True))
        return [one for n, pair in pairs for one in compare(*pair, f"{at}[{n}]")]
    elif expected == "*":
        same = found is not None
    elif (pattern := pattern_of(expected)) is not None:
        same = isinstance(found, str) and re.search(pattern, found) is not None
    elif (pair := _in_order(expected, found)) is not None:
        same = pair[0] == pair[1]  # JSON has one kind of number, and a moment many spellings
    else:
        same = type(expected) is type(found) and expected == found
    return [] if same else [Mismatch(at, expected, found)]


def _compare_fields(expected: dict[str, Any], found: Any, at: str) -> list[Mismatch]:
    if isinstance(found, list) and all(name.isdecimal() for name in expected):
        found = {name: found[int(name)] for name in expected if int(name) < len(found)}
    if not isinstance(found, dict):
        hint = next(filter(None, (nearest(name, COMPARISONS) for name in expected)), None)
        return [Mismatch(at, f"{expected}{hint}" if hint else expected, found)]
    differences = []
    for name, value in expected.items():
        inner = f"{at}.{name}" if at else str(name)
        if name in found:
            differences += compare(value, found[name], inner)
        elif not (is_comparison(value) and "optional" in value):
            differences.append(Mismatch(inner, value, ABSENT))
    return differences


def pattern_of(expected: Any) -> str | None:
    """Return the regular expression in `/…/`; None: it is none."""
    if isinstance(expected, str) and len(expected) > 2 and expected[0] == expected[-1] == "/":
        return expected[1:-1]
    return None


def is_comparison(expected: Any) -> bool:
    """Tell whether a value that is expected is a comparison by words."""
    return isinstance(expected, dict) and bool(expected) and expected.keys() <= COMPARISONS.keys()


def walk(found: Any) -> Iterator[tuple[Path, Any]]:
    """Walk a value and all that is in it, each with the path to it."""
    yield (), found
    pairs: Iterable[tuple[Any, Any]] = found.items() if isinstance(found, dict) else ()
    for name, value in enumerate(found) if isinstance(found, list) else pairs:
        yield from (((name, *path), inner) for path, inner in walk(value))


def _in_order(wanted: Any, found: Any) -> tuple[Any, Any] | None:
    """Return two numbers, or two timestamps as milliseconds; None: they have no order."""
    if all(type(value) in (int, float) for value in (wanted, found)):
        return wanted, found
    if not isinstance(wanted, str) or not isinstance(found, str):
        return None
    try:
        return parse_timestamp(wanted), parse_timestamp(found)
    except ValueError:
        return None


def _ordered(test: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def holds(wanted: Any, found: Any) -> bool:
        pair = _in_order(wanted, found)
        return pair is not None and test(pair[1], pair[0])

    return holds


#: What a comparison can ask for: given what is wanted and what was found.
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "at_least": _ordered(operator.ge),
    "at_most": _ordered(operator.le),
    "above": _ordered(operator.gt),
    "below": _ordered(operator.lt),
    "not": lambda wanted, found: bool(compare(wanted, found, "")),
    "one_of": lambda wanted, found: (
        isinstance(wanted, list) and any(not compare(one, found, "") for one in wanted)
    ),
    "has": lambda wanted, found: (
        isinstance(found, list) and any(not compare(wanted, one, "") for one in found)
    ),
    "optional": lambda wanted, found: not compare(wanted, found, ""),
}
