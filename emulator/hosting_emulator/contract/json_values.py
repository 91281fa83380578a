"""Replaces the strings in a JSON value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def each_text(value: Any, change: Callable[[str], Any]) -> Any:
    """Return a JSON value with each string replaced by the result of `change`.

    The names of members do not change.
    """
    if isinstance(value, dict):
        return {name: each_text(member, change) for name, member in value.items()}
    if isinstance(value, list):
        return [each_text(item, change) for item in value]
    if isinstance(value, str):
        return change(value)
    return value
