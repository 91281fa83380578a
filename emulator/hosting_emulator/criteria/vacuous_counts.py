"""Detects an expected count that every count matches, such as `{at_least: 0}`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hosting_emulator.criteria.comparisons import match
from hosting_emulator.criteria.simple_types import Number
from hosting_emulator.criteria.value_types import is_number

#: A count so large that no expectation names it.
_LARGE_COUNT = 10**12


def is_met_by_every_count(kind: Number, expected: Any) -> bool:
    """Tell whether every count matches an expected count, which must contain no variables.

    `kind` is the type of the count. The result of a comparison can change only at a number that the
    comparison names. Therefore the check tries only the named numbers, their neighbors, 0 and a
    very large count.
    """
    counts = {0, _LARGE_COUNT}
    for number in _numbers_in(expected):
        counts.update((number - 1, number, number + 1))
    return all(match(kind, expected, count) is True for count in counts if count >= 0)


def _numbers_in(expected: Any) -> Iterator[int]:
    """Yield the numbers in an expectation, truncated to integers."""
    if isinstance(expected, Mapping):
        for operand in expected.values():
            yield from _numbers_in(operand)
    elif isinstance(expected, list | tuple):
        for item in expected:
            yield from _numbers_in(item)
    elif is_number(expected):
        yield int(expected)
