"""Exploring a command from the first signal to the last report: emulator, runs, reports.

One emulator in this process serves all runs; each is a process of its own in a world of its own.
The event loop belongs to the emulator: what explores, and each run, waits in threads.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from click import ClickException

from hosting_emulator import __version__
from hosting_emulator.sdk import ControlClient, ControlError
from hosting_emulator.sdk.text import conduct_text, count_text
from hosting_emulator.supervisor import (
    ChildCommand,
    TimedRun,
    become_subreaper,
    descendants,
    end_orphans,
    ending_signals,
)
from hosting_emulator_cli import output as out
from hosting_emulator_cli.commands.start import command_variables, with_variables
from hosting_emulator_cli.execution import Stopped, run_logged
from hosting_emulator_cli.files import remove_report, write_whole
from hosting_emulator_cli.main import Failure, failing
from hosting_emulator_lab.explore import plan, report, runs

if TYPE_CHECKING:
    from hosting_emulator.bootstrap import Emulator
    from hosting_emulator.settings import Ready, Settings

_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b")
#: How many lines of an output are shown.
_LINES = 12
_STATE_FORMAT = "hosting-emulator exploration 1"
_LONGEST_FILE = 16 * 1024 * 1024
_TRACEBACK = "Traceback (most recent call last):"
_FRAME = re.compile(r'^[\s|]*File "(?P<path>[^"]+)", line [0-9]+')
#: Code that came with Python, or was installed.
_NOT_THEIRS = re.compile(
    r"(?:^|[/\\])(?:site-packages|dist-packages)[/\\]"
    r"|[/\\]lib(?:64)?[/\\](?:python|pypy)[0-9][0-9.t]*[/\\]"
    r"|[/\\]python[0-9]+(?:\.zip|[/\\]lib)[/\\]"
    r"|^<frozen ",
    re.IGNORECASE,
)


@dataclass(kw_only=True)
class CommandExploration:
    """What to run, and how. Times are real seconds; None: as long as is usual, or without bound.

    `point` is the one to run instead of all; `repeat` writes the line that runs one, and
    `repeat_clean` is one that shows the conduct of the clean run.
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

    def __post_init__(self) -> None:
        # Many runs only wait.
        self._jobs = self.jobs or max(4, min(16, 3 * (os.cpu_count() or 1)))
        self._signal: int | None = None
        self._cut = ""
        #: What runs now, none of which is closed while the lock is held, and what has run and waits.
        self._running: set[ChildCommand] = set()
        self._idle: list[ChildCommand] = []
        self._lock = threading.Lock()
        self._began = time.monotonic()
        self._done: dict[plan.FaultPoint, runs.PointResult] = {}
        self._key = ""
        self._said = ""
        self._pattern: Emulator
        self._settings_of_runs: Settings
        self._loop: asyncio.AbstractEventLoop

    async def run(self) -> int:
        """Start the emulator, explore, stop the emulator."""
        from hosting_emulator.bootstrap import Emulator, warm_up

        for number in ending_signals():
            asyncio.get_running_loop().add_signal_handler(number, self._interrupt, number)
        # The emulator itself serves no run: each run has an emulator that begins as this one is.
        self._pattern = Emulator(self.settings)
        self._settings_of_runs = replace(self.settings, scenario=None, state=None)
        self._loop = asyncio.get_running_loop()
        await warm_up()
        try:
            code = await asyncio.to_thread(self._explore)
        finally:
            for process in self._idle:
                process.close()
            await self._pattern.stop()
        return code if self._signal is None else 128 + self._signal

    def _interrupt(self, number: int) -> None:
        self._signal = self._signal or number
        self._stop("interrupted")

    def _stop(self, why: str) -> None:
        """End all runs, and begin none any more."""
        self._cut = self._cut or why
        with self._lock:
            for process in self._running:
                process.end()

    def _explore(self) -> int:
        explorer = runs.Explorer(self._perform, limit_s=self.limit_s, conduct=self.conduct)
        try:
            clean = explorer.clean()
            if self.point is None:
                return self._all(explorer, clean)
            with failing(ValueError, prefix="--point: "):
                result = explorer.result("point", self.point, clean, once=True)
        except Stopped:
            return 2
        except runs.JudgeFailed as error:
            raise Failure(f"the requests of a run could not be judged: {error}") from error
        except runs.TooManyRequests as error:
            raise Failure(f"cannot explore the command: {error}") from error
        except runs.CleanRunFailed as error:
            for line in error.end.output:
                out.say(f"| {out.printable(line)}")
            raise Failure(
                f"the command {error} even without faults; explore needs a first "
                "run that succeeds. Its output is above"
            ) from error
        out.say(out.printable(report.result_text(result)))
        if result.conduct:
            out.say(out.printable_lines(self._said))
        if result.verdict in runs.UNDECIDED:
            return 2
        return 0 if result.fine else 1

    def _all(self, explorer: runs.Explorer, clean: runs.CleanRun) -> int:
        """Run all points that are planned and not known yet, and report."""
        planned = plan.plan(
            clean.seen.requests,
            faults=self.faults + plan.OUTCOMES * self.outcomes or plan.KINDS,
            calls=self.calls,
            max_runs=self.max_runs,
            quick=self.quick,
        )
        if not planned.requests and self.calls:
            named = " or ".join(self.calls)
            raise Failure(f"the command sends no request of {named}: nothing to explore")
        if not planned.requests and clean.seen.sent:
            sent = count_text(clean.seen.sent, "request")
            raise Failure(
                f"the command sends {sent}, but none that a failure can be tried on: each needs "
                "the path of a call and a valid token or API key, such as HOSTING_TOKEN"
            )
        if not planned.requests:
            raise Failure(
                "the command sends no request to the emulator: does it use "
                "HOSTING_BASE_URL and HOSTING_TOKEN?"
            )
        self._key = self._key_of(clean)
        says = self.results_file and self._load_results(self.results_file, planned)
        out.say(report.plan_text(planned, self._jobs))
        if says:
            out.say(says)
        self._run_points(explorer, planned, clean)
        results = [self._done[point] for point in planned.points if point in self._done]
        exploration = report.Exploration(
            shlex.join(self.command),
            clean,
            planned,
            results,
            self.repeat,
            cut=self._cut if len(results) < len(planned.points) else "",
            conduct=self.conduct,
            repeat_clean=self.repeat_clean,
        )
        if self.junit_file is not None:
            write_whole(self.junit_file, report.junit_text(exploration))
        if self.html_file is not None:
            write_whole(self.html_file, report.page(exploration))
        if self.as_json:
            out.put_json(report.document(exploration))
        else:
            color = out.has_color()
            text = report.report_text(exploration, color=color)
            out.put(text if color else out.printable_lines(text))
        return exploration.exit_code

    def _key_of(self, clean: runs.CleanRun) -> str:
        """Return a text that differs when anything differs that the results rest upon, files by content."""
        settings = asdict(self.settings)
        shaping = ("seed", "clock", "at", "assumptions", "scenario", "state")
        found: dict[str, Any] = {
            "version": __version__,
            "command": [[word, _content(word)] for word in self.command],
            "settings": {name: str(settings[name]) for name in shaping},
            "user": self.user,
            "exports": self.exports,
            "limit": self.limit_s,
            "conduct": self.conduct,
            "requests": [
                (r.name, r.exchange.method, r.exchange.status) for r in clean.seen.requests
            ],
            "start": {kind: sorted(rows.items()) for kind, rows in clean.start.items()},
        }
        return sha256(json.dumps(found, sort_keys=True, default=str).encode()).hexdigest()

    def _load_results(self, path: Path, planned: plan.Plan) -> str:
        """Take what a file, if it is there, holds of a plan's points; say what becomes of it."""
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            if found["format"] != _STATE_FORMAT:
                raise ValueError
            results = [report.read_result(result) for result in found["results"]]
        except FileNotFoundError:
            return ""
        except OSError as error:
            raise Failure(f"cannot read {path}: {error}") from error
        except (ValueError, TypeError, LookupError):
            message = f"{path} is not the state of an exploration: name another file"
            raise Failure(message) from None
        if found["key"] != self._key:
            return f"{path} is from another command or another clean run: starting over."
        done = {result.point: result for result in results if result.point in planned.points}
        if len(done) == len(planned.points):
            return f"{path} is from a finished exploration: starting over."
        self._done = done
        return f"Continuing from {path}: {len(done)} of {len(planned.points)} are done."

    def _run_points(
        self, explorer: runs.Explorer, planned: plan.Plan, clean: runs.CleanRun
    ) -> None:
        """Run what is not done yet, several points at a time, and keep each result."""
        if self.budget_s is not None:
            left_s = max(0.0, self.budget_s - (time.monotonic() - self._began))
            why = f"the budget of {self.budget_s:g} s is used up"
            timer = threading.Timer(left_s, self._stop, [why])
            timer.daemon = True
            timer.start()
        done, of = self._done, len(planned.points)
        with _progress(len(done), of) as show, ThreadPoolExecutor(self._jobs) as pool:
            futures = [
                pool.submit(explorer.result, f"run-{n}", point, clean)
                for n, point in enumerate(planned.points, 1)
                if point not in done
            ]
            try:
                for future in as_completed(futures):
                    with suppress(Stopped):
                        result = future.result()
                        done[result.point] = result
                        if self.results_file is not None:
                            results = [report.result_document(each) for each in done.values()]
                            found = {"format": _STATE_FORMAT, "key": self._key, "results": results}
                            write_whole(self.results_file, out.as_json(found) + "\n")
                        show(result, len(done))
            except BaseException:
                self._stop("it could not continue")
                raise

    def _perform(self, visit: runs.Visit, name: str, limit_s: float | None) -> runs.RunEnd:
        """Run the command with an emulator of its own, in whose worlds all requests are the run's."""
        if self._cut:
            raise Stopped
        with self._emulator() as (ready, client):
            world = client.world()
            if self.settings.state is not None:  # it brought a clock of its own
                world.clock.change({"mode": "skip"})
            variables = command_variables(world, ready, self.user, self.exports)
            # Tests of the pytest plugin then use this emulator and start none of their own.
            token = dict(self.exports).get("HOSTING_TOKEN", "HOSTING_TOKEN")
            visit.begin(world, variables[token])
            ran = self._run_command(with_variables(variables), limit_s)
            if ran.outcome.refused is not None:
                raise Failure(f"{self.command[0]}: {ran.outcome.refused}")
            visit.end(world)
            if visit.point == self.point is not None:
                self._said = "\n".join(
                    conduct_text(judged) for judged in visit.conduct if judged.findings
                )
        # The lines as they would be in any other run.
        port = re.compile(rf"(?<![0-9]){ready.base_url.rpartition(':')[2]}(?![0-9])")
        text = _ADDRESS.sub("0x…", port.sub("PORT", ran.output.decode("utf-8", "replace")))
        lines = [
            out.printable(line.rstrip().expandtabs(4)) for line in text.splitlines() if line.strip()
        ]
        if visit.point == self.point is not None:
            out.put("\n".join(lines))
        end = (ran.outcome.code, ran.hung, ran.seconds, excerpt(lines))
        return runs.RunEnd(*end, printed=tuple(lines))

    @contextmanager
    def _emulator(self) -> Iterator[tuple[Ready, ControlClient]]:
        """Serve a copy of the pattern's default world at a port of its own for the length of a block."""
        from hosting_emulator.bootstrap import Emulator

        async def start() -> Emulator:
            emulator = Emulator(self._settings_of_runs)
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
        with self._lock:
            if self._cut:
                raise Stopped
            process = self._idle.pop() if self._idle else ChildCommand("kept")
            process.begin(self.command, environment)
            self._running.add(process)
        try:
            ran = process.finish(limit_s)
        finally:
            with self._lock:
                self._running.discard(process)
                if process.is_free:
                    self._idle.append(process)
            if not process.is_free:
                process.close()
        if self._cut:
            raise Stopped
        return ran


def explore(exploration: CommandExploration) -> int:
    """Explore, and return the exit code. Raises Failure for what cannot be explored."""
    not_ours = descendants()
    become_subreaper()
    # A run that ends without a verdict must not leave an earlier run's report behind.
    for path in (exploration.junit_file, exploration.html_file):
        remove_report(path)
    try:
        with failing(ControlError):
            return run_logged(exploration.settings, exploration.run)
    except OSError as error:
        raise Failure(f"cannot start a process: {error.strerror or error}") from error
    except (Failure, ClickException):
        raise
    except Exception as error:
        out.say(traceback.format_exc())
        raise Failure(
            f"explore itself failed ({type(error).__name__}), so it judges nothing. "
            "Please report the traceback above"
        ) from error
    finally:
        end_orphans(not_ours)


def excerpt(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the last lines of an output, twelve at most.

    Where these hide the last frame of the user's own code, in the Python traceback that the output
    ends with, that frame stands above them.
    """
    begin = own = len(lines) - _LINES
    for place in range(len(lines) - 1, -1, -1):
        if _TRACEBACK in lines[place]:
            break
        found = _FRAME.match(lines[place])
        if found is not None and not _NOT_THEIRS.search(found["path"]):
            own = place
            break
    if own >= begin:
        return tuple(lines[-_LINES:])
    frame = [lines[own]]
    if not _FRAME.match(lines[own + 1]):
        frame.append(lines[own + 1])
    return (*frame, "…", *lines[len(frame) + 1 - _LINES :])


@contextmanager
def _progress(done: int, of: int) -> Iterator[Callable[[runs.PointResult, int], None]]:
    """Say on stderr each result that matters as it comes; and on a terminal, how far it is."""

    def show(result: runs.PointResult, done: int) -> None:
        if not result.fine:
            out.say(f"[{done}/{of}] {out.printable(report.result_text(result))}")

    def show_beside_bar(result: runs.PointResult, done: int) -> None:
        bar.update(task, completed=done)
        if not result.fine:
            bar.console.print(Text.from_ansi(report.result_text(result, color=True)))

    if not (of and out.is_terminal(sys.stderr)):
        yield show
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn
    from rich.text import Text

    columns = ("Exploring", BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=out.console(sys.stderr), transient=True) as bar:
        task = bar.add_task("", total=of, completed=done)
        yield show_beside_bar


def _content(word: str) -> str | None:
    path = Path(word)
    with suppress(OSError, ValueError):
        if path.is_file() and path.stat().st_size <= _LONGEST_FILE:
            return sha256(path.read_bytes()).hexdigest()
    return None
