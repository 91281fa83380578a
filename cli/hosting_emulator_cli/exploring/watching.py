"""How an exploration is followed while it runs: a bar on a terminal, lines where there is none."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Self

from hosting_emulator.explore.telling import painted, plain, result_text
from hosting_emulator_cli.output import console, is_terminal, printable, say

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from hosting_emulator.explore.judging import Result


class Watched:
    """Says on stderr each result that matters as it comes; and on a terminal, how far it is."""

    def __init__(self, label: str, done: int, of: int) -> None:
        self._label, self._done, self._of = label, done, of
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        if self._of and is_terminal(sys.stderr):
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
            from rich.progress import TimeElapsedColumn as Elapsed

            words = TextColumn("{task.description}", markup=False)
            columns = (words, BarColumn(), MofNCompleteColumn(), Elapsed())
            self._progress = Progress(*columns, console=console(sys.stderr), transient=True)
            self._task = self._progress.add_task(self._label, total=self._of, completed=self._done)
            self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    def add(self, result: Result) -> None:
        """Note a result."""
        self._done += 1
        if self._progress is None:
            if not result.fine:
                say(f"[{self._done}/{self._of}] {printable(result_text(result, plain))}")
            return
        assert self._task is not None
        self._progress.update(self._task, completed=self._done)
        if not result.fine:
            from rich.text import Text

            self._progress.console.print(Text.from_ansi(result_text(result, painted)))
