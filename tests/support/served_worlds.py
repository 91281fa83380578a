"""Direct access to the worlds of the emulators that run in this process.

Some tests compare a world before and after each request. Fetching the world through the control API
would take more time than the rest of such a test. Direct access from another thread is safe,
because a world is an immutable value.
"""

from __future__ import annotations

from weakref import WeakValueDictionary

from hosting_emulator.bootstrap import Emulator
from hosting_emulator.engine.worlds import Worlds
from hosting_emulator.settings import Ready
from hosting_emulator.world.value import World

_SERVED: WeakValueDictionary[str, Worlds] = WeakValueDictionary()
_ready = Emulator.ready


def _register(self: Emulator) -> Ready:
    """Register the worlds of an emulator by its base URL, and return its `Ready` record."""
    ready = _ready(self)
    _SERVED[ready.base_url] = self.worlds
    return ready


Emulator.ready = _register  # type: ignore[method-assign]


def served_world(base_url: str) -> World:
    """Return the world with this base URL.

    The emulator must have been started in this process after this module was imported.
    """
    address, _, name = base_url.partition("/worlds/")
    engine = _SERVED[address].get(name or "default")
    assert engine is not None
    return engine.world


def served_worlds(base_url: str) -> dict[str, World]:
    """Return all worlds of an emulator by name."""
    return {engine.world.name: engine.world for engine in _SERVED[base_url]}
