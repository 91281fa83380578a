"""Plain data that remembers where it stood in a file."""

from __future__ import annotations

from typing import Any, TypeAlias

from hosting_emulator.scenario.errors import ScenarioError

Path: TypeAlias = tuple[str | int, ...]


class Located:
    """Plain data, and the place (line, column; from 1) of every key and value in it."""

    def __init__(self, file: str, data: Any, places: dict[Path, tuple[int, int]]) -> None:
        self.file = file
        self.data = data
        self._places = places

    def error(self, path: Path, message: str) -> ScenarioError:
        """Return an error at a path; where nothing stands there, at what it would belong to."""
        while path and path not in self._places:
            path = path[:-1]
        line, column = self._places.get(path, (1, 1))
        return ScenarioError(self.file, line, column, message)

    def line(self, path: Path) -> int:
        """Return the line of a path."""
        return self._places.get(path, (1, 1))[0]
