"""The OpenAPI 3.1 document for the control API, generated from the same declarations that the
server uses.

Paths, response statuses and response types come from the table of routes. Descriptions, parameters
and bodies come from the endpoints. The schemas for responses come from `messages`, and those for
scenarios, faults and interventions from the schema for scenario files. Pages and the files that
they load are not included.
"""

from __future__ import annotations

import re
from collections.abc import Container
from typing import Any, Final

import msgspec

from hosting_emulator.control.openapi_operations import operation_document
from hosting_emulator.control.openapi_schemas import (
    COMPONENTS,
    SchemaCollection,
    simplify_for_generators,
)
from hosting_emulator.control.route import (
    PREFIX,
    Media,
    Route,
)
from hosting_emulator.control.route_documentation import TAGS
from hosting_emulator.control.routes import ROUTES
from hosting_emulator.http.guard import TOKEN_HEADER
from hosting_emulator.messages import (
    JsonObject,
)
from hosting_emulator.scenario.schema import scenario_schema

_ABOUT: Final = """\
Everything outside `/v1`: worlds, time, failures, and the request log. The command
line, the dashboard and the pytest plugin all use this API.

These parts are stable within a major version: paths, methods, parameters, members of request and
response bodies, and the statuses and titles of problems. New members, parameters and paths may be
added at any time, so ignore those that you do not know. Sentences (`detail`, `message`, `summary`,
`text`, `sentences`, `why`, `about`) may change in any version.

Requests from another machine, or through a proxy, need the control token, except for the health
check, the documentation, the contract's tables and the identity provider. Requests from this
machine need no token, unless the emulator's public URL is on another machine.
"""
#: The media types of pages and the files they load, which are not part of the API.
_PAGE_TYPES: Final = ("text/html", "text/css", "*/*")


def control_document(base_url: str, version: str, operation_id: str | None = None) -> JsonObject:
    """Return the OpenAPI document for a client that uses `base_url` for the server.

    `operation_id` is the id of an operation in the default world to use as an example.
    """
    collection = SchemaCollection()
    paths: JsonObject = {}
    tags = set()
    ids: set[str] = set()
    for route in ROUTES:
        if isinstance(route.response, Media) and route.response.media_type in _PAGE_TYPES:
            continue
        id_ = _operation_id(route, ids)
        ids.add(id_)
        tags.add(route.tag)
        operation = {"operationId": id_, "tags": [route.tag]}
        operation.update(operation_document(route, collection, operation_id))
        paths.setdefault(route.path, {})[route.method.lower()] = operation
    text = msgspec.json.encode(scenario_schema()["$defs"]).decode()
    scenario_parts: JsonObject = msgspec.json.decode(text.replace("#/$defs/", COMPONENTS))
    schemas = simplify_for_generators({**scenario_parts, **collection.schemas})
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "hosting-emulator's control API",
            "version": version,
            "summary": "Control the worlds, clocks and faults of a local emulator.",
            "description": _ABOUT,
            "contact": {"name": "hosting-emulator", "url": f"{base_url}{PREFIX}/docs"},
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": f"{base_url}{PREFIX}"}],
        "security": [{}, {"controlToken": []}],
        "tags": [{"name": tag, "description": TAGS[tag]} for tag in TAGS if tag in tags],
        "paths": paths,
        "components": {
            "schemas": _referenced(paths, schemas),
            "securitySchemes": {
                "controlToken": {"type": "apiKey", "in": "header", "name": TOKEN_HEADER}
            },
        },
    }


def _operation_id(route: Route, ids: Container[str]) -> str:
    """Return a unique id for an OpenAPI operation, based on the endpoint's name in camel case."""
    id_ = re.sub("_(.)", lambda match: match[1].upper(), route.function)
    if id_ in ids and "{world}" in route.path:
        # The route for the default world comes first and gets the plain id, so add a suffix here.
        id_ += "OfWorld"
    if id_ in ids:
        id_ += route.method.title()
    return id_


def _referenced(document: Any, schemas: JsonObject) -> JsonObject:
    """Return the schemas that part of the document references, directly or indirectly."""
    names = set()
    parts = [document]
    while parts:
        text = msgspec.json.encode(parts.pop()).decode()
        for name in re.findall(rf'"{COMPONENTS}(\w+)"', text):
            if name not in names:
                names.add(name)
                parts.append(schemas[name])
    return {name: schema for name, schema in schemas.items() if name in names}
