"""Files that are their owner's alone, and that a crash leaves as the old or the new one.

Modes are set whatever the umask says, and whatever lay there before. Symbolic links and pipes are
refused: a data directory can come with a folder somebody else packed, and must not lead out of itself.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_FOLDER_MODE = 0o700
_FILE_MODE = 0o600


def make_private_folder(path: Path) -> None:
    """Make a folder that only its owner may enter, or make an existing one so. Raises OSError."""
    refuse_link(path)
    path.mkdir(parents=True, exist_ok=True, mode=_FOLDER_MODE)
    _set_mode(path, _FOLDER_MODE)


def make_private(path: Path) -> None:
    """Make a file so, or a folder with the files in it, if it is there. Raises OSError, also at a link."""
    refuse_link(path)
    if path.is_file():
        _set_mode(path, _FILE_MODE)
    elif path.is_dir():
        _set_mode(path, _FOLDER_MODE)
        for inner in path.iterdir():
            refuse_link(inner)
            if inner.is_file():
                _set_mode(inner, _FILE_MODE)


def open_private(path: Path, flags: int) -> int:
    """Open a file that only its owner may read, making it if need be. Raises OSError."""
    descriptor = os.open(path, flags | os.O_CREAT | os.O_NOFOLLOW, _FILE_MODE)
    try:
        _set_mode(descriptor, _FILE_MODE)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def refuse_link(path: Path) -> None:
    """Raise OSError if a path is a symbolic link, or a pipe or device, which could be read for ever."""
    if path.is_symlink():
        message = f"{path.name} is a symbolic link, which could lead out of the data directory"
        raise OSError(errno.ELOOP, message, str(path))
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, f"{path.name} is neither a file nor a folder", str(path))


def _set_mode(file: Path | int, mode: int) -> None:
    # Some mounted file systems have no modes of their own: whoever mounted them chose who may read.
    if os.stat(file).st_mode & 0o777 != mode:  # noqa: PTH116 - also of a descriptor
        with suppress(PermissionError, NotImplementedError):
            os.chmod(file, mode)  # noqa: PTH101


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
