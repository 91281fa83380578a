"""Data directories and registries as running emulators leave them, for a server that a test chooses."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hosting_emulator.running_emulators import (
    ADDRESS_FILE,
    LOCK_FILE,
    EmulatorRecord,
    registered,
    registry_folder,
)
from tests.support.control_samples import INFO

INSTANCE = str(INFO["instance"])


def record_of(
    folder: Path, url: str, *, is_stored: bool = True, instance: str = INSTANCE, pid: int = 4242
) -> EmulatorRecord:
    """Return the record of an emulator whose data directory is `folder`, or that stores nothing."""
    return EmulatorRecord(
        url=url,
        instance=instance,
        pid=pid,
        folder=str(folder.parent),
        data_dir=str(folder) if is_stored else None,
    )


def write_address(folder: Path, url: str) -> None:
    """Write the address of an emulator into a data directory, which nobody keeps locked."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / LOCK_FILE).touch()
    (folder / ADDRESS_FILE).write_bytes(record_of(folder, url).to_json())


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep a file locked during a block, as a running emulator does."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def running_in(folder: Path, url: str) -> Iterator[None]:
    """Let a data directory look during a block as if an emulator at `url` used it."""
    write_address(folder, url)
    with locked(folder / LOCK_FILE):
        yield


@contextmanager
def registered_emulator(
    folder: Path, url: str, *, is_stored: bool = True, instance: str = INSTANCE, pid: int = 4242
) -> Iterator[Path]:
    """Register an emulator during a block, and yield the file in the registry."""
    registry = registry_folder(create=True)
    assert registry is not None
    path = registry / f"{instance}.json"
    record = record_of(folder, url, is_stored=is_stored, instance=instance, pid=pid)
    path.write_bytes(record.to_json())
    with locked(path):
        yield path


@contextmanager
def register_as_emulators_do(folder: Path, url: str) -> Iterator[None]:
    """Register an emulator during a block with the product's own code."""
    with registered(record_of(folder, url)):
        yield
