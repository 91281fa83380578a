"""The data directory: whether it can be used, by whom it is, and whether what is in it is sound."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from hosting_emulator_cli.doctor.finding import Finding, note, ok, problem

if TYPE_CHECKING:
    from hosting_emulator.bootstrap.inspection import Inspected

_ELSEWHERE = "give `start` another --data-dir, or --ephemeral"
_MEGABYTE = 1_000_000
#: Less free space than this stops an emulator soon; less than the second may.
_TOO_LITTLE, _LITTLE = 100 * _MEGABYTE, 1000 * _MEGABYTE
_FEW_FILES = 1000


def nearest(path: Path) -> Path:
    """Return the path itself, or the nearest folder above it that exists."""
    path = path.absolute()
    return next(found for found in (path, *path.parents) if found.exists())


def can_write(path: Path) -> bool:
    """Tell whether this process may make files in a folder."""
    return os.access(path, os.W_OK | os.X_OK)


def check_place(path: Path, *, writable: bool) -> Finding | None:
    """Judge whether a data directory can be there; None: it exists, and more can be said of it."""
    if path.is_symlink() and not path.exists():
        return problem("data", f"{path} is a link that leads nowhere.", "Remove it.")
    if path.exists() and not path.is_dir():
        return problem("data", f"{path} is a file.", f"Move it away, or {_ELSEWHERE}.")
    if not writable:
        where = path if path.exists() else nearest(path)
        return problem(
            "data",
            f"{where} cannot be written by this user.",
            f"Make it yours (`chown`, `chmod u+rwx`), or {_ELSEWHERE}.",
        )
    if path.exists():
        return None
    return ok("data", f"{path} is not there yet; `start` makes it.")


def check_worlds(
    path: Path, found: Inspected, holder: str | None, *, answers: bool
) -> list[Finding]:
    """Judge what a data directory holds. `answers`: the emulator that has it was reached."""
    count = len(found.worlds)
    size = f"{count} {'world' if count == 1 else 'worlds'}, {readable(found.size_bytes)}"
    if found.held:
        by = holder or "a process"
        if answers:
            return [ok("data", f"{path} is in use by the emulator that runs: {size}.")]
        which = "it" if holder else f"it (`lsof {path / 'lock'}` names it)"
        return [
            note(
                "data",
                f"{path} is in use by {by}, an emulator that was not reached: {size}, not read.",
                f"Say where it listens with --url, or stop {which}.",
            )
        ]
    findings = [_refused(said) for said in found.refused.values()]
    findings += [note("data", f"{_sentence(said)}") for said in found.notices]
    return findings or [ok("data", f"{path} is sound and not in use: {size}.")]


def _refused(said: str) -> Finding:
    seen, _, advice = said.rpartition("; ")  # the store says what to do last
    if not seen:
        return problem("data", _sentence(said), "Restore the folder from a copy, or move it away.")
    return problem("data", _sentence(seen), _sentence(advice))


def check_secrets(path: Path, found: Inspected, mode: int) -> Finding:
    """Judge who else on this machine may read or change what is kept; `mode` is the directory's."""
    if mode & 0o022:
        return problem(
            "secrets",
            f"Others may write in {path} (mode {mode & 0o777:o}).",
            f"`chmod go-w {path}`",
        )
    if found.exposed:
        first, more = found.exposed[0], len(found.exposed) - 1
        others = f" and {more} more" if more else ""
        return problem(
            "secrets",
            f"Others on this machine may read {first}{others}.",
            f"`chmod -R go= {path}`; if that changes nothing, this file system has no modes: {_ELSEWHERE}.",
        )
    return ok("secrets", "Only you can read what is kept.")


def check_space(path: Path, free_bytes: int, free_files: int | None) -> Finding:
    """Judge the room that is left where the state is kept; `free_files` None is not limited."""
    free = f"{readable(free_bytes)} are free where {path} is"
    if free_files is not None and free_files < _FEW_FILES:
        free = f"No more than {free_files} files can be made where {path} is"
    elif free_bytes >= _LITTLE:
        return ok("disk", f"{free}.")
    elif free_bytes >= _TOO_LITTLE:
        return note("disk", f"Only {free}.", "A full disk makes every change answer 503.")
    else:
        free = f"Only {free}"
    return problem("disk", f"{free}.", f"Make room, or {_ELSEWHERE}.")


def readable(size_bytes: int) -> str:
    """Write a size as people read it, in units of 1000."""
    size, units = float(size_bytes), ["bytes", "kB", "MB", "GB", "TB"]
    while size >= 1000 and len(units) > 1:
        size /= 1000
        del units[0]
    return (
        f"{size:.0f} {units[0]}" if size >= 10 or units[0] == "bytes" else f"{size:.1f} {units[0]}"
    )


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}." if text[:1] not in "/." else f"{text}."
