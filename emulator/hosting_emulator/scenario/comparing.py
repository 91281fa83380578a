"""Comparing what a story expects with what was answered. Says each difference; decides nothing else."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

ABSENT = "(absent)"


class Difference(NamedTuple):
    """Where an answer differs: a path in it, what was expected and what was found."""

    at: str
    expected: Any
    found: Any


def compare(expected: Any, found: Any, at: str) -> list[Difference]:
    """Compare the fields that `expected` names; `*` is any value but null, `/…/` a pattern.

    A mapping whose keys are numbers names places of a list, from 0.
    """
    if isinstance(expected, dict):
        if isinstance(found, list) and all(name.isdecimal() for name in expected):
            found = {name: found[int(name)] for name in expected if int(name) < len(found)}
        if not isinstance(found, dict):
            return [Difference(at, expected, found)]
        differences = []
        for name, value in expected.items():
            inner = f"{at}.{name}" if at else str(name)
            if name in found:
                differences += compare(value, found[name], inner)
            else:
                differences.append(Difference(inner, value, ABSENT))
        return differences
    if isinstance(expected, list):
        if not isinstance(found, list) or len(found) != len(expected):
            return [Difference(at, expected, found)]
        return [
            difference
            for number, (one, other) in enumerate(zip(expected, found, strict=True))
            for difference in compare(one, other, f"{at}[{number}]")
        ]
    return [] if _same(expected, found) else [Difference(at, expected, found)]


def _same(expected: Any, found: Any) -> bool:
    if expected == "*":
        return found is not None
    pattern = pattern_of(expected)
    if pattern is not None:
        return isinstance(found, str) and re.search(pattern, found) is not None
    if _number(expected) and _number(found):  # JSON has one kind of number
        return bool(expected == found)
    return type(expected) is type(found) and bool(expected == found)


def pattern_of(expected: Any) -> str | None:
    """Return the regular expression in `/…/`; None: it is none."""
    if isinstance(expected, str) and len(expected) > 2 and expected[0] == expected[-1] == "/":
        return expected[1:-1]
    return None


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
