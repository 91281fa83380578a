"""Declares and parses the query parameters of endpoints under `/_emulator`.

An endpoint's parameter is read from the query if its annotation contains a `Query` or is
RequestFilters:

    def list_operations(engine: Engine, unfinished: Annotated[bool, Query("Only …")] = False)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter
from typing import Annotated, Any, Final, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

from msgspec import Meta

from hosting_emulator.http.endpoint import ControlRefusal
from hosting_emulator.messages import RequestFilters

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Query:
    """The documentation of a query parameter. `example` is a value that a fresh world accepts."""

    description: str
    example: str | None = None


#: The maximum number of items in a list.
Limit = Annotated[int, Meta(ge=1, le=1000), Query("Return at most this many items.")]
#: A span of real time in milliseconds.
Milliseconds = Annotated[int, Meta(ge=0, le=60_000)]
#: Comma-separated words. The parameter can be repeated.
Words: TypeAlias = list[str]
#: An optional string.
Text: TypeAlias = str | None

#: The documentation for parameters that several endpoints share.
SEED: Final = Query(
    "Include the world's seed, from which its tokens, keys and tickets can be computed."
)
LATEST_REQUESTS: Final = Query("Return at most this many of the latest requests.")

#: The names of the request filters, which are also the names of their query parameters.
_FILTER_NAMES: Final = tuple(RequestFilters.__annotations__)


@dataclass(frozen=True, slots=True)
class EndpointParameter:
    """A parameter of an endpoint that is read from the query.

    `kind` is the parameter's type: RequestFilters, Words, Text, bool, or an integer with bounds.
    `default` is `Parameter.empty` if the parameter has no default.
    """

    name: str
    kind: Any
    default: Any
    documentation: Query

    @property
    def names(self) -> Iterable[str]:
        """The names of the query parameters from which this parameter is read."""
        if self.kind is RequestFilters:
            return _FILTER_NAMES
        return (self.name,)


def query_parameter(parameter: Parameter) -> EndpointParameter | None:
    """Return the declaration of an endpoint's query parameter, or None if the parameter is not one."""
    kind, documentation = split_metadata(parameter.annotation, Query)
    if kind is RequestFilters:
        documentation = Query("")
    if documentation is None:
        return None
    return EndpointParameter(parameter.name, kind, parameter.default, documentation)


def split_metadata(annotation: Any, metadata_type: type[T]) -> tuple[Any, T | None]:
    """Split an annotation into its type and the item of its metadata that has type `metadata_type`.

    All other metadata stays with the type. If there is no such item, None is returned in its place.
    If there are several, the last one is returned.
    """
    if get_origin(annotation) is not Annotated:
        return annotation, None
    kind, *metadata = get_args(annotation)
    others = []
    match: T | None = None
    for item in metadata:
        if isinstance(item, metadata_type):
            match = item
        else:
            others.append(item)
    if others:
        kind = Annotated[(kind, *others)]
    return kind, match


def filter_documentation() -> Mapping[str, Meta]:
    """Return the documentation of each request filter, by its name in the query."""
    hints = get_type_hints(RequestFilters, include_extras=True)
    documentation = {}
    for name in _FILTER_NAMES:
        _, meta = split_metadata(hints[name], Meta)
        assert meta is not None
        documentation[name] = meta
    return documentation


def read_parameter(query: Mapping[str, Sequence[str]], parameter: EndpointParameter) -> Any:
    """Return a query parameter's value or its default. Raises ControlRefusal 400 if the value is invalid."""
    name = parameter.name
    kind = parameter.kind
    values = query.get(name, ())
    if kind is RequestFilters:
        return _read_filters(query)
    if kind == Words:
        return _read_words(values)
    if not values:
        return parameter.default
    text = _single_value(name, values)
    if kind is bool:
        return _read_bool(name, text)
    if kind == Text:
        return text
    _, bounds = split_metadata(kind, Meta)
    assert bounds is not None
    return _read_number(name, text, bounds)


def _read_filters(query: Mapping[str, Sequence[str]]) -> dict[str, str]:
    return {name: _filter_value(name, query[name]) for name in _FILTER_NAMES if name in query}


def _filter_value(name: str, values: Sequence[str]) -> str:
    """Return a filter's value. Raises ControlRefusal 400 if it is empty.

    An empty value usually comes from a shell variable that is not set. If it were ignored, every
    request would match, and a check of the result would prove nothing.
    """
    value = _single_value(name, values)
    if not value:
        raise ControlRefusal(
            400, f"Bad {name}", f"{name} is empty; leave it out to accept any value"
        )
    return value


def _read_words(values: Sequence[str]) -> list[str]:
    """Return the words in all values, without duplicates and empty words."""
    words = [word.strip() for value in values for word in value.split(",")]
    return list(dict.fromkeys(word for word in words if word))


def _single_value(name: str, values: Sequence[str]) -> str:
    """Return a parameter's only value. Raises ControlRefusal 400 if there are several."""
    if len(values) > 1:
        first_values = " and ".join(repr(value[:40]) for value in values[:2])
        raise ControlRefusal(
            400, f"Bad {name}", f"{name} must have a single value, not {first_values}"
        )
    return values[0]


def _read_bool(name: str, text: str) -> bool:
    if text not in ("true", "false"):
        raise ControlRefusal(400, f"Bad {name}", f"{name} must be true or false")
    return text == "true"


def _read_number(name: str, text: str, bounds: Meta) -> int:
    """Parse a whole number. Raises ControlRefusal 400 for any other text or a number out of bounds."""
    lowest = int(bounds.ge or 0)
    highest = int(bounds.le or 0)
    detail = f"{name} must be a number from {lowest} to {highest}"
    refusal = ControlRefusal(400, f"Bad {name}", detail)
    if not (text.isascii() and text.isdigit()):
        raise refusal
    # Check the length first, because parsing a great many digits is slow, and Python refuses more
    # than 4,300.
    digits = text.lstrip("0")
    if len(digits) > len(str(highest)):
        raise refusal
    number = int(digits or "0")
    if not lowest <= number <= highest:
        raise refusal
    return number
