"""Plain data that remembers where it stood in a file, and what is wrong with it, said with its place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

Path: TypeAlias = tuple[str | int, ...]


class ScenarioError(Exception):
    """A scenario cannot be used; `str()` is one line, `file:line:column: …`. Lines count from 1.

    Line 0 is no place in the file, but the whole of it.
    """

    def __init__(self, file: str, line: int, column: int, message: str) -> None:
        place = f"{file}:{line}:{column}" if line else file
        super().__init__(f"{place}: {message}")
        self.file, self.line, self.column, self.message = file, line, column, message


class Source:
    """Plain data, and the place (line, column; from 1) of every key and value in it.

    `places` holds keys and items of lists, `values` the plain values of keys.
    """

    def __init__(
        self,
        file: str,
        data: Any,
        places: dict[Path, tuple[int, int]],
        values: dict[Path, tuple[int, int]],
    ) -> None:
        self.file = file
        self.data = data
        self._places = places
        self._values = values

    def error(self, path: Path, message: str, *, key: bool = False) -> ScenarioError:
        """Return an error at the value of a path, or its key where the value holds more values.

        Where nothing stands there, it is at what it would belong to. `key` asks for the key, and so
        does a message that quotes it: it is the key that is unknown then.
        """
        key = key or (bool(path) and repr(path[-1]) in message)
        if path in self._values and not key:
            return ScenarioError(self.file, *self._values[path], message)
        while path and path not in self._places:
            path = path[:-1]
        line, column = self._places.get(path, (1, 1))
        return ScenarioError(self.file, line, column, message)

    @contextmanager
    def refusals_at(self, path: Path) -> Iterator[None]:
        """Give what is refused within a place in the file: at a path, or a field below it.

        Raises ScenarioError for a ValueError, which may name the `field` at fault.
        """
        try:
            yield
        except ValueError as error:
            field = getattr(error, "field", "")
            raise self.error((*path, *field.split(".")) if field else path, str(error)) from None

    def at(self, path: Path) -> Any:
        """Return what stands at a path. Raises LookupError."""
        found = self.data
        for part in path:
            found = found[part]
        return found

    def line(self, path: Path) -> int:
        """Return the line of a path."""
        return self._places.get(path, (1, 1))[0]
