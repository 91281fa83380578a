"""The data directory: which worlds are kept, by one process at a time.

.hosting-emulator/
  .gitignore   (so that nobody commits it)
  lock
  worlds/<world>/snapshot.json, journal.ndjson
  tls/         (the local certificate authority)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from filelock import FileLock, Timeout

from hosting_emulator.engine.commits import Keeper, Memory
from hosting_emulator.storage.errors import StateRefused
from hosting_emulator.storage.keeper import DELETED, DiskKeeper, Durability, bury, read_world
from hosting_emulator.world.value import World

WORLD_NAME = re.compile("[a-z0-9][a-z0-9-]{0,62}")


class DataDirectory:
    """An open, locked data directory. Raises StateRefused from every way in."""

    def __init__(self, path: Path, durability: Durability, complain: Callable[[str], None]) -> None:
        self.path = path.absolute()
        self._durability = durability
        self._complain = complain
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="snapshot")
        self._keepers: dict[str, DiskKeeper] = {}
        self._lock = FileLock(self.path / "lock", mode=0o600)
        self._open()

    def _open(self) -> None:
        try:
            (self.path / "worlds").mkdir(parents=True, exist_ok=True, mode=0o700)
            ignore = self.path / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n")
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
        for grave in (self.path / "worlds").glob(f".*{DELETED}"):
            try:
                bury(grave)
            except OSError as error:
                self._complain(f"{grave} could not be deleted: {error.strerror}")

    def worlds(self) -> list[str]:
        """Return the names of the worlds kept here."""
        folders = (self.path / "worlds").iterdir()
        return sorted(f.name for f in folders if f.is_dir() and WORLD_NAME.fullmatch(f.name))

    def load(self, name: str) -> World | None:
        """Read a world; None when there is none. Says what was dropped. Raises StateRefused."""
        try:
            world, notices = read_world(self._folder(name))
        except OSError as error:
            raise StateRefused(f"{self._folder(name)} cannot be read: {error.strerror}") from None
        for notice in notices:
            self._complain(f"world {name}: {notice}")
        if world is not None and world.name != name:
            raise StateRefused(
                f"{self._folder(name)} holds the world {world.name!r}: a world is copied by `world "
                "fork`, or by export and import, not by copying its folder"
            )
        return world

    def keep(self, world: World, *, fresh: bool) -> Keeper:
        """Return the keeper of a world; a fresh one is written at once. Raises OSError."""
        folder = self._folder(world.name)
        folder.mkdir(exist_ok=True, mode=0o700)
        keeper = DiskKeeper(folder, world, self._durability, self._executor, self._complain)
        if fresh:
            try:
                keeper.replace(world)
            except BaseException:
                keeper.abandon()
                raise
        self._keepers[world.name] = keeper
        return keeper

    def forget(self, name: str) -> None:
        """Delete a world's files. Raises OSError; the world is then still kept."""
        keeper = self._keepers.get(name)
        if keeper is not None:
            keeper.discard()
            del self._keepers[name]

    def close(self) -> None:
        """Write last snapshots and let go of the directory."""
        try:
            for keeper in self._keepers.values():
                try:
                    keeper.close()
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


class NoDirectory:
    """Stands in for the data directory when nothing is to be kept (`--ephemeral`)."""

    path: Path | None = None

    def worlds(self) -> list[str]:
        """No world is kept."""
        return []

    def load(self, name: str) -> World | None:
        """There is nothing to read."""
        return None

    def keep(self, world: World, *, fresh: bool) -> Keeper:
        """Return a keeper that keeps nothing."""
        return Memory()

    def forget(self, name: str) -> None:
        """There is nothing to delete."""

    def close(self) -> None:
        """There is nothing to let go of."""
