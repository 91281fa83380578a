"""Work in slices: it yields between them, so that a server can respond to other requests."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeAlias, TypeVar

T = TypeVar("T")
#: A part of a story that yields between its requests.
Slices: TypeAlias = Generator[None, None, T]


def run_slices(slices: Slices[T]) -> T:
    """Run a part of a story to its end without a pause. Return its result."""
    while True:
        try:
            next(slices)
        except StopIteration as end:
            result: T = end.value
            return result
