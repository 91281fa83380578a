"""The exception raised for a scenario that cannot be used."""

from __future__ import annotations

from collections.abc import Sequence


class ScenarioError(Exception):
    """Raised if a scenario cannot be used.

    The error's text has a line `file:line:column: message` for each mistake. Lines and columns are
    counted from 1. Line 0 means the whole file. The attributes describe the mistake that comes
    first in the file, and `more` contains an error for each of the others.
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
