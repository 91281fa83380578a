"""The worlds of one process: made, forked, varied, reset and deleted, each with its own engine."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterator
from typing import Any, Protocol

import msgspec
from msgspec.structs import replace

from hosting_emulator.engine.engine import Engine, anchored
from hosting_emulator.engine.history import Keeper, Memory, StoreFailed, Tally
from hosting_emulator.engine.machine import machine_ms
from hosting_emulator.variation.points import POINTS
from hosting_emulator.variation.worlds import clear_variation, set_variation, varied_world
from hosting_emulator.world.naming import DEFAULT_WORLD, renamed
from hosting_emulator.world.population import new_world
from hosting_emulator.world.records import Origin, Variation
from hosting_emulator.world.tables import ONLY, ORIGIN
from hosting_emulator.world.value import World

#: How many worlds as they were built are remembered; the one longest unused goes first.
MOST_PROTOTYPES = 64


class WorldStore(Protocol):
    """Where worlds are kept (see `storage.directory`)."""

    def worlds(self) -> list[str]:
        """Return the names of the worlds kept."""

    def load(self, name: str) -> World | None:
        """Read a world; None when there is none."""

    def keep(self, world: World, *, fresh: bool) -> Keeper:
        """Return the keeper of a world."""

    def forget(self, name: str) -> None:
        """Delete a world."""


class Worlds:
    """All worlds by name. `default` is always there. Without a library nothing is kept."""

    def __init__(
        self,
        library: WorldStore | None,
        machine: Callable[[], int] = machine_ms,
        rebuild: Callable[[World, Origin, int], World] | None = None,
    ) -> None:
        self._library = library
        self._rebuild = rebuild
        self._machine = machine
        self._engines: dict[str, Engine] = {}
        #: Return a world's engine by its name, or None.
        self.get: Callable[[str], Engine | None] = self._engines.get
        self._ephemeral: set[str] = set()
        self._thrown_away = 0
        #: Worlds as they were when they were built, by what they were built from.
        self._prototypes: OrderedDict[Hashable, World] = OrderedDict()
        self.tally = Tally()

    def open(self, seed: str, origin: Origin) -> bool:
        """Load what is kept, and make the default world if it is not; tell whether it was made."""
        for kept in self._library.worlds() if self._library is not None else ():
            assert self._library is not None
            world = self._library.load(kept)
            if world is not None:
                keeper = self._library.keep(world, fresh=False)
                # A scaled clock stood still while nobody ran it.
                world = anchored(world, max(world.at_ms, keeper.shown_ms), self._machine())
                self._take(Engine(world, keeper, self._machine, self.tally))
        if DEFAULT_WORLD in self._engines:
            return False
        self.create(DEFAULT_WORLD, seed, origin, ephemeral=False)
        return True

    def rest(self) -> None:
        """Bring every world up to date before the process ends. Raises StoreFailed after the last."""
        failed: StoreFailed | None = None
        for engine in self._engines.values():
            try:
                now_ms = engine.run_due()
                clock = engine.world.clock
                if clock.mode == "scaled":
                    now = replace(clock, world_ms=now_ms, machine_ms=self._machine())
                    engine.set_clock(now)
            except StoreFailed as error:
                failed = error
        if failed is not None:
            raise failed

    def __iter__(self) -> Iterator[Engine]:
        """Walk the engines, in the order the worlds were made."""
        return iter(list(self._engines.values()))

    def __len__(self) -> int:
        """The number of worlds."""
        return len(self._engines)

    def ephemeral(self, name: str) -> bool:
        """Tell whether a world lives in memory only."""
        return name in self._ephemeral

    def new_name(self) -> str:
        """Return a name for a throw-away world."""
        while True:
            self._thrown_away += 1
            name = f"world-{self._thrown_away}"
            if name not in self._engines:
                return name

    def create(self, name: str, seed: str, origin: Origin, *, ephemeral: bool) -> Engine:
        """Make a default world under a free name. Raises ClockRefused, StoreFailed."""
        return self.add(self.default(name, seed, origin), ephemeral=ephemeral)

    def default(self, name: str, seed: str, origin: Origin) -> World:
        """Return a fresh default world under a name. Raises ClockRefused."""
        return self.fresh(
            name,
            (seed, msgspec.json.encode(origin)),
            lambda: new_world(name, seed, origin, self._machine()),
        )

    def fresh(self, name: str, key: Hashable, build: Callable[[], World]) -> World:
        """Return the world of `key` under a name; `build` is asked for one that is not known.

        Building a world costs milliseconds, a copy of a value nothing but its new name: that is what
        lets every test have a world of its own. What is built must depend on `key` and the name
        alone, but for a clock that runs: such a world begins at another time each time, and is not
        remembered. What `build` raises is passed on.
        """
        known = self._prototypes.get(key)
        if known is not None:
            self._prototypes.move_to_end(key)
            return renamed(known, name)
        built = build()
        if built.clock.mode in ("frozen", "skip"):
            self._prototypes[key] = built
            if len(self._prototypes) > MOST_PROTOTYPES:
                self._prototypes.popitem(last=False)
        return renamed(built, name)

    def add(self, world: World, *, ephemeral: bool) -> Engine:
        """Take in a world under its own, free name. Raises StoreFailed."""
        try:
            library = None if ephemeral else self._library
            keeper = Memory() if library is None else library.keep(world, fresh=True)
        except OSError as error:
            raise StoreFailed(f"the world could not be saved: {error.strerror or error}") from error
        engine = self._take(Engine(world, keeper, self._machine, self.tally))
        if ephemeral:
            self._ephemeral.add(world.name)
        self._tell(world.name, made=True)
        return engine

    def _take(self, engine: Engine) -> Engine:
        engine.worlds = self._engines.values
        self._engines[engine.world.name] = engine
        return engine

    def fork(
        self, source: Engine, name: str, *, ephemeral: bool, of: World | None = None
    ) -> Engine:
        """Make another world that is now exactly like `source`, and from now on alone.

        `of` is an earlier state of `source` to begin from. Raises StoreFailed.
        """
        if of is None:
            source.run_due()
            world = source.world
        else:
            world = anchored(of, of.at_ms, self._machine())
        return self.add(replace(world, name=name), ephemeral=ephemeral)

    def reset(self, engine: Engine) -> None:
        """Begin a world again: as its scenario has it, or its seed, clock and assumptions."""
        old = engine.world
        origin = old.get(ORIGIN, ONLY) or Origin()
        if origin.scenario is not None and self._rebuild is not None:
            world = self._rebuild(old, origin, self._machine())
        else:
            world = self.default(old.name, old.seed, origin)
        world = varied_world(world, origin.variation)
        engine.replace_world(replace(world, commit=old.commit + 1), "reset")

    def delete(self, name: str) -> None:
        """Delete a world and what is kept of it. Raises StoreFailed; it is then still there."""
        if name not in self._ephemeral and self._library is not None:
            try:
                self._library.forget(name)
            except OSError as error:
                raise StoreFailed(
                    f"the world could not be deleted: {error.strerror or error}"
                ) from error
        self._ephemeral.discard(name)
        self._engines.pop(name).feed.end()
        self._tell(name, made=False)

    def _tell(self, name: str, *, made: bool) -> None:
        """Tell whoever listens to any world that one was made, or is gone."""
        for engine in self._engines.values():
            if engine.feed.awake:
                engine.feed.tell("worlds", (name, made))


def vary(engine: Engine, asked: Variation, kept: Collection[str] = ()) -> None:
    """Vary a world's answers from now on. Raises StoreFailed, changing nothing."""
    change = engine.begin_change()
    set_variation(change, asked, kept)
    engine.commit(change, "variation set", {"vary": asked.seed})
    engine.log.varied.clear()


def unvary(engine: Engine) -> bool:
    """Answer as usual again; tell whether anything was varied. Raises StoreFailed."""
    change = engine.begin_change()
    found = clear_variation(change)
    engine.commit(change, "variation removed", {"vary": None})
    return found


def variation_view(engine: Engine) -> dict[str, Any] | None:
    """Return a world's variation: seed, points it is confined to, what it assumes, what it did.

    `varied` counts the answers that varied, by point. None: the world answers as usual.
    """
    variation = engine.world.variation
    if variation is None:
        return None
    varied = engine.log.varied
    return {
        "seed": variation.seed,
        "only": None if variation.only is None else list(variation.only),
        "assumed": dict(variation.assumed),
        "varied": {point: varied[point] for point in POINTS if point in varied},
    }
