"""Finds private keys in files."""

from __future__ import annotations

from pathlib import Path


def files_with_a_private_key(folder: Path) -> list[Path]:
    """Return the files below a folder that contain a private key."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return [path for path in files if b"PRIVATE KEY" in path.read_bytes()]
