"""Parameters of the query of endpoints below `/_emulator`: their types, and how each is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from inspect import Parameter
from typing import Annotated, Any, Final

from msgspec import Meta

from hosting_emulator.http.endpoint import ControlRefusal
from hosting_emulator.messages import RequestFilters

_HIGHEST_LIMIT: Final = 1000
_LONGEST_MS: Final = 60_000

#: The most items of a list.
Limit = Annotated[int, Meta(ge=1, le=_HIGHEST_LIMIT)]
#: A span of real time in milliseconds.
Milliseconds = Annotated[int, Meta(ge=0, le=_LONGEST_MS)]
#: Words with commas between them. The parameter can be repeated.
Words = list[str]
#: A text that can be left out.
Text = str | None

#: A parameter of an endpoint with one of these types is read from the query.
QUERY_TYPES: Final = (Limit, Milliseconds, bool, Words, Text, RequestFilters)


def parameter_names(parameter: Parameter) -> Iterable[str]:
    """Return the names in the query that a parameter of an endpoint reads."""
    if parameter.annotation is RequestFilters:
        return RequestFilters.__annotations__
    return (parameter.name,)


def read_parameter(query: Mapping[str, Sequence[str]], parameter: Parameter) -> Any:
    """Return a parameter of the query, or its default. Raises ControlRefusal 400."""
    name = parameter.name
    kind = parameter.annotation
    values = query.get(name, ())
    if kind is RequestFilters:
        return _read_filters(query, parameter)
    if kind == Words:
        return _read_words(values)
    if not values:
        return parameter.default
    text = _single_value(name, values)
    if kind is bool:
        return _read_bool(name, text)
    if kind == Limit:
        return _read_number(name, text, 1, _HIGHEST_LIMIT)
    if kind == Milliseconds:
        return _read_number(name, text, 0, _LONGEST_MS)
    return text


def _read_filters(query: Mapping[str, Sequence[str]], parameter: Parameter) -> dict[str, str]:
    return {
        name: _filter_value(name, query[name])
        for name in parameter_names(parameter)
        if name in query
    }


def _filter_value(name: str, values: Sequence[str]) -> str:
    """Return the value of a filter. Raises ControlRefusal 400 for an empty one.

    An empty value is usually a variable that is not set. If it meant no filter, it would select every
    request, and a check of the result would say nothing.
    """
    value = _single_value(name, values)
    if not value:
        raise ControlRefusal(400, f"Bad {name}", f"{name} is empty: leave it out to select any")
    return value


def _read_words(values: Sequence[str]) -> list[str]:
    """Return the words of all values, each once, without empty ones."""
    words = [word.strip() for value in values for word in value.split(",")]
    return list(dict.fromkeys(word for word in words if word))


def _single_value(name: str, values: Sequence[str]) -> str:
    """Return the only value of a parameter. Raises ControlRefusal 400 if there are several."""
    if len(values) > 1:
        first_values = " and ".join(repr(value[:40]) for value in values[:2])
        raise ControlRefusal(400, f"Bad {name}", f"{name} takes one value, not {first_values}")
    return values[0]


def _read_bool(name: str, text: str) -> bool:
    if text not in ("true", "false"):
        raise ControlRefusal(400, f"Bad {name}", f"{name} must be true or false")
    return text == "true"


def _read_number(name: str, text: str, lowest: int, highest: int) -> int:
    """Return a whole number within bounds. Raises ControlRefusal 400."""
    refusal = ControlRefusal(
        400, f"Bad {name}", f"{name} must be a number from {lowest} to {highest}"
    )
    if not (text.isascii() and text.isdigit()):
        raise refusal
    # Reading a number of very many digits takes long, and Python refuses it from 4,300 digits on.
    digits = text.lstrip("0")
    if len(digits) > len(str(highest)):
        raise refusal
    number = int(digits or "0")
    if not lowest <= number <= highest:
        raise refusal
    return number
