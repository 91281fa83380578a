"""Patterns with the same meaning in Python and JSON Schema, and the schemas of msgspec types."""

from __future__ import annotations

from collections.abc import Iterable
from inspect import cleandoc
from typing import Any

import msgspec

#: In Python `$` also matches before a final line break, but not in JSON Schema. With this suffix,
#: both match only at the very end.
END_OF_TEXT = r"(?!\n)"


def whole(pattern: str) -> msgspec.Meta:
    """Return the constraint that a string matches a pattern up to its very end.

    The pattern must end with `$`.
    """
    return msgspec.Meta(pattern=pattern + END_OF_TEXT)


def schema_components(
    types: Iterable[Any], **options: Any
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Call msgspec's function of the same name, and convert patterns and descriptions.

    Patterns get JSON Schema's syntax. Descriptions lose the indentation that a docstring has in its file.
    """
    schemas = msgspec.json.schema_components(types, **options)
    escaped_end = msgspec.json.encode(END_OF_TEXT)[1:-1]
    text = msgspec.json.encode(schemas).replace(escaped_end, b"")
    own, components = msgspec.json.decode(text)
    for component in components.values():
        if "description" in component:
            # Markdown would show an indented paragraph as a code block.
            component["description"] = cleandoc(component["description"])
    return own, components
