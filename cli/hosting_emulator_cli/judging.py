"""Implements `judge`: runs the command repeatedly, shows progress and writes the reports."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hosting_emulator_cli import output as out
from hosting_emulator_cli.client_runs import ClientRuns
from hosting_emulator_cli.client_tools import (
    ReportWriters,
    ToolOptions,
    clean_run_failure,
    connections_remark,
    default_jobs,
    observation_failures,
    run_tool,
    show_output,
    watch_connections,
    write_reports,
)
from hosting_emulator_cli.judging_progress import show_judging
from hosting_emulator_cli.main import Failure, failing
from hosting_emulator_cli.printable import printable, printable_lines
from hosting_emulator_lab.judge.clean_runs import ScaledRunFailed
from hosting_emulator_lab.judge.client_judge import ClientJudge, JudgeChoices
from hosting_emulator_lab.judge.judgment_document import judgment_document
from hosting_emulator_lab.judge.judgment_junit import judgment_junit
from hosting_emulator_lab.judge.judgment_page import judgment_page
from hosting_emulator_lab.judge.judgment_text import judgment_text
from hosting_emulator_lab.judge.run_results import CleanRunFailed
from hosting_emulator_lab.judge.single_trial import SingleTrial, try_once
from hosting_emulator_lab.judge.trial_runs import TrialRuns
from hosting_emulator_lab.run_conditions import RunsStopped

if TYPE_CHECKING:
    from hosting_emulator.messages import Severity
    from hosting_emulator_lab.judge.judgment import Judgment
    from hosting_emulator_lab.judge.trials import Trial


@dataclass(frozen=True, kw_only=True)
class CommandJudgment(ToolOptions):
    """A command to judge, and the options that the user chose.

    `budget_s` limits the judgment, in real seconds. If `trial` is set, it is the only trial to
    make. `repeat` returns the command line that repeats a trial, which is passed as text.
    """

    budget_s: float
    severity: Severity
    skip_rules: Sequence[str]
    trial: Trial | None
    repeat: Callable[[str], str]


def judge(options: CommandJudgment) -> int:
    """Judge a command, and return the exit code. Raises Failure if the command cannot be judged."""
    return run_tool(
        options.settings,
        _CommandJudge(options).run,
        options.report_files,
        tool="judge",
        result="judgment",
    )


class _CommandJudge:
    """One judgment of a command."""

    def __init__(self, options: CommandJudgment) -> None:
        self._options = options
        self._client_runs = ClientRuns(
            options.command, options.settings, options.user, options.exports
        )
        self._trial_runs = TrialRuns(
            self._client_runs.perform, limit_s=options.limit_s, skip_rules=options.skip_rules
        )

    async def run(self) -> int:
        """Judge the command, and return the exit code. Raises Failure."""
        return await self._client_runs.use(self._judge)

    def _judge(self) -> int:
        """Perform all runs, write the reports, and return the exit code. Raises Failure."""
        try:
            with observation_failures("judge"):
                if self._options.trial is not None:
                    return self._judge_one_trial(self._options.trial)
                return self._judge_all()
        except RunsStopped:
            return 2
        except CleanRunFailed as error:
            raise clean_run_failure(error, "judge", limit_option="--budget") from error
        except ScaledRunFailed as error:
            show_output(error.end)
            raise Failure(
                f"the command {error} when the world's clock runs, although it succeeds when polling "
                "advances the clock. The command's output is above"
            ) from error

    def _judge_all(self) -> int:
        options = self._options
        choices = JudgeChoices(
            command=shlex.join(options.command),
            budget_s=options.budget_s,
            jobs=options.jobs or default_jobs(8, least=1, most=32),
            processors=os.cpu_count() or 1,
            severity=options.severity,
        )
        with show_judging() as listener:
            judge = ClientJudge(
                self._trial_runs, choices, listener, lambda: self._client_runs.stop_reason
            )
            judgment = self._watched_judgment(judge)
        self._write_reports(judgment)
        return judgment.exit_code

    def _watched_judgment(self, judge: ClientJudge) -> Judgment:
        """Judge the command. If it connected to other machines, add a remark to the judgment."""
        with watch_connections(self._options) as watch:
            judgment = judge.judge()
        return replace(judgment, remarks=[*judgment.remarks, *connections_remark(watch)])

    def _judge_one_trial(self, trial: Trial) -> int:
        """Perform one trial, print the command's output and the result, and return the exit code."""
        options = self._options
        with failing(ValueError, prefix="--trial: "), watch_connections(options) as watch:
            single: SingleTrial = try_once(
                self._trial_runs, trial, limit_s=options.budget_s, severity=options.severity
            )
        for line in single.printed_lines:
            out.put(printable(line))
        out.say(printable_lines(single.text))
        for remark in connections_remark(watch):
            out.say(remark)
        return single.exit_code

    def _write_reports(self, judgment: Judgment) -> None:
        """Write the requested files, and print the report. Raises Failure."""
        repeat = self._options.repeat
        writers = ReportWriters(
            junit=lambda: judgment_junit(judgment, repeat),
            page=lambda: judgment_page(judgment, repeat),
            document=lambda: judgment_document(judgment, repeat),
            text=lambda color: judgment_text(judgment, repeat, color=color),
        )
        write_reports(self._options, writers)
