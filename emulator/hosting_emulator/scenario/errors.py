"""The error for a scenario that cannot be used."""

from __future__ import annotations

from collections.abc import Sequence


class ScenarioError(Exception):
    """A scenario cannot be used. `str()` has one line per mistake: `file:line:column: message`.

    Lines and columns count from 1. Line 0 stands for the whole file. The attributes describe the
    first mistake in the file's order; `more` holds the errors for the other mistakes.
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
        """Return the error for the first mistake only."""
        return ScenarioError(self.file, self.line, self.column, self.message)
