"""Plain data read from a file, with the line and column of each key and value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import copy, deepcopy
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from hosting_emulator.contract.suggestions import unknown
from hosting_emulator.scenario.errors import ScenarioError

#: The keys and indexes that lead from the top level of the data to a value.
KeyPath: TypeAlias = tuple[str | int, ...]
#: A line and a column, both counted from 1.
Position: TypeAlias = tuple[int, int]

_START_OF_FILE: Position = (1, 1)


@dataclass(frozen=True, slots=True)
class Source:
    """Plain data read from a file, and the positions of its keys and values.

    `positions` contains the positions of keys and list items, and `value_positions` those of plain
    values in mappings.
    """

    file: str
    data: Any
    positions: dict[KeyPath, Position]
    value_positions: dict[KeyPath, Position]


@dataclass(frozen=True, slots=True)
class Location:
    """A location in a source. `location / "story" / 3` is a location below `location`."""

    source: Source
    path: KeyPath = ()

    def __truediv__(self, name: str | int) -> Location:
        return Location(self.source, (*self.path, name))

    def below(self, path: Iterable[str | int]) -> Location:
        """Return the location at a path relative to this one."""
        return Location(self.source, (*self.path, *path))

    def copy(self) -> Location:
        """Return the same location in a new source that has its own deep copy of the value."""
        data = {"": self.source.data}
        parent: Any = data
        for name in ("", *self.path):
            parent[name] = copy(parent[name])
            parent = parent[name]
        for name, value in _items_of(parent):
            parent[name] = deepcopy(value)
        return Location(replace(self.source, data=data[""]), self.path)

    @property
    def value(self) -> Any:
        """The value at this location. Raises LookupError if there is none."""
        value = self.source.data
        for name in self.path:
            value = value[name]
        return value

    @property
    def line(self) -> int:
        """The line of this location, counted from 1."""
        return self.source.positions.get(self.path, _START_OF_FILE)[0]

    @property
    def position(self) -> Position:
        """The line and column of this location, both counted from 1.

        This is the position of the plain value or, if there is no plain value here, of the nearest
        key.
        """
        error = self.error("")
        return error.line, error.column

    def error(self, message: str, *, key: bool = False) -> ScenarioError:
        """Return an error at this location.

        It has the position of the plain value here. If there is no plain value, `key` is true, or
        the message quotes the key, it has the position of the key. If this location does not exist,
        it has the position of the nearest parent that exists.
        """
        source = self.source
        path = self.path
        quotes_key = bool(path) and repr(path[-1]) in message
        if path in source.value_positions and not key and not quotes_key:
            return ScenarioError(source.file, *source.value_positions[path], message)
        while path and path not in source.positions:
            path = path[:-1]
        position = source.positions.get(path, _START_OF_FILE)
        return ScenarioError(source.file, *position, message)

    @contextmanager
    def refusals(self) -> Iterator[None]:
        """Convert a ValueError raised in the `with` block to a ScenarioError at this location.

        If the ValueError has a `field` attribute, the error is located at this field instead.
        """
        try:
            yield
        except ValueError as error:
            location = self
            field = getattr(error, "field", "")
            if field:
                location = self.below(map(_key_or_index, field.split(".")))
            raise location.error(str(error)) from None

    def check_word(self, noun: str, word: str | None, words: Iterable[str]) -> None:
        """Raise ScenarioError if a word is not one of `words`. None is accepted.

        `noun` describes the kind of word that is expected. The message suggests the closest word or
        lists all of them.
        """
        names = list(words)
        if word is not None and word not in names:
            raise self.error(unknown(noun, word, names))


def _key_or_index(text: str) -> str | int:
    if text.isdecimal():
        return int(text)
    return text


def _items_of(value: Any) -> list[tuple[Any, Any]]:
    """Return the keys and values of a mapping, or the indexes and items of a list."""
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, list):
        return list(enumerate(value))
    return []


def walk(value: Any) -> Iterator[tuple[KeyPath, Any]]:
    """Yield a value and all values inside it, each with its path."""
    yield (), value
    for name, child in _items_of(value):
        for path, inner in walk(child):
            yield (name, *path), inner


def texts_in(value: Any) -> Iterator[tuple[KeyPath, str]]:
    """Yield every string inside a value, together with its path."""
    for path, inner in walk(value):
        if isinstance(inner, str):
            yield path, inner
