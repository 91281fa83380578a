"""Runs work in slices. Between slices, a server can respond to other requests."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeAlias, TypeVar

T = TypeVar("T")
#: A generator that yields between the slices of its work, and returns the result.
Slices: TypeAlias = Generator[None, None, T]


def run_slices(slices: Slices[T]) -> T:
    """Run all slices without a pause, and return the result."""
    while True:
        try:
            next(slices)
        except StopIteration as end:
            result: T = end.value
            return result
