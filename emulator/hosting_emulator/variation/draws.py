"""Drawing: what a seed says at a point, for one thing. The same seed and thing say the same again.

What is drawn at one point depends on no other, so that confining a variation to some points changes
nothing at these: that is what lets a failure be traced to the point that matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from hosting_emulator.world.records import Variation
from hosting_emulator.world.streams import derive

T = TypeVar("T")


def drawn(seed: str, point: str, *thing: str) -> int:
    """Return 62 bits that depend on seed, point and thing alone."""
    return int.from_bytes(derive(seed, "variation", point, *thing, size=8), "big") >> 2


class Draws:
    """The draws for one answer, known as `what`; `varied` gathers the points that changed it."""

    __slots__ = ("_only", "_seed", "varied", "what")

    def __init__(self, variation: Variation, what: str) -> None:
        self._seed = variation.seed
        self._only = variation.only
        self.what = what
        self.varied: set[str] = set()

    def wants(self, point: str, *thing: str, one_in: int = 2) -> bool:
        """Whether to vary here: once in so many times, and never at a point that is not asked for."""
        if self._only is not None and point not in self._only:
            return False
        return drawn(self._seed, point, "whether", *(thing or (self.what,))) % one_in == 0

    def pick(self, point: str, choices: Sequence[T], *thing: str) -> T:
        """Choose one of some."""
        return choices[drawn(self._seed, point, "which", *(thing or (self.what,))) % len(choices)]

    def another(self, point: str, now: T, choices: Sequence[T], *thing: str) -> T:
        """Choose another one than there is now, and note that the point changed the answer."""
        self.varied.add(point)
        return self.pick(point, [choice for choice in choices if choice != now], *thing)

    def note(self, point: str) -> None:
        """Say that a point did change the answer."""
        self.varied.add(point)
