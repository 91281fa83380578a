"""Describes the types of fields in a JSON Schema in words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from reference.markdown import prose, sentence

Schema = Mapping[str, Any]
#: Default values that the tables leave out, because they mean that the field has no value.
_EMPTY: tuple[Any, ...] = (None, [], {}, "")
_PLURALS = {"string": "strings", "integer": "integers", "object": "objects", "number": "numbers"}
_MOST_CHOICES = 30


def type_words(schema: Schema, links: Mapping[str, str]) -> str:
    """Return the type of a field as Markdown. `links` maps names of definitions to their links."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return links.get(name, name)
    for key in ("anyOf", "oneOf"):
        if key in schema:
            parts = [part for part in schema[key] if part.get("type") != "null"]
            return _alternatives(parts, links)
    if "enum" in schema:
        return _choices(schema["enum"])
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if list(schema.get("properties", ())) == ["items"]:
        return f"a {_list_of(schema['properties']['items'], links)} in `items`"
    kinds = schema.get("type", "any value")
    if isinstance(kinds, Sequence) and not isinstance(kinds, str):
        return " or ".join(kind for kind in kinds if kind != "null")
    if kinds == "array":
        return _list_of(schema, links)
    if kinds == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        return f"names to {type_words(schema['additionalProperties'], links)}"
    return f"{kinds}{_bounds(schema)}"


def default_words(schema: Schema) -> str:
    """Return the default of a field as Markdown, or an empty string."""
    default = schema.get("default")
    if default in _EMPTY and default is not False:
        return ""
    if isinstance(default, str):
        return f"`{default}`"
    return f"`{json.dumps(default)}`"


def fields_rows(schema: Schema, links: Mapping[str, str]) -> list[list[str]]:
    """Return a row for each field of an object: name, type, default, and meaning if it is stated."""
    required = schema.get("required", ())
    rows = []
    for name, field in schema.get("properties", {}).items():
        default = "required" if name in required else default_words(field)
        meaning = prose(sentence(field.get("description", "")))
        rows.append([f"`{name}`", type_words(field, links), default, meaning])
    return rows


def _alternatives(parts: Sequence[Schema], links: Mapping[str, str]) -> str:
    """Return alternatives in words. A value or a list of such values is described once."""
    *choices, last = parts
    text = _either(choices, links)
    if "items" in last and type_words(last["items"], links) == text:
        return f"{text}, or a list of these"
    return _either(parts, links)


def _either(parts: Sequence[Schema], links: Mapping[str, str]) -> str:
    """Return the distinct alternatives in words, joined by `or`."""
    words: dict[str, None] = {}
    for part in parts:
        # A nested choice has alternatives that may also be among the others.
        nested = next((part[key] for key in ("anyOf", "oneOf") if key in part), [part])
        for alternative in nested:
            words.setdefault(type_words(alternative, links))
    return " or ".join(word for word in words if word)


def _choices(values: Sequence[Any]) -> str:
    words = [
        f"`{value}`" if isinstance(value, str) else f"`{json.dumps(value)}`" for value in values
    ]
    if len(words) > _MOST_CHOICES:
        return f"one of {len(words)} names, such as {words[0]}"
    if len(words) == 1:
        return words[0]
    return f"{', '.join(words[:-1])} or {words[-1]}"


def _list_of(schema: Schema, links: Mapping[str, str]) -> str:
    items = type_words(schema.get("items", {}), links)
    return f"list of {_PLURALS.get(items, items)}"


def _bounds(schema: Schema) -> str:
    lowest = schema.get("minimum")
    highest = schema.get("maximum")
    if lowest is not None and highest is not None:
        return f", {lowest:,} to {highest:,}"
    if lowest is not None:
        return f", at least {lowest:,}"
    if "exclusiveMinimum" in schema and highest is not None:
        return f", above {schema['exclusiveMinimum']}, at most {highest}"
    if highest is not None:
        return f", at most {highest:,}"
    return ""
