"""One world's folder: a snapshot, and the journal of what came after it.

When the journal has grown long, a new one is begun and a snapshot is written in a thread; the old
journal goes only when the snapshot is safely there.
"""

from __future__ import annotations

import errno
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from secrets import token_hex
from typing import Literal

from hosting_emulator.engine.commits import Commit
from hosting_emulator.storage.errors import StateRefused
from hosting_emulator.storage.files import sync_directory
from hosting_emulator.storage.journal import Journal, encode_line, read_journal
from hosting_emulator.storage.snapshot import read_snapshot, write_snapshot
from hosting_emulator.storage.syncer import Syncer
from hosting_emulator.world.value import World, apply

Durability = Literal["process", "disk"]
#: What the folder of a deleted world ends with, until it is gone.
DELETED = ".deleted"
SNAPSHOT = "snapshot.json"
JOURNAL = "journal.ndjson"
#: The journal is folded into a snapshot when it is longer than this and than the snapshot itself.
COMPACT_BYTES = 128 * 1024 * 1024


def read_world(folder: Path) -> tuple[World | None, list[str]]:
    """Read a world from its folder, and what is to be said of it. Raises StateRefused, OSError."""
    world = read_snapshot(folder / SNAPSHOT)
    journals = [*sorted(folder.glob("journal-*.ndjson")), folder / JOURNAL]
    journals = [path for path in journals if path.exists()]
    for unfinished in folder.glob(f"{SNAPSHOT}.*.tmp"):
        unfinished.unlink()
    if world is None:
        if any(path.stat().st_size for path in journals):
            raise StateRefused(
                f"{folder}: there is a journal but no {SNAPSHOT}; restore it from a copy"
            )
        return None, []
    notices: list[str] = []
    for path in journals:
        commits, notice = read_journal(path, last=path is journals[-1])
        for commit in commits:
            world = _followed(world, commit, path)
        if notice:
            notices.append(notice)
    return world, notices


def bury(grave: Path) -> None:
    """Delete a deleted world's files, as far as they are ours, and its folder. Raises OSError."""
    for pattern in (f"{SNAPSHOT}*", "journal*.ndjson"):
        for path in grave.glob(pattern):
            path.unlink()
    grave.rmdir()


def _followed(world: World, commit: Commit, path: Path) -> World:
    if commit.number <= world.commit:
        return world
    if commit.number != world.commit + 1:
        raise StateRefused(
            f"{path}: commit {commit.number} follows {world.commit}; what lay between is missing"
        )
    return apply(world, commit.writes, commit=commit.number, at_ms=max(world.at_ms, commit.at_ms))


class DiskKeeper:
    """Keeps one world's commits in a folder (see `engine.commits.Keeper`)."""

    def __init__(
        self,
        folder: Path,
        world: World,
        durability: Durability,
        executor: ThreadPoolExecutor,
        complain: Callable[[str], None],
        compact_bytes: int = COMPACT_BYTES,
    ) -> None:
        self._folder = folder
        self._world = world
        self._durability = durability
        self._executor = executor
        self._complain = complain
        self._compact_bytes = compact_bytes
        self._snapshot_size = _size(folder / SNAPSHOT)
        self._snapshot_commit = -1
        self._snapshot_lock = threading.Lock()
        self._compaction: Future[None] | None = None
        self._journal = Journal(folder / JOURNAL)
        self._deleted = False
        self._appended = 0
        self._syncer = Syncer(self._sync)

    def append(self, commit: Commit, world: World) -> None:
        """Append a commit to the journal. Raises OSError, leaving the journal as it was."""
        if self._deleted:  # by one request while the body of another was still on its way
            raise OSError(errno.ENOENT, "this world was deleted")
        if self._journal.broken is not None:
            self._write_snapshot(self._world)
            self._restart_journal()
        self._journal.append(encode_line(commit))
        self._world = world
        self._appended += 1
        if self._journal.size > max(self._compact_bytes, self._snapshot_size):
            self._compact()

    def replace(self, world: World) -> None:
        """Write a whole world; its commit must be later than every one before. Raises OSError."""
        if self._deleted:
            raise OSError(errno.ENOENT, "this world was deleted")
        self._write_snapshot(world)
        self._world = world
        self._restart_journal()

    def durable(self) -> Awaitable[None] | None:
        """Return what to await until all appended so far survives as `durability` says."""
        return None if self._durability == "process" else self._syncer.wait_for(self._appended)

    def close(self) -> None:
        """Fold the journal into a last snapshot and close it. Raises OSError; nothing is then lost."""
        if self._compaction is not None:
            self._compaction.result()
        if self._journal.size or not (self._folder / SNAPSHOT).exists():
            self._write_snapshot(self._world)
            self._restart_journal()
        self._journal.close()

    def abandon(self) -> None:
        """Close the journal and leave everything as it is: what was begun could not be written."""
        self._journal.close()

    def discard(self) -> None:
        """Delete the world's files (and nothing else) and its folder. Raises OSError; all is then kept.

        The folder goes out of sight in one step, so that no crash leaves a part of a world.
        """
        if self._compaction is not None:
            self._compaction.result()
        grave = self._folder.with_name(f".{self._folder.name}-{token_hex(4)}{DELETED}")
        self._folder.rename(grave)
        self._deleted = True
        self._journal.close()
        sync_directory(grave.parent)
        try:
            bury(grave)
        except OSError as error:
            self._complain(f"{grave} could not be deleted: {error.strerror}")

    def _sync(self) -> int:
        count = self._appended
        self._journal.sync()
        return count

    def _write_snapshot(self, world: World) -> None:
        with self._snapshot_lock:
            if world.commit < self._snapshot_commit:
                return  # a later one has overtaken this one
            write_snapshot(self._folder / SNAPSHOT, world)
            self._snapshot_commit = world.commit
            self._snapshot_size = _size(self._folder / SNAPSHOT)

    def _restart_journal(self) -> None:
        """Begin an empty journal after a snapshot has been written.

        A failure is no error: lines that stay are older than the snapshot and will be passed over,
        and the closed journal makes the next append try again.
        """
        self._journal.close()
        try:
            for path in self._folder.glob("journal*.ndjson"):
                path.unlink()
            sync_directory(self._folder)
            self._journal = Journal(self._folder / JOURNAL)
        except OSError as error:
            self._complain(f"{self._folder}: the journal could not be begun again: {error}")

    def _compact(self) -> None:
        if self._compaction is not None and not self._compaction.done():
            return
        world, current = self._world, self._folder / JOURNAL
        old = self._folder / f"journal-{world.commit:012d}.ndjson"
        try:
            if self._durability == "disk":
                self._journal.sync()
            current.rename(old)
            fresh = self._opened(current, old)
        except OSError as error:
            self._complain(f"{self._folder}: the journal could not be folded: {error}")
            return
        self._journal.close()
        self._journal = fresh
        self._compaction = self._executor.submit(self._fold, world, old)

    def _opened(self, current: Path, old: Path) -> Journal:
        try:
            return Journal(current)
        except OSError:
            old.rename(current)
            raise

    def _fold(self, world: World, old: Path) -> None:
        try:
            self._write_snapshot(world)
            old.unlink(missing_ok=True)
        except OSError as error:
            # Nothing is lost: the old journal stays and is read again at the next start.
            self._complain(f"{self._folder}: no snapshot could be written: {error}")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
