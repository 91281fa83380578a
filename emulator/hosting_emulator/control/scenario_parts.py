"""Request bodies in the same form as in scenario files."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from hosting_emulator.messages import (
    JsonObject,
)


def _schema_reference(name: str) -> Meta:
    """Return a reference, for the OpenAPI document, to a definition in the schema for scenario files."""
    return Meta(extra_json_schema={"$ref": f"#/components/schemas/{name}"})


FaultDocument = Annotated[JsonObject, _schema_reference("Fault")]
OutcomeDocument = Annotated[JsonObject, _schema_reference("Outcome")]
InterventionDocument = Annotated[JsonObject, _schema_reference("Intervention")]
