"""Shrinking: from many points at which answers vary to the few that make a command fail.

It must not know what a run is: it asks `fails`, as seldom as it can, and never more often than told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple


class Smallest(NamedTuple):
    """The fewest points that were found to fail, and whether there was time to look at all less."""

    points: tuple[str, ...]
    runs: int
    finished: bool


class _Spent(Exception):
    pass


class _Asked:
    """Asks whether points fail, each set once, and at most so many of them."""

    def __init__(self, fails: Callable[[tuple[str, ...]], bool], most: int) -> None:
        self._fails = fails
        self._most = most
        self._known: dict[tuple[str, ...], bool] = {}

    def __call__(self, points: tuple[str, ...]) -> bool:
        if points not in self._known:
            if self.runs == self._most:
                raise _Spent
            self._known[points] = self._fails(points)
        return self._known[points]

    @property
    def runs(self) -> int:
        return len(self._known)


def shrink(points: Sequence[str], fails: Callable[[tuple[str, ...]], bool], most: int) -> Smallest:
    """Return the smallest set of points found to fail, of points that fail together.

    By delta debugging: parts, then all but a part, then smaller parts. When it finished, the set
    passes without any one of its points. At most `most` sets are tried.
    """
    asked = _Asked(fails, most)
    smallest, parts = tuple(points), 2
    try:
        while len(smallest) > 1:
            found = _smaller(smallest, parts, asked)
            if found is not None:
                parts = 2 if len(found) <= len(smallest) // parts + 1 else max(parts - 1, 2)
                smallest = found
            elif parts >= len(smallest):
                break
            else:
                parts = min(parts * 2, len(smallest))
    except _Spent:
        return Smallest(smallest, asked.runs, finished=False)
    return Smallest(smallest, asked.runs, finished=True)


def _smaller(points: tuple[str, ...], parts: int, asked: _Asked) -> tuple[str, ...] | None:
    """Return a part that fails, or else all but a part that do; None: neither does."""
    edges = [len(points) * number // parts for number in range(parts + 1)]
    pieces = [points[start:stop] for start, stop in pairwise(edges)]
    for piece in pieces:
        if asked(piece):
            return piece
    for piece in pieces if parts > 2 else ():
        rest = tuple(point for point in points if point not in piece)
        if asked(rest):
            return rest
    return None
