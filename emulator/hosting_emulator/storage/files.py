"""Writing files so that a crash leaves the old or the new one, never a half."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from hosting_emulator.storage.private import open_private


def write_atomically(path: Path, data: bytes | Iterable[bytes], *, sync: bool = True) -> None:
    """Write to a temporary file beside `path` and rename it into place. Raises OSError.

    `data` may come in pieces; whatever stops them leaves the old file. Without `sync` the new one
    survives the death of the process, but not that of the machine.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        temporary.unlink(missing_ok=True)  # left by one of our number, or laid there
        descriptor = open_private(temporary, os.O_WRONLY | os.O_EXCL)
        with os.fdopen(descriptor, "wb") as file:
            for piece in [data] if isinstance(data, bytes) else data:
                file.write(piece)
            file.flush()
            if sync:
                os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if sync:
        sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Make a rename in a directory survive the machine's death, where the system can.

    Some systems cannot open or sync a directory. What was renamed is there all the same, so that is
    no error: a caller would take it for the old file still being in place.
    """
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
