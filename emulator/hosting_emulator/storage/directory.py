"""The data directory: which worlds are kept, by one process at a time.

.hosting-emulator/
  .gitignore   (so that nobody commits it)
  lock
  worlds/<world>/world.json, snapshot.json, journal.ndjson
  tls/         (the local certificate authority)
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from filelock import FileLock, Timeout

from hosting_emulator.engine.live_world import Keeper
from hosting_emulator.storage.files import (
    make_private,
    make_private_folder,
    refuse_link,
    sync_directory,
    write_atomically,
)
from hosting_emulator.storage.format import FormatRefused, Marker, StateRefused, write_marker
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
        self._durability = durability
        self._complain = complain
        self._salvage = salvage
        self._starts: dict[str, int] = {}
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="snapshot")
        self._keepers: dict[str, DiskKeeper] = {}
        self._lock = FileLock(self.path / "lock", mode=0o600)
        self._open()

    def _open(self) -> None:
        try:
            if not self.path.exists():  # one that is there may be shared, and stays as it is
                make_private_folder(self.path)
            make_private_folder(self.path / "worlds")
            for name in ("lock", ".gitignore"):
                make_private(self.path / name)
            ignore = self.path / ".gitignore"
            if not ignore.exists():
                write_atomically(ignore, b"*\n")
            self._lock.acquire(timeout=0)
            self._finish_deletions()
        except Timeout:
            raise StateRefused(
                f"{self.path} is in use by another hosting-emulator; stop it, or give this one "
                "another --data-dir (or --ephemeral)"
            ) from None
        except OSError as error:
            raise StateRefused(
                f"{self.path} cannot be written: {error.strerror}; give another --data-dir, or "
                "--ephemeral to keep nothing"
            ) from None

    def _finish_deletions(self) -> None:
        for trash in (self.path / "worlds").glob(f".*{DELETED}"):
            try:
                refuse_link(trash)
                empty_trash(trash)
            except OSError as error:
                self._complain(f"{trash} could not be deleted: {error.strerror}")

    def worlds(self) -> list[str]:
        """Return the names of the worlds kept here."""
        folders = (self.path / "worlds").iterdir()
        return sorted(f.name for f in folders if f.is_dir() and WORLD_NAME.fullmatch(f.name))

    def load(self, name: str) -> World | None:
        """Read a world; None when there is none. Says what was dropped. Raises StateRefused.

        With `salvage`, a damaged world is mended first, as far as it can be.
        """
        folder = self._folder(name)
        try:
            make_private(folder)
            found = self._recovered(name, folder)
            if found is not None and found.world.name != name:
                raise StateRefused(
                    f"{folder} holds the world {found.world.name!r}: a world is copied by `world "
                    "fork`, or by export and import, not by copying its folder"
                )
            # Whatever the last process left, more can follow.
            for lines in found.journals if found is not None else ():
                lines.mend()
                if self._durability == "disk":
                    self._write_anew(lines.path)
            sweep(folder)
        except OSError as error:
            raise StateRefused(f"{folder} cannot be read: {error.strerror}") from None
        if found is None:
            return None
        self._starts[name] = found.starts + 1
        return found.world

    def _recovered(self, name: str, folder: Path) -> Recovery | None:
        try:
            found = recover(folder)
        except FormatRefused:
            raise
        except StateRefused:
            if not self._salvage:
                raise
            if salvage(folder, lambda text: self._complain(f"world {name}: {text}")) is None:
                return None
            found = recover(folder)
        if found is not None:
            for notice in found.notices:
                self._complain(f"world {name}: {notice}")
        return found

    def _write_anew(self, path: Path) -> None:
        """Write a journal again: if a sync of it failed, it may be in the system's memory only."""
        try:
            write_atomically(path, path.read_bytes())
        except OSError as error:
            self._complain(f"{path} could not be written anew: {error.strerror}")

    def keep(self, world: World, *, fresh: bool) -> Keeper:
        """Return the keeper of a world; a fresh one is written at once. Raises OSError."""
        folder = self._folder(world.name)
        make_private_folder(folder)
        starts = 0 if fresh else self._starts.pop(world.name, 0)
        keeper = DiskKeeper(
            folder, world, self._durability, self._executor, self._complain, starts=starts
        )
        try:
            if fresh:
                keeper.replace(world)
            self._mark(folder, starts)
        except BaseException:
            keeper.abandon()
            raise
        self._keepers[world.name] = keeper
        return keeper

    def _mark(self, folder: Path, starts: int) -> None:
        sync = self._durability == "disk"
        try:
            write_marker(folder, Marker(starts), sync=sync)
        except OSError as error:  # such as a full disk: what is kept can be used all the same
            self._complain(f"{folder}: its marker could not be written: {error.strerror}")
        if sync:
            sync_directory(folder.parent)

    def forget(self, name: str) -> None:
        """Delete a world's files. Raises OSError; the world is then still kept."""
        keeper = self._keepers.get(name)
        if keeper is not None:
            keeper.discard()
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
            raise StateRefused(f"{name!r} is no name of a world")
        return self.path / "worlds" / name
