"""Compares documents with the types of the control API, as its own OpenAPI document declares them."""

from __future__ import annotations

import copy
import re
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from openapi_schema_validator import OAS31Validator

from hosting_emulator.server.control.openapi import control_document

#: A kind that may have members that its schema does not name.
_OPEN_KIND = "StoryStep"
#: Kinds that show what was written beside their own members, and the kinds of what was written.
_WRITTEN_KINDS = {"FaultState": "Fault", "OutcomeState": "Outcome"}


def success_status(request: str) -> int:
    """Return the status with which the control API accepts a request, such as "GET /worlds"."""
    return min(int(status) for status in _responses(request) if status.startswith("2"))


def response_mismatches(request: str, status: int, media_type: str, body: Any) -> list[str]:
    """Return what distinguishes a response to `request` from the ones that the control API sends."""
    responses = _responses(request)
    status_range = f"{status // 100}XX"
    key = str(status) if str(status) in responses else status_range
    if key not in responses:
        return [f"its status is {status}; the documented ones are {', '.join(responses)}"]
    content = responses[key].get("content")
    if content is None:
        return [] if body is None else ["it has a body; the documented response has none"]
    if media_type not in content:
        return [f"its media type is {media_type}; the documented ones are {', '.join(content)}"]
    if "json" not in media_type:
        return []
    return _errors(content[media_type]["schema"], body)


def record_mismatches(kind: str, record: Any) -> list[str]:
    """Return what distinguishes a record from a kind of the control API, such as "Exchange"."""
    return _errors({"$ref": f"#/components/schemas/{kind}"}, record)


def _errors(schema: dict[str, Any], document: Any) -> list[str]:
    components = _document()["components"]
    validator = OAS31Validator({**schema, "components": components})
    return [
        f"{'/'.join(map(str, error.path)) or 'the document'}: {error.message[:300]}"
        for error in validator.iter_errors(document)
    ]


def _responses(request: str) -> dict[str, Any]:
    """Return the documented responses to a request by status, or by a range such as 4XX."""
    method, _, target = request.partition(" ")
    paths = _document()["paths"]
    template = _template(urlsplit(target).path, tuple(paths))
    operation = paths.get(template, {}).get(method.lower())
    if operation is None:
        raise AssertionError(f"the control API has no {request}")
    responses: dict[str, Any] = operation["responses"]
    return responses


def _template(path: str, templates: tuple[str, ...]) -> str | None:
    """Return the template that a path matches. A template without parameters is preferred."""
    matching = [
        template
        for template in templates
        if re.fullmatch(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(template)), path)
    ]
    return min(matching, key=lambda template: template.count("{"), default=None)


@cache
def _document() -> dict[str, Any]:
    """Return the document, with objects that allow no member beside the declared ones."""
    document = copy.deepcopy(control_document("http://127.0.0.1:4620", "0.1.0", None))
    kinds = document["components"]["schemas"]
    for kind, written_kind in _WRITTEN_KINDS.items():
        kinds[kind]["properties"] = kinds[written_kind]["properties"] | kinds[kind]["properties"]
    for name, schema in kinds.items():
        if name != _OPEN_KIND:
            _close(schema)
    _close(document["paths"])
    return document


def _close(schema: Any) -> None:
    """Allow no undeclared members in a schema and in the schemas inside it."""
    if isinstance(schema, list):
        for item in schema:
            _close(item)
    elif isinstance(schema, dict):
        for value in schema.values():
            _close(value)
        if schema.get("type") == "object" and "properties" in schema:
            schema["additionalProperties"] = False
