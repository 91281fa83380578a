"""What is wrong with a scenario, said with its place: file, line, column."""

from __future__ import annotations


class ScenarioError(Exception):
    """A scenario cannot be used; `str()` is one line, `file:line:column: …`. Lines count from 1."""

    def __init__(self, file: str, line: int, column: int, message: str) -> None:
        super().__init__(f"{file}:{line}:{column}: {message}")
        self.file, self.line, self.column, self.message = file, line, column, message
