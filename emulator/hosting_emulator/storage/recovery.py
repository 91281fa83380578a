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
from secrets import token_hex
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
from hosting_emulator.storage.progress import (
    NEVER_REACHED,
    Reached,
    boot_id,
    read_progress,
    write_progress,
)
from hosting_emulator.storage.snapshot import SnapshotFile, write_snapshot
from hosting_emulator.world.value import World

_DAMAGED = ".damaged-"
Complain: TypeAlias = Callable[[str], None]


class Recovery(NamedTuple):
    """A world as found, with what is to be said of it.

    `reached` is how far it came, None where that was lost. `journals` are its files of lines, oldest
    first.
    """

    world: World
    notices: list[str]
    lineage: str
    reached: Reached | None
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
    folded = state.commit
    journals = [JournalLines(path, last=path is paths[-1]) for path in paths]
    for journal in journals:
        if journal.world not in (None, (state.name, state.lineage)):
            raise StateRefused(f"{journal.path}: it is {_whose(journal.world, state)}; {_ADVICE}")
        for commit in journal.commits():
            with found_in(journal.path, _ADVICE):
                state.follow(commit)
    with found_in(folder / SNAPSHOT, _ADVICE):
        world = state.world()
    if marker is not None and marker.lineage not in (None, state.lineage):
        raise StateRefused(f"{folder / SNAPSHOT}: it is of another {_NAMESAKE}; {_ADVICE}")
    notices = [journal.notice for journal in journals if journal.notice]
    reached = read_progress(folder, state.lineage)
    same_run = marker is None or marker.boot in ("", boot_id())
    if missing := _missing(reached, world.commit):
        if same_run:
            raise StateRefused(f"{folder}: {missing}; {_ADVICE}")
        notices.append(f"{missing}: the machine ended before they were on its disk")
    elif (
        same_run
        and reached is not None
        and marker is not None
        and marker.boot  # else it only counts what was synced
        and reached.commit < world.commit - 1
        and folded < world.commit  # else a kill may have come before a world put in place was noted
    ):
        raise StateRefused(f"{folder / PROGRESS}: it is older than {JOURNAL}; {_ADVICE}")
    return Recovery(world, notices, state.lineage, reached, journals)


def _missing(reached: Reached | None, commit: int) -> str | None:
    """Say what should be there and is not, by how far a world came; None: it is all there."""
    if reached is None:
        return f"{PROGRESS} is missing, damaged or of another {_NAMESAKE}"
    if reached.commit <= commit:
        return None
    return f"commits {commit + 1} to {reached.commit} were made, and are missing"


def _whose(world: tuple[str, str] | None, state: StoredState) -> str:
    same = world is not None and world[0] == state.name
    return f"of another {_NAMESAKE}" if same else f"the journal of the world {world and world[0]!r}"


def _journals_of(folder: Path) -> list[Path]:
    """Return a folder's journals, oldest first: those that are being folded, then the current one."""
    paths = [*sorted(folder.glob("journal-*.ndjson")), folder / JOURNAL]
    return [path for path in paths if path.exists()]


def sweep(folder: Path) -> None:
    """Delete what a killed process was about to write. Raises OSError."""
    for name in (SNAPSHOT, JOURNAL, MARKER):
        for unfinished in folder.glob(f"{name}.*.tmp"):
            unfinished.unlink()


_NAMESAKE = "world of that name, such as one that was here before"
_ADVICE = (
    "restore it from a copy, start with --salvage to go on with what is there, or move the folder "
    "away to start afresh"
)


def salvage(folder: Path, complain: Complain) -> World | None:
    """Mend a world's folder and return its world; None when nothing of it can be read.

    Says by `complain` exactly what was left out and where it is kept. Raises FormatRefused when the
    files are only of another format, and OSError.
    """
    state = _readable(folder, complain)
    number = next(n for n in count(1) if not _is_taken(folder, f"{_DAMAGED}{n}"))
    ending = f"{_DAMAGED}{number}"
    if state is None:
        aside = folder.with_name(folder.name + ending)
        folder.rename(aside)  # out of sight of the next start, in one step
        sync_directory(folder.parent)
        complain(f"nothing of it could be salvaged; all of it is kept as {aside}")
        return None
    world, lineage = state.world(), token_hex(8)
    reached = read_progress(folder, state.lineage)
    if reached is None:
        complain(f"{PROGRESS} cannot be read: the last moment shown is lost, and time may go back")
        reached = Reached(starts=NEVER_REACHED)
    # Each step comes after what it replaces is kept.
    paths = [folder / SNAPSHOT, *_journals_of(folder), folder / MARKER, folder / PROGRESS]
    kept = [path for path in paths if path.exists()]
    for path in kept:
        shutil.copy2(path, path.with_name(f"{path.name}{ending}"))
    sync_directory(folder)
    write_snapshot(folder / SNAPSHOT, world, lineage)
    begin_journal(folder / JOURNAL, world.name, lineage, sync=True).close()
    write_progress(folder, lineage, reached._replace(commit=world.commit), sync=True)
    for old in folder.glob("journal-*.ndjson"):
        old.unlink()
    write_marker(folder, Marker("", lineage), sync=True)
    names = ", ".join(path.name for path in kept)
    complain(f"salvaged up to commit {world.commit}; {names} as found: {folder}/…{ending}")
    return world


def _is_taken(folder: Path, ending: str) -> bool:
    return folder.with_name(folder.name + ending).exists() or any(folder.glob(f"*{ending}"))


def _readable(folder: Path, complain: Complain) -> StoredState | None:
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
    if state.name != folder.name:
        complain(f"{SNAPSHOT}: it is of the world {state.name!r}")
        return None
    _follow(folder, state, complain)
    try:
        check_integrity(state.tables)
        state.world()
        return state
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
        for line, commit in whatever_is_there(path, (state.name, state.lineage)):
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
