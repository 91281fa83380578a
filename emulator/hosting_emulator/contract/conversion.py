"""Converts plain values to typed ones with msgspec, safely from several threads.

msgspec examines a type at its first use, and runs Python code while doing so. If another thread
uses the same type before the examination has ended, msgspec reads memory that is not set yet, and
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
    """Block conversions to unexamined types in other threads while a type is examined."""
    with _examining:
        try:
            yield
        finally:
            _examined.add(kind)


def convert(value: Any, kind: type[T]) -> T:
    """Convert a value to a type. Raises msgspec.ValidationError if the value does not fit."""
    if kind in _examined:
        return msgspec.convert(value, kind)
    with _first_use(kind):
        return msgspec.convert(value, kind)


def decode_json(data: bytes, kind: type[T]) -> T:
    """Decode JSON to a type.

    Raises msgspec.DecodeError, or msgspec.ValidationError if the value does not fit.
    """
    if kind in _examined:
        return msgspec.json.decode(data, type=kind)
    with _first_use(kind):
        return msgspec.json.decode(data, type=kind)
