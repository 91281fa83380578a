"""The exception for a scenario that cannot be used."""

from __future__ import annotations

from collections.abc import Sequence


class ScenarioError(Exception):
    """A scenario cannot be used.

    The text of the error has a line `file:line:column: message` for each mistake. Lines and columns
    count from 1, and line 0 stands for the whole file. The attributes describe the first mistake in
    the file's order. `more` contains an error for each of the other mistakes.
    """

    def __init__(
        self, file: str, line: int, column: int, message: str, more: Sequence[ScenarioError] = ()
    ) -> None:
        position = f"{file}:{line}:{column}" if line else file
        super().__init__("\n".join([f"{position}: {message}", *map(str, more)]))
        self.file = file
        self.line = line
        self.column = column
        self.message = message
        self.more = more

    def alone(self) -> ScenarioError:
        """Return an error that contains only the first mistake."""
        return ScenarioError(self.file, self.line, self.column, self.message)
