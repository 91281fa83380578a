"""Worlds in a folder of this test's own: kept, closed, damaged and read again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from msgspec.structs import replace

from hosting_emulator.engine.history import Commit
from hosting_emulator.engine.worlds import Worlds
from hosting_emulator.storage.directory import DataDirectory
from hosting_emulator.storage.export import export_state, import_state
from hosting_emulator.storage.format import Marker, write_marker
from hosting_emulator.storage.keeper import DiskKeeper
from hosting_emulator.storage.recovery import recover
from hosting_emulator.storage.rows import rows_of
from hosting_emulator.world.tables import TABLES
from hosting_emulator.world.value import World, empty_world
from tests.support.in_process import InProcess, Machine, fresh_world


def content(world: World | None) -> tuple[Any, ...]:
    """Return all that a world says, in a form that can be compared."""
    assert world is not None
    return (world.name, world.seed, world.commit, world.at_ms, *rows_of(world))


def indexed(world: World) -> dict[str, Any]:
    """Return a world's indexes in a form that can be compared."""
    return dict(world.indexes.items())


def read_world(path: Path) -> tuple[World | None, list[str]]:
    """Read a world as a start would, and what is then said of it; mends a torn line."""
    recovery = recover(path)
    if recovery is None:
        return None, []
    for lines in recovery.journals:
        lines.repair()
    return recovery.world, recovery.notices


class Folder:
    """A world's folder, and a keeper on it."""

    def __init__(self, path: Path, world: World | None = None, **options: Any) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        self.complaints: list[str] = []
        self._executor = ThreadPoolExecutor(1)
        world = world or fresh_world()
        durability = options.pop("durability", "process")
        self.keeper = DiskKeeper(
            path, world, durability, self._executor, self.complaints.append, **options
        )
        self.keeper.replace(world)
        write_marker(path, Marker(), sync=False)
        self.api = InProcess(world, self.keeper)

    @property
    def journal(self) -> Path:
        return self.path / "journal.ndjson"

    @property
    def snapshot(self) -> Path:
        return self.path / "snapshot.json"

    def read(self) -> World:
        """Read what is there now, as a start would after a crash."""
        world, _ = read_world(self.path)
        assert world is not None
        return world

    def settled(self) -> None:
        """Wait until snapshots that were begun are written."""
        self._executor.submit(lambda: None).result()

    def close(self) -> None:
        self._executor.shutdown()


@contextmanager
def folder(path: Path, world: World | None = None, **options: Any) -> Iterator[Folder]:
    opened = Folder(path, world, **options)
    try:
        yield opened
    finally:
        opened.close()


def busy(api: InProcess) -> None:
    """Make changes of every kind the journal can hold."""
    api.set_flag(False)
    api.set_flag(True)
    first = api.initialize(1).json["id"]
    api.apply_domains()
    key = api.create_key("for the robot").json["value"]
    api.ticket()
    api.ticket()
    api.dns(token=key)
    api.engine.move_by(3_000)
    api.initialize(0, project="labs", key="kept")
    api.engine.move_by(60_000)
    assert api.poll(first).json["state"] == "succeeded"
    api.set_flag(True, project="blog", user="owner", key="é😀")


def worlds_on(directory: DataDirectory, machine: Machine | None = None) -> Worlds:
    """Return the worlds of a process that stores them in a directory. None is open yet."""
    return Worlds(directory, machine or Machine())


def numbered_commit(number: int, tables: dict[str, Any]) -> Commit:
    """Return a commit of an otherwise empty world that changes rows of tables."""
    world = replace(empty_world("w", "seed"), commit=number, at_ms=number)
    return Commit("test", tables, world, world)


def table_kinds() -> dict[str, type]:
    """Return the type of the records of each table of a world."""
    return {name: table.kind for name, table in TABLES.items()}


def open_directory(
    path: Path, complaints: list[str] | None = None, **options: Any
) -> DataDirectory:
    messages = complaints if complaints is not None else []
    return DataDirectory(path, options.pop("durability", "process"), messages.append, **options)


class HasWorld(Protocol):
    """Whatever changes a world."""

    @property
    def world(self) -> World: ...


@contextmanager
def sound_at_the_end(holder: HasWorld) -> Iterator[None]:
    """Assert after the block that its world, if it changed, survives an export and import."""
    beginning = holder.world
    yield
    if holder.world is not beginning:
        assert_sound(holder.world)


def assert_sound(world: World) -> None:
    """Whatever was done to a world, it can be exported, taken in again, and is the same."""
    imported = import_state(json.loads(json.dumps(export_state(world))), world.name, 0)

    assert content(imported)[4:] == content(world)[4:]
