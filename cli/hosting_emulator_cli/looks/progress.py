"""Progress: what is being done, once it takes longer than one waits without wondering."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hosting_emulator_cli.looks.terminal import console

if TYPE_CHECKING:
    from rich.progress import Progress

#: Shorter work shows nothing, in seconds of real time.
PATIENCE_S = 1.0


@contextmanager
def working(label: str, *, done: int = 0, of: int | None = None) -> Iterator[None]:
    """Show on stderr, if that is a terminal, that work goes on: `done` of `of`, if it is counted.

    It appears after PATIENCE_S and is gone when the work is done.
    """
    if not sys.stderr.isatty():
        yield
        return
    shown = _Shown(label, done, of)
    timer = threading.Timer(PATIENCE_S, shown.begin)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        shown.end()


class _Shown:
    """A line that appears late, or never."""

    def __init__(self, label: str, done: int, of: int | None) -> None:
        self._label = label
        self._done = done
        self._of = of
        self._lock = threading.Lock()
        self._ended = False
        self._progress: Progress | None = None

    def begin(self) -> None:
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        with self._lock:
            if self._ended:
                return
            bar = [BarColumn()] if self._of else []
            self._progress = Progress(
                SpinnerColumn(),
                TextColumn("{task.description}", markup=False),
                *bar,
                TimeElapsedColumn(),
                console=console(sys.stderr),
                transient=True,
            )
            self._progress.add_task(self._label, total=self._of, completed=self._done)
            self._progress.start()

    def end(self) -> None:
        with self._lock:
            self._ended = True
            if self._progress is not None:
                self._progress.stop()
