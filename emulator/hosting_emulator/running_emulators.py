"""Records of running emulators, through which other programs of the same user find them.

An emulator with a data directory writes its record to a file in this directory. Every emulator run
by `start` also writes its record to the registry, a private folder with a file for each running
emulator.

This module only writes and reads records. A record in a data directory is only a hint, because the
directory may have been copied or may come from somebody else. `sdk.discovery` decides whether to
use a record.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

#: The file in a data directory that contains the record of the emulator that is using the
#: directory.
ADDRESS_FILE = "address.json"
#: The file in a data directory that an emulator keeps locked while it is using the directory.
LOCK_FILE = "lock"
#: The maximum number of bytes in a record, which is enough for the two paths in it.
_MOST_BYTES = 32 * 1024
_PRIVATE_FOLDER = 0o700
_PRIVATE_FILE = 0o600


class AddressRefused(Exception):
    """Raised if a file does not contain a usable record. The message is a clause that says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmulatorRecord:
    """The record of a running emulator.

    `url` is the emulator's address on this machine. `instance` is a random id that the emulator
    itself also reports. `data_dir` is the absolute path of the data directory, or None if nothing
    is stored. `folder` is the folder in which the emulator was started.
    """

    url: str
    instance: str
    pid: int
    folder: str
    data_dir: str | None

    def to_json(self) -> bytes:
        """Return the content for a file with this record."""
        return json.dumps(asdict(self), indent=1).encode() + b"\n"


def read_record(path: Path) -> EmulatorRecord | None:
    """Read a record, or return None if the file does not exist.

    Raises AddressRefused if the file belongs to another user, is not a regular file, or does not
    contain a record.
    """
    try:
        content = _read_own_file(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise AddressRefused(f"{path} cannot be read ({(error.strerror or '').lower()})") from None
    return _record_in(content, path)


def _read_own_file(path: Path) -> bytes:
    """Read a regular file that belongs to this user. Raises OSError or AddressRefused."""
    # Without O_NONBLOCK, opening a pipe would block.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise AddressRefused(f"{path} is not a file")
        if status.st_uid != os.geteuid():
            raise AddressRefused(f"{path} belongs to another user")
        return os.read(descriptor, _MOST_BYTES)
    finally:
        os.close(descriptor)


def _record_in(content: bytes, path: Path) -> EmulatorRecord:
    try:
        document = json.loads(content)
        record = _checked_record(document)
    except (ValueError, TypeError, KeyError, RecursionError):
        raise AddressRefused(f"{path} does not contain an emulator's address") from None
    return record


def _checked_record(document: Mapping[str, Any]) -> EmulatorRecord:
    """Read a record from a JSON document.

    Raises TypeError, KeyError or ValueError if the document is not a valid record.
    """
    record = EmulatorRecord(
        url=document["url"],
        instance=document["instance"],
        pid=document["pid"],
        folder=document["folder"],
        data_dir=document["data_dir"],
    )
    texts = (record.url, record.instance, record.folder, record.data_dir or "")
    if not all(isinstance(text, str) for text in texts) or not isinstance(record.pid, int):
        raise TypeError
    # Raises UnicodeEncodeError, which is a ValueError, if a string cannot be a path.
    path_bytes(record.folder)
    path_bytes(record.data_dir or "")
    # The address is shown in messages, so it must not contain terminal control sequences.
    if not (record.url.isascii() and record.url.isprintable() and record.instance.isalnum()):
        raise ValueError
    return record


def path_bytes(text: str) -> bytes:
    """Return the bytes of a path that an emulator reports.

    Compare paths by their bytes, because the emulator may run in another locale. In the locale `C`,
    it reports each byte that is not ASCII as a lone surrogate. Raises UnicodeEncodeError if `text`
    cannot be a path.
    """
    return text.encode("utf-8", "surrogateescape")


def is_locked(path: Path) -> bool:
    """Return whether any process keeps a file locked. Raises OSError if the file cannot be opened.

    If the file does not exist, returns False.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return False
    try:
        return is_descriptor_locked(descriptor)
    finally:
        os.close(descriptor)


def is_descriptor_locked(descriptor: int) -> bool:
    """Return whether another process keeps a descriptor's file locked. Raises OSError."""
    try:
        # Take a shared lock and release it immediately, so that an emulator that is starting is not
        # refused.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
            raise
        return True
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    return False


# --- The registry --------------------------------------------------------------------------------


def registry_folder(*, create: bool = False) -> Path | None:
    """Return the private folder that contains this user's registry.

    With `create`, the folder is created if it does not exist. Returns None if there is no folder
    that only this user can use.
    """
    for folder in _candidates():
        with suppress(OSError):
            if create:
                folder.mkdir(mode=_PRIVATE_FOLDER, exist_ok=True)
            if _is_private(folder):
                return folder
    return None


def is_registry_refused() -> bool:
    """Return whether there are folders for the registry but other users could change all of them."""
    return registry_folder() is None and any(os.path.lexists(path) for path in _candidates())


def _candidates() -> list[Path]:
    """Return the possible folders for the registry, in order of preference.

    The first is in XDG_RUNTIME_DIR, if this variable is set. The second is in the folder for
    temporary files, which may not exist in a container with a read-only file system.
    """
    folders = []
    runtime_folder = Path(os.environ.get("XDG_RUNTIME_DIR", ""))
    if runtime_folder.is_absolute():
        folders.append(runtime_folder / "hosting-emulator")
    with suppress(FileNotFoundError):
        folders.append(Path(tempfile.gettempdir(), f"hosting-emulator-{os.geteuid()}"))
    return folders


def _is_private(folder: Path) -> bool:
    """Return whether only this user can use a folder. Another user may have created it."""
    status = folder.lstat()
    is_own = status.st_uid == os.geteuid()
    return stat.S_ISDIR(status.st_mode) and is_own and not status.st_mode & 0o077


@contextmanager
def registered(record: EmulatorRecord) -> Iterator[None]:
    """Keep a record in the registry during a `with` block. Its file stays locked until the process
    ends.

    The lock shows other programs that the process is still running. If there is no registry folder
    or the record cannot be written, nothing is registered.
    """
    path = None
    with suppress(OSError):
        path = _register(record)
    try:
        yield
    finally:
        if path is not None:
            with suppress(OSError):
                path.unlink()


def _register(record: EmulatorRecord) -> Path | None:
    folder = registry_folder(create=True)
    if folder is None:
        return None
    _remove_stale_records(folder)
    path = folder / f"{record.instance}.json"
    # The file gets its final name only once it is locked, because an unlocked record is considered
    # stale.
    temporary = path.with_suffix(".tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    # Do not close the descriptor, because the file must stay locked until the process ends.
    descriptor = os.open(temporary, flags, _PRIVATE_FILE)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.write(descriptor, record.to_json())
    temporary.rename(path)
    return path


def _remove_stale_records(folder: Path) -> None:
    """Remove the records of processes that were killed."""
    for path in folder.glob("*.json"):
        with suppress(OSError):
            if not is_locked(path):
                path.unlink()


def _record_files() -> list[Path]:
    """Return the files with records in all possible registry folders that only this user can use.

    All folders are read, because an emulator in another session may have used a different one.
    """
    files: list[Path] = []
    for folder in _candidates():
        with suppress(OSError):
            if _is_private(folder):
                files += folder.glob("*.json")
    return files


def registered_emulators() -> list[EmulatorRecord]:
    """Return the records of this user's running emulators, sorted by address."""
    records = []
    for path in _record_files():
        with suppress(OSError, AddressRefused):
            # An unlocked record belongs to a process that was killed, so skip it.
            if not is_locked(path):
                continue
            record = read_record(path)
            if record is not None:
                records.append(record)
    return sorted(records, key=lambda record: record.url)


def open_registered_record(instance: str) -> int | None:
    """Open an emulator's file in the registry, and return the descriptor.

    The file stays locked until the emulator's process ends, even if it is removed before that.
    Returns None if the emulator is not registered.
    """
    for path in _record_files():
        if path.stem == instance:
            with suppress(OSError):
                return os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    return None
