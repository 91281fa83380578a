"""Converts plain values to typed ones with msgspec, safely from several threads.

msgspec examines a type when it is used for the first time, and runs Python code meanwhile. If
another thread uses the same type before the end, msgspec reads a part that does not exist yet, and
the process crashes. All other modules therefore convert with these functions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any, Final, TypeVar

import msgspec

T = TypeVar("T")

_examining: Final = RLock()
_examined: Final[set[Any]] = set()


@contextmanager
def _first_use(kind: Any) -> Iterator[None]:
    """Let no other thread convert to a type that no thread has used before."""
    with _examining:
        try:
            yield
        finally:
            _examined.add(kind)


def convert(value: Any, kind: type[T]) -> T:
    """Convert a value to a type. Raises msgspec.ValidationError if it does not have that form."""
    if kind in _examined:
        return msgspec.convert(value, kind)
    with _first_use(kind):
        return msgspec.convert(value, kind)


def decode_json(data: bytes, kind: type[T]) -> T:
    """Read JSON as a type. Raises msgspec.DecodeError, or msgspec.ValidationError for another form."""
    if kind in _examined:
        return msgspec.json.decode(data, type=kind)
    with _first_use(kind):
        return msgspec.json.decode(data, type=kind)
