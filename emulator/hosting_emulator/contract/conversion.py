"""Converts plain values to typed values with msgspec, in a thread-safe way.

msgspec inspects a type when it is first used, and runs Python code while doing so. If another
thread uses the same type before the inspection is complete, msgspec reads uninitialized memory and
the process crashes. All other modules must therefore convert values with `convert` and
`decode_json`.
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
    """While msgspec inspects `kind`, block conversions to uninspected types in other threads."""
    with _examining:
        try:
            yield
        finally:
            _examined.add(kind)


def convert(value: Any, kind: type[T]) -> T:
    """Convert a value to a type. Raises msgspec.ValidationError if this is not possible."""
    if kind in _examined:
        return msgspec.convert(value, kind)
    with _first_use(kind):
        return msgspec.convert(value, kind)


def decode_json(data: bytes, kind: type[T]) -> T:
    """Decode JSON to a type.

    Raises msgspec.DecodeError if `data` is not JSON, or msgspec.ValidationError if the value does
    not fit the type.
    """
    if kind in _examined:
        return msgspec.json.decode(data, type=kind)
    with _first_use(kind):
        return msgspec.json.decode(data, type=kind)
