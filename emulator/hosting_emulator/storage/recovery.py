"""Reads a world from its folder, either completely or by salvaging its readable parts.

Recovery changes no files, and refuses a world that is damaged or incomplete. Salvage is for users
who want to continue with a damaged world. It uses the snapshot and the commits after it, up to the
first one that cannot be read. Later commits are left out, because each commit builds on the
previous one. Salvage reports everything that it leaves out, and keeps the old files under names
that end in `.damaged-<n>`.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from secrets import token_hex

from hosting_emulator.contract.value_texts import count_text
from hosting_emulator.storage.files import sync_directory
from hosting_emulator.storage.format import (
    ADVICE,
    JOURNAL,
    MARKER,
    NEVER_REACHED,
    PROGRESS,
    SNAPSHOT,
    FormatRefused,
    Marker,
    ProgressNumbers,
    StateRefused,
    boot_id,
    locate,
    read_marker,
    read_progress,
    write_marker,
    write_progress,
)
from hosting_emulator.storage.integrity import check_integrity
from hosting_emulator.storage.journal import JournalLines, begin_journal, read_leniently
from hosting_emulator.storage.rows import StoredState
from hosting_emulator.storage.snapshot import read_snapshot, write_snapshot
from hosting_emulator.world.value import World

Complain = Callable[[str], None]
_OTHER_WORLD = "another world with the same name, such as an earlier world"


@dataclass(frozen=True)
class Recovery:
    """A world that was read from its folder.

    `notices` are messages for the user. `progress` is None if the progress file cannot be used.
    `journals` lists the journals, oldest first.
    """

    world: World
    notices: list[str]
    lineage: str
    progress: ProgressNumbers | None
    journals: list[JournalLines]


def recover(folder: Path) -> Recovery | None:
    """Read a world from its folder. Return None if the world was never completely stored.

    Raises StateRefused if the world is damaged or incomplete. Raises OSError.
    """
    marker = read_marker(folder)
    paths = _journals_of(folder)
    snapshot = folder / SNAPSHOT
    if not snapshot.exists():
        if marker is None and not any(JournalLines(path, last=True).lines for path in paths):
            return None
        raise StateRefused(f"{folder}: {SNAPSHOT} is missing; {ADVICE}")
    if marker is not None and not paths:
        raise StateRefused(f"{folder}: {JOURNAL} is missing; {ADVICE}")
    state = read_snapshot(snapshot)
    snapshot_commit = state.commit
    journals = [JournalLines(path, last=path is paths[-1]) for path in paths]
    for journal in journals:
        _check_owner(journal, state)
        for commit in journal.commits():
            with locate(journal.path, ADVICE):
                state.apply(commit)
    with locate(snapshot, ADVICE):
        world = state.world()
        if marker is not None and marker.lineage not in (None, state.lineage):
            raise StateRefused(f"it belongs to {_OTHER_WORLD}")
    notices = [journal.notice for journal in journals if journal.notice]
    numbers = read_progress(folder, state.lineage)
    boot = marker.boot if marker else ""
    notices += _check_progress(folder, world, snapshot_commit, numbers, boot)
    return Recovery(world, notices, state.lineage, numbers, journals)


def _check_owner(journal: JournalLines, state: StoredState) -> None:
    if journal.world is None or journal.world == (state.name, state.lineage):
        return
    name = journal.world[0]
    owner = f"the world {name!r}"
    if name == state.name:
        owner = _OTHER_WORLD
    raise StateRefused(f"{journal.path}: it belongs to {owner}; {ADVICE}")


def _check_progress(
    folder: Path,
    world: World,
    snapshot_commit: int,
    numbers: ProgressNumbers | None,
    boot: str,
) -> list[str]:
    """Raise StateRefused if commits are missing that, according to the progress file, were stored.

    `boot` is the id of the machine's boot during which commits were written but not synced, or an
    empty string if all commits are synced. After a reboot, unsynced commits may be missing, so this
    function returns a notice instead of raising an error.
    """
    is_same_boot = boot in ("", boot_id())
    missing = ""
    consequence = ""
    if numbers is None:
        missing = f"{PROGRESS} is missing, damaged or belongs to {_OTHER_WORLD}"
        consequence = (
            ". The machine probably stopped before this file was written to the disk. The latest "
            "changes may be lost"
        )
    elif numbers.commit > world.commit:
        missing = f"{_commits_text(world.commit + 1, numbers.commit)} missing in {JOURNAL}"
        consequence = (
            ", probably because the machine stopped before everything was written to the disk. "
            "These changes are lost"
        )
    if missing and is_same_boot:
        raise StateRefused(f"{folder}: {missing}; {ADVICE}")
    if missing:
        return [missing + consequence]
    # If `boot` is empty, the progress file counts only synced commits. The file may also be one
    # commit behind, because the process may have been killed after it replaced the whole world but
    # before it updated the file.
    is_stale = numbers is not None and numbers.commit < world.commit - 1
    if is_same_boot and boot and snapshot_commit < world.commit and is_stale:
        raise StateRefused(f"{folder / PROGRESS}: it is older than {JOURNAL}; {ADVICE}")
    return []


def _commits_text(first: int, last: int) -> str:
    if first == last:
        return f"commit {first} is"
    return f"commits {first} to {last} are"


def _journals_of(folder: Path) -> list[Path]:
    """Return a folder's journals, oldest first: any journals that are being folded, then the
    current one.
    """
    paths = [*sorted(folder.glob("journal-*.ndjson")), folder / JOURNAL]
    return [path for path in paths if path.exists()]


def sweep(folder: Path) -> None:
    """Delete the temporary files that a killed process left in a world's folder. Raises OSError."""
    for name in (SNAPSHOT, JOURNAL, MARKER):
        for unfinished in folder.glob(f"{name}.*.tmp"):
            unfinished.unlink()


def salvage(folder: Path, complain: Complain) -> World | None:
    """Repair a world's folder and return the world, or None if nothing can be read.

    Calls `complain` with messages that say what was left out and where the old files are. Raises
    FormatRefused if the files are intact but in a different format. Raises OSError if a file cannot
    be read or written.
    """
    state = _readable(folder, complain)
    ending = _unused_ending(folder)
    if state is None:
        aside = folder.with_name(folder.name + ending)
        # Rename in a single step, so that a crash never leaves the folder partly moved.
        folder.rename(aside)
        sync_directory(folder.parent)
        complain(f"nothing could be salvaged; the whole folder was renamed to {aside}")
        return None
    world = state.world()
    lineage = token_hex(8)
    numbers = read_progress(folder, state.lineage)
    if numbers is None:
        complain(
            f"{PROGRESS} cannot be read: the latest time shown to a client is lost, so the "
            "world's time may go back"
        )
        numbers = ProgressNumbers(starts=NEVER_REACHED)
    # Copy each file before it is replaced.
    paths = [folder / SNAPSHOT, *_journals_of(folder), folder / MARKER, folder / PROGRESS]
    old_files = [path for path in paths if path.exists()]
    for path in old_files:
        shutil.copy2(path, path.with_name(f"{path.name}{ending}"))
    sync_directory(folder)
    write_snapshot(folder / SNAPSHOT, world, lineage)
    begin_journal(folder / JOURNAL, world.name, lineage, sync=True).close()
    write_progress(folder, lineage, replace(numbers, commit=world.commit), sync=True)
    for old in folder.glob("journal-*.ndjson"):
        old.unlink()
    write_marker(folder, Marker("", lineage), sync=True)
    names = ", ".join(path.name for path in old_files)
    complain(
        f"salvaged up to commit {world.commit}; copies of the old files are in {folder}, with the "
        f"suffix {ending}: {names}"
    )
    return world


def _unused_ending(folder: Path) -> str:
    """Return the first `.damaged-N` suffix that is not yet used for the folder or for a file in it."""
    for number in count(1):
        ending = f".damaged-{number}"
        is_used = folder.with_name(folder.name + ending).exists() or any(folder.glob(f"*{ending}"))
        if not is_used:
            break
    return ending


def _readable(folder: Path, complain: Complain) -> StoredState | None:
    """Return as much of a world's state as can be read, or None if none of it can be used.

    Calls `complain` with a message for each part that is left out.
    """
    if not (folder / SNAPSHOT).exists():
        complain(f"{SNAPSHOT} is missing, and no commit can be read without it")
        return None
    try:
        state = read_snapshot(folder / SNAPSHOT, complain=complain)
    except FormatRefused:
        raise
    except StateRefused as refused:
        complain(str(refused).partition(";")[0])
        return None
    if state.name != folder.name:
        complain(f"{SNAPSHOT}: it belongs to the world {state.name!r}")
        return None
    _apply_commits(folder, state, complain)
    try:
        check_integrity(state.tables)
        state.world()
        return state
    except StateRefused as refused:
        complain(f"the readable parts are inconsistent: {refused}")
        return None


def _apply_commits(folder: Path, state: StoredState, complain: Complain) -> None:
    """Apply all commits up to the first one that cannot be read, and report those that are left
    out.
    """
    journals = _journals_of(folder)
    if not journals:
        complain(f"{JOURNAL} is missing: changes after commit {state.commit} are left out")
    damaged_lines: list[str] = []
    numbers: list[int] = []
    titles: Counter[str] = Counter()
    for path in journals:
        for line, commit in read_leniently(path, (state.name, state.lineage)):
            if commit is None:
                damaged_lines.append(f"{path.name}, line {line}")
            elif not damaged_lines and not numbers and commit.number <= state.commit + 1:
                state.apply(commit)
            else:
                numbers.append(commit.number)
                titles[commit.title] += 1
    parts = []
    if damaged_lines:
        more = ""
        if len(damaged_lines) > 3:
            more = f" and {count_text(len(damaged_lines) - 3, 'more line')}"
        parts.append(f"{'; '.join(damaged_lines[:3])}{more} (cannot be read)")
    if numbers:
        changes = ", ".join(f"{times} x {title}" for title, times in titles.items())
        span = f"{min(numbers)} to {max(numbers)}"
        parts.append(f"{count_text(len(numbers), 'later commit')}, {span} ({changes})")
    if parts:
        complain(f"left out: {', and '.join(parts)}")
