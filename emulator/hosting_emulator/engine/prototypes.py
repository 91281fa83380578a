"""Prototypes: worlds that were built once and are handed out, fresh, under any name.

Building a world costs milliseconds, a copy of a value nothing but its new name: that is what lets
every test have a world of its own.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable

from hosting_emulator.world.renaming import renamed
from hosting_emulator.world.value import World

#: How many are remembered; the one longest unused goes first.
MOST = 64


class Prototypes:
    """Worlds as they were when they were built, by what they were built from."""

    def __init__(self) -> None:
        self._known: OrderedDict[Hashable, World] = OrderedDict()

    def fresh(self, name: str, key: Hashable, build: Callable[[], World]) -> World:
        """Return the world of `key` under a name; `build` is asked for one that is not known.

        What is built must depend on `key` and the name alone, but for a clock that runs: such a
        world begins at another time each time, and is not remembered. What `build` raises is passed
        on.
        """
        found = self._known.get(key)
        if found is not None:
            self._known.move_to_end(key)
            return renamed(found, name)
        built = build()
        if built.clock.mode in ("frozen", "skip"):
            self._known[key] = built
            if len(self._known) > MOST:
                self._known.popitem(last=False)
        return renamed(built, name)
