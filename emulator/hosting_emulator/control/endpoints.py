"""Loads the endpoints under `/_emulator` and reads the declarations of their inputs.

An endpoint is a function. Its docstring documents the endpoint, and its parameters declare the
inputs. `context` is the request's context. `engine` is the engine of the world in the path, or of
the default world if the path names none. `body` is the JSON body, decoded as the parameter's type.
This type must have an `Example` in its metadata. A parameter that has the same name as a path
parameter receives the value from the path. For query parameters, see `http/query.py`. All other
parameters keep their defaults. The identity provider's endpoints have a `request` parameter instead
of `context` and `body`.

An endpoint's module is imported when the endpoint is first requested, because importing all modules
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
    """An endpoint's function and the declarations of its inputs.

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
    """Load the endpoint named by `MODULE:FUNCTION`, where MODULE is relative to `hosting_emulator`."""
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
