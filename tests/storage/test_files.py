"""Private files, and the id of the machine's boot."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hosting_emulator.storage.files import open_private
from hosting_emulator.storage.format import boot_id


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
