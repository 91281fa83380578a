"""Pydantic models of the resources, which validate data from outside, such as request bodies.

Types and bounds come from the declarations in `resources.py`. Importing this module loads pydantic,
which takes as long as loading the rest of the core, so code that runs at startup must not import
it.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal

import pydantic
from pydantic import BaseModel, ConfigDict, create_model

from hosting_emulator.contract.fields import Field, Kind
from hosting_emulator.contract.resources import RESOURCES

#: The possible values of the `source_generation` assumption.
SourceGeneration = Literal["checked", "ignored", "any_integer", "optional"]

#: Pydantic's names for bounds, by JSON Schema keyword.
_BOUNDS = {
    "minimum": "ge",
    "maximum": "le",
    "minLength": "min_length",
    "maxLength": "max_length",
    "maxItems": "max_length",
    "pattern": "pattern",
}
_TYPES = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "object": dict,
    "array": list,
}


@cache
def model(resource_name: str) -> type[BaseModel]:
    """Return the model of a resource.

    Like a client, the model has to allow unknown fields unless the contract forbids them.
    """
    resource = RESOURCES[resource_name]
    fields = {field.name: _definition(field) for field in resource.fields}
    config = ConfigDict(extra="forbid" if resource.closed else "allow")
    return create_model(resource_name, __config__=config, **fields)


@cache
def body_model(
    resource_name: str, *, closed: bool, source_generation: SourceGeneration
) -> type[BaseModel]:
    """Return the model of a request body under a world's assumptions.

    `closed` is true if the world refuses fields that are not in the contract.
    """
    resource = RESOURCES[resource_name]
    fields = {}
    for field in resource.fields:
        fields[field.name] = _definition(field)
        if field.assumption == "source_generation":
            fields[field.name] = _generation_definition(field, source_generation)
    config = ConfigDict(extra="forbid" if resource.closed or closed else "ignore", strict=True)
    return create_model(resource_name, __config__=config, **fields)


def _generation_definition(field: Field, source_generation: SourceGeneration) -> Any:
    keywords = dict(field.keywords)
    if source_generation == "any_integer":
        del keywords["minimum"]
    default = None if source_generation in ("ignored", "optional") else ...
    return _type(field.kind, keywords), default


def _definition(field: Field) -> Any:
    """Return a field's type and default, in the form that `create_model` takes."""
    value_type = _type(field.kind, field.keywords)
    if field.nullable:
        value_type = value_type | None
    return value_type, None if field.optional else ...


def _type(kind: Kind, keywords: dict[str, Any]) -> Any:
    schema = kind.schema | keywords
    if kind.part and kind.items is None:
        return model(kind.part)
    if "enum" in schema:
        return Literal[tuple(schema["enum"])]
    value_type: Any = _TYPES[schema["type"]]
    if kind.items is not None:
        value_type = value_type[_type(kind.items, {})]
    bounds = {bound: schema[keyword] for keyword, bound in _BOUNDS.items() if keyword in schema}
    return Annotated[value_type, pydantic.Field(**bounds)] if bounds else value_type
