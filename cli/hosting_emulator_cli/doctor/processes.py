"""Processes: which one has a port or a file, as far as the system tells. Linux does, by /proc."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")
_LISTENS = "0A"
#: Linux keeps so much of a process's name.
_NAME_KEPT = 15


def owner_of_port(port: int) -> str | None:
    """Name the process that listens on a TCP port, as in `nc (process 7)`; None: not to be seen."""
    inodes = set(_listening(port))
    return _having({f"socket:[{inode}]" for inode in inodes}) if inodes else None


def owner_of_file(path: Path) -> str | None:
    """Name a process that has a file open; None: not to be seen."""
    return _having({str(path.resolve())})


def _listening(port: int) -> Iterator[str]:
    for table in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in (_PROC / "net" / table).read_text().splitlines()[1:]:
                cells = line.split()
                listens = cells[3] == _LISTENS and int(cells[1].rpartition(":")[2], 16) == port
                if listens and cells[9] != "0":
                    yield cells[9]


def _having(targets: set[str]) -> str | None:
    for folder in _PROC.glob("[0-9]*/fd"):
        # Processes come and go, and those of others keep their files to themselves.
        with suppress(OSError):
            if any(_points_at(link, targets) for link in folder.iterdir()):
                name = (folder.parent / "comm").read_text().strip()
                cut = "…" if len(name) == _NAME_KEPT else ""
                return f"{name}{cut} (process {folder.parent.name})"
    return None


def _points_at(link: Path, targets: set[str]) -> bool:
    with suppress(OSError):
        return os.readlink(link) in targets  # noqa: PTH115 - `socket:[1]` is no path
    return False
