"""With durability `disk`, snapshots and journals are synced before anything depends on them."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from hosting_emulator.storage import keeper as keepers
from hosting_emulator.storage.recovery import salvage
from hosting_emulator.storage.snapshot import write_snapshot
from tests.support.in_process import fresh_world
from tests.support.worlds_on_disk import WorldFolder, make_changes, open_directory, world_folder


class Syncs:
    """Records what each sync has written: a file up to a size, or the names in a folder."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._fsync = os.fsync
        self._sizes: dict[int, int] = {}
        self._names: dict[int, set[str]] = {}
        monkeypatch.setattr(os, "fsync", self._sync)

    def unsynced(self, folder: Path) -> list[str]:
        """Return the snapshots and journals whose content or name a crash of the machine could lose."""
        synced_names = self.synced_names(folder)
        return sorted(
            path.name
            for path in (*folder.glob("snapshot.json"), *folder.glob("journal*.ndjson"))
            if path.name not in synced_names
            or self._sizes.get(path.stat().st_ino) != path.stat().st_size
        )

    def synced_names(self, folder: Path) -> set[str]:
        """Return the names that the folder had when it was last synced."""
        return self._names.get(folder.stat().st_ino, set())

    def _sync(self, descriptor: int) -> None:
        self._fsync(descriptor)
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            self._names[status.st_ino] = set(os.listdir(descriptor))
        else:
            self._sizes[status.st_ino] = status.st_size


@pytest.fixture
def syncs(monkeypatch: pytest.MonkeyPatch) -> Syncs:
    return Syncs(monkeypatch)


async def wait_for_sync(stored_world: WorldFolder) -> None:
    sync = stored_world.keeper.durable()
    if sync is not None:
        await sync


async def test_a_new_world_and_its_changes_are_synced(tmp_path: Path, syncs: Syncs) -> None:
    with world_folder(tmp_path / "default", durability="disk") as stored_world:
        assert syncs.unsynced(stored_world.path) == []

        make_changes(stored_world.api)
        assert syncs.unsynced(stored_world.path) == ["journal.ndjson"]

        await wait_for_sync(stored_world)
        assert syncs.unsynced(stored_world.path) == []


def test_the_folder_of_a_new_world_is_synced(tmp_path: Path, syncs: Syncs) -> None:
    directory = open_directory(tmp_path / "data", durability="disk")

    directory.keep(fresh_world(), fresh=True)

    assert syncs.synced_names(tmp_path / "data" / "worlds") == {"default"}
    assert "worlds.json" in syncs.synced_names(tmp_path / "data")
    directory.close()


def test_a_replaced_world_is_synced(tmp_path: Path, syncs: Syncs) -> None:
    with world_folder(tmp_path / "default", durability="disk") as stored_world:
        make_changes(stored_world.api)

        stored_world.keeper.replace(stored_world.api.world)

        assert syncs.unsynced(stored_world.path) == []


def test_a_journal_is_synced_before_it_is_folded(
    tmp_path: Path, syncs: Syncs, monkeypatch: pytest.MonkeyPatch
) -> None:
    unsynced: list[list[str]] = []

    def observe(path: Path, *arguments: Any) -> None:
        unsynced.append(syncs.unsynced(path.parent))
        write_snapshot(path, *arguments)

    with world_folder(tmp_path / "default", durability="disk", compact_bytes=1) as stored_world:
        monkeypatch.setattr(keepers, "write_snapshot", observe)
        stored_world.begin_fold()
        stored_world.wait_for_snapshots()

    # Only the new journal, which contains no commit yet, may be lost.
    assert unsynced[0] == ["journal.ndjson"]


def test_a_salvaged_world_is_synced(tmp_path: Path, syncs: Syncs) -> None:
    with world_folder(tmp_path / "default") as stored_world:
        make_changes(stored_world.api)
        lines = stored_world.journal.read_bytes().splitlines(keepends=True)
        stored_world.journal.write_bytes(b"".join([*lines[:3], b"damaged\n", *lines[4:]]))

        assert salvage(stored_world.path, lambda message: None) is not None

        assert syncs.unsynced(stored_world.path) == []


def test_the_new_name_of_a_world_that_is_set_aside_is_synced(tmp_path: Path, syncs: Syncs) -> None:
    with world_folder(tmp_path / "worlds" / "default") as stored_world:
        make_changes(stored_world.api)
    for file in stored_world.path.iterdir():
        file.write_bytes(b"damaged")
    messages: list[str] = []

    assert salvage(stored_world.path, messages.append) is None

    (aside,) = (tmp_path / "worlds").iterdir()
    assert aside.name in syncs.synced_names(tmp_path / "worlds")
