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
    """Compare the fields that `expected` names; `*` is any value but null, `/…/` a pattern."""
    if isinstance(expected, dict):
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
    if isinstance(expected, str) and len(expected) > 2 and expected[0] == expected[-1] == "/":
        return isinstance(found, str) and re.search(expected[1:-1], found) is not None
    return type(expected) is type(found) and bool(expected == found)
