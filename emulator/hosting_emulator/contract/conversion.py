"""Converts plain values to typed ones with msgspec, safely from several threads.

msgspec examines a type when it is used for the first time, and runs Python code meanwhile. If
another thread uses the same type before the end, msgspec reads a part that does not exist yet, and
the process crashes. All other modules therefore convert with these functions.
"""

from __future__ import annotations

from threading import RLock
from typing import Any, Final, TypeVar

import msgspec

T = TypeVar("T")

_examining: Final = RLock()
_examined: Final[set[Any]] = set()


def convert(value: Any, kind: type[T]) -> T:
    """Convert a value to a type. Raises msgspec.ValidationError if it does not have that form."""
    if kind in _examined:
        return msgspec.convert(value, kind)
    with _examining:
        try:
            return msgspec.convert(value, kind)
        finally:
            _examined.add(kind)


def decode_json(data: bytes, kind: type[T]) -> T:
    """Read JSON as a type. Raises msgspec.DecodeError, or msgspec.ValidationError for another form."""
    if kind in _examined:
        return msgspec.json.decode(data, type=kind)
    with _examining:
        try:
            return msgspec.json.decode(data, type=kind)
        finally:
            _examined.add(kind)
