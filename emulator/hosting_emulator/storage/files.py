"""Writes private files atomically: only the owner can read them, and a crash leaves the old or new file.

File modes do not depend on the umask or on an earlier file. Symbolic links and pipes are refused, because
a data directory may come from someone else, and no link may lead out of it.
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
    """Create a folder that only its owner can enter, or protect an existing one. Raises OSError."""
    refuse_link(path)
    path.mkdir(parents=True, exist_ok=True, mode=_FOLDER_MODE)
    _set_mode(path, _FOLDER_MODE)


def make_private(path: Path) -> None:
    """Protect a file, or a folder and its files, if it exists. Raises OSError, for example for a link."""
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
    """Open a file that only its owner can read, and create it if necessary. Raises OSError."""
    descriptor = os.open(path, flags | os.O_CREAT | os.O_NOFOLLOW, _FILE_MODE)
    try:
        _set_mode(descriptor, _FILE_MODE)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def refuse_link(path: Path) -> None:
    """Raise OSError if a path is a symbolic link, a pipe or a device. Pipes could block forever."""
    if path.is_symlink():
        message = f"{path.name} is a symbolic link, which could lead out of the data directory"
        raise OSError(errno.ELOOP, message, str(path))
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, f"{path.name} is neither a file nor a folder", str(path))


def _set_mode(file: Path | int, mode: int) -> None:
    # Some mounted file systems have no modes, because mount options define who can read the files.
    if os.stat(file).st_mode & 0o777 != mode:  # noqa: PTH116 - also of a descriptor
        with suppress(PermissionError, NotImplementedError):
            os.chmod(file, mode)  # noqa: PTH101


def write_atomically(path: Path, data: bytes | Iterable[bytes], *, sync: bool = True) -> None:
    """Write to a temporary file next to `path` and rename it into place. Raises OSError.

    `data` may be an iterable of pieces. If it raises an error, the old file remains unchanged. Without
    `sync`, the new file survives a crash of the process, but not of the machine.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        temporary.unlink(
            missing_ok=True
        )  # left by a process with the same id or by another program
        descriptor = open_private(temporary, os.O_WRONLY | os.O_EXCL)
        with os.fdopen(descriptor, "wb") as file:
            if isinstance(data, bytes):
                file.write(data)
            else:
                file.writelines(data)
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
    """Make a rename in a directory survive a crash of the machine, if the system supports that.

    Some systems cannot open or sync a directory. This is not reported as an error, because the rename
    has happened, and callers would conclude from an error that the old file is still in place.
    """
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
