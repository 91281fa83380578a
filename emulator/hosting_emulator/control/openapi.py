"""The control API's own OpenAPI 3.1 document, made of what serves it.

Paths, statuses and kinds of answers come from the table of routes; words, parameters and bodies from
the handlers; the answers from `messages`; what scenarios, faults and interventions may say from the
schema of scenario files. Pages for people, and what these load, are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from inspect import Parameter, cleandoc
from pathlib import Path
from typing import Any

import msgspec

from hosting_emulator import messages
from hosting_emulator.contract.json_schema import schema_components
from hosting_emulator.contract.markdown import read_sections
from hosting_emulator.control.routes import (
    PREFIX,
    ROUTES,
    Endpoint,
    JsonList,
    JsonOrNull,
    Media,
    NoContent,
    ResponseType,
    Route,
    load_endpoint,
)
from hosting_emulator.http.guard import TOKEN_HEADER
from hosting_emulator.http.query import Words
from hosting_emulator.messages import (
    ApiProblem,
    ControlMessage,
    JsonObject,
    OAuthError,
    RequestFilters,
)
from hosting_emulator.messages.faults import WRITTEN
from hosting_emulator.scenario.schema import scenario_schema

_COMPONENTS = "#/components/schemas/"
_ABOUT = """\
Everything beside `/v1`: worlds, time, failures, and the request log. The command
line, the dashboard and the pytest plugin all use this API.

Stable within a major version: paths, methods, parameters, members of bodies and of answers, statuses
and titles of problems. New members, parameters and paths may come at any time: ignore what you do not
know. Sentences (`detail`, `message`, `summary`, `text`, `sentences`, `why`, `about`) may change with any
version.

From this machine no token is needed; from another one, or through a proxy, the control token is.
"""
_SECTIONS = read_sections(Path(__file__).with_name("openapi.md"))
_WORDS = {section: dict(items) for section, items in _SECTIONS}
_TEXT = {"type": "string"}
_AFTER = {"type": "integer", "minimum": 0, "maximum": 999_999_999_999_999}
_REFUSED = {
    "4XX": "Refused; nothing was changed.",
    "503": "The change could not be saved to disk.",
}
#: Endpoints that refuse as OAuth and OpenID Connect say.
_OAUTH = ("token", "userinfo")
#: What pages and their files are. They are no part of the API.
_PAGE_TYPES = ("text/html", "text/css", "*/*")


class TokenForm(msgspec.Struct):
    """What a token endpoint is sent (RFC 6749); which fields are needed depends on the grant."""

    grant_type: str
    client_id: str | None = None
    code: str | None = None
    redirect_uri: str | None = None
    code_verifier: str | None = None
    refresh_token: str | None = None
    username: str | None = None
    organization: str | None = None


def control_document(base_url: str, version: str, operation_id: str | None = None) -> JsonObject:
    """Return the document for an asker at `base_url`; `operation_id`: an example, of the default world."""
    kinds, paths, tags, ids = _Kinds(), dict[str, JsonObject](), set[str](), set[str]()
    for route in ROUTES:
        if isinstance(route.response, Media) and route.response.media_type in _PAGE_TYPES:
            continue
        tag = route.group
        name = route.function
        id_ = re.sub("_(.)", lambda found: found[1].upper(), name)
        if id_ in ids and "{world}" in route.path:  # of two places the first is the default world's
            id_ += "OfWorld"
        if id_ in ids:
            id_ += route.method.title()
        ids.add(id_)
        tags.add(tag)
        made = {"operationId": id_, "tags": [tag], **_operation(route, kinds, operation_id)}
        paths.setdefault(route.path, {})[route.method.lower()] = made
    text = msgspec.json.encode(scenario_schema()["$defs"]).decode()
    parts: JsonObject = msgspec.json.decode(text.replace("#/$defs/", _COMPONENTS))
    schemas = _for_generators({**parts, **kinds.schemas})
    about = _WORDS["Tags"].items()
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "hosting-emulator's control API",
            "version": version,
            "summary": "Worlds, time and failures of a local emulator.",
            "description": _ABOUT,
            "contact": {"name": "hosting-emulator", "url": f"{base_url}{PREFIX}/docs"},
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": f"{base_url}{PREFIX}"}],
        "security": [{}, {"controlToken": []}],
        "tags": [{"name": tag, "description": words} for tag, words in about if tag in tags],
        "paths": paths,
        "components": {
            "schemas": _referred(paths, schemas),
            "securitySchemes": {
                "controlToken": {"type": "apiKey", "in": "header", "name": TOKEN_HEADER}
            },
        },
    }


def _referred(document: Any, schemas: JsonObject) -> JsonObject:
    """Return the schemas that a part of the document refers to, and those that these refer to."""
    found, parts = JsonObject(), [document]
    while parts:
        names = re.findall(rf'"{_COMPONENTS}(\w+)"', msgspec.json.encode(parts.pop()).decode())
        more = {name: schemas[name] for name in names if name not in found}
        found |= more
        parts += more.values()
    return {name: schemas[name] for name in schemas if name in found}


def _for_generators(schema: Any) -> Any:
    """Say defaults in words, tuples as arrays, and not which members must be there together.

    Generators take a member with a default for always being there, few know `prefixItems`, and none
    of Java knows what is an array or else a word, nor two maps of words in one class.
    """
    if isinstance(schema, list):
        return [_for_generators(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: _for_generators(part) for name, part in schema.items()}
    if all(isinstance(part, dict) for part in schema.values()):  # members by name
        return found
    if "$ref" in found:  # a schema beside it would say the same again, and confuses generators
        return {"$ref": found["$ref"]}
    if "enum" in found:  # said by msgspec of words alone, but for those that it lists by hand
        found.setdefault("type", "string" if isinstance(found["enum"][0], str) else "integer")
    default = found.pop("default", None)
    if default not in (None, [], {}):
        found.setdefault("description", f"Default: {msgspec.json.encode(default).decode()}.")
    for word in ("anyOf", "oneOf"):  # which members go together is no kind of its own
        parts = [part for part in found.get(word, []) if part.get("type") != "null"]
        either = len(parts) > 1 and any(part.get("type") == "array" for part in parts)
        if parts and all(part.keys() == {"required"} for part in parts):
            del found[word]
            found["minProperties"] = 1
        elif either:
            del found[word]
    values = found.get("additionalProperties")
    if isinstance(values, dict) and "enum" in values:
        words = "|".join(values["enum"])
        found["additionalProperties"] = {"type": "string", "pattern": f"^({words})$"}
    if found.get("type") == "array":
        found["items"] = found.pop("prefixItems", [found.get("items", {})])[0]
    return found


class _Kinds:
    """The schemas of what is sent and returned, by name."""

    def __init__(self) -> None:
        self.schemas: JsonObject = {}

    def schema(self, kind: Any) -> JsonObject:
        """Return the schema of a type; those of the structs in it are added to `schemas`."""
        (schema,), parts = schema_components([kind], ref_template=_COMPONENTS + "{name}")
        for name, part in parts.items():
            message = getattr(messages, name, None)
            self.schemas[name] = part if message is None else _as_encoded(message, part)
        return schema

    def response(self, response: ResponseType) -> JsonObject:
        """Return the content of a response."""
        if isinstance(response, Media):
            return {response.media_type: {"schema": _TEXT}}
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
    """Return the schema of a message as JSON has it.

    A member that is None by default is absent then, and never null. What was written stands beside
    the other members.
    """
    members = {name: member for name, member in schema["properties"].items() if name != WRITTEN}
    for field in msgspec.structs.fields(kind):
        if not field.required:
            members[field.encode_name] = _without_null(members[field.encode_name])
    required = [name for name in schema["required"] if name != WRITTEN]
    return {**schema, "properties": members, "required": required}


def _without_null(schema: JsonObject) -> JsonObject:
    """Return a schema without null among its alternatives, and without a default."""
    (alternative,) = (part for part in schema["anyOf"] if part != {"type": "null"})
    others = {name: word for name, word in schema.items() if name not in ("anyOf", "default")}
    return {**others, **alternative}


def _operation(route: Route, kinds: _Kinds, operation_id: str | None) -> JsonObject:
    handler = load_endpoint(route.endpoint)
    about = cleandoc(handler.function.__doc__ or "")
    answered: JsonObject = {"description": "Done."}
    if not isinstance(route.response, NoContent):
        answered["content"] = kinds.response(route.response)
    refusals: list[tuple[str, type[ControlMessage]]] = [("application/problem+json", ApiProblem)]
    if route.is_identity and route.function in _OAUTH:
        refusals.append(("application/json", OAuthError))
    content = {media: {"schema": kinds.schema(kind)} for media, kind in refusals}
    refused = {
        status: {"description": words, "content": content} for status, words in _REFUSED.items()
    }
    document: JsonObject = {
        "summary": " ".join(about.partition("\n\n")[0].split()).removesuffix("."),
        "description": about,
        "parameters": [*_parameters(route, handler, kinds, operation_id)],
        "requestBody": _body(route, handler, kinds),
        "responses": {str(_status(route)): answered, **refused},
    }
    return {name: found for name, found in document.items() if found}


def _status(route: Route) -> int:
    return 204 if isinstance(route.response, NoContent) else route.status


def _parameters(
    route: Route, handler: Endpoint, kinds: _Kinds, operation_id: str | None
) -> Iterator[JsonObject]:
    for name in re.findall(r"\{(\w+)", route.path):
        schema = {"type": "integer", "minimum": 1} if name == "n" else _TEXT
        found = _parameter("Path", name, schema) | {"in": "path", "required": True}
        if name == "operation" and operation_id is not None:
            found["example"] = operation_id
        yield found
    for parameter in handler.query.values():
        if parameter.annotation is RequestFilters:
            for name in _WORDS["Filters"]:
                yield _parameter("Filters", name, _AFTER if name == "after" else _TEXT)
            continue
        schema = kinds.schema(parameter.annotation)
        if parameter.default is not Parameter.empty:
            schema = {**schema, "default": parameter.default}
        found = _parameter("Query", parameter.name, schema)
        yield found | ({"explode": False} if parameter.annotation is Words else {})


def _parameter(section: str, name: str, schema: JsonObject) -> JsonObject:
    words, _, example = _WORDS[section][name].partition(" [")
    found = {"name": name, "in": "query", "description": words, "schema": dict(schema)}
    return found | ({"example": msgspec.json.decode(example[:-1])} if example else {})


def _body(route: Route, handler: Endpoint, kinds: _Kinds) -> JsonObject | None:
    form = route.is_identity and route.function == "token"
    if handler.body is None and not form:
        return None
    schema = kinds.schema(TokenForm if form else handler.body)
    name = schema.get("$ref", "").removeprefix(_COMPONENTS)
    if name:  # the type of Python beside it says less
        schema = {"$ref": schema["$ref"]}
    # Faults and interventions, which are schemas of scenario files, need a member each.
    found = kinds.schemas.get(name, {"required": [name]} if name else schema)
    content = {"schema": schema}
    if example := _WORDS["Bodies"].get(f"{route.group}.{route.function}"):
        content["example"] = msgspec.json.decode(example)
    media_type = "application/x-www-form-urlencoded" if form else "application/json"
    return {"required": bool(found.get("required")), "content": {media_type: content}}
