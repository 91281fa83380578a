"""Inspects a data directory from outside: its worlds, any damage, and files that other users can
read.

No file is opened for writing, so a directory can be inspected while an emulator is using it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from hosting_emulator.running_emulators import LOCK_FILE, is_locked
from hosting_emulator.storage.directory import WORLD_NAME
from hosting_emulator.storage.format import StateRefused
from hosting_emulator.storage.recovery import recover
from hosting_emulator.world.value import World


@dataclass(slots=True)
class Inspection:
    """The state of a data directory.

    `held` means that an emulator is using the directory, so no world was read. For each world that
    `start` would refuse to load, `refused` contains a message with the reason and the remedy.
    `notices` are messages about damage that `start` would tolerate. `exposed` lists files with
    secrets that other users can read.
    """

    held: bool = False
    worlds: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    exposed: list[Path] = field(default_factory=list)


def inspect(path: Path) -> Inspection:
    """Inspect an existing data directory. Raises OSError if the directory cannot be read."""
    inspection = Inspection(is_locked(path / LOCK_FILE))
    worlds = path / "worlds"
    inspection.exposed = _exposed_files(path, worlds)
    folders: list[Path] = []
    if worlds.is_dir():
        folders = sorted(worlds.iterdir())
    for folder in folders:
        if folder.is_dir() and WORLD_NAME.fullmatch(folder.name):
            inspection.worlds.append(folder.name)
            if not inspection.held:
                _read_world(folder, inspection)
    return inspection


def _read_world(folder: Path, inspection: Inspection) -> None:
    """Read a world, and record any damage."""
    try:
        world = recover(folder)
    except StateRefused as refused:
        inspection.refused.append(str(refused))
    except OSError as error:
        inspection.refused.append(f"{folder} cannot be read: {error.strerror}")
    else:
        if world is not None:
            notices = [f"world {folder.name}: {notice}" for notice in world.notices]
            inspection.notices += notices


def stored_world(path: Path, name: str) -> World | None:
    """Return a world in a data directory, or None if the directory does not contain it.

    Raises StateRefused if the world cannot be read or an emulator is using the directory. Raises
    OSError.
    """
    folder = path / "worlds" / name
    if not folder.is_dir():
        return None
    if is_locked(path / LOCK_FILE):
        raise StateRefused(f"{path} is in use by a running emulator")
    recovery = recover(folder)
    if recovery is None:
        return None
    return recovery.world


def _exposed_files(path: Path, worlds: Path) -> list[Path]:
    """Return the worlds' files that other users can read."""
    exposed: list[Path] = []
    can_enter: dict[Path, bool] = {}
    for name, _, file_names in os.walk(path):
        folder = Path(name)
        can_enter[folder] = can_enter.get(folder.parent, True) and bool(_mode(folder) & 0o011)
        if can_enter[folder] and folder.is_relative_to(worlds):
            files = (folder / file_name for file_name in file_names)
            exposed += [file for file in files if _mode(file) & 0o044]
    return exposed


def _mode(path: Path) -> int:
    """Return a file's mode, or 0 if the file no longer exists.

    A file can disappear because a running emulator may delete files at any time.
    """
    with suppress(FileNotFoundError):
        return path.lstat().st_mode
    return 0
