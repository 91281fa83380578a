"""Patterns that mean the same to Python and to JSON Schema, and the schemas of msgspec types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

#: Python's `$` also matches before a line break at the end of a text, and JSON Schema's does not.
#: With this behind it, both match at the very end alone.
END_OF_TEXT = r"(?!\n)"


def whole(pattern: str) -> msgspec.Meta:
    """Return the constraint that a text matches a pattern, which ends with `$`, to its very end."""
    return msgspec.Meta(pattern=pattern + END_OF_TEXT)


def schema_components(
    types: Iterable[Any], **options: Any
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return what msgspec's function of this name returns, with patterns as JSON Schema has them."""
    schemas = msgspec.json.schema_components(types, **options)
    escaped_end = msgspec.json.encode(END_OF_TEXT)[1:-1]
    text = msgspec.json.encode(schemas).replace(escaped_end, b"")
    own, components = msgspec.json.decode(text)
    return own, components
