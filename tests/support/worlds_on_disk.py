"""Worlds that are stored in a folder of a test, for tests that damage the files and read them again."""

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

#: A fold begins earlier, unless the keeper's `compact_bytes` exceeds what these changes write.
_MAX_CHANGES_BEFORE_FOLD = 1_000


def world_content(world: World | None) -> tuple[Any, ...]:
    """Return all records of a world, in a form that can be compared."""
    assert world is not None
    return (world.name, world.seed, world.commit, world.at_ms, *rows_of(world))


def world_indexes(world: World) -> dict[str, Any]:
    """Return the indexes of a world, in a form that can be compared."""
    return dict(world.indexes.items())


def read_world(path: Path) -> tuple[World | None, list[str]]:
    """Read a stored world like a starting emulator, which also repairs an incomplete last line.

    Return the world, or None if there is none, and the notices about it.
    """
    recovery = recover(path)
    if recovery is None:
        return None, []
    for lines in recovery.journals:
        lines.repair()
    return recovery.world, recovery.notices


class WorldFolder:
    """The folder of a world, with a keeper that stores the world in it."""

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
        """Return the world that an emulator would read after a crash at this moment."""
        world, _ = read_world(self.path)
        assert world is not None
        return world

    def begin_fold(self) -> None:
        """Change the world until its keeper begins to fold the journal into the snapshot."""
        for _ in range(_MAX_CHANGES_BEFORE_FOLD):
            self.api.set_flag(True)
            if self.keeper._compaction is not None:
                return
        raise AssertionError(f"no fold began within {_MAX_CHANGES_BEFORE_FOLD} changes")

    def wait_for_snapshots(self) -> None:
        """Wait until all snapshots that were started are written."""
        self._executor.submit(lambda: None).result()

    def close(self) -> None:
        self._executor.shutdown()


@contextmanager
def world_folder(path: Path, world: World | None = None, **options: Any) -> Iterator[WorldFolder]:
    opened = WorldFolder(path, world, **options)
    try:
        yield opened
    finally:
        opened.close()


def make_changes(api: InProcess) -> None:
    """Make changes of every kind that the journal can contain."""
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


def lose_last_commit(folder: WorldFolder) -> None:
    """Change a folder as if the machine had stopped before the last commit was written to its disk."""
    write_marker(folder.path, Marker("another run of the machine"), sync=False)
    *lines, _ = folder.journal.read_bytes().splitlines(keepends=True)
    folder.journal.write_bytes(b"".join(lines))


def stored_worlds(directory: DataDirectory, machine: Machine | None = None) -> Worlds:
    """Return the worlds that a process stores in a directory, before any world is open."""
    return Worlds(directory, machine or Machine())


def numbered_commit(number: int, tables: dict[str, Any]) -> Commit:
    """Return a commit of an empty world, which changes the rows in `tables`."""
    world = replace(empty_world("w", "seed"), commit=number, at_ms=number)
    return Commit("test", tables, world, world)


def table_kinds() -> dict[str, type]:
    """Return the record type of each table of a world."""
    return {name: table.kind for name, table in TABLES.items()}


def open_directory(
    path: Path, complaints: list[str] | None = None, **options: Any
) -> DataDirectory:
    messages = complaints if complaints is not None else []
    return DataDirectory(path, options.pop("durability", "process"), messages.append, **options)


class HasWorld(Protocol):
    """An object that has a world and changes it."""

    @property
    def world(self) -> World: ...


@contextmanager
def assert_transferable_after(holder: HasWorld) -> Iterator[None]:
    """If a block changes the world, assert after the block that the world can be transferred."""
    previous_world = holder.world
    yield
    if holder.world is not previous_world:
        assert_transferable(holder.world)


def assert_transferable(world: World) -> None:
    """Assert that a world can be exported and imported, and is the same afterwards."""
    imported = import_state(json.loads(json.dumps(export_state(world))), world.name, 0)

    assert world_content(imported)[4:] == world_content(world)[4:]
