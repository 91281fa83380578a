"""Salvage: going on with a damaged world, as far as it can be read. Only when asked for.

What is taken is what certainly happened: the snapshot, and the commits after it up to the first that
cannot be read, because each builds on the one before. All that is left out is said, and the files
are kept beside the new ones under names that end with `.damaged-<n>`.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec

from hosting_emulator.engine.commits import Commit
from hosting_emulator.storage.documents import Stored
from hosting_emulator.storage.errors import FormatRefused, StateRefused
from hosting_emulator.storage.files import sync_directory
from hosting_emulator.storage.journal import (
    begin_journal,
    decode_line,
    format_of,
    is_first_line,
)
from hosting_emulator.storage.marker import MARKER, Marker, read_marker, write_marker
from hosting_emulator.storage.recovery import JOURNAL, SNAPSHOT, journals_of
from hosting_emulator.storage.snapshot import Snapshot, write_snapshot
from hosting_emulator.storage.soundness import check_soundness
from hosting_emulator.world.value import World

DAMAGED = ".damaged-"
_NEVER_REACHED = 1_000_000


def salvage(folder: Path, complain: Callable[[str], None]) -> World | None:
    """Mend a world's folder and return its world; None when nothing of it can be read.

    Says by `complain` exactly what was left out and where it is kept. Raises FormatRefused when the
    files are only of another format, and OSError.
    """
    said: list[str] = []
    starts = _starts(folder, said)
    world = _readable(folder, said)
    if world is None:
        _set_aside(folder, said, complain)
        return None
    number = _free_number(folder)
    kept = []
    for path in [folder / SNAPSHOT, *journals_of(folder), folder / MARKER]:
        if path.exists():
            shutil.copy2(path, path.with_name(f"{path.name}{DAMAGED}{number}"))
            kept.append(path.name)
    sync_directory(folder)
    write_snapshot(folder / SNAPSHOT, world)
    begin_journal(folder / JOURNAL, sync=True).close()
    for old in folder.glob("journal-*.ndjson"):
        old.unlink()
    write_marker(folder, Marker(starts), sync=True)
    for sentence in said:
        complain(sentence)
    complain(
        f"salvaged up to commit {world.commit}; {', '.join(kept)} as found: "
        f"{folder}/…{DAMAGED}{number}"
    )
    return world


def _readable(folder: Path, said: list[str]) -> World | None:
    """Return the world that can be read, if any; adds what is left out to `said`."""
    try:
        snapshot = Snapshot(folder / SNAPSHOT)
        stored = snapshot.whatever_is_there()
        if snapshot.damage is not None:
            said.append(
                f"{SNAPSHOT}: the checksum does not fit: something in it is not as it was written, "
                "and what is not known; it was taken as it is, as its rows fit together"
            )
    except FileNotFoundError:
        said.append(f"{SNAPSHOT} is missing, and without it no commit can be read")
        return None
    except FormatRefused:
        raise
    except StateRefused as refused:
        said.append(str(refused).partition(";")[0])
        return None
    _follow(folder, stored, said)
    try:
        check_soundness(stored.tables)
        return stored.world()
    except StateRefused as refused:
        said.append(f"what can be read does not fit together: {refused}")
        return None


def _follow(folder: Path, stored: Stored, said: list[str]) -> None:
    """Take in commits up to the first that cannot be; say which are left out."""
    journals = journals_of(folder)
    if not journals:
        said.append(f"{JOURNAL} is missing: changes after commit {stored.commit} are left out")
    left_out = _LeftOut()
    for path in journals:
        lines = [line for line in path.read_bytes().split(b"\n") if line]
        found = format_of(path, lines)
        for number, line in enumerate(lines, 1):
            if number == 1 and is_first_line(line):
                continue
            try:
                commit = decode_line(line, found)
            except (msgspec.MsgspecError, StateRefused):
                commit = None
            if not left_out and commit is not None and commit.number <= stored.commit + 1:
                stored.follow(commit)
            else:
                left_out.add(f"{path.name}, line {number}", commit)
    if left_out:
        said.append(f"{left_out}")


class _LeftOut:
    """What cannot be taken in, as a person is told: lines that are damaged, and what followed."""

    def __init__(self) -> None:
        self._damaged: list[str] = []
        self._numbers: list[int] = []
        self._titles: Counter[str] = Counter()

    def add(self, place: str, commit: Commit | None) -> None:
        if commit is None:
            self._damaged.append(place)
        else:
            self._numbers.append(commit.number)
            self._titles[commit.title] += 1

    def __bool__(self) -> bool:
        return bool(self._damaged or self._numbers)

    def __str__(self) -> str:
        parts = []
        if self._damaged:
            more = f" and {len(self._damaged) - 3} more lines" if len(self._damaged) > 3 else ""
            parts.append(f"{'; '.join(self._damaged[:3])}{more} (cannot be read)")
        if self._numbers:
            what = ", ".join(f"{count} x {title}" for title, count in self._titles.items())
            span = f"{min(self._numbers)} to {max(self._numbers)}"
            parts.append(f"{len(self._numbers)} commits that build on them, {span} ({what})")
        return f"left out: {', and '.join(parts)}"


def _set_aside(folder: Path, said: list[str], complain: Callable[[str], None]) -> None:
    """Move the whole folder out of sight of the next start, in one step."""
    number = 1
    while (aside := folder.with_name(f"{folder.name}{DAMAGED}{number}")).exists():
        number += 1
    folder.rename(aside)
    sync_directory(folder.parent)
    for sentence in said:
        complain(sentence)
    complain(f"nothing of it could be salvaged; all of it is kept as {aside}")


def _free_number(folder: Path) -> int:
    number = 1
    while any(folder.glob(f"*{DAMAGED}{number}")):
        number += 1
    return number


def _starts(folder: Path, said: list[str]) -> int:
    """Return how often the world was started; a count that is lost becomes one never reached."""
    try:
        marker = read_marker(folder)
    except StateRefused as refused:
        said.append(str(refused).partition(";")[0])
        return _NEVER_REACHED
    return 0 if marker is None else marker.starts
