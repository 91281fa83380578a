"""The data directory. It contains a list of the stored worlds and a folder for each world.

A lock ensures that only one process uses the directory at a time.

.hosting-emulator/
  .gitignore   (so that nobody commits the directory)
  lock
  address.json (the address of the emulator, while it is running)
  worlds.json  (the names of the worlds)
  worlds/<world>/world.json, snapshot.json, journal.ndjson, progress
  tls/         (the local certificate authority)

The `keeper` module writes the files of a single world, and the `recovery` module reads them.
"""

from __future__ import annotations

import errno
import logging
import os
import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path
from secrets import token_hex

import msgspec
from filelock import FileLock, Timeout

from hosting_emulator.engine.keeper import Keeper
from hosting_emulator.running_emulators import (
    ADDRESS_FILE,
    LOCK_FILE,
    AddressRefused,
    read_record,
)
from hosting_emulator.storage import files
from hosting_emulator.storage.format import (
    INDEX,
    MARKER,
    NEVER_REACHED,
    FormatRefused,
    Marker,
    ProgressNumbers,
    StateRefused,
    boot_id,
    checked_line,
    payload_of,
    write_marker,
    write_progress,
)
from hosting_emulator.storage.keeper import DELETED, DiskKeeper, Durability, empty_trash
from hosting_emulator.storage.recovery import Recovery, recover, salvage, sweep
from hosting_emulator.world.value import World

_log = logging.getLogger("hosting_emulator.storage")
WORLD_NAME = re.compile("[a-z0-9][a-z0-9-]{0,62}")
#: If stopping the emulator takes longer than this many real seconds, only necessary snapshots are
#: still written. Worlds without a final snapshot keep their journals.
FOLDING_AT_STOP_S = 0.25
#: How long a start tries to get the lock, in real seconds. A command that checks whether the lock
#: is held takes it for a moment.
_LOCK_PATIENCE_S = 0.1


class DataDirectory:
    """An open, locked data directory.

    Both the constructor and `load` raise StateRefused if the stored state cannot be used.
    """

    def __init__(
        self,
        path: Path,
        durability: Durability,
        complain: Callable[[str], None],
        *,
        salvage: bool = False,
    ) -> None:
        self.path = path.absolute()
        self._durability = durability
        self._sync = durability == "disk"
        self._complain = complain
        self._salvage = salvage
        self._lineages: dict[str, str] = {}
        self._listed: frozenset[str] = frozenset()  # the names in the `worlds.json` file
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="snapshot")
        self._keepers: dict[str, DiskKeeper] = {}
        self._lock_path = self.path / LOCK_FILE
        self._lock = FileLock(self._lock_path, mode=0o600)
        #: The content of the file with the emulator's address, or None before the address is
        #: published.
        self._address: bytes | None = None
        #: Functions that repair files in the directory that other code wrote, by a description of
        #: these files (see `keep_files`).
        self._repairs: dict[str, Callable[[], bool]] = {}
        #: The most recent problem with files that were deleted or replaced while the emulator was
        #: running.
        self.problem: str | None = None
        try:
            if not self.path.exists():  # keep the mode that the user chose for an existing folder
                files.make_private_folder(self.path)
            files.make_private_folder(self.path / "worlds")
            for name in (LOCK_FILE, ".gitignore", INDEX, ADDRESS_FILE):
                files.make_private(self.path / name)
            ignore = self.path / ".gitignore"
            if not ignore.exists():
                files.write_atomically(ignore, b"*\n")
            self._lock.acquire(timeout=_LOCK_PATIENCE_S, poll_interval=0.01)
            self._lock_status = self._lock_path.stat()
            # A killed emulator may have left its address file behind.
            (self.path / ADDRESS_FILE).unlink(missing_ok=True)
            self._listed = self._read_list()
            self._finish_deletions()
            _log.info("opened %s; durability: %s", self.path, durability)
        except Timeout:
            raise StateRefused(
                f"{self.path} is in use by another hosting-emulator{self._other_address()}; "
                "stop that hosting-emulator (`hosting-emulator stop`), or use another "
                "--data-dir or --ephemeral"
            ) from None
        except OSError as error:
            raise StateRefused(
                f"{self.path} cannot be written: {error.strerror}; use another --data-dir, or use "
                "--ephemeral to store nothing"
            ) from None

    def _other_address(self) -> str:
        """Return the address of the emulator that is using the directory, as text to append to a
        message.
        """
        with suppress(AddressRefused):
            record = read_record(self.path / ADDRESS_FILE)
            if record is not None:
                return f" at {record.url} (process {record.pid})"
        return ""

    def _finish_deletions(self) -> None:
        for trash in (self.path / "worlds").glob(f".*{DELETED}"):
            name = trash.name[1:].rpartition("-")[0]
            if name in self._listed and not (self.path / "worlds" / name).exists():
                # Another program renamed the folder, so leave it, and let `start` report the world
                # as missing.
                continue
            empty_trash(trash, self._complain)

    def publish_address(self, content: bytes) -> None:
        """Write the emulator's address to a file in the directory, where commands look for it.

        A failure to write the file is only reported, because commands can do without it.
        """
        self._address = content
        try:
            files.write_atomically(self.path / ADDRESS_FILE, content, sync=False)
        except OSError as error:
            self._complain(f"{self.path / ADDRESS_FILE} cannot be written: {error.strerror}")

    def keep_files(self, description: str, repair: Callable[[], bool]) -> None:
        """Let `check_files` also call `repair`, which rewrites files of other code if they were deleted.

        `repair` returns whether it rewrote files, and can raise OSError. `description` names the
        files in the report.
        """
        self._repairs[description] = repair

    def worlds(self) -> list[str]:
        """Return the sorted names of all worlds that have a folder or an entry in `worlds.json`."""
        folders = (self.path / "worlds").iterdir()
        names = {
            folder.name
            for folder in folders
            if folder.is_dir() and WORLD_NAME.fullmatch(folder.name)
        }
        return sorted(names | self._listed)

    def load(self, name: str) -> World | None:
        """Return a stored world, or None if the directory does not contain the world.

        Raises StateRefused if the world cannot be read. If the directory was opened with `salvage`,
        a damaged world is repaired first.
        """
        folder = self._folder(name)
        try:
            files.make_private(folder)
            if name in self._listed and not (folder / MARKER).exists():
                self._report_missing(name, folder / MARKER if folder.exists() else folder)
            recovery = self._recover(name, folder)
            if recovery is None:
                sweep(folder)
                return None
            if recovery.world.name != name:
                raise StateRefused(
                    f"{folder} contains the world {recovery.world.name!r}: rename the folder to "
                    f"{recovery.world.name}, or move it out of the data directory. To copy a world, "
                    "use `world fork`, or export and import"
                )
            self._prepare_journals(recovery)
            sweep(folder)
            if recovery.progress is None:
                numbers = ProgressNumbers(recovery.world.commit, 0, NEVER_REACHED)
                write_progress(folder, recovery.lineage, numbers, sync=self._sync)
        except OSError as error:
            raise StateRefused(
                f"{error.filename or folder} cannot be read: {error.strerror}; restore it from a "
                f"copy, or move {folder} away to start afresh"
            ) from None
        self._lineages[name] = recovery.lineage
        _log.info(
            "read commit %d from the snapshot and %d journals",
            recovery.world.commit,
            len(recovery.journals),
            extra={"fields": {"world": name}},
        )
        return recovery.world

    def _prepare_journals(self, recovery: Recovery) -> None:
        """Repair the end of each journal, so that new lines can be appended.

        With durability `disk`, also rewrites each journal.
        """
        for journal in recovery.journals:
            journal.repair()
            if not self._sync:
                continue
            # After a failed sync, a journal may exist only in the operating system's memory.
            # Rewriting the file also syncs it.
            try:
                files.write_atomically(journal.path, journal.path.read_bytes())
            except OSError as error:
                self._complain(f"{journal.path} could not be rewritten: {error.strerror}")

    def _report_missing(self, name: str, path: Path) -> None:
        """Raise StateRefused for a world whose folder or marker is missing.

        If the directory was opened with `salvage`, only reports the missing path and removes the
        world from the list.
        """
        if not self._salvage:
            raise StateRefused(
                f"{path} is missing, although the world {name} was not deleted; restore it from a "
                "copy, or start with --salvage to continue without the world"
            )
        self._complain(f"world {name}: {path} is missing; continuing without the world")
        self._write_list(self._listed - {name})

    def _write_list(self, names: frozenset[str]) -> None:
        """Store the names of the worlds, so that the next start can notice a missing world. Raises
        OSError.
        """
        if names != self._listed:
            line = checked_line(b"worlds", msgspec.json.encode(sorted(names)))
            files.write_atomically(self.path / INDEX, line, sync=self._sync)
            self._listed = names

    def _read_list(self) -> frozenset[str]:
        path = self.path / INDEX
        files.refuse_link(path)
        if not path.exists():
            return frozenset()
        payload = payload_of(path.read_bytes()[:-1], b"worlds")
        if payload is None:
            aside = _unused_path(path)
            path.rename(aside)
            self._complain(
                f"{path} is damaged and was renamed to {aside}; a new list is written. This start "
                "cannot notice a missing folder: check that all worlds are listed"
            )
            return frozenset()
        return frozenset(msgspec.json.decode(payload, type=list[str]))

    def _recover(self, name: str, folder: Path) -> Recovery | None:
        try:
            recovery = recover(folder)
        except FormatRefused:
            raise
        except StateRefused:
            if not self._salvage:
                raise
            if salvage(folder, lambda text: self._complain(f"world {name}: {text}")) is None:
                self._write_list(self._listed - {name})
                return None
            recovery = recover(folder)
        if recovery is not None:
            for notice in recovery.notices:
                self._complain(f"world {name}: {notice}")
        return recovery

    def keep(self, world: World, *, fresh: bool) -> Keeper:
        """Return the keeper for a world. With `fresh`, the world is new and is stored immediately.

        On failure, raises OSError and, with `fresh`, deletes the world's files.
        """
        folder = self._folder(world.name)
        files.make_private_folder(folder)
        lineage = token_hex(8) if fresh else self._lineages.pop(world.name)
        with ExitStack() as undo:
            if fresh:
                undo.callback(empty_trash, folder, self._complain)
                for journal in folder.glob("journal*.ndjson"):
                    journal.unlink()  # left behind by a start that was interrupted
                write_progress(folder, lineage, ProgressNumbers(), sync=self._sync)
            keeper = DiskKeeper(
                folder,
                world,
                self._durability,
                self._executor,
                self._complain,
                lineage=lineage,
            )
            undo.callback(keeper.abandon)
            if fresh:
                keeper.replace(world)
            else:
                keeper.start()
            marker = Marker("" if self._sync else boot_id(), lineage)
            try:
                write_marker(folder, marker, sync=self._sync)
            except OSError as error:
                # Only report the error, because the stored world can be used without a marker.
                self._complain(f"{folder}: its marker could not be written: {error.strerror}")
            if self._sync:
                files.sync_directory(folder.parent)
            self._write_list(self._listed | {world.name})
            undo.pop_all()
        self._keepers[world.name] = keeper
        keeper.repair_all = self.check_files
        return keeper

    def forget(self, name: str) -> None:
        """Delete a world's files. If this fails, raises OSError and keeps the world."""
        keeper = self._keepers[name]
        # Update the list first. If the process is killed before the folder is deleted, the next
        # start still finds the world through its folder.
        self._write_list(self._listed - {name})
        try:
            keeper.discard()
        except OSError:
            self._write_list(self._listed | {name})
            raise
        del self._keepers[name]

    def close(self) -> None:
        """Write final snapshots, close all files and release the lock.

        After FOLDING_AT_STOP_S real seconds, no more snapshots are started except necessary ones.
        """
        folding_ends_at = time.monotonic() + FOLDING_AT_STOP_S
        self.check_files()
        try:
            for keeper in self._keepers.values():
                try:
                    keeper.close(fold=time.monotonic() < folding_ends_at)
                except OSError as error:
                    self._complain(
                        f"the final snapshot could not be written: {error}; {keeper.describe_remains()}"
                    )
        finally:
            self._executor.shutdown()
            self._withdraw_address()
            self._lock.release()
            _log.info("closed %s", self.path)

    def _withdraw_address(self) -> None:
        """Remove the emulator's address file, unless another process has replaced it."""
        path = self.path / ADDRESS_FILE
        with suppress(OSError):
            if self._address is not None and path.read_bytes() == self._address:
                path.unlink()

    # --- Files that disappear while they are used -------------------------------------------------

    def check_files(self) -> None:
        """Rewrite and report files that were deleted since the last check.

        Files that cannot be rewritten, or that another process has replaced, are also reported. The
        same problem is not reported twice in a row.
        """
        try:
            repaired = self._repair_directory()
            for name, keeper in self._keepers.items():
                if keeper.repair():
                    repaired.append(f"the world {name}")
            for description, repair in self._repairs.items():
                if repair():
                    repaired.append(description)
        except OSError as error:
            self._report(
                f"{self.path}: files were deleted or replaced while the emulator was running, so "
                f"changes are refused: {error.strerror or error}"
            )
            return
        if repaired:
            self._report(
                f"{self.path}: files were deleted while the emulator was running and have been "
                "rewritten: " + ", ".join(repaired)
            )

    def _report(self, problem: str) -> None:
        if problem != self.problem:
            self.problem = problem
            self._complain(problem)

    def _repair_directory(self) -> list[str]:
        """Rewrite missing files outside the world folders. Raises OSError.

        Returns descriptions of the rewritten files.
        """
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
        if self._address is not None and not (self.path / ADDRESS_FILE).exists():
            files.write_atomically(self.path / ADDRESS_FILE, self._address, sync=False)
        if not (self.path / INDEX).exists() and self._listed:
            names, self._listed = self._listed, frozenset[str]()
            self._write_list(names)
            repaired.append("the list of worlds")
        return repaired

    def _lock_again(self) -> None:
        if not self.path.exists():
            files.make_private_folder(self.path)
        files.make_private_folder(self.path / "worlds")
        lock = FileLock(self._lock_path, mode=0o600)
        try:
            lock.acquire(timeout=_LOCK_PATIENCE_S, poll_interval=0.01)
        except Timeout:
            reason = (
                f"another emulator is now using {self.path}; restart this emulator with another "
                "directory"
            )
            for keeper in self._keepers.values():
                keeper.refuse_changes(reason)
            raise OSError(errno.EBUSY, reason) from None
        self._lock.release()
        self._lock = lock
        self._lock_status = self._lock_path.stat()

    def _folder(self, name: str) -> Path:
        if not WORLD_NAME.fullmatch(name):
            raise StateRefused(f"{name!r} is not a valid world name")
        return self.path / "worlds" / name


def _unused_path(path: Path) -> Path:
    """Return `path` with the first `.damaged-N` suffix that is not yet in use."""
    for number in count(1):
        aside = path.with_name(f"{path.name}.damaged-{number}")
        if not aside.exists():
            break
    return aside
