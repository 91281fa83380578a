"""Recovery: a world read back from its folder, as it was when its process ended. Changes no file.

Damage, or a part that is missing, is refused and said; `salvage` is for those who go on all the same.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from hosting_emulator.storage.errors import StateRefused
from hosting_emulator.storage.journal import Lines
from hosting_emulator.storage.marker import MARKER, read_marker
from hosting_emulator.storage.migrations import FORMAT
from hosting_emulator.storage.snapshot import Snapshot
from hosting_emulator.world.value import World

SNAPSHOT = "snapshot.json"
JOURNAL = "journal.ndjson"


class Found(NamedTuple):
    """A world as found, with what is to be said of it.

    `starts` counts how often it was read back before. `journals` are its files of lines, oldest
    first. `older` says that some file is of an older format.
    """

    world: World
    notices: list[str]
    starts: int
    journals: list[Lines]
    older: bool


def journals_of(folder: Path) -> list[Path]:
    """Return a folder's journals, oldest first: those that are being folded, then the current one."""
    found = [*sorted(folder.glob("journal-*.ndjson")), folder / JOURNAL]
    return [path for path in found if path.exists()]


def recover(folder: Path) -> Found | None:
    """Read a world from its folder; None when none was ever finished there.

    Raises StateRefused, naming file, line and what is wrong, and OSError.
    """
    marker = read_marker(folder)
    journals = journals_of(folder)
    if not (folder / SNAPSHOT).exists():
        if marker is None and not any(len(Lines(path, last=True)) for path in journals):
            return None
        raise StateRefused(f"{folder}: {SNAPSHOT} is missing; {_ADVICE}")
    if marker is not None and not journals:
        raise StateRefused(f"{folder}: {JOURNAL} is missing; {_ADVICE}")
    snapshot = Snapshot(folder / SNAPSHOT)
    stored = snapshot.stored()
    lines = [Lines(path, last=path is journals[-1]) for path in journals]
    for each in lines:
        for commit in each.commits():
            try:
                stored.follow(commit)
            except StateRefused as refused:
                raise StateRefused(f"{each.path}: {refused}; {_ADVICE}") from None
    try:
        world = stored.world()
    except StateRefused as refused:
        raise StateRefused(f"{folder / SNAPSHOT}: {refused}; {_ADVICE}") from None
    return Found(
        world,
        [each.notice for each in lines if each.notice],
        0 if marker is None else marker.starts,
        lines,
        min([snapshot.format, *(each.format for each in lines)]) < FORMAT,
    )


def sweep(folder: Path) -> None:
    """Delete what a killed process was about to write. Raises OSError."""
    for name in (SNAPSHOT, JOURNAL, MARKER):
        for unfinished in folder.glob(f"{name}.*.tmp"):
            unfinished.unlink()


_ADVICE = (
    "restore it from a copy, start with --salvage to go on with what is there, or move the folder "
    "away to start afresh"
)
