"""Checks documents against the types that the control API's OpenAPI document declares."""

from __future__ import annotations

import copy
import re
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from openapi_schema_validator import OAS31Validator

from hosting_emulator.control.openapi import control_document

#: The only kind whose objects may have undeclared members.
_OPEN_KIND = "StoryStep"
#: Kinds that also contain the members of a fault or outcome that a user wrote, with the kind of that
#: fault or outcome.
_WRITTEN_KINDS = {"FaultState": "Fault", "OutcomeState": "Outcome"}


class ControlTypes:
    """The types of the control API's OpenAPI document. Objects may have only declared members."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = copy.deepcopy(document)
        kinds = self._document["components"]["schemas"]
        for kind, written_kind in _WRITTEN_KINDS.items():
            properties = kinds[kind]["properties"]
            kinds[kind]["properties"] = kinds[written_kind]["properties"] | properties
        for name, schema in kinds.items():
            if name != _OPEN_KIND:
                _close(schema)
        _close(self._document["paths"])

    @property
    def templates(self) -> set[str]:
        """All path templates, such as `/worlds/{world}`."""
        return set(self._document["paths"])

    def template(self, target: str) -> str | None:
        """Return the path template that a target below `/_emulator` matches, or None.

        If several templates match, the template with the fewest parameters is returned.
        """
        path = urlsplit(target).path
        matching = [
            template
            for template in self._document["paths"]
            if re.fullmatch(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(template)), path)
        ]
        return min(matching, key=lambda template: template.count("{"), default=None)

    def has_request(self, method: str, target: str) -> bool:
        """Return whether the control API declares this method for the path."""
        template = self.template(target)
        return template is not None and method.lower() in self._document["paths"][template]

    def responses(self, request: str) -> dict[str, Any]:
        """Return the documented responses to a request, by status or status range such as 4XX."""
        method, _, target = request.partition(" ")
        if not self.has_request(method, target):
            raise AssertionError(f"the control API has no {request}")
        operation = self._document["paths"][self.template(target)][method.lower()]
        responses: dict[str, Any] = operation["responses"]
        return responses

    def response_mismatches(
        self, request: str, status: int, media_type: str, body: Any
    ) -> list[str]:
        """Return the differences between a response to `request` and the documented responses."""
        responses = self.responses(request)
        key = str(status) if str(status) in responses else f"{status // 100}XX"
        if key not in responses:
            return [f"its status is {status}; the documented ones are {', '.join(responses)}"]
        content = responses[key].get("content")
        if content is None:
            return [] if body is None else ["it has a body; the documented response has none"]
        if media_type not in content:
            return [f"its media type is {media_type}; the documented ones are {', '.join(content)}"]
        if "json" not in media_type:
            return []
        return self._errors(content[media_type]["schema"], body)

    def record_mismatches(self, kind: str, record: Any) -> list[str]:
        """Return the differences between a record and a kind such as "Exchange"."""
        return self._errors({"$ref": f"#/components/schemas/{kind}"}, record)

    def _errors(self, schema: dict[str, Any], document: Any) -> list[str]:
        components = self._document["components"]
        validator = OAS31Validator({**schema, "components": components})
        return [
            f"{'/'.join(map(str, error.path)) or 'the document'}: {error.message[:300]}"
            for error in validator.iter_errors(document)
        ]


@cache
def control_types() -> ControlTypes:
    """Return the types of the control API of the tested version."""
    return ControlTypes(control_document("http://127.0.0.1:4620", "0.1.0", None))


def success_status(request: str) -> int:
    """Return the status with which the control API accepts a request, such as "GET /worlds"."""
    statuses = control_types().responses(request)
    return min(int(status) for status in statuses if status.startswith("2"))


def response_mismatches(request: str, status: int, media_type: str, body: Any) -> list[str]:
    """Return the differences between a response to `request` and the documented responses."""
    return control_types().response_mismatches(request, status, media_type, body)


def record_mismatches(kind: str, record: Any) -> list[str]:
    """Return the differences between a record and a kind of the control API, such as "Exchange"."""
    return control_types().record_mismatches(kind, record)


def _close(schema: Any) -> None:
    """Forbid undeclared members in a schema and in all schemas inside it."""
    if isinstance(schema, list):
        for item in schema:
            _close(item)
    elif isinstance(schema, dict):
        for value in schema.values():
            _close(value)
        if schema.get("type") == "object" and "properties" in schema:
            schema["additionalProperties"] = False
