"""The file by which a script learns that the emulator is ready, and everything about it.

It is there exactly while the emulator it describes is up: a script that waits for it never reads
what an earlier run left. It holds a token, so only its owner may read it.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from hosting_emulator_cli.files import PRIVATE, write_whole
from hosting_emulator_cli.groups import Failure


class ReadyFile:
    """Used around a run: what lay there before goes, and comes back if nothing became ready."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._before: str | None = None
        self._written: str | None = None

    def __enter__(self) -> ReadyFile:
        if not self._path.parent.is_dir():
            raise Failure(f"cannot write {self._path}: no such directory")
        if self._path.is_file():
            try:
                self._before = self._path.read_text(encoding="utf-8", errors="surrogateescape")
                self._path.unlink()
            except OSError as error:
                raise Failure(f"cannot replace {self._path}: {error.strerror}") from error
        return self

    def write(self, text: str) -> None:
        """Put the file there, whole at once. Raises Failure."""
        write_whole(self._path, text, mode=PRIVATE)
        self._written = text

    def __exit__(self, *_: object) -> None:
        # A failed start (the port is taken, say by the one whose file this is) changes nothing.
        with suppress(OSError, Failure):
            if self._written is not None:
                if self._path.read_text(encoding="utf-8") == self._written:
                    self._path.unlink()
            elif self._before is not None:
                write_whole(self._path, self._before, mode=PRIVATE)
