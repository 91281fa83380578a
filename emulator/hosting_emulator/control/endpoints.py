"""The declaration of the endpoints under `/_emulator`, and the way the server finds and calls them.

An endpoint is a function. Its docstring is its documentation, and its parameters declare its
inputs: `context`, `engine` (of the world in the path, or of the default world), `body` (the JSON
body, decoded as the parameter's type, with an `Example` in its metadata), the names in braces from
its path, and query parameters (see `http/query.py`). Other parameters keep their defaults.
Endpoints of the identity provider have `request` instead of `context` and `body`.

An endpoint's module is imported at its first request. Importing all of them would make `start` a
sixth slower.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from inspect import Parameter, signature
from typing import Any

from hosting_emulator.http.endpoint import Example
from hosting_emulator.http.query import EndpointParameter, query_parameter, split_metadata


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The function of an endpoint, and the parameters with which it is called.

    `query` holds the parameters that are read from the query. `body` is the type of the JSON body,
    or None if there is no body. `example` is an example of the body.
    """

    function: Callable[..., Any]
    parameters: frozenset[str]
    query: Mapping[str, EndpointParameter]
    body: Any
    example: Example | None


@cache
def load_endpoint(endpoint: str) -> Endpoint:
    """Return the endpoint with the name `MODULE:FUNCTION`. The module is under `hosting_emulator`."""
    module, _, function_name = endpoint.partition(":")
    function = getattr(import_module(f"hosting_emulator.{module}"), function_name)
    parameters = dict(signature(function, eval_str=True).parameters)
    body = None
    example = None
    if "body" in parameters:
        body, example = split_metadata(parameters["body"].annotation, Example)
    query = {}
    required = []
    for name, parameter in parameters.items():
        declaration = query_parameter(parameter)
        if declaration is not None:
            query[name] = declaration
        elif parameter.default is Parameter.empty:
            required.append(name)
    return Endpoint(function, frozenset([*required, *query]), query, body, example)
