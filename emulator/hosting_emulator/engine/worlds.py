"""Creates, copies, resets and deletes the worlds in a process. Each world has its own engine."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Iterator
from typing import Protocol

import msgspec
from msgspec.structs import asdict, replace

from hosting_emulator import DEFAULT_SEED
from hosting_emulator.engine.engine import Engine, anchored, mark_beginning
from hosting_emulator.engine.keeper import Keeper, StoreFailed
from hosting_emulator.engine.machine_clock import machine_ms
from hosting_emulator.engine.observers import Observer, notify
from hosting_emulator.engine.protection import ProtectedFaults, without_protected
from hosting_emulator.engine.tally import Tally
from hosting_emulator.variation.worlds import varied_world
from hosting_emulator.world.naming import DEFAULT_WORLD, renamed
from hosting_emulator.world.population import new_world
from hosting_emulator.world.records import WorldSource
from hosting_emulator.world.tables import ORIGIN, SINGLETON_KEY
from hosting_emulator.world.value import World

_log = logging.getLogger("hosting_emulator.worlds")
#: The maximum number of freshly built worlds to keep for reuse. The least recently used one is
#: dropped first.
MOST_PROTOTYPES = 64


class WorldStore(Protocol):
    """The interface of a store for worlds (see `storage.directory`)."""

    def worlds(self) -> list[str]:
        """Return the names of all stored worlds."""

    def load(self, name: str) -> World | None:
        """Return the stored world with this name, or None if there is none."""

    def keep(self, world: World, *, fresh: bool) -> Keeper:
        """Return a keeper for a world. If the world is `fresh`, store it immediately."""

    def forget(self, name: str) -> None:
        """Delete the stored world with this name."""


class WorldsObserver(Observer, Protocol):
    """Observes which worlds are created."""

    def on_open(self, engine: Engine, source: Engine | None) -> None:
        """Handle a new world. If the world is a copy, `source` is the original."""


class Worlds:
    """All worlds in a process, by name. The `default` world always exists. Without a store, no
    world is saved.
    """

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
        #: Returns the engine of the world with the given name, or None if there is no such world.
        self.get: Callable[[str], Engine | None] = self._engines.get
        self._name_count = 0
        #: The seed and the settings of a new default world.
        self._seed = DEFAULT_SEED
        self._default_source = WorldSource()
        #: Freshly built worlds, by the key that identifies what they were built from (see `fresh`).
        self._prototypes: dict[Hashable, World] = {}
        self.tally = Tally()
        self.protected = ProtectedFaults()
        #: Judges that are notified of every new world (see `conduct.observation`).
        self.observers: list[WorldsObserver] = []

    def open(self, seed: str, origin: WorldSource) -> bool:
        """Load all stored worlds. `seed` and `origin` describe a new default world.

        Returns whether the default world is among the stored worlds. If it is not, the caller must
        create it with `create_default`.
        """
        self._seed = seed
        self._default_source = origin
        if self._store is not None:
            for name in self._store.worlds():
                self._load(self._store, name)
        return DEFAULT_WORLD in self._engines

    def create_default(self) -> None:
        """Create the default world if it is not stored. Raises ClockRefused or StoreFailed."""
        if DEFAULT_WORLD not in self._engines:
            self.create(DEFAULT_WORLD, self._seed, self._default_source, ephemeral=False)

    def _load(self, store: WorldStore, name: str) -> None:
        world = store.load(name)
        if world is None:
            return
        keeper = store.keep(world, fresh=False)
        # A scaled clock does not advance while no process is running its world, so continue from
        # the latest world time.
        world = anchored(world, max(world.at_ms, keeper.shown_ms), self._machine())
        self._register(Engine(world, keeper, self._machine, self.tally))

    def rest(self) -> None:
        """Before the process ends, run the due events in every world, and store the time of scaled
        clocks.

        If a world cannot be stored, raises StoreFailed after the other worlds have been stored.
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
        """Create a default world under an unused name.

        Raises ClockRefused if the world's clock settings are invalid, or StoreFailed if the world
        cannot be stored.
        """
        return self.add(self.default(name, seed, origin), ephemeral=ephemeral, begins=True)

    def default(self, name: str, seed: str, origin: WorldSource) -> World:
        """Return a fresh default world with the given name. Raises ClockRefused."""
        return self.fresh(
            name,
            (seed, msgspec.json.encode(origin)),
            lambda: new_world(name, seed, origin, self._machine()),
        )

    def fresh(self, name: str, key: Hashable, build: Callable[[], World]) -> World:
        """Return a copy, named `name`, of the world that was built for `key`.

        If no such world has been kept, call `build`. Building a world takes milliseconds, whereas
        copying one only changes its name, so every test can have a separate world. The world that
        `build` returns must depend only on `key` and the name. A world with a running clock must
        start at the current time, so it is not kept for reuse. Exceptions raised by `build`
        propagate.
        """
        built = self._prototypes.pop(key, None) or build()
        if built.clock.mode in ("frozen", "skip"):
            # Insert at the end, so that the first prototype is always the least recently used one.
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
        """Add a world under its own name, which must be unused. Raises StoreFailed.

        If the world is a copy, `source` is the engine of the original. If `begins` is true, the new
        world counts as unchanged (see `Engine.has_changed`).
        """
        store = None if ephemeral else self._store
        world = self.protected.without_removed(world)
        if store is not None:
            # Protected faults belong to this process, so do not store them.
            world = without_protected(world)
            if begins:
                world = mark_beginning(world)
        try:
            keeper = Keeper() if store is None else store.keep(world, fresh=True)
        except OSError as error:
            raise StoreFailed(f"the world could not be saved: {error.strerror or error}") from error
        engine = Engine(world, keeper, self._machine, self.tally)
        self._register(engine)
        engine.ephemeral = ephemeral
        if source is not None and engine.protected is not None:
            self.protected.copy_scope(source.world.name, world.name)
        if self.observers:
            notify(self.observers, lambda observer: observer.on_open(engine, source))
        self._emit(world.name, is_new=True)
        origin = "" if source is None else f" as a copy of world {source.world.name}"
        _log.info("the world was created%s", origin, extra={"fields": {"world": world.name}})
        return engine

    def _register(self, engine: Engine) -> None:
        engine.worlds = self._engines.values
        # Protected faults belong to this process, so do not add them to a world on disk.
        if type(engine.keeper) is Keeper:
            engine.protected = self.protected
        self._engines[engine.world.name] = engine

    def fork(
        self, source: Engine, name: str, *, ephemeral: bool, state: World | None = None
    ) -> Engine:
        """Create an independent copy of a world. Raises StoreFailed.

        The copy starts in the source's current state, or in `state`, which is an earlier state of
        the source. A copy that is stored on disk does not contain the source's protected faults and
        outcomes.
        """
        if state is None:
            source.run_due()
            world = source.world
        else:
            world = anchored(state, state.at_ms, self._machine())
        return self.add(replace(world, name=name), ephemeral=ephemeral, source=source)

    def reset(self, engine: Engine) -> None:
        """Rebuild a world from its scenario, and clear its request log.

        A world without a scenario, even an imported one or a copy, becomes a default world with its
        own seed, clock and assumptions.
        """
        old = engine.world
        origin = replace(old.get(ORIGIN, SINGLETON_KEY) or WorldSource(), commit=None)
        if origin.scenario is not None and self._rebuild is not None:
            world = self._rebuild(old, origin, self._machine())
        else:
            world = self.default(old.name, old.seed, origin)
        engine.replace_world(varied_world(world, origin.variation), "reset", reason="reset")

    def reset_to_default(self, engine: Engine) -> None:
        """Reset a world to the default world, even if a scenario was loaded.

        The clock, the assumptions and the variation are those of the default world that the
        scenario replaced. If the scenario did not replace a default world, they are those of a new
        default world in this process.
        """
        old = engine.world
        origin = old.get(ORIGIN, SINGLETON_KEY) or WorldSource()
        if origin.scenario is None:
            self.reset(engine)
            return
        source = self._default_source
        if origin.default is not None:
            source = WorldSource(**asdict(origin.default))
        seed = self._seed if origin.has_own_seed else old.seed
        world = self.default(old.name, seed, source)
        engine.replace_world(varied_world(world, source.variation), "reset", reason="reset")

    def delete(self, name: str) -> None:
        """Delete a world and its stored state.

        If it cannot be deleted, raises StoreFailed and keeps the world.
        """
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
        """Report the creation or deletion of a world to the listeners of all worlds."""
        for engine in self._engines.values():
            if engine.feed.awake:
                engine.feed.emit("worlds", {"name": name, "made": is_new})
