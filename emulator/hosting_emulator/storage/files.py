"""Writes private files atomically.

Files can be read only by their owner. A crash during a write leaves either the complete old file or
the complete new one.

Neither the umask nor an existing file's mode changes this. Symbolic links and pipes are refused,
because a data directory may come from someone else, and its links must not lead to files elsewhere.
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
    """Create a folder with mode 0700, or set the mode of an existing folder to 0700. Raises OSError."""
    refuse_link(path)
    path.mkdir(parents=True, exist_ok=True, mode=_FOLDER_MODE)
    _set_mode(path, _FOLDER_MODE)


def make_private(path: Path) -> None:
    """Make a file, or a folder and the files in it, accessible only to the owner.

    Does nothing if the path does not exist. Raises OSError, for example for a symbolic link.
    """
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
    """Open or create a file with mode 0600, and return its descriptor. Raises OSError."""
    descriptor = os.open(path, flags | os.O_CREAT | os.O_NOFOLLOW, _FILE_MODE)
    try:
        _set_mode(descriptor, _FILE_MODE)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def refuse_link(path: Path) -> None:
    """Raise OSError if a path is a symbolic link, a pipe or a device.

    Pipes are refused because reading a pipe could block forever.
    """
    if path.is_symlink():
        message = f"{path.name} is a symbolic link, which could lead out of the data directory"
        raise OSError(errno.ELOOP, message, str(path))
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, f"{path.name} is neither a file nor a folder", str(path))


def _set_mode(file: Path | int, mode: int) -> None:
    # Ignore errors, because some file systems have no modes and control access through mount
    # options instead.
    if os.stat(file).st_mode & 0o777 != mode:  # noqa: PTH116 - also of a descriptor
        with suppress(PermissionError, NotImplementedError):
            os.chmod(file, mode)  # noqa: PTH101


def write_atomically(path: Path, data: bytes | Iterable[bytes], *, sync: bool = True) -> None:
    """Write `data` to a temporary file, then rename that file to `path`. Raises OSError if this
    fails.

    `data` can be an iterable of byte strings. If the iterable raises an exception, the old file
    remains unchanged. Without `sync`, the new file survives a crash of the process, but may not
    survive a crash of the machine.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        # An earlier process with the same id may have left this file behind.
        temporary.unlink(missing_ok=True)
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
    """Sync a directory, so that a rename in it survives a crash of the machine.

    A failed sync raises no error, because some systems cannot sync directories, and because callers
    would conclude from an error that the rename did not happen.
    """
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
