"""Splits work into slices, so that a server can respond to other requests in between."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeAlias, TypeVar

T = TypeVar("T")
#: A generator that yields between slices of its work and returns the result.
Slices: TypeAlias = Generator[None, None, T]


def run_slices(slices: Slices[T]) -> T:
    """Run all slices without pausing, and return the result."""
    while True:
        try:
            next(slices)
        except StopIteration as end:
            result: T = end.value
            return result
