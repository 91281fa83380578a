"""The data directory: which worlds are kept, by one process at a time.

.hosting-emulator/
  .gitignore   (so that nobody commits it)
  lock
  worlds.json  (which worlds there are)
  worlds/<world>/world.json, snapshot.json, journal.ndjson, progress
  tls/         (the local certificate authority)
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from secrets import token_hex

import msgspec
from filelock import FileLock, Timeout

from hosting_emulator.engine.history import Keeper
from hosting_emulator.storage import format as f
from hosting_emulator.storage.files import (
    make_private,
    make_private_folder,
    refuse_link,
    sync_directory,
    write_atomically,
)
from hosting_emulator.storage.keeper import DELETED, DiskKeeper, Durability, empty_trash
from hosting_emulator.storage.recovery import Recovery, recover, salvage, sweep
from hosting_emulator.world.value import World

WORLD_NAME = re.compile("[a-z0-9][a-z0-9-]{0,62}")
#: So long, in seconds of real time, worlds are folded at a stop; all others keep their journals.
FOLDING_AT_STOP_S = 0.25


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
        self._lock = FileLock(self.path / "lock", mode=0o600)
        try:
            if not self.path.exists():  # one that is there may be shared, and stays as it is
                make_private_folder(self.path)
            make_private_folder(self.path / "worlds")
            for name in ("lock", ".gitignore", f.INDEX):
                make_private(self.path / name)
            ignore = self.path / ".gitignore"
            if not ignore.exists():
                write_atomically(ignore, b"*\n")
            self._lock.acquire(timeout=0)
            self._listed = self._read_list()
            self._finish_deletions()
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
            try:
                refuse_link(trash)
                empty_trash(trash)
            except OSError as error:
                self._complain(f"{trash} could not be deleted: {error.strerror}")

    def worlds(self) -> list[str]:
        """Return the names of the worlds kept here, and of those that should be."""
        folders = (self.path / "worlds").iterdir()
        found = {each.name for each in folders if each.is_dir() and WORLD_NAME.fullmatch(each.name)}
        return sorted(found | self._listed)

    def load(self, name: str) -> World | None:
        """Read a world, mended first with `salvage`; None when there is none. Raises StateRefused."""
        folder = self._folder(name)
        try:
            make_private(folder)
            if name in self._listed and not (folder / f.MARKER).exists():
                self._miss(name, folder / f.MARKER if folder.exists() else folder)
            found = self._recovered(name, folder)
            if found is not None and found.world.name != name:
                raise f.StateRefused(
                    f"{folder} holds the world {found.world.name!r}: a world is copied by `world "
                    "fork`, or by export and import, not by copying its folder; move it back, or away"
                )
            # Whatever the last process left, more can follow.
            for lines in found.journals if found is not None else ():
                lines.mend()
                if not self._sync:
                    continue
                try:  # if a sync of it failed, it may be in the system's memory only
                    write_atomically(lines.path, lines.path.read_bytes())
                except OSError as error:
                    self._complain(f"{lines.path} could not be written anew: {error.strerror}")
            sweep(folder)
            if found is not None and found.reached is None:
                lost = f.Reached(found.world.commit, 0, f.NEVER_REACHED)
                f.write_progress(folder, found.lineage, lost, sync=self._sync)
        except OSError as error:
            raise f.StateRefused(
                f"{error.filename or folder} cannot be read: {error.strerror}; restore it from a "
                f"copy, or move {folder} away to start afresh"
            ) from None
        if found is None:
            return None
        self._lineages[name] = found.lineage
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
            write_atomically(self.path / f.INDEX, line, sync=self._sync)
            self._listed = names

    def _read_list(self) -> frozenset[str]:
        path = self.path / f.INDEX
        refuse_link(path)
        payload = f.payload_of(path.read_bytes()[:-1], b"worlds") if path.exists() else b"[]"
        if payload is None:
            self._complain(f"{path} is damaged, and was written anew")
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
        """Return the keeper of a world; a fresh one is written at once. Raises OSError."""
        folder = self._folder(world.name)
        make_private_folder(folder)
        lineage = token_hex(8) if fresh else self._lineages.pop(world.name)
        if fresh:
            for journal in folder.glob("journal*.ndjson"):
                journal.unlink()  # left by an unfinished start
            f.write_progress(folder, lineage, f.Reached(), sync=self._sync)
        keeper = DiskKeeper(
            folder, world, self._durability, self._executor, self._complain, lineage=lineage
        )
        try:
            keeper.replace(world) if fresh else keeper.start()
            self._mark(folder, lineage)
            self._list(self._listed | {world.name})
        except BaseException:
            keeper.abandon()
            raise
        self._keepers[world.name] = keeper
        return keeper

    def _mark(self, folder: Path, lineage: str) -> None:
        marker = f.Marker("" if self._sync else f.boot_id(), lineage)
        try:
            f.write_marker(folder, marker, sync=self._sync)
        except OSError as error:  # such as a full disk: what is kept can be used all the same
            self._complain(f"{folder}: its marker could not be written: {error.strerror}")
        if self._sync:
            sync_directory(folder.parent)

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
        try:
            for keeper in self._keepers.values():
                try:
                    keeper.close(fold=time.monotonic() < enough_at)
                except OSError as error:
                    self._complain(
                        f"no last snapshot could be written ({error}); the journal has it all"
                    )
        finally:
            self._executor.shutdown()
            self._lock.release()

    def _folder(self, name: str) -> Path:
        if not WORLD_NAME.fullmatch(name):
            raise f.StateRefused(f"{name!r} is not a valid world name")
        return self.path / "worlds" / name
