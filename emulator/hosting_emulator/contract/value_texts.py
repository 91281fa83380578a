"""Formats values and counts for messages. Values are never in Python's notation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any


def value_text(value: Any) -> str:
    """Return a string unchanged, and any other value as JSON, which is also valid YAML."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def quoted_value(value: Any) -> str:
    """Return a string in single quotes, and any other value as JSON."""
    if isinstance(value, str):
        return repr(value)
    return value_text(value)


def count_text(count: int, thing: str) -> str:
    """Format a count with its noun in the singular or plural, for example `1 request` or `2 requests`."""
    if count == 1:
        return f"1 {thing}"
    return f"{count:,} {thing}s"


def list_text(parts: Sequence[str]) -> str:
    """Join the parts of a sentence, for example `a`, `a and b` or `a, b and c`."""
    *others, last = parts
    if not others:
        return last
    return f"{', '.join(others)} and {last}"
