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
from typing import NamedTuple

from hosting_emulator.storage import format as f
from hosting_emulator.storage.documents import (
    StoredState,
    check_integrity,
    read_snapshot,
    write_snapshot,
)
from hosting_emulator.storage.files import sync_directory
from hosting_emulator.storage.journal import JournalLines, begin_journal, read_leniently
from hosting_emulator.world.value import World

Complain = Callable[[str], None]
_NAMESAKE = "world of that name, such as one that was here before"


class Recovery(NamedTuple):
    """A world as found, how far it came if that is known, and its journals, the oldest first."""

    world: World
    notices: list[str]
    lineage: str
    reached: f.ProgressNumbers | None
    journals: list[JournalLines]


def recover(folder: Path) -> Recovery | None:
    """Read a world from its folder; None when none was finished there. Raises StateRefused, OSError."""
    marker = f.read_marker(folder)
    paths, snapshot = _journals_of(folder), folder / f.SNAPSHOT
    if not snapshot.exists():
        if marker is None and not any(JournalLines(path, last=True).lines for path in paths):
            return None
        raise f.StateRefused(f"{folder}: {f.SNAPSHOT} is missing; {f.ADVICE}")
    if marker is not None and not paths:
        raise f.StateRefused(f"{folder}: {f.JOURNAL} is missing; {f.ADVICE}")
    state = read_snapshot(snapshot)
    folded = state.commit
    journals = [JournalLines(path, last=path is paths[-1]) for path in paths]
    for journal in journals:
        if journal.world is not None and journal.world != (state.name, state.lineage):
            name = journal.world[0]
            mine, other = f"of another {_NAMESAKE}", f"the journal of the world {name!r}"
            whose = mine if name == state.name else other
            raise f.StateRefused(f"{journal.path}: it is {whose}; {f.ADVICE}")
        for commit in journal.commits():
            with f.found_in(journal.path, f.ADVICE):
                state.follow(commit)
    with f.found_in(snapshot, f.ADVICE):
        world = state.world()
        if marker is not None and marker.lineage not in (None, state.lineage):
            raise f.StateRefused(f"it is of another {_NAMESAKE}")
    notices = [journal.notice for journal in journals if journal.notice]
    reached, boot = f.read_progress(folder, state.lineage), marker.boot if marker else ""
    same_run = boot in ("", f.boot_id())
    if reached is None or reached.commit > world.commit:
        missing = f"{f.PROGRESS} is missing, damaged or of another {_NAMESAKE}"
        if reached is not None:
            missing = f"commits {world.commit + 1} to {reached.commit} were made, and are missing"
        if same_run:
            raise f.StateRefused(f"{folder}: {missing}; {f.ADVICE}")
        notices.append(f"{missing}: the machine ended before they were on its disk")
    # Without a boot it only counts what was synced; and a kill may have come before a world that was
    # put in place was noted.
    elif same_run and boot and folded < world.commit and reached.commit < world.commit - 1:
        raise f.StateRefused(f"{folder / f.PROGRESS}: it is older than {f.JOURNAL}; {f.ADVICE}")
    return Recovery(world, notices, state.lineage, reached, journals)


def _journals_of(folder: Path) -> list[Path]:
    """Return a folder's journals, oldest first: those that are being folded, then the current one."""
    paths = [*sorted(folder.glob("journal-*.ndjson")), folder / f.JOURNAL]
    return [path for path in paths if path.exists()]


def sweep(folder: Path) -> None:
    """Delete what a killed process was about to write. Raises OSError."""
    for name in (f.SNAPSHOT, f.JOURNAL, f.MARKER):
        for unfinished in folder.glob(f"{name}.*.tmp"):
            unfinished.unlink()


def salvage(folder: Path, complain: Complain) -> World | None:
    """Mend a world's folder and return its world; None when nothing of it can be read.

    Says by `complain` exactly what was left out and where it is kept. Raises FormatRefused when the
    files are only of another format, and OSError.
    """
    state = _readable(folder, complain)
    endings = (f".damaged-{number}" for number in count(1))
    ending = next(
        end
        for end in endings
        if not folder.with_name(folder.name + end).exists() and not any(folder.glob(f"*{end}"))
    )
    if state is None:
        aside = folder.with_name(folder.name + ending)
        folder.rename(aside)  # out of sight of the next start, in one step
        sync_directory(folder.parent)
        complain(f"nothing of it could be salvaged; all of it is kept as {aside}")
        return None
    world, lineage = state.world(), token_hex(8)
    reached = f.read_progress(folder, state.lineage)
    if reached is None:
        complain(
            f"{f.PROGRESS} cannot be read: the last moment shown is lost, and time may go back"
        )
        reached = f.ProgressNumbers(starts=f.NEVER_REACHED)
    # Each step comes after what it replaces is kept.
    paths = [folder / f.SNAPSHOT, *_journals_of(folder), folder / f.MARKER, folder / f.PROGRESS]
    kept = [path for path in paths if path.exists()]
    for path in kept:
        shutil.copy2(path, path.with_name(f"{path.name}{ending}"))
    sync_directory(folder)
    write_snapshot(folder / f.SNAPSHOT, world, lineage)
    begin_journal(folder / f.JOURNAL, world.name, lineage, sync=True).close()
    f.write_progress(folder, lineage, reached._replace(commit=world.commit), sync=True)
    for old in folder.glob("journal-*.ndjson"):
        old.unlink()
    f.write_marker(folder, f.Marker("", lineage), sync=True)
    names = ", ".join(path.name for path in kept)
    complain(f"salvaged up to commit {world.commit}; {names} as found: {folder}/…{ending}")
    return world


def _readable(folder: Path, complain: Complain) -> StoredState | None:
    """Return the world that can be read, if any; says what is left out."""
    if not (folder / f.SNAPSHOT).exists():
        complain(f"{f.SNAPSHOT} is missing, and without it no commit can be read")
        return None
    try:
        state = read_snapshot(folder / f.SNAPSHOT, complain=complain)
    except f.FormatRefused:
        raise
    except f.StateRefused as refused:
        complain(str(refused).partition(";")[0])
        return None
    if state.name != folder.name:
        complain(f"{f.SNAPSHOT}: it is of the world {state.name!r}")
        return None
    _follow(folder, state, complain)
    try:
        check_integrity(state.tables)
        state.world()
        return state
    except f.StateRefused as refused:
        complain(f"what can be read does not fit together: {refused}")
        return None


def _follow(folder: Path, state: StoredState, complain: Complain) -> None:
    """Take in commits up to the first that cannot be; say which are left out."""
    journals = _journals_of(folder)
    if not journals:
        complain(f"{f.JOURNAL} is missing: changes after commit {state.commit} are left out")
    damaged: list[str] = []
    numbers: list[int] = []
    titles: Counter[str] = Counter()
    for path in journals:
        for line, commit in read_leniently(path, (state.name, state.lineage)):
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
