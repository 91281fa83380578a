"""The OpenAPI 3.1 document of the control API, made from the declarations that serve it.

The table of routes has the paths, statuses and types of responses. The endpoints have the descriptions,
parameters and bodies. The schemas of responses come from `messages`, and those of scenarios, faults and
interventions from the schema of scenario files. Pages and the files that they load are left out.
"""

from __future__ import annotations

import re
from collections.abc import Container
from inspect import Parameter, cleandoc
from typing import Any, Final

import msgspec

from hosting_emulator import messages
from hosting_emulator.contract.json_schema import schema_components
from hosting_emulator.control.endpoints import Endpoint, load_endpoint
from hosting_emulator.control.routes import (
    PATH_PARAMETERS,
    PREFIX,
    ROUTES,
    TAGS,
    JsonList,
    JsonOrNull,
    Media,
    NoContent,
    ResponseType,
    Route,
)
from hosting_emulator.http.guard import TOKEN_HEADER
from hosting_emulator.http.query import EndpointParameter, Words, filter_documentation
from hosting_emulator.messages import (
    ApiProblem,
    ControlMessage,
    JsonObject,
    OAuthError,
    RequestFilters,
)
from hosting_emulator.messages.faults import WRITTEN
from hosting_emulator.scenario.schema import scenario_schema

_COMPONENTS: Final = "#/components/schemas/"
_ABOUT: Final = """\
Everything beside `/v1`: worlds, time, failures, and the request log. The command
line, the dashboard and the pytest plugin all use this API.

Stable within a major version: paths, methods, parameters, members of bodies and of answers, statuses
and titles of problems. New members, parameters and paths may come at any time: ignore what you do not
know. Sentences (`detail`, `message`, `summary`, `text`, `sentences`, `why`, `about`) may change with any
version.

From this machine no token is needed; from another one, or through a proxy, the control token is.
"""
_TEXT: Final[JsonObject] = {"type": "string"}
_NUMBER: Final[JsonObject] = {"type": "integer", "minimum": 1}
_AFTER: Final[JsonObject] = {"type": "integer", "minimum": 0, "maximum": 999_999_999_999_999}
_REFUSED: Final = {
    "4XX": "Refused; nothing was changed.",
    "503": "The change could not be saved to disk.",
}
#: Endpoints whose refusals have the form of OAuth and OpenID Connect.
_OAUTH: Final = ("token", "userinfo")
#: The media types of pages and their files, which are no part of the API.
_PAGE_TYPES: Final = ("text/html", "text/css", "*/*")


class TokenForm(msgspec.Struct):
    """The form that a token endpoint receives (RFC 6749). The grant decides which fields are needed."""

    grant_type: str
    client_id: str | None = None
    code: str | None = None
    redirect_uri: str | None = None
    code_verifier: str | None = None
    refresh_token: str | None = None
    username: str | None = None
    organization: str | None = None


_TOKEN_FORM_EXAMPLE: Final = {
    "grant_type": "password",
    "client_id": "app",
    "username": "owner",
}


def control_document(base_url: str, version: str, operation_id: str | None = None) -> JsonObject:
    """Return the document for a client that reaches the server at `base_url`.

    `operation_id` is the id of an operation of the default world, as an example.
    """
    kinds = _Kinds()
    paths: JsonObject = {}
    tags = set()
    ids: set[str] = set()
    for route in ROUTES:
        if isinstance(route.response, Media) and route.response.media_type in _PAGE_TYPES:
            continue
        id_ = _operation_id(route, ids)
        ids.add(id_)
        tags.add(route.group)
        operation = {"operationId": id_, "tags": [route.group]}
        operation.update(_operation(route, kinds, operation_id))
        paths.setdefault(route.path, {})[route.method.lower()] = operation
    text = msgspec.json.encode(scenario_schema()["$defs"]).decode()
    scenario_parts: JsonObject = msgspec.json.decode(text.replace("#/$defs/", _COMPONENTS))
    schemas = _for_generators({**scenario_parts, **kinds.schemas})
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
    """Return the unique name of an operation: the endpoint's, in camel case."""
    id_ = re.sub("_(.)", lambda match: match[1].upper(), route.function)
    if id_ in ids and "{world}" in route.path:
        # The row of the default world comes first.
        id_ += "OfWorld"
    if id_ in ids:
        id_ += route.method.title()
    return id_


def _referenced(document: Any, schemas: JsonObject) -> JsonObject:
    """Return the schemas to which a part of the document refers, directly or through others."""
    names = set()
    parts = [document]
    while parts:
        text = msgspec.json.encode(parts.pop()).decode()
        for name in re.findall(rf'"{_COMPONENTS}(\w+)"', text):
            if name not in names:
                names.add(name)
                parts.append(schemas[name])
    return {name: schema for name, schema in schemas.items() if name in names}


def _for_generators(schema: Any) -> Any:
    """Simplify a schema for generators of clients.

    They assume that a member with a default is always present, and few support `prefixItems`. None for
    Java supports a union of an array and a word, or two maps of words in one class.
    """
    if isinstance(schema, list):
        return [_for_generators(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    result = {name: _for_generators(part) for name, part in schema.items()}
    if all(isinstance(part, dict) for part in schema.values()):
        # These are the members of an object, by name.
        return result
    if "$ref" in result:
        # Other keywords would only repeat the referenced schema, which confuses generators.
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
    """Remove a union that says only which members are required, and one with an array."""
    for keyword in ("anyOf", "oneOf"):
        parts = [part for part in schema.get(keyword, []) if part.get("type") != "null"]
        if parts and all(part.keys() == {"required"} for part in parts):
            del schema[keyword]
            schema["minProperties"] = 1
        elif len(parts) > 1 and any(part.get("type") == "array" for part in parts):
            del schema[keyword]


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
    endpoint = load_endpoint(route.endpoint)
    # The schemas of the document stand in the order in which they are first needed.
    responses = _responses(route, kinds)
    description = cleandoc(endpoint.function.__doc__ or "")
    first_paragraph = description.partition("\n\n")[0]
    document: JsonObject = {
        "summary": " ".join(first_paragraph.split()).removesuffix("."),
        "description": description,
    }
    parameters = _path_parameters(route, operation_id)
    for parameter in endpoint.query.values():
        parameters += _query_parameters(parameter, kinds)
    if parameters:
        document["parameters"] = parameters
    body = _body(route, endpoint, kinds)
    if body is not None:
        document["requestBody"] = body
    document["responses"] = responses
    return document


def _responses(route: Route, kinds: _Kinds) -> JsonObject:
    success: JsonObject = {"description": "Done."}
    status = route.status
    if isinstance(route.response, NoContent):
        status = 204
    else:
        success["content"] = kinds.response(route.response)
    content = {"application/problem+json": {"schema": kinds.schema(ApiProblem)}}
    if route.is_identity and route.function in _OAUTH:
        content["application/json"] = {"schema": kinds.schema(OAuthError)}
    responses = {str(status): success}
    for refused_status, description in _REFUSED.items():
        responses[refused_status] = {"description": description, "content": content}
    return responses


def _path_parameters(route: Route, operation_id: str | None) -> list[JsonObject]:
    parameters = []
    for name in re.findall(r"\{(\w+)", route.path):
        declaration = PATH_PARAMETERS[name]
        schema = _TEXT
        if isinstance(declaration.example, int):
            schema = _NUMBER
        parameter = _parameter(name, declaration.description, schema, declaration.example)
        parameter["in"] = "path"
        parameter["required"] = True
        if name == "operation" and operation_id is not None:
            parameter["example"] = operation_id
        parameters.append(parameter)
    return parameters


def _query_parameters(parameter: EndpointParameter, kinds: _Kinds) -> list[JsonObject]:
    """Return the parameters of the query that one parameter of an endpoint reads."""
    if parameter.kind is RequestFilters:
        return _filters()
    schema = kinds.schema(parameter.kind)
    if parameter.default is not Parameter.empty:
        schema = {**schema, "default": parameter.default}
    documentation = parameter.documentation
    document = _parameter(parameter.name, documentation.description, schema, documentation.example)
    if parameter.kind == Words:
        document["explode"] = False
    return [document]


def _filters() -> list[JsonObject]:
    """Return the parameters that select requests."""
    parameters = []
    for name, documentation in filter_documentation().items():
        assert documentation.examples is not None
        example = documentation.examples[0]
        schema = _AFTER if isinstance(example, int) else _TEXT
        parameters.append(_parameter(name, documentation.description or "", schema, example))
    return parameters


def _parameter(name: str, description: str, schema: JsonObject, example: Any) -> JsonObject:
    document = {"name": name, "in": "query", "description": description, "schema": dict(schema)}
    if example is not None:
        document["example"] = example
    return document


def _body(route: Route, endpoint: Endpoint, kinds: _Kinds) -> JsonObject | None:
    if route.is_identity and route.function == "token":
        schema = kinds.schema(TokenForm)
        content = {"schema": {"$ref": schema["$ref"]}, "example": _TOKEN_FORM_EXAMPLE}
        return {"required": True, "content": {"application/x-www-form-urlencoded": content}}
    if endpoint.body is None:
        return None
    schema = kinds.schema(endpoint.body)
    is_required = bool(schema.get("required"))
    if "$ref" in schema:
        # Python's type of such a body says less than the schema to which it refers.
        schema = {"$ref": schema["$ref"]}
        name = schema["$ref"].removeprefix(_COMPONENTS)
        # The schemas of faults and interventions are those of scenario files: they need a member.
        is_required = bool(kinds.schemas.get(name, {"required": [name]}).get("required"))
    content = {"schema": schema}
    if endpoint.example is not None:
        content["example"] = endpoint.example.document
    return {"required": is_required, "content": {"application/json": content}}
