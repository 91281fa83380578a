"""The base class of objects that act on one world through the control API."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from urllib.parse import urlencode

from hosting_emulator import messages
from hosting_emulator.sdk.errors import ControlRefused
from hosting_emulator.sdk.transport import Transport, path_of

#: pytest shows the line of the test instead of the lines of this module.
__tracebackhide__ = True

T = TypeVar("T")
M = TypeVar("M", bound=messages.ControlMessage)


class WorldHandle:
    """Base class of the handles for one world and for its parts, such as its clock and its faults."""

    name: str
    """The world's name."""

    def __init__(self, transport: Transport, name: str) -> None:
        self._transport = transport
        self.name = name

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.name!r}>"

    def control_path(self, *parts: str | int, **query: Any) -> str:
        """Return the control API path of this world, or of a resource in it, with `query` appended."""
        path = path_of("worlds", self.name, *parts)
        parameters = {name: value for name, value in query.items() if value is not None}
        if not parameters:
            return path
        return f"{path}?{urlencode(parameters)}"

    def _ask(self, method: str, *parts: str | int, body: Any = None, **query: Any) -> Any:
        return self._transport.ask(method, self.control_path(*parts, **query), body)

    def _fetch(
        self, kind: type[T], method: str, *parts: str | int, body: Any = None, **query: Any
    ) -> T:
        return self._transport.fetch(kind, method, self.control_path(*parts, **query), body)

    def _fetch_list(
        self, kind: type[M], method: str, *parts: str | int, body: Any = None, **query: Any
    ) -> list[M]:
        return self._transport.fetch_list(kind, method, self.control_path(*parts, **query), body)


@contextmanager
def ignore_missing() -> Iterator[None]:
    """Ignore a ControlRefused (404), which means that the resource was already deleted."""
    try:
        yield
    except ControlRefused as refused:
        if refused.status != 404:
            raise
