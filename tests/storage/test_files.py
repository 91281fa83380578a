"""Private files, their writing, and the id of the machine's boot."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from hosting_emulator.storage.files import (
    make_private,
    make_private_folder,
    open_private,
    refuse_link,
    write_atomically,
)
from hosting_emulator.storage.format import boot_id


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_private_folder_is_created_with_its_parents(tmp_path: Path):
    folder = tmp_path / "app" / "data"

    make_private_folder(folder)
    new_mode = mode(folder)
    folder.chmod(0o755)
    make_private_folder(folder)

    assert (new_mode, mode(folder)) == (0o700, 0o700)


def test_an_existing_folder_and_its_files_become_private(tmp_path: Path):
    folder = tmp_path / "data"
    folder.mkdir(mode=0o755)
    for name in ("ca.key", "ca.pem"):
        (folder / name).touch(mode=0o644)
    other = tmp_path / "other"
    other.touch(mode=0o644)

    for path in (folder, other, tmp_path / "missing"):
        make_private(path)

    assert [mode(path) for path in (folder, *folder.iterdir(), other)] == [0o700, *[0o600] * 3]


def test_a_link_or_a_pipe_is_refused_in_place_of_a_private_file(tmp_path: Path):
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    for path, reason in (
        (link, "link is a symbolic link, which could lead out of the data directory"),
        (pipe, "pipe is neither a file nor a folder"),
    ):
        with pytest.raises(OSError, match=reason) as refusal:
            refuse_link(path)
        assert (refusal.value.strerror, refusal.value.filename) == (reason, str(path))
        for function in (make_private, make_private_folder):
            with pytest.raises(OSError, match=reason):
                function(path)
    pipe.unlink()
    with pytest.raises(OSError, match="link is a symbolic link"):
        make_private(tmp_path)


def test_a_file_is_synced_before_it_gets_its_name_and_its_folder_after_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "file"
    syncs: list[tuple[bool, bool]] = []

    def fsync(descriptor: int) -> None:
        syncs.append((stat.S_ISDIR(os.fstat(descriptor).st_mode), path.exists()))

    monkeypatch.setattr(os, "fsync", fsync)
    write_atomically(path, b"first", sync=False)
    assert (path.read_bytes(), syncs) == (b"first", [])

    path.unlink()
    write_atomically(path, [b"sec", b"ond"])
    assert (path.read_bytes(), syncs) == (b"second", [(False, False), (True, True)])


def test_a_write_leaves_no_file_open(tmp_path: Path):
    before = sorted(Path("/dev/fd").iterdir())

    write_atomically(tmp_path / "file", b"content")

    assert sorted(Path("/dev/fd").iterdir()) == before


@pytest.mark.parametrize("step", ["open", "fsync"])
def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
):
    path = tmp_path / "file"
    write_atomically(path, b"old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, step, fail)
        with pytest.raises(OSError, match="No space left"):
            write_atomically(path, b"new")

    assert path.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def test_a_folder_that_cannot_be_synced_causes_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "file"
    fsync = os.fsync

    def files_only(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(22, "Invalid argument")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", files_only)

    write_atomically(path, b"new")

    assert path.read_bytes() == b"new"


def test_content_that_cannot_be_produced_leaves_the_old_file(tmp_path: Path):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    with pytest.raises(TypeError):
        write_atomically(path, [b"new", 5])  # type: ignore[list-item]

    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("file", b"old")]


def test_a_file_whose_mode_cannot_be_changed_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "file"
    path.touch()
    path.chmod(0o644)
    before = sorted(Path("/dev/fd").iterdir())

    def fail(*_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "chmod", fail)
    with pytest.raises(OSError, match="Input/output error"):
        open_private(path, os.O_RDWR)

    assert sorted(Path("/dev/fd").iterdir()) == before


def test_a_system_without_boot_ids_has_an_empty_boot_id(monkeypatch: pytest.MonkeyPatch):
    def fail(path: Path) -> str:
        raise FileNotFoundError(2, "No such file or directory", str(path))

    monkeypatch.setattr(Path, "read_text", fail)

    assert boot_id() == ""
