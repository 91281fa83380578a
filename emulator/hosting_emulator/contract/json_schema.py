"""Patterns that mean the same in Python and JSON Schema, and the schemas of msgspec types."""

from __future__ import annotations

from collections.abc import Iterable
from inspect import cleandoc
from typing import Any

import msgspec

#: In Python, `$` also matches before a final line break. With this suffix, it matches only at the
#: very end of the string, as it does in JSON Schema.
END_OF_TEXT = r"(?!\n)"


def whole(pattern: str) -> msgspec.Meta:
    """Return a constraint: a string must match `pattern` up to its very end.

    `pattern` must end with `$`.
    """
    return msgspec.Meta(pattern=pattern + END_OF_TEXT)


def schema_components(
    types: Iterable[Any], **options: Any
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Call `msgspec.json.schema_components`, and clean up the patterns and descriptions.

    END_OF_TEXT, which JSON Schema does not need, is removed from patterns, and the indentation of
    docstrings is removed from descriptions.
    """
    schemas = msgspec.json.schema_components(types, **options)
    escaped_end = msgspec.json.encode(END_OF_TEXT)[1:-1]
    text = msgspec.json.encode(schemas).replace(escaped_end, b"")
    own, components = msgspec.json.decode(text)
    for component in components.values():
        if "description" in component:
            # Markdown would render an indented paragraph as a code block.
            component["description"] = cleandoc(component["description"])
    return own, components
