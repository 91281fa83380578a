"""Shows the progress of `judge` on stderr: causes as they are found and, on a terminal, a bar."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hosting_emulator.sdk.text import count_text
from hosting_emulator_cli import output as out
from hosting_emulator_cli.printable import printable

if TYPE_CHECKING:
    from rich.progress import Progress

    from hosting_emulator_lab.judge.alteration_trials import AlteredTrial
    from hosting_emulator_lab.judge.cause_texts import CauseText
    from hosting_emulator_lab.judge.causes import Symptom
    from hosting_emulator_lab.judge.client_judge import Listener
    from hosting_emulator_lab.judge.run_results import CleanRun
    from hosting_emulator_lab.judge.trial_plan import TrialPlan
    from hosting_emulator_lab.judge.trials import Trial


@contextmanager
def show_judging() -> Iterator[Listener]:
    """Yield a listener that shows the judgment's progress."""
    if not out.is_terminal(sys.stderr):
        yield _Lines()
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=out.console(sys.stderr), transient=True) as bar:
        yield _Bar(bar)


class _Lines:
    """Prints one line for the plan and one for each cause."""

    def on_plan(self, plan: TrialPlan, clean: CleanRun) -> None:
        out.say(plan_line(plan, clean))

    def on_trial(self, trial: Trial, tried: int, planned: int) -> None:
        pass

    def on_alteration(self, trial: AlteredTrial, tried: int, planned: int) -> None:
        pass

    def on_cause(self, text: CauseText, symptom: Symptom) -> None:
        out.say(cause_line(text, symptom))


class _Bar:
    """Shows a progress bar, the most recently finished trial, and each cause."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._task = bar.add_task("clean runs", total=None)

    def on_plan(self, plan: TrialPlan, clean: CleanRun) -> None:
        self._bar.console.print(plan_line(plan, clean), markup=False, highlight=False)
        self._bar.update(self._task, total=plan.trial_count)

    def on_trial(self, trial: Trial, tried: int, planned: int) -> None:
        self._bar.update(self._task, completed=tried, description=printable(str(trial)))

    def on_alteration(self, trial: AlteredTrial, tried: int, planned: int) -> None:
        description = printable(str(trial))
        self._bar.update(self._task, completed=tried, total=planned, description=description)

    def on_cause(self, text: CauseText, symptom: Symptom) -> None:
        self._bar.console.print(cause_line(text, symptom), markup=False, highlight=False)


def plan_line(plan: TrialPlan, clean: CleanRun) -> str:
    """Return the line that says what will be tried."""
    requests = count_text(clean.observation.request_count, "request")
    trials = count_text(plan.trial_count, "trial")
    return (
        f"{requests} in the clean run: {trials} planned. Causes are listed as soon as they are seen, "
        "and the report may merge them."
    )


def cause_line(text: CauseText, symptom: Symptom) -> str:
    """Return the line about a cause that was found. The report may merge it into another one."""
    return printable(f"seen so far: {text.severity}: {text.title} [{text.id}] in {symptom.trial}")
