"""Stores one world in a folder, as a snapshot and a journal of the commits made since the snapshot.

When the journal becomes long, a new journal is started and a thread writes a snapshot. The old
journal is deleted only once the snapshot is safely written.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import threading
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from secrets import token_hex
from typing import Literal

from hosting_emulator.engine.history import Commit
from hosting_emulator.engine.keeper import Keeper
from hosting_emulator.storage import files
from hosting_emulator.storage.format import (
    COMMIT,
    JOURNAL,
    MARKER,
    PROGRESS,
    SHOWN,
    SNAPSHOT,
    STARTS,
    Marker,
    Progress,
    StateRefused,
    boot_id,
    read_marker,
    write_marker,
    write_progress,
)
from hosting_emulator.storage.journal import Journal, begin_journal, encode_line
from hosting_emulator.storage.snapshot import SnapshotStopped, write_snapshot
from hosting_emulator.world.value import World

_log = logging.getLogger("hosting_emulator.storage")
Durability = Literal["process", "disk"]
#: The suffix added to the name of a deleted world's folder until the folder is removed.
DELETED = ".deleted"
#: A journal that is longer than this many bytes, and longer than the snapshot, is folded into a new
#: snapshot.
COMPACT_BYTES = 128 * 1024 * 1024
#: When the emulator stops, it folds a world's journal into a snapshot only if the world has at most
#: this many rows. Writing more rows would take over 0.1 s for little gain, because a start reads a
#: journal about as fast as a snapshot.
ROWS_FOLDED_AT_STOP = 10_000


def empty_trash(trash: Path, complain: Callable[[str], None]) -> None:
    """Delete the emulator's files in the folder of a deleted or unfinished world, then delete the
    folder.

    If this fails, calls `complain` with a message.
    """
    try:
        files.refuse_link(trash)
        for pattern in (f"{SNAPSHOT}*", "journal*.ndjson*", f"{MARKER}*", f"{PROGRESS}*"):
            for path in trash.glob(pattern):
                path.unlink()
        trash.rmdir()
    except OSError as error:
        complain(f"{trash} could not be deleted: {error.strerror}")


class DiskKeeper(Keeper):
    """Stores one world's commits in a folder (see `engine.keeper.Keeper`)."""

    is_on_disk = True

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
        self.lineage = lineage
        self.waits = durability != "process"
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
        self._closing = threading.Event()
        self._journal = Journal(folder / JOURNAL, world.name, lineage)
        self._progress = Progress(folder, lineage)
        self.starts = self._progress.number(STARTS)
        self._deleted = False
        self._appended = 0
        self._synced = 0
        self._sync: asyncio.Task[None] | None = None
        self._failed: OSError | None = None
        #: The reason why changes are refused until a restart, or None if changes are accepted.
        #: Changes are refused if the files belong to another world or another emulator.
        self._foreign: str | None = None
        #: If the open journal was deleted, `append` calls this function, which can raise OSError.
        self.repair_all: Callable[[], object] = self.repair
        unfolded = sorted(folder.glob("journal-*.ndjson"))
        if unfolded:
            # Repeat a fold that an earlier process did not finish. Otherwise every start would read
            # these journals.
            self._compaction = executor.submit(self._fold, world, unfolded)

    def append(self, commit: Commit) -> None:
        """Append a commit to the journal. Raises OSError if the commit could not be stored."""
        self._check_foreign()
        if self._journal.is_deleted:
            self.repair_all()
            if self._journal.is_deleted:
                raise OSError(errno.ENOENT, f"{self._folder} was deleted")
        if self._journal.broken is not None:
            self._check_writable()
            self._write_snapshot(self._world)
            self._restart_journal()
        self._journal.append(encode_line(commit))
        self._world = commit.world
        self._appended += 1
        if self._durability == "process":
            self._progress.store(COMMIT, commit.world.commit)
        if self._journal.size > max(self._compact_bytes, self._snapshot_size):
            self._compact()

    def replace(self, world: World) -> None:
        """Store a whole world as a snapshot.

        The world's commit must be later than all stored commits. Raises OSError.
        """
        self._check_writable()
        self._write_snapshot(world)
        self._world = world
        self._progress.store(COMMIT, world.commit)
        self._progress.store(SHOWN, 0)
        self._restart_journal()

    @property
    def shown_ms(self) -> int:
        """The latest world time that has been shown to a client, in milliseconds.

        If the process is killed, the world's time later continues from here.
        """
        return self._progress.number(SHOWN)

    @shown_ms.setter
    def shown_ms(self, at_ms: int) -> None:
        self._progress.store(SHOWN, at_ms)

    def start(self) -> None:
        """Record that the world has been started again, and its current commit."""
        self._progress.store(COMMIT, self._world.commit)
        self.starts += 1
        self._progress.store(STARTS, self.starts)

    def _check_writable(self) -> None:
        if self._deleted:  # another request deleted the world while this one was arriving
            raise OSError(errno.ENOENT, "this world was deleted")
        self._check_foreign()
        if self._journal.unsynced is not None:
            # The operating system may have dropped data that it could not write, and it reports
            # this only once. Even a new snapshot might therefore not reach the disk.
            raise OSError(
                errno.EIO, f"{self._journal.unsynced}; this world refuses changes until a restart"
            )

    def _check_foreign(self) -> None:
        if self._foreign is not None:
            raise OSError(errno.EEXIST, self._foreign)

    def refuse_changes(self, reason: str) -> None:
        """Refuse all further changes for this `reason`, and leave the files in the folder
        unchanged.
        """
        self._foreign = reason

    def is_intact(self) -> bool:
        """Return whether none of the world's files has been deleted or replaced. Raises OSError.

        Always returns True if the world was deleted, if the keeper refuses changes, or during a
        fold.
        """
        if self._deleted or self._foreign is not None or self._is_compacting():
            return True
        names = [PROGRESS]
        if self._snapshot_size:
            names.append(SNAPSHOT)
        is_complete = all((self._folder / name).exists() for name in names)
        return is_complete and self._journal.condition() == "intact"

    def repair(self) -> bool:
        """Rewrite the world's files if any of them were deleted. Return whether they were
        rewritten.

        If the folder contains another world's files, leaves them alone, refuses all further changes
        and raises OSError.
        """
        if self.is_intact():
            return False
        if self._journal.condition() == "replaced" or self._is_of_another_world():
            self.refuse_changes(
                f"{self._folder} was replaced by other files while the emulator was running; "
                "restart the emulator to use the new files"
            )
            self._check_foreign()
        is_durable = self._durability == "disk"
        files.make_private_folder(self._folder)
        numbers = self._progress.numbers
        if not (self._folder / PROGRESS).exists():
            write_progress(self._folder, self.lineage, numbers, sync=is_durable)
            self._progress.close()
            self._progress = Progress(self._folder, self.lineage)
        self._write_snapshot(self._world)
        self._restart_journal()
        self._synced = self._appended
        marker = Marker("" if is_durable else boot_id(), self.lineage)
        write_marker(self._folder, marker, sync=is_durable)
        if is_durable:
            files.sync_directory(self._folder.parent)
        return True

    def _is_compacting(self) -> bool:
        return self._compaction is not None and not self._compaction.done()

    def _is_of_another_world(self) -> bool:
        try:
            marker = read_marker(self._folder)
        except StateRefused:
            return True
        return marker is not None and marker.lineage != self.lineage

    def durable(self) -> Awaitable[None] | None:
        """Return an awaitable that completes when all commits are on disk, or None if there is no
        need to wait.
        """
        if not self.waits or self._failed is not None or self._appended <= self._synced:
            return None
        return self._until_synced(self._appended)

    async def _until_synced(self, appended: int) -> None:
        """Wait until the first `appended` commits are on disk. Raises OSError if a sync fails.

        All callers that arrive during a sync share the next sync.
        """
        while self._synced < appended:
            if self._failed is not None:
                raise self._failed
            if self._sync is None:
                self._sync = asyncio.create_task(self._sync_all())
            await asyncio.shield(self._sync)

    async def _sync_all(self) -> None:
        appended = self._appended
        commit = self._world.commit
        try:
            await asyncio.get_running_loop().run_in_executor(None, self._journal.sync)
            self._synced = appended
            self._progress.store(COMMIT, max(commit, self._progress.number(COMMIT)))
        except OSError as error:
            # Set the error in the event loop rather than in the thread that syncs, so that a change
            # in progress waits for this sync and gets the error.
            self._failed = error
            self._complain(
                f"{self._folder}: a sync failed ({error.strerror}): the latest changes may be "
                "lost; this world refuses changes until a restart, but can still be read"
            )
        self._sync = None

    def close(self, *, fold: bool = True) -> None:
        """Write a final snapshot, if it is quick or necessary, and close the files.

        If `fold` is false, a snapshot is written only if it is necessary. Raises OSError if the
        snapshot cannot be written.
        """
        self._closing.set()
        if self._compaction is not None:
            self._compaction.result()
        if self._foreign is not None:
            self.abandon()
            return
        row_count = sum(map(len, self._world.tables.values()))
        is_quick = fold and row_count <= ROWS_FOLDED_AT_STOP
        is_necessary = self._journal.unsynced is not None or not (self._folder / SNAPSHOT).exists()
        try:
            if is_necessary or (is_quick and not self._journal.empty):
                self._write_snapshot(self._world)
                self._restart_journal()
        finally:
            self.abandon()

    def describe_remains(self) -> str:
        """Describe which changes are on disk after the final snapshot could not be written."""
        try:
            if self._journal.path.stat().st_size >= self._journal.size > 0:
                return "the journal contains all changes"
        except OSError:
            pass
        return "changes since the last snapshot are lost"

    def abandon(self) -> None:
        """Close the files without changing them."""
        self._journal.close()
        self._progress.close()

    def discard(self) -> None:
        """Delete the world's own files and its folder. If this fails, raises OSError and keeps all
        files.

        The folder is renamed first, in one step, so that a crash never leaves part of a world.
        """
        if self._compaction is not None:
            self._compaction.result()
        trash = self._folder.with_name(f".{self._folder.name}-{token_hex(4)}{DELETED}")
        self._folder.rename(trash)
        self._deleted = True
        self.abandon()
        files.sync_directory(trash.parent)
        empty_trash(trash, self._complain)

    def _write_snapshot(self, world: World, stopped: Callable[[], bool] = lambda: False) -> None:
        with self._snapshot_lock:
            if world.commit < self._snapshot_commit:
                return  # a newer snapshot was written in the meantime
            write_snapshot(self._folder / SNAPSHOT, world, self.lineage, stopped)
            self._snapshot_commit = world.commit
            self._snapshot_size = _size(self._folder / SNAPSHOT)
            _log.info(
                "wrote a snapshot of commit %d, %d bytes",
                world.commit,
                self._snapshot_size,
                extra={"fields": {"world": world.name}},
            )

    def _restart_journal(self) -> None:
        """Start a new, empty journal after a snapshot has been written.

        A failure is reported but not raised. The next start skips the old journal's lines, because
        the snapshot contains their commits. The next append tries again to start a new journal.
        """
        self._journal.close()
        try:
            # Replace the file in a single step, so that a crash never leaves a snapshot without a
            # journal.
            self._journal = begin_journal(
                self._folder / JOURNAL,
                self._world.name,
                self.lineage,
                sync=self._durability == "disk",
            )
            for path in self._folder.glob("journal-*.ndjson"):
                # a fold that is about to finish may already have deleted the file
                path.unlink(missing_ok=True)
        except OSError as error:
            self._complain(f"{self._folder}: the journal could not be restarted: {error}")

    def _compact(self) -> None:
        if self._compaction is not None and not self._compaction.done():
            return
        world = self._world
        current = self._folder / JOURNAL
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
                files.sync_directory(self._folder)
        except OSError as error:
            self._complain(f"{self._folder}: the journal could not be folded: {error}")
            return
        self._journal.close()
        self._journal = fresh
        self._compaction = self._executor.submit(self._fold, world, [old])

    def _fold(self, world: World, journals: Sequence[Path]) -> None:
        """Replace `journals` with a snapshot of `world`, which contains all of their commits."""
        try:
            self._write_snapshot(world, self._closing.is_set)
            for journal in journals:
                journal.unlink(missing_ok=True)
        except SnapshotStopped:
            pass  # the old journal remains, and the next start reads it
        except OSError as error:
            # Nothing is lost, because the old journal remains and the next start reads it.
            self._complain(f"{self._folder}: no snapshot could be written: {error}")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
