"""The contract's resources as pydantic models, made from their declarations.

Request bodies are read by them, and the tests hold every answer against them. Loading pydantic takes
a while, so nothing on the way to a first answer imports this module before it is needed.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from hosting_emulator.contract.resources import RESOURCES, Kind

_BOUNDS = {
    "minimum": "ge",
    "maximum": "le",
    "minLength": "min_length",
    "maxLength": "max_length",
    "maxItems": "max_length",
    "pattern": "pattern",
}
_TYPES = {"string": str, "integer": int, "number": float, "boolean": bool, "object": dict}


@cache
def model(name: str) -> type[BaseModel]:
    """Return the model of a resource: an open one allows more fields, as clients must."""
    resource = RESOURCES[name]
    fields: dict[str, Any] = {}
    for field in resource.fields:
        kind = _type(field.kind, field.keywords)
        if field.nullable:
            kind = kind | None
        fields[field.name] = (kind, None if field.optional else ...)
    config = ConfigDict(extra="forbid" if resource.closed else "allow")
    return create_model(name, __config__=config, **fields)


def _type(kind: Kind, keywords: dict[str, Any]) -> Any:
    schema = kind.schema | keywords
    if kind.items is not None:
        found: Any = list[_type(kind.items, {})]  # type: ignore[misc]
    elif kind.part:
        return model(kind.part)
    elif "enum" in schema:
        return Literal[tuple(schema["enum"])]
    else:
        found = _TYPES[schema["type"]]
    bounds = {ours: schema[theirs] for theirs, ours in _BOUNDS.items() if theirs in schema}
    return Annotated[found, Field(**bounds)] if bounds else found
