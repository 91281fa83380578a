"""The data directory: which worlds are kept, by one process at a time, and the folder of each.

In a world's folder stand a snapshot, and the journal of what came after it. When the journal has grown
long, a new one is begun and a snapshot is written in a thread; the old journal goes only when the
snapshot is safely there.

.hosting-emulator/
  .gitignore   (so that nobody commits it)
  lock
  worlds.json  (which worlds there are)
  worlds/<world>/world.json, snapshot.json, journal.ndjson, progress
  tls/         (the local certificate authority)
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import re
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from secrets import token_hex
from typing import Literal

import msgspec
from filelock import FileLock, Timeout

from hosting_emulator.engine.history import Commit
from hosting_emulator.engine.keeper import Keeper
from hosting_emulator.storage import files
from hosting_emulator.storage import format as f
from hosting_emulator.storage.documents import SnapshotStopped, write_snapshot
from hosting_emulator.storage.journal import Journal, begin_journal, encode_line
from hosting_emulator.storage.recovery import Recovery, recover, salvage, sweep
from hosting_emulator.world.value import World

_log = logging.getLogger("hosting_emulator.storage")
WORLD_NAME = re.compile("[a-z0-9][a-z0-9-]{0,62}")
#: So long, in seconds of real time, worlds are folded at a stop; all others keep their journals.
FOLDING_AT_STOP_S = 0.25
Durability = Literal["process", "disk"]
#: What the folder of a deleted world ends with, until it is gone.
DELETED = ".deleted"
#: The journal is folded into a snapshot when it is longer than this and than the snapshot itself.
COMPACT_BYTES = 128 * 1024 * 1024
#: A world of more rows keeps its journal at a stop: writing it out would take over 0.1 s, and a
#: start reads a journal about as fast as a snapshot.
ROWS_FOLDED_AT_STOP = 10_000


class DataDirectory:
    """An open, locked data directory. Raises StateRefused from every way in."""

    def __init__(
        self,
        path: Path,
        durability: Durability,
        complain: Callable[[str], None],
        *,
        salvage: bool = False,
    ) -> None:
        self.path = path.absolute()
        self._durability, self._sync = durability, durability == "disk"
        self._complain, self._salvage = complain, salvage
        self._lineages: dict[str, str] = {}
        self._listed: frozenset[str] = frozenset()
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="snapshot")
        self._keepers: dict[str, DiskKeeper] = {}
        self._lock_path = self.path / "lock"
        self._lock = FileLock(self._lock_path, mode=0o600)
        #: The last problem with files that were deleted or replaced while the emulator was running.
        self.problem: str | None = None
        try:
            if not self.path.exists():  # one that is there may be shared, and stays as it is
                files.make_private_folder(self.path)
            files.make_private_folder(self.path / "worlds")
            for name in ("lock", ".gitignore", f.INDEX):
                files.make_private(self.path / name)
            ignore = self.path / ".gitignore"
            if not ignore.exists():
                files.write_atomically(ignore, b"*\n")
            self._lock.acquire(timeout=0)
            self._lock_status = self._lock_path.stat()
            self._listed = self._read_list()
            self._finish_deletions()
            _log.info("opened %s; durability: %s", self.path, durability)
        except Timeout:
            raise f.StateRefused(
                f"{self.path} is in use by another hosting-emulator; stop it, or give this one "
                "another --data-dir (or --ephemeral)"
            ) from None
        except OSError as error:
            raise f.StateRefused(
                f"{self.path} cannot be written: {error.strerror}; give another --data-dir, or "
                "--ephemeral to keep nothing"
            ) from None

    def _finish_deletions(self) -> None:
        for trash in (self.path / "worlds").glob(f".*{DELETED}"):
            name = trash.name[1:].rpartition("-")[0]
            if name in self._listed and not (self.path / "worlds" / name).exists():
                continue  # it was not deleted by us, and will be missed
            _empty_trash(trash, self._complain)

    def worlds(self) -> list[str]:
        """Return the names of the worlds kept here, and of those that should be."""
        folders = (self.path / "worlds").iterdir()
        found = {each.name for each in folders if each.is_dir() and WORLD_NAME.fullmatch(each.name)}
        return sorted(found | self._listed)

    def load(self, name: str) -> World | None:
        """Read a world, mended first with `salvage`; None when there is none. Raises StateRefused."""
        folder = self._folder(name)
        try:
            files.make_private(folder)
            if name in self._listed and not (folder / f.MARKER).exists():
                self._miss(name, folder / f.MARKER if folder.exists() else folder)
            found = self._recovered(name, folder)
            if found is None:
                sweep(folder)
                return None
            if found.world.name != name:
                raise f.StateRefused(
                    f"{folder} holds the world {found.world.name!r}: a world is copied by `world "
                    "fork`, or by export and import, not by copying its folder; move it back, or away"
                )
            # Whatever the last process left, more can follow.
            for lines in found.journals:
                lines.mend()
                if not self._sync:
                    continue
                try:  # if a sync of it failed, it may be in the system's memory only
                    files.write_atomically(lines.path, lines.path.read_bytes())
                except OSError as error:
                    self._complain(f"{lines.path} could not be written anew: {error.strerror}")
            sweep(folder)
            if found.reached is None:
                lost = f.ProgressNumbers(found.world.commit, 0, f.NEVER_REACHED)
                f.write_progress(folder, found.lineage, lost, sync=self._sync)
        except OSError as error:
            raise f.StateRefused(
                f"{error.filename or folder} cannot be read: {error.strerror}; restore it from a "
                f"copy, or move {folder} away to start afresh"
            ) from None
        self._lineages[name] = found.lineage
        _log.info(
            "read commit %d from its snapshot and %d journals",
            found.world.commit,
            len(found.journals),
            extra={"fields": {"world": name}},
        )
        return found.world

    def _miss(self, name: str, gone: Path) -> None:
        """Refuse a world of which all or its marker is gone; with `salvage`, go on without that."""
        if not self._salvage:
            raise f.StateRefused(
                f"{gone} is missing, and the world {name} was not deleted; restore it from a copy, "
                "or start with --salvage to go on without it"
            )
        self._complain(f"world {name}: {gone} is missing; going on without it")
        self._list(self._listed - {name})

    def _list(self, names: frozenset[str]) -> None:
        """Write down which worlds there are, so that one that goes missing is missed. Raises OSError."""
        if names != self._listed:
            line = f.checked_line(b"worlds", msgspec.json.encode(sorted(names)))
            files.write_atomically(self.path / f.INDEX, line, sync=self._sync)
            self._listed = names

    def _read_list(self) -> frozenset[str]:
        path = self.path / f.INDEX
        files.refuse_link(path)
        payload = f.payload_of(path.read_bytes()[:-1], b"worlds") if path.exists() else b"[]"
        if payload is None:
            endings = (f".damaged-{number}" for number in count(1))
            asides = (path.with_name(path.name + ending) for ending in endings)
            aside = next(each for each in asides if not each.exists())
            path.rename(aside)
            self._complain(
                f"{path} is damaged and was set aside as {aside}; a new one is written. A world whose "
                "folder is missing now goes unnoticed: look whether all worlds are listed"
            )
            return frozenset()
        return frozenset(msgspec.json.decode(payload, type=list[str]))

    def _recovered(self, name: str, folder: Path) -> Recovery | None:
        try:
            found = recover(folder)
        except f.FormatRefused:
            raise
        except f.StateRefused:
            if not self._salvage:
                raise
            if salvage(folder, lambda text: self._complain(f"world {name}: {text}")) is None:
                self._list(self._listed - {name})
                return None
            found = recover(folder)
        if found is not None:
            for notice in found.notices:
                self._complain(f"world {name}: {notice}")
        return found

    def keep(self, world: World, *, fresh: bool) -> Keeper:
        """Return the keeper of a world; a fresh one is written at once. Raises OSError, and nothing stays."""
        folder = self._folder(world.name)
        files.make_private_folder(folder)
        lineage = token_hex(8) if fresh else self._lineages.pop(world.name)
        with ExitStack() as undo:
            if fresh:
                undo.callback(_empty_trash, folder, self._complain)
                for journal in folder.glob("journal*.ndjson"):
                    journal.unlink()  # left by an unfinished start
                f.write_progress(folder, lineage, f.ProgressNumbers(), sync=self._sync)
            tools = (self._durability, self._executor, self._complain)
            keeper = DiskKeeper(folder, world, *tools, lineage=lineage)
            undo.callback(keeper.abandon)
            keeper.replace(world) if fresh else keeper.start()
            marker = f.Marker("" if self._sync else f.boot_id(), lineage)
            try:
                f.write_marker(folder, marker, sync=self._sync)
            except OSError as error:  # such as a full disk: what is kept can be used all the same
                self._complain(f"{folder}: its marker could not be written: {error.strerror}")
            if self._sync:
                files.sync_directory(folder.parent)
            self._list(self._listed | {world.name})
            undo.pop_all()
        self._keepers[world.name] = keeper
        keeper.repair_all = self.check_files
        return keeper

    def forget(self, name: str) -> None:
        """Delete a world's files. Raises OSError; the world is then still kept."""
        keeper = self._keepers.get(name)
        if keeper is None:
            return
        # First of all nobody is to miss it: a kill between the two leaves it as it was.
        self._list(self._listed - {name})
        try:
            keeper.discard()
        except OSError:
            self._list(self._listed | {name})
            raise
        del self._keepers[name]

    def close(self) -> None:
        """Write last snapshots, as many as are quick, and let go of the directory."""
        enough_at = time.monotonic() + FOLDING_AT_STOP_S
        self.check_files()
        try:
            for keeper in self._keepers.values():
                try:
                    keeper.close(fold=time.monotonic() < enough_at)
                except OSError as error:
                    self._complain(f"no last snapshot could be written: {error}; {keeper.kept()}")
        finally:
            self._executor.shutdown()
            self._lock.release()
            _log.info("closed %s", self.path)

    # --- files that disappear while they are used -------------------------------------------------

    def check_files(self) -> None:
        """Write anew what was deleted since the last check, and report it once.

        What cannot be written anew, or belongs to somebody else now, is reported once, too.
        """
        try:
            repaired = self._repair_directory()
            for name, keeper in self._keepers.items():
                if keeper.repair():
                    repaired.append(f"the world {name}")
        except OSError as error:
            self._report(
                f"{self.path}: files were deleted or replaced while the emulator was running, and "
                f"changes are refused: {error.strerror or error}"
            )
            return
        if repaired:
            self._report(
                f"{self.path}: files were deleted while the emulator was running; written anew: "
                + ", ".join(repaired)
            )

    def _report(self, problem: str) -> None:
        if problem != self.problem:
            self.problem = problem
            self._complain(problem)

    def _repair_directory(self) -> list[str]:
        """Write anew what belongs to no single world. Returns what that was. Raises OSError."""
        repaired = []
        try:
            is_locked = os.path.samestat(self._lock_path.stat(), self._lock_status)
        except (FileNotFoundError, NotADirectoryError):
            is_locked = False
        if not is_locked:
            self._lock_again()
            repaired.append("the lock")
        if not (self.path / ".gitignore").exists():
            files.write_atomically(self.path / ".gitignore", b"*\n")
        if not (self.path / f.INDEX).exists() and self._listed:
            names, self._listed = self._listed, frozenset[str]()
            self._list(names)
            repaired.append("the list of worlds")
        return repaired

    def _lock_again(self) -> None:
        if not self.path.exists():
            files.make_private_folder(self.path)
        files.make_private_folder(self.path / "worlds")
        lock = FileLock(self._lock_path, mode=0o600)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            reason = (
                f"another emulator uses {self.path} now; restart this one with another directory"
            )
            for keeper in self._keepers.values():
                keeper.refuse_changes(reason)
            raise OSError(errno.EBUSY, reason) from None
        self._lock.release()
        self._lock = lock
        self._lock_status = self._lock_path.stat()

    def _folder(self, name: str) -> Path:
        if not WORLD_NAME.fullmatch(name):
            raise f.StateRefused(f"{name!r} is not a valid world name")
        return self.path / "worlds" / name


# --- one world's folder --------------------------------------------------------------------------


def _empty_trash(trash: Path, complain: Callable[[str], None]) -> None:
    """Delete the files of a world deleted or never made, as far as they are ours, and its folder."""
    try:
        files.refuse_link(trash)
        for pattern in (f"{f.SNAPSHOT}*", "journal*.ndjson*", f"{f.MARKER}*", f"{f.PROGRESS}*"):
            for path in trash.glob(pattern):
                path.unlink()
        trash.rmdir()
    except OSError as error:
        complain(f"{trash} could not be deleted: {error.strerror}")


class DiskKeeper(Keeper):
    """Keeps one world's commits in a folder (see `engine.history.Keeper`)."""

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
        #: Why nothing can be kept until a restart: the files at the path are not this world's.
        self._foreign: str | None = None
        #: Called when the open journal turns out to be deleted. Raises OSError.
        self.repair_all: Callable[[], object] = self.repair
        if unfolded := sorted(folder.glob("journal-*.ndjson")):
            # A fold was broken off: else the next start reads these journals too, and the one after.
            self._compaction = executor.submit(self._fold, world, unfolded)

    def append(self, commit: Commit) -> None:
        """Append a commit to the journal. Raises OSError, leaving the journal as it was."""
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
            self._progress.note(f.COMMIT, commit.world.commit)
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
        self._check_foreign()
        if self._journal.unsynced is not None:
            # The system may have dropped what it could not write, and says so only once: from now
            # on nothing can be promised, not even what a new snapshot says.
            raise OSError(
                errno.EIO, f"{self._journal.unsynced}; this world takes no changes until a restart"
            )

    def _check_foreign(self) -> None:
        if self._foreign is not None:
            raise OSError(errno.EEXIST, self._foreign)

    def refuse_changes(self, reason: str) -> None:
        """Refuse all changes from now on, and leave the files at the path alone."""
        self._foreign = reason

    def is_intact(self) -> bool:
        """Tell whether the world's files are those that this keeper writes. Raises OSError."""
        if self._deleted or self._foreign is not None or self._is_compacting():
            return True
        needed = [f.PROGRESS, *([f.SNAPSHOT] if self._snapshot_size else [])]
        there = all((self._folder / name).exists() for name in needed)
        return there and self._journal.condition() == "intact"

    def repair(self) -> bool:
        """Write the world anew if its files were deleted, and tell whether that was so.

        Files of another world are left alone: then changes are refused. Raises OSError.
        """
        if self.is_intact():
            return False
        if self._journal.condition() == "replaced" or self._is_of_another_world():
            self.refuse_changes(
                f"{self._folder} was replaced by other files while the emulator was running; "
                "restart the emulator to use them"
            )
            self._check_foreign()
        is_durable = self._durability == "disk"
        files.make_private_folder(self._folder)
        numbers = f.ProgressNumbers(*self._progress.numbers)
        if not (self._folder / f.PROGRESS).exists():
            f.write_progress(self._folder, self.lineage, numbers, sync=is_durable)
            self._progress.close()
            self._progress = f.Progress(self._folder, self.lineage)
        self._write_snapshot(self._world)
        self._restart_journal()
        self._synced = self._appended
        marker = f.Marker("" if is_durable else f.boot_id(), self.lineage)
        f.write_marker(self._folder, marker, sync=is_durable)
        if is_durable:
            files.sync_directory(self._folder.parent)
        return True

    def _is_compacting(self) -> bool:
        return self._compaction is not None and not self._compaction.done()

    def _is_of_another_world(self) -> bool:
        try:
            marker = f.read_marker(self._folder)
        except (f.StateRefused, NotADirectoryError):
            return True
        return marker is not None and marker.lineage != self.lineage

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
        if self._foreign is not None:
            self.abandon()
            return
        quick = fold and sum(map(len, self._world.tables.values())) <= ROWS_FOLDED_AT_STOP
        needed = self._journal.unsynced is not None or not (self._folder / f.SNAPSHOT).exists()
        try:
            if needed or (quick and not self._journal.empty):
                self._write_snapshot(self._world)
                self._restart_journal()
        finally:
            self.abandon()

    def kept(self) -> str:
        """Say what of the world is kept though no snapshot could be written."""
        try:
            if self._journal.path.stat().st_size >= self._journal.size > 0:
                return "the journal has it all"
        except OSError:
            pass
        return "changes since the last snapshot are lost"

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
        files.sync_directory(trash.parent)
        _empty_trash(trash, self._complain)

    def _write_snapshot(self, world: World, stopped: Callable[[], bool] = lambda: False) -> None:
        with self._snapshot_lock:
            if world.commit < self._snapshot_commit:
                return  # a later one has overtaken this one
            write_snapshot(self._folder / f.SNAPSHOT, world, self.lineage, stopped)
            self._snapshot_commit = world.commit
            self._snapshot_size = _size(self._folder / f.SNAPSHOT)
            _log.info(
                "wrote a snapshot of commit %d, %d bytes",
                world.commit,
                self._snapshot_size,
                extra={"fields": {"world": world.name}},
            )

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
                files.sync_directory(self._folder)
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
