"""One world's folder in progress: a snapshot, and the journal of what came after it.

When the journal has grown long, a new one is begun and a snapshot is written in a thread; the old
journal goes only when the snapshot is safely there.
"""

from __future__ import annotations

import asyncio
import errno
import threading
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from secrets import token_hex
from typing import Literal

from hosting_emulator.engine.history import Commit, Keeper
from hosting_emulator.storage import format as f
from hosting_emulator.storage.documents import SnapshotStopped, write_snapshot
from hosting_emulator.storage.files import sync_directory
from hosting_emulator.storage.journal import Journal, begin_journal, encode_line
from hosting_emulator.world.value import World

Durability = Literal["process", "disk"]
#: What the folder of a deleted world ends with, until it is gone.
DELETED = ".deleted"
#: The journal is folded into a snapshot when it is longer than this and than the snapshot itself.
COMPACT_BYTES = 128 * 1024 * 1024
#: A world of more rows keeps its journal at a stop: writing it out would take over 0.1 s, and a
#: start reads a journal about as fast as a snapshot.
ROWS_FOLDED_AT_STOP = 10_000


def empty_trash(trash: Path) -> None:
    """Delete a deleted world's files, as far as they are ours, and its folder. Raises OSError."""
    for pattern in (f"{f.SNAPSHOT}*", "journal*.ndjson*", f"{f.MARKER}*", f"{f.PROGRESS}*"):
        for path in trash.glob(pattern):
            path.unlink()
    trash.rmdir()


class DiskKeeper(Keeper):
    """Keeps one world's commits in a folder (see `engine.history.Keeper`)."""

    def __init__(
        self,
        folder: Path,
        world: World,
        durability: Durability,
        executor: ThreadPoolExecutor,
        complain: Callable[[str], None],
        compact_bytes: int = COMPACT_BYTES,
        lineage: str = "",
    ) -> None:
        self.lineage, self.waits = lineage, durability != "process"
        self._folder, self._world, self._durability = folder, world, durability
        self._executor, self._complain, self._compact_bytes = executor, complain, compact_bytes
        self._snapshot_size = _size(folder / f.SNAPSHOT)
        self._snapshot_commit = -1
        self._snapshot_lock = threading.Lock()
        self._compaction: Future[None] | None = None
        self._closing = threading.Event()
        self._journal = Journal(folder / f.JOURNAL, world.name, lineage)
        self._progress = f.Progress(folder, lineage)
        self.starts = self._progress.numbers[f.STARTS]
        self._deleted, self._appended, self._synced = False, 0, 0
        self._sync: asyncio.Task[None] | None = None
        self._failed: OSError | None = None
        if unfolded := sorted(folder.glob("journal-*.ndjson")):
            # A fold was broken off: else the next start reads these journals too, and the one after.
            self._compaction = executor.submit(self._fold, world, unfolded)

    def append(self, commit: Commit) -> None:
        """Append a commit to the journal. Raises OSError, leaving the journal as it was."""
        self._check_writable()
        if self._journal.broken is not None:
            self._write_snapshot(self._world)
            self._restart_journal()
        self._journal.append(encode_line(commit))
        self._world = commit.world
        self._appended += 1
        if self._durability == "process":
            self._progress.note(f.COMMIT, commit.number)
        if self._journal.size > max(self._compact_bytes, self._snapshot_size):
            self._compact()

    def replace(self, world: World) -> None:
        """Write a whole world; its commit must be later than every one before. Raises OSError."""
        self._check_writable()
        self._write_snapshot(world)
        self._world = world
        self._progress.note(f.COMMIT, world.commit)
        self._progress.note(f.SHOWN, 0)
        self._restart_journal()

    @property
    def shown_ms(self) -> int:
        """The last moment that was shown: after a kill time goes on from it."""
        return self._progress.numbers[f.SHOWN]

    @shown_ms.setter
    def shown_ms(self, at_ms: int) -> None:
        self._progress.note(f.SHOWN, at_ms)

    def start(self) -> None:
        """Note that the world was read back, and how far it is."""
        self._progress.note(f.COMMIT, self._world.commit)
        self.starts += 1
        self._progress.note(f.STARTS, self.starts)

    def _check_writable(self) -> None:
        if self._deleted:  # by one request while the body of another was still on its way
            raise OSError(errno.ENOENT, "this world was deleted")
        if self._journal.unsynced is not None:
            # The system may have dropped what it could not write, and says so only once: from now
            # on nothing can be promised, not even what a new snapshot says.
            raise OSError(
                errno.EIO, f"{self._journal.unsynced}; this world takes no changes until a restart"
            )

    def durable(self) -> Awaitable[None] | None:
        """Return what to await until all so far survives as `durability` says; None: nothing."""
        if not self.waits or self._failed is not None or self._appended <= self._synced:
            return None
        return self._until_synced(self._appended)

    async def _until_synced(self, appended: int) -> None:
        """Wait for a sync: all who wait while one runs are served together by the next."""
        while self._synced < appended:
            if self._failed is not None:
                raise self._failed
            if self._sync is None:
                self._sync = asyncio.create_task(self._sync_all())
            await asyncio.shield(self._sync)

    async def _sync_all(self) -> None:
        appended, reached = self._appended, self._world.commit
        try:
            await asyncio.get_running_loop().run_in_executor(None, self._journal.sync)
            self._synced = appended
            self._progress.note(f.COMMIT, max(reached, self._progress.numbers[f.COMMIT]))
        except OSError as error:
            # Noted here, in the loop, and not in the thread that syncs: a change that is just being
            # made still finds something to wait for, and so learns of the failure.
            self._failed = error
            self._complain(
                f"{self._folder}: a sync failed ({error.strerror}): what was written last may be "
                "lost; this world takes no changes until a restart, and can be read until then"
            )
        self._sync = None

    def close(self, *, fold: bool = True) -> None:
        """Close the journal, folded into a last snapshot if that is quick. Raises OSError, losing nothing."""
        self._closing.set()
        if self._compaction is not None:
            self._compaction.result()
        quick = fold and sum(map(len, self._world.tables.values())) <= ROWS_FOLDED_AT_STOP
        needed = self._journal.unsynced is not None or not (self._folder / f.SNAPSHOT).exists()
        try:
            if needed or (quick and not self._journal.empty):
                self._write_snapshot(self._world)
                self._restart_journal()
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Close the journal and leave everything as it is: what was begun could not be written."""
        self._journal.close()
        self._progress.close()

    def discard(self) -> None:
        """Delete the world's files (and nothing else) and its folder. Raises OSError; all is then kept.

        The folder goes out of sight in one step, so that no crash leaves a part of a world.
        """
        if self._compaction is not None:
            self._compaction.result()
        trash = self._folder.with_name(f".{self._folder.name}-{token_hex(4)}{DELETED}")
        self._folder.rename(trash)
        self._deleted = True
        self.abandon()
        sync_directory(trash.parent)
        try:
            empty_trash(trash)
        except OSError as error:
            self._complain(f"{trash} could not be deleted: {error.strerror}")

    def _write_snapshot(self, world: World, stopped: Callable[[], bool] = lambda: False) -> None:
        with self._snapshot_lock:
            if world.commit < self._snapshot_commit:
                return  # a later one has overtaken this one
            write_snapshot(self._folder / f.SNAPSHOT, world, self.lineage, stopped)
            self._snapshot_commit = world.commit
            self._snapshot_size = _size(self._folder / f.SNAPSHOT)

    def _restart_journal(self) -> None:
        """Begin an empty journal after a snapshot has been written.

        A failure is no error: lines that stay are older than the snapshot and will be passed over,
        and the closed journal makes the next append try again.
        """
        self._journal.close()
        try:
            # In one step, so that a crash leaves no snapshot without a journal beside it.
            path, sync = self._folder / f.JOURNAL, self._durability == "disk"
            self._journal = begin_journal(path, self._world.name, self.lineage, sync=sync)
            for path in self._folder.glob("journal-*.ndjson"):
                path.unlink(missing_ok=True)  # a fold that is just ending removes its own
        except OSError as error:
            self._complain(f"{self._folder}: the journal could not be begun again: {error}")

    def _compact(self) -> None:
        if self._compaction is not None and not self._compaction.done():
            return
        world, current = self._world, self._folder / f.JOURNAL
        old = self._folder / f"journal-{world.commit:012d}.ndjson"
        try:
            if self._durability == "disk":
                self._journal.sync()
            current.rename(old)
            try:
                fresh = Journal(current, world.name, self.lineage)
            except OSError:
                old.rename(current)
                raise
            if self._durability == "disk":
                sync_directory(self._folder)
        except OSError as error:
            self._complain(f"{self._folder}: the journal could not be folded: {error}")
            return
        self._journal.close()
        self._journal = fresh
        self._compaction = self._executor.submit(self._fold, world, [old])

    def _fold(self, world: World, journals: Sequence[Path]) -> None:
        """Put a world's snapshot in the place of journals that end with it, or before."""
        try:
            self._write_snapshot(world, self._closing.is_set)
            for journal in journals:
                journal.unlink(missing_ok=True)
        except SnapshotStopped:
            pass  # the old journal stays and is read again at the next start
        except OSError as error:
            # Nothing is lost: the old journal stays and is read again at the next start.
            self._complain(f"{self._folder}: no snapshot could be written: {error}")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
