"""A mapping of limited size for the judges' recent data, so that a long run needs little memory."""

from __future__ import annotations

from typing import TypeVar

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class Recent(dict[_Key, _Value]):
    """A mapping with at most `MOST` keys. If the mapping is full, a new key evicts the oldest key."""

    MOST = 2048

    def keep(self, key: _Key, value: _Value) -> _Value:
        """Set a value and return it. If the mapping is full, evict the oldest key."""
        if key not in self and len(self) >= self.MOST:
            del self[next(iter(self))]
        self[key] = value
        return value
