"""Plain data that remembers where it stood in a file, and what is wrong with it, said with its place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from hosting_emulator.contract.suggestions import unknown

Path: TypeAlias = tuple[str | int, ...]


class ScenarioError(Exception):
    """A scenario cannot be used; `str()` is a line for each reason, `file:line:column: …`.

    Lines count from 1; line 0 is no place in the file, but the whole of it. The fields are those of
    the first reason, in the file's order; `more` are the others.
    """

    def __init__(
        self, file: str, line: int, column: int, message: str, more: Sequence[ScenarioError] = ()
    ) -> None:
        place = f"{file}:{line}:{column}" if line else file
        super().__init__("\n".join([f"{place}: {message}", *map(str, more)]))
        self.file, self.line, self.column, self.message = file, line, column, message
        self.more = more


class Mistakes(list[ScenarioError]):
    """What is wrong with a scenario in several places, to be told all at once."""

    @contextmanager
    def at(self, place: Place) -> Iterator[None]:
        """Keep a ScenarioError, or what is refused within a place, and go on behind it."""
        try:
            with place.refusals():
                yield
        except ScenarioError as error:
            self.append(error)

    def tell(self) -> None:
        """Raise ScenarioError with all that was found, if anything was."""
        if self:
            found = {str(one): one for one in self}  # a part may be used twice
            first, *rest = sorted(found.values(), key=lambda one: (one.line, one.column))
            raise ScenarioError(first.file, first.line, first.column, first.message, rest)


def walk(found: Any) -> Iterator[tuple[Path, Any]]:
    """Walk a value and all that is in it, each with the path to it."""
    yield (), found
    pairs: Iterable[tuple[Any, Any]] = found.items() if isinstance(found, dict) else ()
    for name, value in enumerate(found) if isinstance(found, list) else pairs:
        yield from (((name, *path), inner) for path, inner in walk(value))


@dataclass(frozen=True, slots=True)
class Source:
    """Plain data, and where (line, column; from 1) every key and value in it stood.

    `places` holds keys and items of lists, `values` the plain values of keys.
    """

    file: str
    data: Any
    places: dict[Path, tuple[int, int]]
    values: dict[Path, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a source: `place / "story" / 3 / "user"`."""

    source: Source
    path: Path = ()

    def __truediv__(self, name: str | int) -> Place:
        return Place(self.source, (*self.path, name))

    def below(self, path: Iterable[str | int]) -> Place:
        """Return the place at a path from here."""
        return Place(self.source, (*self.path, *path))

    @property
    def value(self) -> Any:
        """What stands here. Raises LookupError."""
        found = self.source.data
        for part in self.path:
            found = found[part]
        return found

    @property
    def line(self) -> int:
        """Its line."""
        return self.source.places.get(self.path, (1, 1))[0]

    def error(self, message: str, *, key: bool = False) -> ScenarioError:
        """Return an error at the value here, or its key where the value holds more values.

        Where nothing stands, it is at what it would belong to. `key` asks for the key, and so does a
        message that quotes it: it is the key that is unknown then.
        """
        path, source = self.path, self.source
        key = key or (bool(path) and repr(path[-1]) in message)
        if path in source.values and not key:
            return ScenarioError(source.file, *source.values[path], message)
        while path and path not in source.places:
            path = path[:-1]
        return ScenarioError(source.file, *source.places.get(path, (1, 1)), message)

    @contextmanager
    def refusals(self) -> Iterator[None]:
        """Raise ScenarioError for a ValueError within, here or at the `field` below that it names."""
        try:
            yield
        except ValueError as error:
            field = getattr(error, "field", "")
            path = [int(one) if one.isdecimal() else one for one in field.split(".")]
            place = self.below(path) if field else self
            raise place.error(str(error)) from None

    def check_word(self, what: str, word: str | None, known: Iterable[str]) -> None:
        """Check a word, if there is one. Raises ScenarioError, naming the nearest known one, or all."""
        known = list(known)
        if word is not None and word not in known:
            raise self.error(unknown(what, word, known))
