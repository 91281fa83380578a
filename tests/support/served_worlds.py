"""The worlds of the emulators that run in this process, seen where they are.

Tests that look at a world before and after each request would pay more for asking the control API
than for all else that they do. A world is a value: looking at it from another thread changes nothing.
"""

from __future__ import annotations

from weakref import WeakValueDictionary

from hosting_emulator.bootstrap import Emulator
from hosting_emulator.engine.worlds import Worlds
from hosting_emulator.settings import Ready
from hosting_emulator.world.value import World

_SERVED: WeakValueDictionary[str, Worlds] = WeakValueDictionary()
_ready = Emulator.ready


def _noted(self: Emulator) -> Ready:
    ready = _ready(self)
    _SERVED[ready.base_url] = self.worlds
    return ready


Emulator.ready = _noted  # type: ignore[method-assign]


def served_world(base_url: str) -> World:
    """Return the world at an address, of an emulator that was started after this was imported."""
    address, _, name = base_url.partition("/worlds/")
    engine = _SERVED[address].get(name or "default")
    assert engine is not None
    return engine.world


def served_worlds(base_url: str) -> dict[str, World]:
    """Return all worlds of an emulator by name."""
    return {engine.world.name: engine.world for engine in _SERVED[base_url]}
