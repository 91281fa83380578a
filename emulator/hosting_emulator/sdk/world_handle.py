"""The base class of objects that access one world through the control API."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from urllib.parse import urlencode

from hosting_emulator import messages
from hosting_emulator.sdk.errors import ControlRefused
from hosting_emulator.sdk.transport import Transport, path_of

#: Makes pytest show the line in the test instead of lines in this module.
__tracebackhide__ = True

T = TypeVar("T")
M = TypeVar("M", bound=messages.ControlMessage)


class WorldHandle:
    """The base class of handles for a world and for its parts, such as its clock and its faults."""

    name: str
    """The world's name."""

    def __init__(self, transport: Transport, name: str) -> None:
        self._transport = transport
        self.name = name

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.name!r}>"

    def control_path(self, *parts: str | int, **query: Any) -> str:
        """Return the control API path for this world or for a resource in it, with `query` appended."""
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
    """Ignore ControlRefused (404), which means that the resource has already been deleted."""
    try:
        yield
    except ControlRefused as refused:
        if refused.status != 404:
            raise
