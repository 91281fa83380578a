"""What is in a data directory, for a look from outside that changes no file and reads none in use."""

from __future__ import annotations

import errno
import fcntl
import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from hosting_emulator.storage.directory import WORLD_NAME
from hosting_emulator.storage.format import StateRefused
from hosting_emulator.storage.recovery import recover


@dataclass(slots=True)
class Inspection:
    """What was found. `refused` says of worlds that `start` would not read why, and what to do.

    `held`: an emulator has it, so no world was read. `exposed`: files with secrets that others can read.
    """

    held: bool = False
    worlds: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    exposed: list[Path] = field(default_factory=list)


def inspect(path: Path) -> Inspection:
    """Look at a data directory that exists. Raises OSError where it cannot be read."""
    found, worlds = Inspection(_is_held(path)), path / "worlds"
    enterable: dict[Path, bool] = {}
    for at, _, names in os.walk(path):
        here = Path(at)
        enterable[here] = enterable.get(here.parent, True) and bool(_mode(here) & 0o011)
        if enterable[here] and here.is_relative_to(worlds):
            files = (here / name for name in names)
            found.exposed += [file for file in files if _mode(file) & 0o044]
    for folder in sorted(worlds.iterdir()) if worlds.is_dir() else []:
        if folder.is_dir() and WORLD_NAME.fullmatch(folder.name):
            found.worlds.append(folder.name)
            if not found.held:
                _read(folder, found)
    return found


def _mode(path: Path) -> int:
    """Return a file's mode; files come and go while an emulator runs."""
    with suppress(FileNotFoundError):
        return path.lstat().st_mode
    return 0


def _is_held(path: Path) -> bool:
    """Tell whether a process has the directory. Raises OSError where locks do not work."""
    try:
        descriptor = os.open(path / "lock", os.O_RDONLY | os.O_NOFOLLOW)
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
        found.refused.append(str(refused))
    except OSError as error:
        found.refused.append(f"{folder} cannot be read: {error.strerror}")
    else:
        notices = () if world is None else world.notices
        found.notices += [f"world {folder.name}: {notice}" for notice in notices]
