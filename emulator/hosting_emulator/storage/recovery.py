"""A world read back from its folder: as it was when its process ended, or what can be salvaged of it.

Recovery changes no file; damage, or a part that is missing, is refused and said. Salvage is for those
who go on all the same. It takes what certainly happened: the snapshot, and the commits after it up to
the first that cannot be read, because each builds on the one before. All that is left out is said,
and the files are kept beside the new ones under names that end with `.damaged-<n>`.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import NamedTuple, TypeAlias

from hosting_emulator.storage.documents import StoredState
from hosting_emulator.storage.files import sync_directory
from hosting_emulator.storage.format import (
    JOURNAL,
    MARKER,
    PROGRESS,
    SNAPSHOT,
    FormatRefused,
    Marker,
    StateRefused,
    found_in,
    read_marker,
    write_marker,
)
from hosting_emulator.storage.integrity import check_integrity
from hosting_emulator.storage.journal import JournalLines, begin_journal, whatever_is_there
from hosting_emulator.storage.progress import boot_id, read_commit
from hosting_emulator.storage.snapshot import SnapshotFile, write_snapshot
from hosting_emulator.world.value import World

_DAMAGED = ".damaged-"
_NEVER_REACHED = 1_000_000
Complain: TypeAlias = Callable[[str], None]


class Recovery(NamedTuple):
    """A world as found, with what is to be said of it.

    `starts` counts how often it was read back before. `journals` are its files of lines, oldest
    first.
    """

    world: World
    notices: list[str]
    starts: int
    journals: list[JournalLines]


def recover(folder: Path) -> Recovery | None:
    """Read a world from its folder; None when none was ever finished there.

    Raises StateRefused, naming file, line and what is wrong, and OSError.
    """
    marker = read_marker(folder)
    paths = _journals_of(folder)
    if not (folder / SNAPSHOT).exists():
        if marker is None and not any(JournalLines(path, last=True).lines for path in paths):
            return None
        raise StateRefused(f"{folder}: {SNAPSHOT} is missing; {_ADVICE}")
    if marker is not None and not paths:
        raise StateRefused(f"{folder}: {JOURNAL} is missing; {_ADVICE}")
    state = SnapshotFile(folder / SNAPSHOT).state()
    journals = [JournalLines(path, last=path is paths[-1]) for path in paths]
    for journal in journals:
        if journal.world not in (None, state.name):
            raise StateRefused(
                f"{journal.path}: it is the journal of the world {journal.world!r}; {_ADVICE}"
            )
        for commit in journal.commits():
            with found_in(journal.path, _ADVICE):
                state.follow(commit)
    with found_in(folder / SNAPSHOT, _ADVICE):
        world = state.world()
    notices = [journal.notice for journal in journals if journal.notice]
    if (reached := read_commit(folder)) > world.commit:
        missing = f"commits {world.commit + 1} to {reached} were made, and are missing"
        if marker is None or marker.boot in ("", boot_id()):
            raise StateRefused(f"{folder}: {missing}: the end of {JOURNAL} is lost; {_ADVICE}")
        notices.append(f"{missing}: the machine ended before they were on its disk")
    return Recovery(world, notices, 0 if marker is None else marker.starts, journals)


def _journals_of(folder: Path) -> list[Path]:
    """Return a folder's journals, oldest first: those that are being folded, then the current one."""
    paths = [*sorted(folder.glob("journal-*.ndjson")), folder / JOURNAL]
    return [path for path in paths if path.exists()]


def sweep(folder: Path) -> None:
    """Delete what a killed process was about to write. Raises OSError."""
    for name in (SNAPSHOT, JOURNAL, MARKER):
        for unfinished in folder.glob(f"{name}.*.tmp"):
            unfinished.unlink()


_ADVICE = (
    "restore it from a copy, start with --salvage to go on with what is there, or move the folder "
    "away to start afresh"
)


def salvage(folder: Path, complain: Complain) -> World | None:
    """Mend a world's folder and return its world; None when nothing of it can be read.

    Says by `complain` exactly what was left out and where it is kept. Raises FormatRefused when the
    files are only of another format, and OSError.
    """
    starts = _starts(folder, complain)
    world = _readable(folder, complain)
    number = next(n for n in count(1) if not _is_taken(folder, f"{_DAMAGED}{n}"))
    ending = f"{_DAMAGED}{number}"
    if world is None:
        aside = folder.with_name(folder.name + ending)
        folder.rename(aside)  # out of sight of the next start, in one step
        sync_directory(folder.parent)
        complain(f"nothing of it could be salvaged; all of it is kept as {aside}")
        return None
    # Each step comes after what it replaces is kept.
    paths = [folder / SNAPSHOT, *_journals_of(folder), folder / MARKER, folder / PROGRESS]
    kept = [path for path in paths if path.exists()]
    for path in kept:
        shutil.copy2(path, path.with_name(f"{path.name}{ending}"))
    sync_directory(folder)
    write_snapshot(folder / SNAPSHOT, world)
    begin_journal(folder / JOURNAL, world.name, sync=True).close()
    (folder / PROGRESS).unlink(missing_ok=True)
    for old in folder.glob("journal-*.ndjson"):
        old.unlink()
    write_marker(folder, Marker(starts), sync=True)
    names = ", ".join(path.name for path in kept)
    complain(f"salvaged up to commit {world.commit}; {names} as found: {folder}/…{ending}")
    return world


def _is_taken(folder: Path, ending: str) -> bool:
    return folder.with_name(folder.name + ending).exists() or any(folder.glob(f"*{ending}"))


def _readable(folder: Path, complain: Complain) -> World | None:
    """Return the world that can be read, if any; says what is left out."""
    if not (folder / SNAPSHOT).exists():
        complain(f"{SNAPSHOT} is missing, and without it no commit can be read")
        return None
    try:
        snapshot = SnapshotFile(folder / SNAPSHOT)
        state = snapshot.state(damaged=True)
        if snapshot.damage is not None:
            complain(
                f"{SNAPSHOT}: the checksum does not fit: something in it is not as it was written, "
                "and what is not known; it was taken as it is, as its rows fit together"
            )
    except FormatRefused:
        raise
    except StateRefused as refused:
        complain(str(refused).partition(";")[0])
        return None
    _follow(folder, state, complain)
    try:
        check_integrity(state.tables)
        return state.world()
    except StateRefused as refused:
        complain(f"what can be read does not fit together: {refused}")
        return None


def _follow(folder: Path, state: StoredState, complain: Complain) -> None:
    """Take in commits up to the first that cannot be; say which are left out."""
    journals = _journals_of(folder)
    if not journals:
        complain(f"{JOURNAL} is missing: changes after commit {state.commit} are left out")
    damaged: list[str] = []
    numbers: list[int] = []
    titles: Counter[str] = Counter()
    for path in journals:
        for line, commit in whatever_is_there(path, state.name):
            if commit is None:
                damaged.append(f"{path.name}, line {line}")
            elif not damaged and not numbers and commit.number <= state.commit + 1:
                state.follow(commit)
            else:
                numbers.append(commit.number)
                titles[commit.title] += 1
    parts = []
    if damaged:
        more = f" and {len(damaged) - 3} more lines" if len(damaged) > 3 else ""
        parts.append(f"{'; '.join(damaged[:3])}{more} (cannot be read)")
    if numbers:
        what = ", ".join(f"{times} x {title}" for title, times in titles.items())
        span = f"{min(numbers)} to {max(numbers)}"
        parts.append(f"{len(numbers)} commits that build on them, {span} ({what})")
    if parts:
        complain(f"left out: {', and '.join(parts)}")


def _starts(folder: Path, complain: Complain) -> int:
    """Return how often the world was started; a count that is lost becomes one never reached."""
    try:
        marker = read_marker(folder)
    except StateRefused as refused:
        complain(str(refused).partition(";")[0])
        return _NEVER_REACHED
    return 0 if marker is None else marker.starts
