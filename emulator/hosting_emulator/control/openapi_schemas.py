"""The schemas in the control API's OpenAPI document."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from hosting_emulator import messages
from hosting_emulator.contract.json_schema import schema_components
from hosting_emulator.control.route import (
    JsonList,
    JsonOrNull,
    Media,
    NoContent,
    ResponseType,
)
from hosting_emulator.messages import (
    ControlMessage,
    JsonObject,
)
from hosting_emulator.messages.faults import WRITTEN

COMPONENTS: Final = "#/components/schemas/"
TEXT: Final[JsonObject] = {"type": "string"}


class SchemaCollection:
    """Collects the schemas of request and response bodies, by name."""

    def __init__(self) -> None:
        self.schemas: JsonObject = {}

    def schema(self, kind: Any) -> JsonObject:
        """Return the schema for a type, and add the schemas of its structs to `schemas`."""
        (schema,), parts = schema_components([kind], ref_template=COMPONENTS + "{name}")
        for name, part in parts.items():
            message = getattr(messages, name, None)
            if message is not None:
                part = _as_encoded(message, part)
            self.schemas[name] = part
        return schema

    def response(self, response: ResponseType) -> JsonObject:
        """Return a response's OpenAPI content: its schema, by media type."""
        if isinstance(response, Media):
            return {response.media_type: {"schema": TEXT}}
        assert not isinstance(response, NoContent)
        schema: JsonObject = {"type": "object"}
        if response.kind != JsonObject:
            schema = self.schema(response.kind)
        if isinstance(response, JsonList):
            items = {"type": "array", "items": schema}
            schema = {"type": "object", "properties": {"items": items}, "required": ["items"]}
        if isinstance(response, JsonOrNull):
            schema = {"anyOf": [schema, {"type": "null"}]}
        return {"application/json": {"schema": schema}}


def _as_encoded(kind: type[ControlMessage], schema: JsonObject) -> JsonObject:
    """Return the schema for a message as it is encoded in JSON.

    In JSON, a member whose value is None is omitted rather than encoded as null. The fields that a
    user wrote for a rule are on the same level as the other members.
    """
    members = {name: member for name, member in schema["properties"].items() if name != WRITTEN}
    for field in msgspec.structs.fields(kind):
        if not field.required:
            members[field.encode_name] = _without_null(members[field.encode_name])
    required = [name for name in schema["required"] if name != WRITTEN]
    return {**schema, "properties": members, "required": required}


def _without_null(schema: JsonObject) -> JsonObject:
    """Return a schema without its `null` alternative and its default."""
    (alternative,) = (part for part in schema["anyOf"] if part != {"type": "null"})
    others = {name: word for name, word in schema.items() if name not in ("anyOf", "default")}
    return {**others, **alternative}


def simplify_for_generators(schema: Any) -> Any:
    """Simplify a schema for client generators.

    Generators assume that a member with a default is always present, and few of them support
    `prefixItems`. Java generators support neither a union of an array and a string nor two maps of
    strings in the same class.
    """
    if isinstance(schema, list):
        return [simplify_for_generators(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    result = {name: simplify_for_generators(part) for name, part in schema.items()}
    if all(isinstance(part, dict) for part in schema.values()):
        # `schema` maps the names of an object's members to their schemas, so there is nothing left
        # to simplify.
        return result
    if "$ref" in result:
        # Drop all other keywords, because they repeat the referenced schema and confuse generators.
        return {"$ref": result["$ref"]}
    if "enum" in result:
        result.setdefault("type", _type_of_enum(result["enum"]))
    default = result.pop("default", None)
    if default not in (None, [], {}):
        result.setdefault("description", f"Default: {msgspec.json.encode(default).decode()}.")
    _simplify_unions(result)
    values = result.get("additionalProperties")
    if isinstance(values, dict) and "enum" in values:
        words = "|".join(values["enum"])
        result["additionalProperties"] = {"type": "string", "pattern": f"^({words})$"}
    if result.get("type") == "array":
        items = result.pop("prefixItems", [result.get("items", {})])
        result["items"] = items[0]
    return result


def _type_of_enum(values: list[Any]) -> str:
    return "string" if isinstance(values[0], str) else "integer"


def _simplify_unions(schema: JsonObject) -> None:
    """Remove unions that only list required members and unions that contain an array."""
    for keyword in ("anyOf", "oneOf"):
        parts = [part for part in schema.get(keyword, []) if part.get("type") != "null"]
        if parts and all(part.keys() == {"required"} for part in parts):
            del schema[keyword]
            schema["minProperties"] = 1
        elif len(parts) > 1 and any(part.get("type") == "array" for part in parts):
            del schema[keyword]
