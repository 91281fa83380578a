"""Loads the endpoints under `/_emulator`, and reads the declarations of their inputs.

An endpoint is a function. The function's docstring documents the endpoint, and the function's
parameters declare the inputs. The `context` parameter is the request's context. `engine` is the
engine of the world in the path, or of the default world if the path names no world. `body` is the
JSON body, decoded as the parameter's type. The type of the `body` parameter has an `Example` in its
metadata. A parameter with the name of a path parameter receives the value from the path. The
`http/query.py` module describes query parameters. All other parameters keep their defaults.
Endpoints of the identity provider have a `request` parameter instead of `context` and `body`.

The module of an endpoint is imported at the endpoint's first request, because importing all modules
at once would make `start` a sixth slower.
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
    """The function of an endpoint, and the declarations of its inputs.

    `parameters` contains the names of the parameters that are passed to the function. `query`
    contains the declarations of the query parameters, by name. `body` is the type of the JSON body,
    or None if there is no body. `example` is an example of the body.
    """

    function: Callable[..., Any]
    parameters: frozenset[str]
    query: Mapping[str, EndpointParameter]
    body: Any
    example: Example | None


@cache
def load_endpoint(endpoint: str) -> Endpoint:
    """Return the endpoint that `MODULE:FUNCTION` names, where MODULE is relative to `hosting_emulator`."""
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
