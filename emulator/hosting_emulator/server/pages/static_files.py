"""Files that pages load: served from a table of names that is made once, from the package alone.

What a request names is looked up in the table and nowhere else, so no path reaches the file system.
Each file has an ETag: a browser keeps it and asks whether it is still the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

STATIC_PATH: Final = "/_emulator/static"
"""Where the files are served, each under its name in the table."""
#: What stands before a file's name in the table, and the folder of this package it lies in.
_FOLDERS: Final = (("", "static/files"), ("dashboard/", "dashboard/static"))
_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
}
_PLAIN: Final = "text/plain; charset=utf-8"


@dataclass(frozen=True)
class StaticFile:
    """One file of the table; it is read when it is first asked for."""

    source: Traversable

    @cached_property
    def body(self) -> bytes:
        """All its bytes."""
        return self.source.read_bytes()

    @cached_property
    def etag(self) -> str:
        """A strong validator: it changes with the bytes (RFC 9110, 8.8.3)."""
        return f'"{sha256(self.body).hexdigest()[:32]}"'

    @property
    def content_type(self) -> str:
        """The media type; licences and all else unknown are plain text."""
        _, dot, suffix = self.source.name.rpartition(".")
        return _TYPES.get(dot + suffix, _PLAIN)


@cache
def table() -> dict[str, StaticFile]:
    """Return every file that is served, by its name below `STATIC_PATH`."""
    found: dict[str, StaticFile] = {}
    for prefix, folder in _FOLDERS:
        _collect(files("hosting_emulator.server").joinpath(folder), prefix, found)
    return found


def _collect(folder: Traversable, prefix: str, found: dict[str, StaticFile]) -> None:
    for entry in folder.iterdir():
        name = f"{prefix}{entry.name}"
        if entry.is_dir():
            _collect(entry, f"{name}/", found)
        else:
            found[name] = StaticFile(entry)
