"""All worlds of a process, each with its engine: created, copied, reset and deleted here."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Iterator
from typing import Protocol

import msgspec
from msgspec.structs import replace

from hosting_emulator.engine.engine import Engine, anchored, mark_beginning
from hosting_emulator.engine.keeper import Keeper, StoreFailed
from hosting_emulator.engine.machine_clock import machine_ms
from hosting_emulator.engine.observers import Observer, notify
from hosting_emulator.engine.protection import ProtectedFaults
from hosting_emulator.engine.tally import Tally
from hosting_emulator.variation.worlds import varied_world
from hosting_emulator.world.naming import DEFAULT_WORLD, renamed
from hosting_emulator.world.population import new_world
from hosting_emulator.world.records import WorldSource
from hosting_emulator.world.tables import ORIGIN, SINGLETON_KEY
from hosting_emulator.world.value import World

_log = logging.getLogger("hosting_emulator.worlds")
#: How many freshly built worlds are kept for reuse. The least recently used is dropped first.
MOST_PROTOTYPES = 64


class WorldStore(Protocol):
    """A place where worlds are kept (see `storage.directory`)."""

    def worlds(self) -> list[str]:
        """Return the names of all stored worlds."""

    def load(self, name: str) -> World | None:
        """Read a world. None: it is not stored."""

    def keep(self, world: World, *, fresh: bool) -> Keeper:
        """Return the keeper of a world."""

    def forget(self, name: str) -> None:
        """Delete a world."""


class WorldsObserver(Observer, Protocol):
    """Observes which worlds a process has."""

    def on_open(self, engine: Engine, source: Engine | None) -> None:
        """Handle a new world. `source` is the world that it is a copy of, if any."""


class Worlds:
    """All worlds by name. The world `default` always exists. Without a store nothing is kept."""

    def __init__(
        self,
        store: WorldStore | None,
        machine: Callable[[], int] = machine_ms,
        rebuild: Callable[[World, WorldSource, int], World] | None = None,
    ) -> None:
        self._store = store
        self._rebuild = rebuild
        self._machine = machine
        self._engines: dict[str, Engine] = {}
        #: Returns a world's engine by its name, or None.
        self.get: Callable[[str], Engine | None] = self._engines.get
        self._name_count = 0
        #: Freshly built worlds, by what they were built from.
        self._prototypes: dict[Hashable, World] = {}
        self.tally = Tally()
        self.protected = ProtectedFaults()
        #: Judges that must know every world (see `conduct.observation`).
        self.observers: list[WorldsObserver] = []

    def open(self, seed: str, origin: WorldSource) -> bool:
        """Load all stored worlds, and create the default world unless it is stored.

        Returns whether it was created.
        """
        if self._store is not None:
            for name in self._store.worlds():
                self._load(self._store, name)
        if DEFAULT_WORLD in self._engines:
            return False
        self.create(DEFAULT_WORLD, seed, origin, ephemeral=False)
        return True

    def _load(self, store: WorldStore, name: str) -> None:
        world = store.load(name)
        if world is None:
            return
        keeper = store.keep(world, fresh=False)
        # A scaled clock stood still while no process ran it.
        world = anchored(world, max(world.at_ms, keeper.shown_ms), self._machine())
        self._register(Engine(world, keeper, self._machine, self.tally))

    def rest(self) -> None:
        """Bring every world up to date before the process ends.

        Raises StoreFailed after the last world, if any of them could not be stored.
        """
        failure: StoreFailed | None = None
        for engine in self._engines.values():
            try:
                now_ms = engine.run_due()
                clock = engine.world.clock
                if clock.mode == "scaled":
                    now = replace(clock, world_ms=now_ms, machine_ms=self._machine())
                    engine.set_clock(now)
            except StoreFailed as error:
                failure = error
        if failure is not None:
            raise failure

    def __iter__(self) -> Iterator[Engine]:
        """Iterate over the engines, in the order in which the worlds were created."""
        return iter(list(self._engines.values()))

    def __len__(self) -> int:
        """Return the number of worlds."""
        return len(self._engines)

    def new_name(self) -> str:
        """Return an unused name for a temporary world."""
        while True:
            self._name_count += 1
            name = f"world-{self._name_count}"
            if name not in self._engines:
                return name

    def create(self, name: str, seed: str, origin: WorldSource, *, ephemeral: bool) -> Engine:
        """Create a default world under an unused name. Raises ClockRefused and StoreFailed."""
        return self.add(self.default(name, seed, origin), ephemeral=ephemeral, begins=True)

    def default(self, name: str, seed: str, origin: WorldSource) -> World:
        """Return a fresh default world with a name. Raises ClockRefused."""
        return self.fresh(
            name,
            (seed, msgspec.json.encode(origin)),
            lambda: new_world(name, seed, origin, self._machine()),
        )

    def fresh(self, name: str, key: Hashable, build: Callable[[], World]) -> World:
        """Return a copy of the world of `key` with a name. `build` is called for an unknown key.

        Building a world takes milliseconds, while a copy of a value takes only a new name: therefore
        every test can have its own world. The built world must depend on `key` and the name
        alone. A world whose clock runs begins at another time each time, so it is not kept for reuse.
        Exceptions of `build` are passed on.
        """
        built = self._prototypes.pop(key, None) or build()
        if built.clock.mode in ("frozen", "skip"):
            # Insert it at the end, so that the first prototype is always the least recently used.
            self._prototypes[key] = built
            if len(self._prototypes) > MOST_PROTOTYPES:
                del self._prototypes[next(iter(self._prototypes))]
        return renamed(built, name)

    def add(
        self,
        world: World,
        *,
        ephemeral: bool,
        source: Engine | None = None,
        begins: bool = False,
    ) -> Engine:
        """Add a world under its own, unused name. Raises StoreFailed.

        `source` is the engine of the world that it is a copy of. A world that `begins` has no
        changes yet (see `Engine.has_changed`).
        """
        store = None if ephemeral else self._store
        if begins and store is not None:
            world = mark_beginning(world)
        try:
            keeper = Keeper() if store is None else store.keep(world, fresh=True)
        except OSError as error:
            raise StoreFailed(f"the world could not be saved: {error.strerror or error}") from error
        engine = Engine(world, keeper, self._machine, self.tally)
        self._register(engine)
        engine.ephemeral = ephemeral
        if source is not None:
            self.protected.copy_scope(source.world.name, world.name)
        if self.observers:
            notify(self.observers, lambda observer: observer.on_open(engine, source))
        self._emit(world.name, is_new=True)
        origin = "" if source is None else f" as a copy of world {source.world.name}"
        _log.info("the world was created%s", origin, extra={"fields": {"world": world.name}})
        return engine

    def _register(self, engine: Engine) -> None:
        engine.worlds = self._engines.values
        # Protected faults belong to this process, so a world on disk never gets them.
        if type(engine.keeper) is Keeper:
            engine.protected = self.protected
        self._engines[engine.world.name] = engine

    def fork(
        self, source: Engine, name: str, *, ephemeral: bool, state: World | None = None
    ) -> Engine:
        """Create a copy of a world, which changes independently from now on. Raises StoreFailed.

        The copy begins as the source is now, or at an earlier `state` of the source.
        """
        if state is None:
            source.run_due()
            world = source.world
        else:
            world = anchored(state, state.at_ms, self._machine())
        return self.add(replace(world, name=name), ephemeral=ephemeral, source=source)

    def reset(self, engine: Engine) -> None:
        """Return a world to its beginning: its scenario, or its seed, clock and assumptions."""
        old = engine.world
        origin = replace(old.get(ORIGIN, SINGLETON_KEY) or WorldSource(), commit=None)
        if origin.scenario is not None and self._rebuild is not None:
            world = self._rebuild(old, origin, self._machine())
        else:
            world = self.default(old.name, old.seed, origin)
        engine.replace_world(varied_world(world, origin.variation), "reset", reason="reset")

    def delete(self, name: str) -> None:
        """Delete a world and its stored state. Raises StoreFailed; the world then still exists."""
        if not self._engines[name].ephemeral and self._store is not None:
            try:
                self._store.forget(name)
            except OSError as error:
                raise StoreFailed(
                    f"the world could not be deleted: {error.strerror or error}"
                ) from error
        engine = self._engines.pop(name)
        engine.log.end("deleted")
        engine.feed.end()
        self._emit(name, is_new=False)
        _log.info("the world was deleted", extra={"fields": {"world": name}})

    def _emit(self, name: str, *, is_new: bool) -> None:
        """Emit the creation or deletion of a world to the listeners of all worlds."""
        for engine in self._engines.values():
            if engine.feed.awake:
                engine.feed.emit("worlds", {"name": name, "made": is_new})
