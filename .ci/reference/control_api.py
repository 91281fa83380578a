"""The page of the control API, from its OpenAPI document."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hosting_emulator import __version__
from hosting_emulator.control.openapi import control_document
from hosting_emulator.control.route import PREFIX
from reference.markdown import code, docstring, join, prose, table
from reference.value_types import default_words, type_words

INTRODUCTION = """\
The control API of a running emulator is plain HTTP and JSON under `{prefix}`. This page lists its
paths by topic. It is generated from the API's OpenAPI 3.1 document, `{prefix}/openapi.json`. To try the
API in a browser, open `{prefix}/docs/control-api` on a running emulator. [Messages](#messages) lists
the members of request bodies and responses."""

_METHODS = ("get", "post", "put", "patch", "delete")


def render() -> str:
    """Return the page without its title."""
    document = control_document("http://127.0.0.1:4620", __version__)
    schemas = document["components"]["schemas"]
    links = {name: f"[{name}](#{name.lower()})" for name in schemas}
    used = _referenced_schemas(document["paths"], schemas)
    messages = [_message(name, schemas[name], links) for name in sorted(used)]
    return join(
        INTRODUCTION.format(prefix=PREFIX),
        docstring(document["info"]["description"]),
        *(_topic(tag, document["paths"], links) for tag in document["tags"]),
        "## Messages",
        *messages,
    )


def _topic(
    tag: Mapping[str, str], paths: Mapping[str, Mapping[str, Any]], links: Mapping[str, str]
) -> str:
    sections = []
    for path, operations in paths.items():
        for method in _METHODS:
            operation = operations.get(method)
            if operation is not None and tag["name"] in operation["tags"]:
                sections.append(_operation(method.upper(), path, operation, links))
    return join(f"## {tag['description']}", *sections)


def _operation(
    method: str, path: str, operation: Mapping[str, Any], links: Mapping[str, str]
) -> str:
    parameters = [
        [
            code(parameter["name"]),
            parameter["in"],
            type_words(parameter["schema"], links),
            default_words(parameter["schema"]),
            prose(parameter.get("description", "")),
        ]
        for parameter in operation.get("parameters", ())
        if parameter["in"] == "query"
    ]
    text = operation.get("summary", "")
    description = operation.get("description", "")
    return join(
        f"### {method} {path}",
        prose(text) if text not in description else "",
        docstring(description),
        _body(operation, links),
        _response(operation, links),
        table(
            ["parameter", "value", "default", "meaning"],
            [[row[0], *row[2:]] for row in parameters],
        )
        if parameters
        else "",
    )


def _body(operation: Mapping[str, Any], links: Mapping[str, str]) -> str:
    body = operation.get("requestBody")
    if body is None:
        return ""
    schema = next(iter(body["content"].values())).get("schema", {})
    return f"Body: {type_words(schema, links)}."


def _response(operation: Mapping[str, Any], links: Mapping[str, str]) -> str:
    for status, response in operation["responses"].items():
        if not status.startswith("2"):
            continue
        content = response.get("content")
        if not content:
            return f"Response: {status} without a body."
        media_type, shape = next(iter(content.items()))
        words = type_words(shape.get("schema", {}), links)
        kind = words if media_type == "application/json" else f"{words} as {code(media_type)}"
        return f"Response: {status} with {kind}."
    return ""


def _message(name: str, schema: Mapping[str, Any], links: Mapping[str, str]) -> str:
    required = schema.get("required", ())
    rows = [
        [
            code(member),
            type_words(field, links),
            "" if member in required else "optional",
            prose(field.get("description", "")),
        ]
        for member, field in schema.get("properties", {}).items()
    ]
    head = ["member", "value", "presence", "meaning"]
    if not any(row[2] for row in rows):
        head.pop(2)
        rows = [[row[0], row[1], row[3]] for row in rows]
    return join(
        f"### {name}",
        docstring(schema.get("description", "")),
        table(head, rows) if rows else "",
    )


def _referenced_schemas(paths: object, schemas: Mapping[str, Any]) -> set[str]:
    """Return the names of the schemas that paths reference, directly or through other schemas."""
    names: set[str] = set()
    pending = _names_in(paths)
    while pending:
        name = pending.pop()
        if name not in names:
            names.add(name)
            pending |= _names_in(schemas[name])
    return names


def _names_in(document: object) -> set[str]:
    return set(re.findall(r"#/components/schemas/(\w+)", str(document)))
