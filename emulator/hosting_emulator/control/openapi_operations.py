"""The operations in the control API's OpenAPI document: parameters, bodies and responses."""

from __future__ import annotations

import re
from inspect import Parameter, cleandoc
from typing import Any, Final

import msgspec

from hosting_emulator.control.endpoints import Endpoint, load_endpoint
from hosting_emulator.control.openapi_schemas import COMPONENTS, TEXT, SchemaCollection
from hosting_emulator.control.route import (
    NoContent,
    Route,
)
from hosting_emulator.control.route_documentation import PATH_PARAMETERS
from hosting_emulator.http.query import EndpointParameter, Words, filter_documentation
from hosting_emulator.messages import (
    ApiProblem,
    JsonObject,
    OAuthError,
    RequestFilters,
)

_NUMBER: Final[JsonObject] = {"type": "integer", "minimum": 1}
_AFTER: Final[JsonObject] = {"type": "integer", "minimum": 0, "maximum": 999_999_999_999_999}
_REFUSED: Final = {
    "4XX": "Refused; nothing was changed.",
    "503": "The change could not be saved to disk.",
}
#: The endpoints whose errors can be in OAuth format.
_OAUTH: Final = ("token", "userinfo")


class TokenForm(msgspec.Struct):
    """The form that a token endpoint receives (RFC 6749). The required fields depend on the grant."""

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


def operation_document(
    route: Route, collection: SchemaCollection, operation_id: str | None
) -> JsonObject:
    """Return the OpenAPI operation for a route, without its id and tag.

    Adds the referenced schemas to `collection`. `operation_id` is the id of a hosting operation to
    use as an example, or None if the example world has no operations.
    """
    endpoint = load_endpoint(route.endpoint)
    # Collect the response schemas first, because the document lists schemas in the order in which
    # they are first used.
    responses = _responses(route, collection)
    description = cleandoc(endpoint.function.__doc__ or "")
    first_paragraph = description.partition("\n\n")[0]
    document: JsonObject = {
        "summary": " ".join(first_paragraph.split()).removesuffix("."),
        "description": description,
    }
    parameters = _path_parameters(route, operation_id)
    for parameter in endpoint.query.values():
        parameters += _query_parameters(parameter, collection)
    if parameters:
        document["parameters"] = parameters
    body = _body(route, endpoint, collection)
    if body is not None:
        document["requestBody"] = body
    document["responses"] = responses
    return document


def _responses(route: Route, collection: SchemaCollection) -> JsonObject:
    """Return the responses by status: the success response, and the errors that any operation can return."""
    success: JsonObject = {"description": "Done."}
    status = route.status
    if isinstance(route.response, NoContent):
        status = 204
    else:
        success["content"] = collection.response(route.response)
    content = {"application/problem+json": {"schema": collection.schema(ApiProblem)}}
    if route.is_identity and route.function in _OAUTH:
        content["application/json"] = {"schema": collection.schema(OAuthError)}
    responses = {str(status): success}
    for refused_status, description in _REFUSED.items():
        responses[refused_status] = {"description": description, "content": content}
    return responses


def _path_parameters(route: Route, operation_id: str | None) -> list[JsonObject]:
    """Return the parameters in a route's path, in order."""
    parameters = []
    for name in re.findall(r"\{(\w+)", route.path):
        declaration = PATH_PARAMETERS[name]
        schema = TEXT
        if isinstance(declaration.example, int):
            schema = _NUMBER
        parameter = _parameter(name, declaration.description, schema, declaration.example)
        parameter["in"] = "path"
        parameter["required"] = True
        if name == "operation" and operation_id is not None:
            parameter["example"] = operation_id
        parameters.append(parameter)
    return parameters


def _query_parameters(
    parameter: EndpointParameter, collection: SchemaCollection
) -> list[JsonObject]:
    """Document the query parameters that are passed in one parameter of an endpoint's function."""
    if parameter.kind is RequestFilters:
        return _filters()
    schema = collection.schema(parameter.kind)
    if parameter.default is not Parameter.empty:
        schema = {**schema, "default": parameter.default}
    documentation = parameter.documentation
    document = _parameter(parameter.name, documentation.description, schema, documentation.example)
    if parameter.kind == Words:
        document["explode"] = False
    return [document]


def _filters() -> list[JsonObject]:
    """Document the query parameters that filter requests."""
    parameters = []
    for name, documentation in filter_documentation().items():
        assert documentation.examples is not None
        example = documentation.examples[0]
        schema = _AFTER if isinstance(example, int) else TEXT
        parameters.append(_parameter(name, documentation.description or "", schema, example))
    return parameters


def _parameter(name: str, description: str, schema: JsonObject, example: Any) -> JsonObject:
    """Return the documentation of a query parameter."""
    document = {"name": name, "in": "query", "description": description, "schema": dict(schema)}
    if example is not None:
        document["example"] = example
    return document


def _body(route: Route, endpoint: Endpoint, collection: SchemaCollection) -> JsonObject | None:
    """Return an operation's request body, or None if it has none."""
    if route.is_identity and route.function == "token":
        schema = collection.schema(TokenForm)
        content = {"schema": {"$ref": schema["$ref"]}, "example": _TOKEN_FORM_EXAMPLE}
        return {"required": True, "content": {"application/x-www-form-urlencoded": content}}
    if endpoint.body is None:
        return None
    schema = collection.schema(endpoint.body)
    is_required = bool(schema.get("required"))
    if "$ref" in schema:
        # Keep only the reference, because the referenced schema is more precise than the body's
        # Python type.
        schema = {"$ref": schema["$ref"]}
        name = schema["$ref"].removeprefix(COMPONENTS)
        # A schema that is not in the collection comes from the schema for scenario files, and
        # always requires a member.
        is_required = bool(collection.schemas.get(name, {"required": [name]}).get("required"))
    content = {"schema": schema}
    if endpoint.example is not None:
        content["example"] = endpoint.example.document
    return {"required": is_required, "content": {"application/json": content}}
