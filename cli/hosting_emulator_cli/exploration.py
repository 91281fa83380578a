"""Explores a command: makes the runs, handles signals and writes the reports.

Each run has its own process for the command and its own emulator. All emulators run in this process
and share one event loop. The exploration and each run have their own threads, so that they do not
block the event loop while they wait.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from click import ClickException

from hosting_emulator.sdk import ControlClient, ControlError
from hosting_emulator.sdk.conduct_text import conduct_text
from hosting_emulator.sdk.text import count_text
from hosting_emulator.supervisor import (
    ChildCommand,
    TimedRun,
    become_subreaper,
    descendants,
    end_orphans,
    ending_signals,
)
from hosting_emulator_cli import output as out
from hosting_emulator_cli.client_variables import command_variables, with_variables
from hosting_emulator_cli.command_output import excerpt
from hosting_emulator_cli.execution import Stopped, run_logged
from hosting_emulator_cli.exploration_progress import show_progress
from hosting_emulator_cli.exploration_results import ResultsFile, exploration_key
from hosting_emulator_cli.files import remove_report, write_whole
from hosting_emulator_cli.main import Failure, failing
from hosting_emulator_cli.printable import printable, printable_lines
from hosting_emulator_lab.explore import plan, report, runs

if TYPE_CHECKING:
    from hosting_emulator.bootstrap import Emulator
    from hosting_emulator.settings import Ready, Settings

_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b")


@dataclass(frozen=True, kw_only=True)
class CommandExploration:
    """A command to explore, its emulator's settings, the runs to make, and the reports to write.

    `limit_s` limits each run, and `budget_s` limits the exploration, both in real seconds. If
    `limit_s` is None, the limit depends on the duration of the clean runs. If `budget_s` is None,
    the exploration has no time limit. If `point` is set, it is the only point to run. `repeat`
    returns the command line that runs a point again. `repeat_clean` is the command line that runs
    the command without faults, and reports on its conduct.
    """

    command: Sequence[str]
    settings: Settings
    user: str | None
    exports: Sequence[tuple[str, str]]
    faults: tuple[str, ...]
    calls: Sequence[str]
    jobs: int | None
    max_runs: int
    outcomes: bool
    quick: bool
    limit_s: float | None
    budget_s: float | None
    conduct: runs.ConductChoice
    results_file: Path | None
    junit_file: Path | None
    html_file: Path | None
    as_json: bool
    point: plan.FaultPoint | None
    repeat: Callable[[plan.FaultPoint], str]
    repeat_clean: str


def explore(options: CommandExploration) -> int:
    """Explore a command, and return the exit code.

    Raises Failure if the command cannot be explored.
    """
    not_ours = descendants()
    become_subreaper()
    # An exploration without a verdict must not leave an earlier exploration's report behind.
    for path in (options.junit_file, options.html_file):
        remove_report(path)
    try:
        with failing(ControlError):
            return run_logged(options.settings, _Exploration(options).run)
    except OSError as error:
        raise Failure(f"cannot start a process: {error.strerror or error}") from error
    except (Failure, ClickException):
        raise
    except Exception as error:
        out.say(traceback.format_exc())
        raise Failure(
            f"explore itself failed ({type(error).__name__}), so there is no verdict. "
            "Please report the traceback above"
        ) from error
    finally:
        end_orphans(not_ours)


class _Exploration:
    """One exploration of a command."""

    def __init__(self, options: CommandExploration) -> None:
        self._options = options
        self._jobs = _job_count(options.jobs)
        #: The first signal that asked this process to end.
        self._signal: int | None = None
        #: The reason why no more runs may start. Empty while runs may start.
        self._stop_reason = ""
        #: The commands that are currently running. A command is removed, under the lock, before it
        #: is closed.
        self._running: set[ChildCommand] = set()
        #: The idle supervisors, which can run the command again.
        self._idle: list[ChildCommand] = []
        self._lock = threading.Lock()
        self._began = time.monotonic()
        #: The conduct findings in the point's run, if only one point is run.
        self._conduct_text = ""
        #: The emulator whose default world is copied for each run. No command talks to it.
        self._pattern: Emulator
        self._run_settings = replace(options.settings, scenario=None, state=None)
        self._loop: asyncio.AbstractEventLoop

    async def run(self) -> int:
        """Explore the command, and return the exit code. Raises Failure."""
        from hosting_emulator.bootstrap import Emulator, warm_up

        self._loop = asyncio.get_running_loop()
        for number in ending_signals():
            self._loop.add_signal_handler(number, self._interrupt, number)
        self._pattern = Emulator(self._options.settings)
        await warm_up()
        try:
            code = await asyncio.to_thread(self._explore)
        finally:
            for process in self._idle:
                process.close()
            await self._pattern.stop()
        if self._signal is not None:
            return 128 + self._signal
        return code

    def _interrupt(self, number: int) -> None:
        self._signal = self._signal or number
        self._stop("interrupted")

    def _stop(self, reason: str) -> None:
        """End all running commands, and prevent further runs."""
        self._stop_reason = self._stop_reason or reason
        with self._lock:
            for process in self._running:
                process.end()

    # --- Plan and reports ------------------------------------------------------------------------

    def _explore(self) -> int:
        """Make all runs, report the results, and return the exit code. Raises Failure."""
        options = self._options
        explorer = runs.Explorer(self._perform, limit_s=options.limit_s, conduct=options.conduct)
        try:
            clean = explorer.clean()
            if options.point is None:
                return self._run_all(explorer, clean)
            with failing(ValueError, prefix="--point: "):
                result = explorer.result("point", options.point, clean, once=True)
        except Stopped:
            return 2
        except runs.JudgeFailed as error:
            raise Failure(f"the requests of a run could not be judged: {error}") from error
        except runs.TooManyRequests as error:
            raise Failure(f"cannot explore the command: {error}") from error
        except runs.CleanRunFailed as error:
            for line in error.end.output:
                out.say(f"| {printable(line)}")
            raise Failure(
                f"the command {error} even without faults; explore needs a first "
                "run that succeeds. The command's output is above"
            ) from error
        return self._report_point(result)

    def _report_point(self, result: runs.PointResult) -> int:
        """Print the result of a single point, and return the exit code."""
        out.say(printable(report.result_text(result)))
        if result.conduct:
            out.say(printable_lines(self._conduct_text))
        if result.verdict in runs.UNDECIDED:
            return 2
        return int(not result.fine)

    def _run_all(self, explorer: runs.Explorer, clean: runs.CleanRun) -> int:
        """Run the planned points that have no stored result, and report on all points.

        Return the exit code.
        """
        planned = self._plan(clean)
        results_file = ResultsFile(self._options.results_file, self._key(clean))
        message = results_file.load(planned)
        out.say(report.plan_text(planned, self._jobs))
        if message:
            out.say(message)
        self._run_points(explorer, planned, clean, results_file)
        results = [
            results_file.results[point] for point in planned.points if point in results_file.results
        ]
        stop_reason = ""
        if len(results) < len(planned.points):
            stop_reason = self._stop_reason
        exploration = report.Exploration(
            shlex.join(self._options.command),
            clean,
            planned,
            results,
            self._options.repeat,
            cut=stop_reason,
            conduct=self._options.conduct,
            repeat_clean=self._options.repeat_clean,
        )
        self._write_reports(exploration)
        return exploration.exit_code

    def _plan(self, clean: runs.CleanRun) -> plan.Plan:
        """Return the points to run.

        Raises Failure if the command makes no request to which a fault applies.
        """
        faults = self._options.faults
        if self._options.outcomes:
            faults += plan.OUTCOMES
        planned = plan.plan(
            clean.seen.requests,
            faults=faults or plan.KINDS,
            calls=self._options.calls,
            max_runs=self._options.max_runs,
            quick=self._options.quick,
        )
        if planned.requests:
            return planned
        if self._options.calls:
            calls = " or ".join(self._options.calls)
            raise Failure(
                f"the command makes no request to {calls}, so there is nothing to explore"
            )
        if clean.seen.sent:
            requests = count_text(clean.seen.sent, "request")
            raise Failure(
                f"the command sends {requests}, but explore needs at least one call with a valid "
                "token or API key, such as HOSTING_TOKEN"
            )
        raise Failure(
            "the command sends no request to the emulator: does it use "
            "HOSTING_BASE_URL and HOSTING_TOKEN?"
        )

    def _key(self, clean: runs.CleanRun) -> str:
        """Return a hash of everything that affects the results."""
        options = self._options
        return exploration_key(
            clean,
            command=options.command,
            settings=options.settings,
            user=options.user,
            exports=options.exports,
            limit_s=options.limit_s,
            conduct=options.conduct,
        )

    def _write_reports(self, exploration: report.Exploration) -> None:
        """Write the requested files, and print the report.

        Raises Failure if a file cannot be written.
        """
        options = self._options
        if options.junit_file is not None:
            write_whole(options.junit_file, report.junit_text(exploration))
        if options.html_file is not None:
            write_whole(options.html_file, report.page(exploration))
        if options.as_json:
            out.put_json(report.document(exploration))
        elif out.has_color():
            out.put(report.report_text(exploration, color=True))
        else:
            out.put(printable_lines(report.report_text(exploration, color=False)))

    def _run_points(
        self,
        explorer: runs.Explorer,
        planned: plan.Plan,
        clean: runs.CleanRun,
        results_file: ResultsFile,
    ) -> None:
        """Run the points that have no result yet, several in parallel, and store each result."""
        self._start_budget()
        results = results_file.results
        point_count = len(planned.points)
        with (
            show_progress(len(results), point_count) as show,
            ThreadPoolExecutor(self._jobs) as pool,
        ):
            futures: list[Future[runs.PointResult]] = []
            for number, point in enumerate(planned.points, 1):
                if point not in results:
                    name = f"run-{number}"
                    futures.append(pool.submit(explorer.result, name, point, clean))
            try:
                for future in as_completed(futures):
                    with suppress(Stopped):
                        result = future.result()
                        results_file.add(result)
                        show(result, len(results))
            except BaseException:
                self._stop("the exploration could not continue")
                raise

    def _start_budget(self) -> None:
        """Start a timer that stops the exploration when its budget is used up."""
        budget_s = self._options.budget_s
        if budget_s is None:
            return
        left_s = max(0.0, budget_s - (time.monotonic() - self._began))
        reason = f"the budget of {budget_s:g} s is used up"
        timer = threading.Timer(left_s, self._stop, [reason])
        timer.daemon = True
        timer.start()

    # --- One run ---------------------------------------------------------------------------------

    def _perform(self, visit: runs.Visit, name: str, limit_s: float | None) -> runs.RunEnd:
        """Run the command with its own emulator, which receives only this run's requests.

        Raises Stopped if the exploration was stopped, and Failure if the command cannot be started.
        """
        if self._stop_reason:
            raise Stopped
        with self._emulator() as (ready, client):
            world = client.world()
            if self._options.settings.state is not None:  # an imported world has its own clock mode
                world.clock.change({"mode": "skip"})
            variables = command_variables(world, ready, self._options.user, self._options.exports)
            token_name = dict(self._options.exports).get("HOSTING_TOKEN", "HOSTING_TOKEN")
            visit.begin(world, variables[token_name])
            timed_run = self._run_command(with_variables(variables), limit_s)
            if timed_run.outcome.refused is not None:
                raise Failure(f"{self._options.command[0]}: {timed_run.outcome.refused}")
            visit.end(world)
        lines = _comparable_lines(timed_run, ready)
        if visit.point == self._options.point is not None:
            self._conduct_text = "\n".join(
                conduct_text(conduct) for conduct in visit.conduct if conduct.findings
            )
            out.put("\n".join(lines))
        return runs.RunEnd(
            timed_run.outcome.code,
            timed_run.hung,
            timed_run.seconds,
            excerpt(lines),
            printed=tuple(lines),
        )

    @contextmanager
    def _emulator(self) -> Iterator[tuple[Ready, ControlClient]]:
        """Serve a copy of the pattern's default world on a free port within a `with` block."""
        from hosting_emulator.bootstrap import Emulator

        async def start() -> Emulator:
            emulator = Emulator(self._run_settings)
            emulator.become(self._pattern)
            await emulator.start()
            return emulator

        emulator = asyncio.run_coroutine_threadsafe(start(), self._loop).result()
        try:
            ready = emulator.ready()
            with ControlClient(ready.control_url, token=ready.control_token) as client:
                yield ready, client
        finally:
            asyncio.run_coroutine_threadsafe(emulator.stop(), self._loop).result()

    def _run_command(self, environment: dict[str, str], limit_s: float | None) -> TimedRun:
        """Run the command until it ends, but for at most `limit_s` real seconds.

        If `limit_s` is None, there is no limit. Raises Stopped if the exploration was stopped.
        """
        process = self._begin_command(environment)
        try:
            timed_run = process.finish(limit_s)
        finally:
            with self._lock:
                self._running.discard(process)
                if process.is_free:
                    self._idle.append(process)
            if not process.is_free:
                process.close()
        if self._stop_reason:
            raise Stopped
        return timed_run

    def _begin_command(self, environment: dict[str, str]) -> ChildCommand:
        """Start the command under an idle supervisor, or under a new supervisor if none is idle.

        Raises Stopped if the exploration was stopped.
        """
        with self._lock:
            if self._stop_reason:
                raise Stopped
            process = self._idle.pop() if self._idle else ChildCommand("kept")
            process.begin(self._options.command, environment)
            self._running.add(process)
        return process


def _job_count(jobs: int | None) -> int:
    """Return the number of parallel runs.

    By default, there are three runs per processor (at least 4, at most 16), because most runs spend
    their time waiting.
    """
    return jobs or max(4, min(16, 3 * (os.cpu_count() or 1)))


def _comparable_lines(timed_run: TimedRun, ready: Ready) -> list[str]:
    """Return the non-empty lines of a run's output in a form that can be compared between runs.

    Memory addresses and the emulator's port, which differ between runs, become placeholders.
    """
    port = re.compile(rf"(?<![0-9]){ready.base_url.rpartition(':')[2]}(?![0-9])")
    text = port.sub("PORT", timed_run.output.decode("utf-8", "replace"))
    text = _ADDRESS.sub("0x…", text)
    return [printable(line.rstrip().expandtabs(4)) for line in text.splitlines() if line.strip()]
