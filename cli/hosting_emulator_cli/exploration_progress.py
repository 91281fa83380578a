"""Shows the progress of an exploration on stderr: failures and, on a terminal, a bar."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hosting_emulator_cli import output as out
from hosting_emulator_cli.printable import printable
from hosting_emulator_lab.judge.exploration_text import result_text
from hosting_emulator_lab.judge.trial_results import TrialResult

#: A function that shows a new result, and the number of points that have a result.
ShowResult = Callable[[TrialResult, int], None]


@contextmanager
def show_progress(result_count: int, point_count: int) -> Iterator[ShowResult]:
    """Yield a function that shows each new result.

    `result_count` is the number of points that already have a result. `point_count` is the total
    number of points.
    """
    if point_count and out.is_terminal(sys.stderr):
        with _show_bar(result_count, point_count) as show:
            yield show
    else:
        yield _show_lines(point_count)


def _show_lines(point_count: int) -> ShowResult:
    def show(result: TrialResult, count: int) -> None:
        if not result.is_fine:
            out.say(f"[{count}/{point_count}] {printable(result_text(result))}")

    return show


@contextmanager
def _show_bar(result_count: int, point_count: int) -> Iterator[ShowResult]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn
    from rich.text import Text

    columns = ("Exploring", BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=out.console(sys.stderr), transient=True) as bar:
        task = bar.add_task("", total=point_count, completed=result_count)

        def show(result: TrialResult, count: int) -> None:
            bar.update(task, completed=count)
            if not result.is_fine:
                bar.console.print(Text.from_ansi(result_text(result, color=True)))

        yield show
