"""What is kept is its owner's alone to read, and is kept where it seems to be.

Modes are set whatever the umask says, and whatever lay there before. Symbolic links are refused: a
data directory can come with a folder somebody else packed, and must not lead out of itself.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path

FOLDER_MODE = 0o700
FILE_MODE = 0o600


def make_private_folder(path: Path) -> None:
    """Make a folder that only its owner may enter, or make an existing one so. Raises OSError."""
    refuse_link(path)
    path.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
    _set_mode(path, FOLDER_MODE)


def make_private(path: Path) -> None:
    """Make a file so, or a folder with the files in it, if it is there. Raises OSError, also at a link."""
    refuse_link(path)
    if path.is_file():
        _set_mode(path, FILE_MODE)
    elif path.is_dir():
        _set_mode(path, FOLDER_MODE)
        for inner in path.iterdir():
            refuse_link(inner)
            if inner.is_file():
                _set_mode(inner, FILE_MODE)


def open_private(path: Path, flags: int) -> int:
    """Open a file that only its owner may read, making it if need be. Raises OSError."""
    descriptor = os.open(path, flags | os.O_CREAT | os.O_NOFOLLOW, FILE_MODE)
    try:
        _set_mode(descriptor, FILE_MODE)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def refuse_link(path: Path) -> None:
    """Raise OSError if a path is a symbolic link."""
    if path.is_symlink():
        message = f"{path.name} is a symbolic link, which could lead out of the data directory"
        raise OSError(errno.ELOOP, message, str(path))


def _set_mode(file: Path | int, mode: int) -> None:
    # Some mounted file systems have no modes of their own: whoever mounted them chose who may read.
    if os.stat(file).st_mode & 0o777 != mode:  # noqa: PTH116 - also of a descriptor
        with suppress(PermissionError, NotImplementedError):
            os.chmod(file, mode)  # noqa: PTH101
