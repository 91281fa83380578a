"""Delta debugging: the `ddmin` of Zeller and Hildebrandt (2002)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import combinations
from typing import Generic, NamedTuple, TypeAlias, TypeVar

T = TypeVar("T")
_Positions: TypeAlias = tuple[int, ...]


class Smallest(NamedTuple, Generic[T]):
    """The fewest things that hold, and the tries; none can be left out if it `finished`."""

    items: tuple[T, ...]
    tries: int
    finished: bool


def read_target(text: str, fields: Collection[str], example: str) -> dict[str, str]:
    """Read the `name=value` words that tell what is to stay. Raises ValueError, naming the fields."""
    given: dict[str, str] = {}
    for word in text.split():
        name, _, value = word.partition("=")
        if name not in fields or not value:
            raise ValueError(f"{word!r} is not one of {', '.join(f'{f}=…' for f in fields)}")
        given[name] = value
    if not given:
        raise ValueError(example)
    return given


class _OutOfTries(Exception):
    pass


def smallest(
    items: Sequence[T],
    holds: Callable[[tuple[T, ...]], bool],
    max_tries: int,
    *,
    try_pairs: bool = False,
) -> Smallest[T]:
    """Return the fewest of `items` for which `holds`, asked at most `max_tries` times, is still true.

    No single item of the result can be left out. With `try_pairs` no two items can be left out together
    either: some make sense only together, as a fault and the step that removes it.
    """
    search = _Search(items, holds, max_tries)
    finished = True
    try:
        search.reduce()
        while try_pairs and search.remove_pair():
            search.reduce()
    except _OutOfTries:
        finished = False
    return Smallest(search.chosen(search.left), len(search.results), finished)


class _Search(Generic[T]):
    """A search for the fewest items. `left` are the positions of those that are left."""

    def __init__(
        self, items: Sequence[T], holds: Callable[[tuple[T, ...]], bool], max_tries: int
    ) -> None:
        self._items = items
        self._holds = holds
        self._max_tries = max_tries
        self.left: _Positions = tuple(range(len(items)))
        self.results: dict[_Positions, bool] = {}

    def chosen(self, positions: _Positions) -> tuple[T, ...]:
        """Return the items at some positions."""
        return tuple(self._items[position] for position in positions)

    def reduce(self) -> None:
        """Leave items out, in groups and one by one, until none can be left out."""
        part_count = 2
        while len(self.left) > 1:
            size = -(-len(self.left) // part_count)
            starts = range(0, len(self.left), size)
            parts = [self.left[start : start + size] for start in starts]
            part = self._first_that_holds(parts)
            if part is not None:
                self.left = part
                part_count = 2
                continue
            rest = self._first_that_holds(map(self._without, parts))
            if rest is not None:
                self.left = rest
                part_count = max(part_count - 1, 2)
            elif size == 1:
                return
            else:
                part_count = min(part_count * 2, len(self.left))

    def remove_pair(self) -> bool:
        """Leave the first two items out that can be left out together. Return whether there are any."""
        rest = self._first_that_holds(map(self._without, combinations(self.left, 2)))
        if rest is None:
            return False
        self.left = rest
        return True

    def _without(self, positions: _Positions) -> _Positions:
        return tuple(position for position in self.left if position not in positions)

    def _first_that_holds(self, sets: Iterable[_Positions]) -> _Positions | None:
        return next((positions for positions in sets if self._holds_for(positions)), None)

    def _holds_for(self, positions: _Positions) -> bool:
        """Ask whether a set of items holds, once for each set. Raises _OutOfTries."""
        if positions not in self.results:
            if len(self.results) == self._max_tries:
                raise _OutOfTries
            self.results[positions] = self._holds(self.chosen(positions))
        return self.results[positions]
