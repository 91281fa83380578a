"""Matches requests against filters, and describes the differences.

Importing this module takes 60 ms, because it loads the contract's calls and the comparison language
for filters.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Protocol

from hosting_emulator.contract.access import NOBODY
from hosting_emulator.contract.calls import ALL_CALLS, REDEEM_TICKET, call_named
from hosting_emulator.criteria.checks import check
from hosting_emulator.criteria.comparisons import match
from hosting_emulator.criteria.request_filters import request_filters
from hosting_emulator.criteria.value_types import Impossible
from hosting_emulator.sdk.exchange_text import response_text
from hosting_emulator.sdk.names import Aliases, NoSuchName, unknown_name_text
from hosting_emulator.sdk.recorded_requests import RecordedRequest
from hosting_emulator.sdk.request_filters import (
    Filters,
    ImpossibleFilter,
    TextFilter,
    UnknownFilterName,
)

#: Makes pytest show the line in the test instead of lines in this module.
__tracebackhide__ = True

_FLAGS = {"replayed": "replayed", "lost": "lost", "failed": "refused or lost"}
#: The members of a request whose filters have different names.
_MEMBERS = {"user": "user_id", "key": "idempotency_key"}


class NamedWorld(Protocol):
    """A world whose users and projects filters can name."""

    users: Aliases
    projects: Aliases


class RequestMatcher:
    """Matches requests against a call and filters.

    Raises ImpossibleFilter if a filter has a value that no request can have.
    """

    def __init__(self, call: TextFilter | None, filters: Filters, world: NamedWorld) -> None:
        self._aliases = {"user": world.users, "project": world.projects}
        self.values = self._read(call, filters)
        names = [[*aliases, *aliases.values()] for aliases in self._aliases.values()]
        self._types = request_filters(*names)
        self._check()

    def _read(self, call: TextFilter | None, filters: Filters) -> dict[str, Any]:
        """Return the value of each filter, with ids in place of aliases and documents."""
        filter_names = Filters.__annotations__
        for name in filters:
            if name not in filter_names:
                raise TypeError(unknown_name_text("filter", name, filter_names))
        values: dict[str, Any] = {}
        if call is not None:
            values["call"] = _call_filter(call)
        for name in filter_names:
            value = filters.get(name)
            # Treat None as a missing filter, so that a test can pass on an optional filter.
            if value is None:
                continue
            if name in self._aliases and isinstance(value, str):
                value = _id_of_name(name, self._aliases[name], value)
            elif name == "operation":
                value = _operation_ids(value)
            values[name] = value
        return {name: _with_lists(value) for name, value in values.items()}

    def _check(self) -> None:
        try:
            for name, value in self.values.items():
                check(self._types[name], value, (name,))
        except Impossible as error:
            path = ".".join(map(str, error.path))
            raise ImpossibleFilter(f"{path} can never match: {error}") from None

    def operation_ids(self) -> set[str]:
        """Return the ids of the operations named in the filters."""
        return {text for text in _texts_in(self.values.get("operation")) if text.isalnum()}

    def mismatches(self, request: RecordedRequest) -> list[str]:
        """Return the names of the filters that a request does not match."""
        view = _view(request, self._aliases["project"])
        return [
            name
            for name, value in self.values.items()
            if match(self._types[name], value, view[name]) is not True
        ]

    def matches(self, request: RecordedRequest) -> bool:
        """Return whether a request matches all filters."""
        return not self.mismatches(request)

    def difference(self, request: RecordedRequest, name: str) -> str:
        """Describe a request's value for the filter called `name`, which does not match."""
        value = _value(request, name)
        if name in _FLAGS:
            return _flag_text(name, value)
        if name == "call":
            return f"calls {value}" if value else "matches no call of the API"
        if name == "user":
            if request.user:
                return f"was made by {request.user}"
            return "was refused before its user was known"
        if name == "project":
            return f"was about {self._aliases[name].alias_of(value)}"
        if name == "status":
            text = response_text(request)
            return f"got {text}" if value else f"was {text}"
        if name == "key" and not value:
            return "had no key"
        return f"had the {name} {value}"

    def text(self) -> str:
        """Describe which requests match, for example `list_deployments by owner with the status 200`."""
        words = [_value_text(self.values.get("call", "a request"))]
        for name, value in self.values.items():
            if name in self._aliases:
                text = self._alias_text(name, value)
                words.append(f"by {text}" if name == "user" else f"of {text}")
            elif name in _FLAGS:
                words.append(f"that {_flag_text(name, value)}")
            elif name != "call":
                words.append(f"with the {name} {_value_text(value)}")
        return " ".join(words)

    def _alias_text(self, name: str, value: Any) -> str:
        if isinstance(value, str):
            value = self._aliases[name].alias_of(value)
        return _value_text(value)


def known_call(name: str | None) -> str | None:
    """Return the call_id for a call's name. None is returned unchanged.

    If the name is unknown, raises ValueError with a message that suggests the closest name.
    """
    if name is None:
        return None
    call_id = call_named(name)
    call_ids = (*ALL_CALLS, REDEEM_TICKET)
    if call_id not in call_ids:
        raise ValueError(unknown_name_text("call", call_id, call_ids))
    return call_id


def _value(request: RecordedRequest, name: str) -> Any:
    """Return a request's value for the filter called `name`."""
    value = getattr(request, _MEMBERS.get(name, name))
    if name in _FLAGS:
        return bool(value)
    return value


def _view(request: RecordedRequest, projects: Aliases) -> dict[str, Any]:
    """Return a request's value for each filter.

    For a user or a project, there are two values: the id and the alias.
    """
    project_names: tuple[str | None, ...] = ()
    if request.project:
        project_names = (request.project, projects.alias_of(request.project))
    return {
        "user": _texts_or_none(request.user_id, request.user),
        "project": _texts_or_none(*project_names),
        "call": request.call,
        "method": request.method,
        "path": request.path,
        "operation": request.operation,
        "status": request.status,
        "code": request.code,
        "lost": request.lost,
        "replayed": bool(request.replayed),
        "failed": bool(request.failed),
        "key": request.idempotency_key,
    }


def _texts_or_none(*texts: str | None) -> tuple[str, ...] | None:
    return tuple(text for text in texts if text) or None


def _flag_text(name: str, value: object) -> str:
    if value:
        return f"was {_FLAGS[name]}"
    return f"was not {_FLAGS[name]}"


def _call_filter(call: TextFilter) -> Any:
    """Return a filter with the call's name replaced with its call_id.

    If the name is unknown, raises ValueError with a message that suggests the closest name.
    """
    if not isinstance(call, str) or call == "none" or _is_pattern(call):
        return call
    return known_call(call)


def _id_of_name(name: str, aliases: Aliases, value: str) -> str:
    """Return the id for an alias. Patterns and `nobody` are returned unchanged.

    Raises UnknownFilterName if the alias is unknown.
    """
    if _is_pattern(value) or (name == "user" and value == NOBODY):
        return value
    try:
        return aliases.id_of(value)
    except NoSuchName as error:
        raise UnknownFilterName(str(error)) from None


def _is_pattern(value: str) -> bool:
    """Return whether a string is `*`, or a regular expression between slashes."""
    return value == "*" or (len(value) > 2 and value[0] == value[-1] == "/")


def _operation_ids(value: Any) -> Any:
    """Return a filter with each operation's document replaced with the operation's id."""
    if isinstance(value, Mapping):
        id_ = value.get("id")
        if isinstance(id_, str):
            return id_
        return {name: _operation_ids(inner) for name, inner in value.items()}
    if _is_collection(value):
        return [_operation_ids(item) for item in value]
    return value


def _is_collection(value: Any) -> bool:
    """Return whether a filter is a collection of alternatives."""
    return isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping)


def _texts_in(value: Any) -> Iterator[str]:
    """Yield every string in a filter."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts_in(inner)
    elif isinstance(value, list):
        for item in value:
            yield from _texts_in(item)


def _value_text(value: Any) -> str:
    """Return a filter in words, for example `200 or 202`."""
    if isinstance(value, list):
        return " or ".join(map(str, value))
    return str(value)


def _with_lists(value: Any) -> Any:
    """Return a filter with all collections converted to lists."""
    if isinstance(value, Mapping):
        return {name: _with_lists(inner) for name, inner in value.items()}
    if _is_collection(value):
        return [_with_lists(item) for item in value]
    return value
