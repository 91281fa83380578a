"""What is wrong with a scenario, said with its place: file, line, column."""

from __future__ import annotations


class ScenarioError(Exception):
    """A scenario cannot be used; `str()` is one line, `file:line:column: …`. Lines count from 1.

    Line 0 is no place in the file, but the whole of it.
    """

    def __init__(self, file: str, line: int, column: int, message: str) -> None:
        place = f"{file}:{line}:{column}" if line else file
        super().__init__(f"{place}: {message}")
        self.file, self.line, self.column, self.message = file, line, column, message
