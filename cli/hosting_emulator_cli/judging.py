"""Implements `judge`: runs the command repeatedly, shows progress and writes the reports."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hosting_emulator_cli import output as out
from hosting_emulator_cli.client_runs import ClientRuns, run_tool
from hosting_emulator_cli.files import write_whole
from hosting_emulator_cli.judging_progress import show_judging
from hosting_emulator_cli.main import Failure, failing
from hosting_emulator_cli.outside_connections import ConnectionWatch
from hosting_emulator_cli.printable import printable, printable_lines
from hosting_emulator_lab.judge.clean_runs import ScaledRunFailed
from hosting_emulator_lab.judge.client_judge import ClientJudge, JudgeChoices
from hosting_emulator_lab.judge.judgment_document import judgment_document
from hosting_emulator_lab.judge.judgment_junit import judgment_junit
from hosting_emulator_lab.judge.judgment_page import judgment_page
from hosting_emulator_lab.judge.judgment_text import judgment_text
from hosting_emulator_lab.judge.run_observation import JudgeFailed, TooManyRequests
from hosting_emulator_lab.judge.run_results import CleanRunFailed, RunEnd
from hosting_emulator_lab.judge.single_trial import SingleTrial, try_once
from hosting_emulator_lab.judge.trial_runs import TrialRuns
from hosting_emulator_lab.run_conditions import RunsStopped

if TYPE_CHECKING:
    from hosting_emulator.messages import Severity
    from hosting_emulator.settings import Settings
    from hosting_emulator_lab.judge.judgment import Judgment
    from hosting_emulator_lab.judge.trials import Trial

_SERVER_HINT = (
    "If it is a server, wrap it: hosting-emulator judge -- sh -c 'start it; drive it; stop it'. If it "
    "takes longer, give a larger --budget"
)


@dataclass(frozen=True, kw_only=True)
class CommandJudgment:
    """A command to judge, its emulator's settings, the user's choices, and the reports to write.

    `budget_s` limits the judgment, and `limit_s` limits each run, both in real seconds. If `limit_s`
    is None, the limit depends on the duration of the clean run. If `trial` is set, it is the only
    trial to make. If `sealed` is true, this process already has a network without other machines, so
    connections to them need no watch. `repeat` returns the command line that makes a trial, given by
    its text, again.
    """

    command: Sequence[str]
    settings: Settings
    user: str | None
    exports: Sequence[tuple[str, str]]
    budget_s: float
    limit_s: float | None
    jobs: int | None
    severity: Severity
    skip_rules: Sequence[str]
    trial: Trial | None
    junit_file: Path | None
    html_file: Path | None
    as_json: bool
    sealed: bool
    repeat: Callable[[str], str]


def judge(options: CommandJudgment) -> int:
    """Judge a command, and return the exit code. Raises Failure if the command cannot be judged."""
    return run_tool(
        options.settings,
        _CommandJudge(options).run,
        (options.junit_file, options.html_file),
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
        """Make all runs, write the reports, and return the exit code. Raises Failure."""
        try:
            if self._options.trial is not None:
                return self._judge_one_trial(self._options.trial)
            return self._judge_all()
        except RunsStopped:
            return 2
        except JudgeFailed as error:
            raise Failure(f"the requests of a run could not be judged: {error}") from error
        except TooManyRequests as error:
            raise Failure(f"cannot judge the command: {error}") from error
        except CleanRunFailed as error:
            raise self._clean_failure(error) from error
        except ScaledRunFailed as error:
            self._show_output(error.end)
            raise Failure(
                f"the command {error} when the world's clock runs, although it succeeds when polling "
                "moves the clock. The command's output is above"
            ) from error

    def _judge_all(self) -> int:
        options = self._options
        choices = JudgeChoices(
            command=shlex.join(options.command),
            budget_s=options.budget_s,
            jobs=_job_count(options.jobs),
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
        """Judge the command. Its connections to other machines become a remark in the judgment."""
        with self._watch() as watch:
            judgment = judge.judge()
        if watch is None or not watch.sentence():
            return judgment
        return replace(judgment, remarks=[*judgment.remarks, watch.sentence()])

    def _watch(self) -> AbstractContextManager[ConnectionWatch | None]:
        """Return a watch for connections to other machines, or None in a network without them."""
        return nullcontext() if self._options.sealed else ConnectionWatch()

    def _judge_one_trial(self, trial: Trial) -> int:
        """Make a single trial, print the command's output and the result, and return the exit code."""
        options = self._options
        with failing(ValueError, prefix="--trial: "), self._watch() as watch:
            single: SingleTrial = try_once(
                self._trial_runs, trial, limit_s=options.budget_s, severity=options.severity
            )
        for line in single.printed_lines:
            out.put(printable(line))
        out.say(printable_lines(single.text))
        if watch is not None and watch.sentence():
            out.say(watch.sentence())
        return single.exit_code

    def _clean_failure(self, error: CleanRunFailed) -> Failure:
        """Print the output of a clean run that failed, and return the error."""
        self._show_output(error.end)
        if error.end.hung:
            return Failure(f"the command {error} even without failures. {_SERVER_HINT}")
        occasion = " when it runs a second time" if error.is_second else ""
        return Failure(
            f"the command {error}{occasion} even without failures; judge needs clean runs that succeed. "
            "The command's output is above"
        )

    def _show_output(self, end: RunEnd) -> None:
        for line in end.output:
            out.say(f"| {printable(line)}")

    def _write_reports(self, judgment: Judgment) -> None:
        """Write the requested files, and print the report. Raises Failure."""
        options = self._options
        if options.junit_file is not None:
            write_whole(options.junit_file, judgment_junit(judgment, options.repeat))
        if options.html_file is not None:
            write_whole(options.html_file, judgment_page(judgment, options.repeat))
        if options.as_json:
            out.put_json(judgment_document(judgment, options.repeat))
        elif out.has_color():
            out.put(judgment_text(judgment, options.repeat, color=True))
        else:
            out.put(printable_lines(judgment_text(judgment, options.repeat)))


def _job_count(jobs: int | None) -> int:
    """Return the number of parallel runs.

    By default, there are eight runs per processor (at most 32), because runs spend most of their
    time waiting: for the delay that a response asks for, or for a response that never arrives.
    """
    return jobs or min(32, 8 * (os.cpu_count() or 1))
