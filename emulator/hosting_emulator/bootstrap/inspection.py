"""Inspecting: what is in a data directory, for a look from outside. It changes no file.

A directory in use is not read: its files move under whoever looks.
"""

from __future__ import annotations

import errno
import fcntl
import os
from dataclasses import dataclass, field
from pathlib import Path

from hosting_emulator.storage.directory import WORLD_NAME
from hosting_emulator.storage.format import StateRefused
from hosting_emulator.storage.recovery import recover

LOCK = "lock"


@dataclass(slots=True)
class Inspection:
    """What was found. `refused` are worlds that `start` would not read, with why and what to do.

    `held`: an emulator has the directory, so its worlds were not read. `exposed` are files with
    secrets that others on this machine can read; `size_bytes` is that of all files.
    """

    worlds: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    exposed: list[Path] = field(default_factory=list)
    held: bool = False
    size_bytes: int = 0


def inspect(path: Path) -> Inspection:
    """Look at a data directory that exists. Raises OSError where it cannot be read."""
    found, worlds = Inspection(held=is_held(path)), path / "worlds"
    enterable: dict[Path, bool] = {}
    for at, _, names in os.walk(path):
        here = Path(at)
        enterable[here] = enterable.get(here.parent, True) and bool(_status(here)[0] & 0o011)
        for file in (here / name for name in names):
            mode, size_bytes = _status(file)
            found.size_bytes += size_bytes
            if enterable[here] and mode & 0o044 and here.is_relative_to(worlds):
                found.exposed.append(file)
    for folder in sorted(worlds.iterdir()) if worlds.is_dir() else []:
        if folder.is_dir() and WORLD_NAME.fullmatch(folder.name):
            found.worlds.append(folder.name)
            if not found.held:
                _read(folder, found)
    return found


def _status(path: Path) -> tuple[int, int]:
    """Return a file's mode and size; files come and go while an emulator runs."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return 0, 0
    return status.st_mode, status.st_size


def is_held(path: Path) -> bool:
    """Tell whether a process has the directory. Raises OSError where locks do not work."""
    try:
        descriptor = os.open(path / LOCK, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    try:
        # Shared, and let go at once: nobody who starts meanwhile should find it taken.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
            raise
        return True
    finally:
        os.close(descriptor)
    return False


def _read(folder: Path, found: Inspection) -> None:
    try:
        world = recover(folder)
    except StateRefused as refused:
        found.refused[folder.name] = str(refused)
        return
    except OSError as error:
        found.refused[folder.name] = f"{folder} cannot be read: {error.strerror}"
        return
    if world is not None:
        found.notices += [f"world {folder.name}: {notice}" for notice in world.notices]
