"""Delta debugging: finds the fewest items for which a condition still holds.

The algorithm is `ddmin` by Zeller and Hildebrandt (2002).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Generic, NamedTuple, TypeAlias, TypeVar

T = TypeVar("T")
_Positions: TypeAlias = tuple[int, ...]


class Smallest(NamedTuple, Generic[T]):
    """The result of a search.

    `items` are the fewest items for which the condition holds, and `tries` is the number of sets
    that were tried. `finished` is False if the search ended early, so `items` may contain items
    that could be left out.
    """

    items: tuple[T, ...]
    tries: int
    finished: bool


class _OutOfTries(Exception):
    pass


def smallest(
    items: Sequence[T],
    holds: Callable[[tuple[T, ...]], bool],
    max_tries: int,
    *,
    try_pairs: bool = False,
) -> Smallest[T]:
    """Return the fewest of `items` for which `holds` is still true.

    `holds` must be true for the whole list. It is called at most `max_tries` times, and never twice
    for the same items. No single item of the result can be left out. With `try_pairs`, no two items
    can be left out together either: some items make sense only together, such as a fault and the
    step that removes it.
    """
    search = _Search(items, holds, max_tries)
    finished = True
    try:
        search.reduce()
        while try_pairs and search.remove_pair():
            search.reduce()
    except _OutOfTries:
        finished = False
    return Smallest(search.items_at(search.remaining), len(search.results), finished)


class _Search(Generic[T]):
    """The state of a search. `remaining` are the positions of the items that are not left out."""

    def __init__(
        self, items: Sequence[T], holds: Callable[[tuple[T, ...]], bool], max_tries: int
    ) -> None:
        self._items = items
        self._holds = holds
        self._max_tries = max_tries
        self.remaining: _Positions = tuple(range(len(items)))
        self.results: dict[_Positions, bool] = {}

    def items_at(self, positions: _Positions) -> tuple[T, ...]:
        """Return the items at some positions."""
        return tuple(self._items[position] for position in positions)

    def reduce(self) -> None:
        """Leave out items, first in groups and then singly, until none can be left out.

        Raises _OutOfTries.
        """
        part_count = 2
        while len(self.remaining) > 1:
            # Round up, so that there are never more parts than `part_count`.
            part_size = -(-len(self.remaining) // part_count)
            starts = range(0, len(self.remaining), part_size)
            parts = [self.remaining[start : start + part_size] for start in starts]
            part = self._first_that_holds(parts)
            if part is not None:
                self.remaining = part
                part_count = 2
                continue
            rest = self._first_that_holds(map(self._without, parts))
            if rest is not None:
                self.remaining = rest
                part_count = max(part_count - 1, 2)
            elif part_size == 1:
                return
            else:
                part_count = min(part_count * 2, len(self.remaining))

    def remove_pair(self) -> bool:
        """Leave out the first two items that can be left out together. Return whether there are any.

        Raises _OutOfTries.
        """
        rest = self._first_that_holds(map(self._without, combinations(self.remaining, 2)))
        if rest is None:
            return False
        self.remaining = rest
        return True

    def _without(self, positions: _Positions) -> _Positions:
        return tuple(position for position in self.remaining if position not in positions)

    def _first_that_holds(self, sets: Iterable[_Positions]) -> _Positions | None:
        return next((positions for positions in sets if self._holds_for(positions)), None)

    def _holds_for(self, positions: _Positions) -> bool:
        if positions not in self.results:
            if len(self.results) == self._max_tries:
                raise _OutOfTries
            self.results[positions] = self._holds(self.items_at(positions))
        return self.results[positions]
