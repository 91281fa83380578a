"""Progress: what is being done, once it takes longer than one waits without wondering."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from hosting_emulator_cli.output import console

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
    lock, ended, shown = threading.Lock(), threading.Event(), ExitStack()

    def begin() -> None:
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            *([BarColumn()] if of else []),
            TimeElapsedColumn(),
        )
        with lock:
            if not ended.is_set():
                progress = Progress(*columns, console=console(sys.stderr), transient=True)
                progress.add_task(label, total=of, completed=done)
                shown.enter_context(progress)

    timer = threading.Timer(PATIENCE_S, begin)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        with lock:
            ended.set()
            shown.close()
