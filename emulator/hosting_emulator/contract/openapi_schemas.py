"""The resources' schemas for the OpenAPI document: the models, as the assumptions shape them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

from pydantic.json_schema import models_json_schema

from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.ids import ULID_PATTERN
from hosting_emulator.contract.models import all_models
from hosting_emulator.contract.problems import PROBLEMS

REF = "#/components/schemas/"
#: Open sets of words, by schema and property, and the assumption that names ours.
_WORDS = {
    ("Progress", "phase"): "progress_phases",
    ("Reconciliation", "state"): "reconciliation_states",
    ("Deployment", "status"): "deployment_statuses",
    ("DatabasePlacement", "state"): "database_states",
    ("DatabasePlacement", "pending_state"): "database_states",
}
#: Other properties that an assumption shapes.
_SHAPED = {
    ("InitializeManagedSourceRequest", "expected_source_generation"): "source_generation",
    ("DeploymentPage", "items"): "deployment_order",
    ("DeploymentPage", "next_cursor"): "last_page_cursor",
    ("UserApiKey", "permissions"): "key_permissions",
    ("UserApiKeyCreation", "value"): "key_prefix",
    ("DevAccessTicket", "origin"): "dev_zone",
    ("ProblemDetails", "type"): "docs_url",
}
#: Schemas of which the contract does not say what is optional, nor how what has no value is written.
_WITH_OPTIONAL = (
    "Operation",
    "Progress",
    "Reconciliation",
    "Deployment",
    "DatabasePlacement",
    "UserApiKey",
)
_OPEN_REQUESTS = ("InitializeManagedSourceRequest", "CreateUserApiKeyRequest")


def schemas(
    assumptions: Assumptions, absent: Mapping[str, Collection[str]] = MappingProxyType({})
) -> dict[str, Any]:
    """Return the Schema Objects by name, sorted; members in `absent`, by schema, are optional."""
    _, generated = models_json_schema(
        [(model, "validation") for model in all_models()], ref_template=REF + "{model}"
    )
    found: dict[str, Any] = {name: _tidied(schema) for name, schema in generated["$defs"].items()}
    found["Ulid"] = {
        "description": "Identifier: 26 characters of the ULID alphabet.",
        "type": "string",
        "minLength": 26,
        "maxLength": 26,
        "pattern": ULID_PATTERN,
        "examples": ["01JGFJJZ000000000000000001"],
    }
    found["ProblemCode"] = {
        "description": "What went wrong, for programs.",
        "type": "string",
        "enum": list(PROBLEMS),
    }
    found["ProblemDetails"]["properties"]["code"] = {"$ref": REF + "ProblemCode"}
    _mark(found)
    _shape(found, assumptions)
    if assumptions.empty_fields == "null":
        for name in _WITH_OPTIONAL:
            _allow_null(found[name])
    for name, members in absent.items():
        required = found[name].get("required", [])
        found[name]["required"] = [member for member in required if member not in members]
    return dict(sorted(found.items()))


def _tidied(found: Any) -> Any:
    """Drop generated titles, and defaults of null, which generators turn into required fields."""
    if isinstance(found, dict):
        kept = {
            name: _tidied(value)
            for name, value in found.items()
            if not (name == "title" and isinstance(value, str))
            and not (name == "default" and value is None)
        }
        if kept.get("additionalProperties") is True and "properties" in kept:
            del kept["additionalProperties"]
        return kept
    return [_tidied(item) for item in found] if isinstance(found, list) else found


def _mark(found: dict[str, Any]) -> None:
    for (schema, name), assumption in (_WORDS | _SHAPED).items():
        found[schema]["properties"][name]["x-assumption"] = assumption
    for name in _WITH_OPTIONAL:
        found[name]["x-assumption"] = "empty_fields"
    for name in _OPEN_REQUESTS:
        found[name]["x-assumption"] = "unknown_body_fields"
    for schema in found.values():
        _mark_timestamps(schema)


def _mark_timestamps(found: Any) -> None:
    if isinstance(found, dict):
        if found.get("format") == "date-time":
            found["x-assumption"] = "timestamp_form"
        for value in found.values():
            _mark_timestamps(value)
    elif isinstance(found, list):
        for item in found:
            _mark_timestamps(item)


def _shape(found: dict[str, Any], assumptions: Assumptions) -> None:
    """Write into the schemas what the assumptions decide."""
    for (schema, name), assumption in _WORDS.items():
        found[schema]["properties"][name]["examples"] = list(getattr(assumptions, assumption))
    permissions = found["UserApiKey"]["properties"]["permissions"]
    permissions["items"]["examples"] = list(assumptions.key_permissions)
    page = found["DeploymentPage"]["properties"]
    page["items"]["description"] = assumptions.deployment_order.replace("_", " ").capitalize() + "."
    if assumptions.last_page_cursor == "absent":
        text, _ = page["next_cursor"].pop("anyOf")
        page["next_cursor"] |= text
    if assumptions.source_generation == "ignored":
        request = found["InitializeManagedSourceRequest"]["properties"]
        request["expected_source_generation"]["description"] = "Not looked at."
    if assumptions.unknown_body_fields == "refused":
        for name in _OPEN_REQUESTS:
            found[name]["additionalProperties"] = False


def _allow_null(schema: dict[str, Any]) -> None:
    """Let every optional property of a schema be null."""
    for name, found in schema["properties"].items():
        if name in schema["required"]:
            continue
        said = {key: found.pop(key) for key in ("description", "x-assumption") if key in found}
        schema["properties"][name] = {"anyOf": [found, {"type": "null"}], **said}
