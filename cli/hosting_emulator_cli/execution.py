"""`exec`: a command with an emulator around it, from the first signal to the last process.

The emulator runs in this process, so that it cannot outlive it; the command runs under a supervisor.
With `--vary`, a command that failed is told why, and run again to find the points that matter.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from hosting_emulator import EXEC_CONDUCT_VARIABLE
from hosting_emulator.supervisor import ChildCommand, Outcome, ending_signals
from hosting_emulator_cli.commands.conduct import with_rules_command
from hosting_emulator_cli.commands.start import command_variables, with_variables
from hosting_emulator_cli.main import Failure
from hosting_emulator_cli.options import ONLY_VARIABLE, SEED_VARIABLE, connected, starting
from hosting_emulator_cli.output import say
from hosting_emulator_cli.verdict import (
    NO_REQUEST,
    UNDECIDED,
    RunVerdict,
    keep_worlds,
    report_texts,
)
from hosting_emulator_lab.delta_debugging import smallest

if TYPE_CHECKING:
    from hosting_emulator.sdk import ControlClient, WorldsObservation
    from hosting_emulator.settings import Ready, Settings

T = TypeVar("T")
#: How long the command may take to end after SIGTERM, once `--kill-after` is over.
_GRACE_S = 2.0
#: Two signals closer than this are one: `timeout`, say, sends to us and to our group.
_ONE_PRESS_S = 0.1
#: How long to wait, after the command has ended, for requests in progress, and for an emulator whose
#: ports a fault has closed.
_SETTLE_S = 2.0
_REACHABLE_S = 1.0
#: When to say that a second Ctrl-C would help.
_HINT_S = 1.0


class CommandResult(NamedTuple):
    """A command's exit code, at which points its answers varied, and whether we were told to end it.

    `undecided`: the command succeeded, but what was asked of it could not be judged.
    """

    code: int
    varied: tuple[str, ...] = ()
    signalled: bool = False
    undecided: bool = False


def run_logged(settings: Settings, run: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run what starts an emulator of its own. Raises Failure when that cannot start."""
    for number in ending_signals():  # until the event loop heeds them
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    from hosting_emulator.logs import log_to_stderr

    log_to_stderr(settings)
    with starting():
        return asyncio.run(run())


def mention(text: str) -> None:
    """Say something; where nobody listens any more, the exit code is the command's all the same."""
    try:
        say(text)
    except OSError:
        # Python tries again at its end, and would then end by a code of its own.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)


def wait_until_reachable(client: ControlClient) -> None:
    """Wait a moment for an emulator that refuses connections. Raises EmulatorUnreachable."""
    from hosting_emulator.sdk import EmulatorUnreachable

    until = time.monotonic() + _REACHABLE_S
    while True:
        try:
            client.health()
            return
        except EmulatorUnreachable:
            if time.monotonic() >= until:
                raise
        time.sleep(0.05)


@dataclass(kw_only=True)
class Execution:
    """What is to be run and how, once. `patience_s` may be infinite: for ever for a command to end.

    A `silent` one hears and says nothing: it has the null device for its input and output.
    """

    command: Sequence[str]
    settings: Settings
    user: str | None
    exports: Sequence[tuple[str, str]]
    report: str
    keep: Path | None
    patience_s: float
    quiet: bool
    conduct: str = "off"
    skip_rules: Sequence[str] = ()
    silent: bool = False

    def __post_init__(self) -> None:
        self._child: ChildCommand | None = None
        self._signal: int | None = None
        self._signalled_at = 0.0
        self._at_once = False
        self._later: list[asyncio.TimerHandle] = []
        self._misbehaved = False
        self._undecided = False
        self._observation_id = ""

    async def through(self) -> CommandResult:
        """Start the emulator, run the command, stop the emulator."""
        from hosting_emulator.bootstrap import Emulator, warm_up

        try:
            # First: its supervisor gets ready while the emulator does.
            child = ChildCommand("null" if self.silent else "ours")
        except OSError as error:
            raise Failure(f"cannot start a process: {error.strerror}") from error
        try:
            for number in ending_signals():
                asyncio.get_running_loop().add_signal_handler(number, self._on_signal, number)
            async with Emulator(self.settings) as emulator:
                try:
                    ready = await asyncio.to_thread(emulator.ready)
                    # While the command begins, which takes its time too.
                    warming = asyncio.create_task(warm_up())
                    code = await self._run(child, ready)
                    await warming
                    varied = tuple(sorted(emulator.worlds.tally.varied))
                    undecided = self._undecided and code == UNDECIDED
                    return CommandResult(code, varied, self._signal is not None, undecided)
                finally:
                    self._child = None
                    await asyncio.to_thread(child.close)
        finally:
            child.close()

    async def _run(self, child: ChildCommand, ready: Ready) -> int:
        variables = await asyncio.to_thread(self._variables, ready)
        if self._signal is not None:
            return 128 + self._signal
        child.begin(self.command, with_variables(variables))
        self._child = child
        outcome = await asyncio.to_thread(child.outcome)
        self._child = None  # there is nothing left to signal; we end at once anyway
        for timer in self._later:
            timer.cancel()
        if outcome.refused is not None:
            mention(f"Error: {self.command[0]}: {outcome.refused}")
        elif not self._at_once:
            await asyncio.to_thread(self._report, ready, outcome)
        return self._exit_code(outcome)

    def _exit_code(self, outcome: Outcome) -> int:
        """Return the command's own exit code if it failed, or else that of what was asked of it."""
        if outcome.code:
            return outcome.code
        if self._misbehaved:
            return 1
        return UNDECIDED if self._undecided else 0

    def _on_signal(self, number: int) -> None:
        now = time.monotonic()
        again = self._signal is not None and now - self._signalled_at > _ONE_PRESS_S
        self._signal, self._signalled_at = self._signal or number, now
        if self._child is None:  # it has not begun, or has ended
            return
        if again and number == signal.SIGINT and self.patience_s != inf:
            self._at_once = True
            self._child.end(0)
            return
        self._child.signal(number)
        if self.patience_s != inf and not self._later:
            loop = asyncio.get_running_loop()
            self._later.append(loop.call_later(self.patience_s, self._child.end, _GRACE_S))
            if number == signal.SIGINT and sys.stderr.isatty() and not self.quiet:
                words = "Waiting for the command to end; press Ctrl-C again to kill it."
                self._later.append(loop.call_later(_HINT_S, mention, words))

    def _variables(self, ready: Ready) -> dict[str, str]:
        """Ask the emulator for what the command needs to know. Raises Failure."""
        with connected(ready.control_url, ready.control_token) as client:
            world = client.world()
            self._observation_id = self._observe(client)
            variables = command_variables(world, ready, self.user, self.exports)
        variables[EXEC_CONDUCT_VARIABLE] = self.conduct
        # By which worlds that the command makes elsewhere vary as ours do.
        if self.settings.vary is not None:
            variables[SEED_VARIABLE] = self.settings.vary
            variables[ONLY_VARIABLE] = ",".join(self.settings.vary_only or ())
        else:  # what an outer run says does not hold here
            outer = {SEED_VARIABLE, ONLY_VARIABLE} & os.environ.keys()
            variables |= dict.fromkeys(outer, "")
        return variables

    def _observe(self, client: ControlClient) -> str:
        """Begin to observe all worlds, and return the id of the observation. Raises Failure."""
        from hosting_emulator.sdk import ControlRefused

        try:
            return client.observe(skip_rules=self.skip_rules).id
        except ControlRefused as refused:
            raise Failure(f"--skip-rule: {with_rules_command(refused)}") from refused

    def _report(self, ready: Ready, outcome: Outcome) -> None:
        """Judge the run, and write the report and the worlds, as far as they are asked for.

        An error is said; where something was asked of a command that succeeded, the run is undecided.
        """
        from hosting_emulator.sdk import WorldsObservation

        try:
            with connected(ready.control_url, ready.control_token) as client:
                wait_until_reachable(client)
                self._tell(WorldsObservation(client, self._observation_id), outcome)
        except Failure as error:
            self._give_no_verdict(error.format_message())
        except Exception as error:
            self._give_no_verdict(f"the report failed: {type(error).__name__}: {error}")

    def _give_no_verdict(self, reason: str) -> None:
        if not self.silent:
            mention(f"Error: {reason}")
        self._undecided = self.conduct != "off" or self.report == "always"

    def _tell(self, observation: WorldsObservation, outcome: Outcome) -> None:
        color = sys.stderr.isatty() and "NO_COLOR" not in os.environ
        verdict = RunVerdict(observation.report(final=True, wait_s=_SETTLE_S))
        self._judge(verdict, color=color)
        failed = self._exit_code(outcome) != 0
        if self.report == "always" or (self.report == "failed" and failed):
            for text in report_texts(verdict, observation, color=color):
                mention(text)
        if self.keep is not None and failed:
            path, others = keep_worlds(verdict, observation, self.keep)
            if not self.quiet:
                line = f"hosting-emulator start --ephemeral --import {shlex.quote(str(path))}"
                mention(f"The world was kept. Open it with: {line}")
                if others:
                    names = ", ".join(shlex.quote(str(other)) for other in others)
                    mention(f"Other worlds that received requests were kept too: {names}")

    def _judge(self, verdict: RunVerdict, *, color: bool) -> None:
        """Say what was found, and what could not be decided."""
        if not verdict.has_requests:
            strict = self.conduct == "error"
            self._undecided = strict
            if not self.silent and (strict or not self.quiet):
                mention(NO_REQUEST)
        if self.conduct == "off":
            return
        self._misbehaved = verdict.is_bad and self.conduct == "error"
        self._undecided = self._undecided or bool(verdict.errors)
        if self.silent:
            return
        if verdict.has_findings or self.conduct == "report":
            mention(verdict.conduct_text(color=color))
        for error in verdict.errors:
            mention(f"Error: {error}")
        waiting = verdict.in_progress_text()
        if waiting:
            mention(waiting)


def execute(execution: Execution) -> CommandResult:
    """Run the command. Raises Failure when the emulator cannot start."""
    return run_logged(execution.settings, execution.through)


#: Runs of the command that shrinking may take, beside the two that check what there is to shrink.
MOST_RUNS = 40
#: Codes of a command that never ran.
_NEVER_RAN = (126, 127)

#: What is said where the command asked other worlds than ours, as tests do by the pytest plugin.
_ELSEWHERE = "no response of this emulator; worlds that the command created itself use the seed too"


class Stopped(Exception):
    """Runs were ended from outside, which says nothing of the client: nothing more is to be done."""


def execute_varied(
    execution: Execution, again: Callable[[Sequence[str] | None], str], *, shrinking: bool
) -> int:
    """Run a command whose answers vary, and return its exit code.

    If it fails, say by which seed and points, and the line (`again`) that repeats it; with
    `shrinking`, run it until the points that matter are found. Raises Failure.
    """
    first = execute(execution)
    if first.code == 0 or first.code in _NEVER_RAN or first.signalled or first.undecided:
        return first.code
    settings = execution.settings
    if shrinking or not execution.quiet:
        points = ", ".join(first.varied) or _ELSEWHERE
        line = again(settings.vary_only)
        mention(f"Varied with seed {settings.vary}: {points}.\nAgain: {line}")
    if shrinking:
        try:
            _shrink(execution, first.varied, again)
        except Stopped:
            mention("Stopped before the search was finished.")
    return first.code


def _shrink(
    execution: Execution,
    varied: tuple[str, ...],
    again: Callable[[Sequence[str] | None], str],
) -> None:
    """Search the points that make a command fail; say what is tried and what came of it."""
    settings = replace(execution.settings, log_requests=False, log_level="warning")
    unseen = replace(execution, report="never", keep=None, quiet=True, silent=True)
    seen: tuple[str, ...] = ()

    def fails(points: tuple[str, ...]) -> bool:
        nonlocal seen
        only = {"vary_only": points} if points else {"vary": None, "vary_only": None}
        ran = execute(replace(unseen, settings=replace(settings, **only)))
        if ran.signalled:
            raise Stopped
        if ran.undecided:
            mention("A run could not be judged.")
            raise Stopped
        seen = ran.varied
        return ran.code != 0

    mention(f"Shrinking: at most {MOST_RUNS + 3} more runs, output hidden, each in a fresh world.")
    if fails(()):
        mention("It also fails without variation: no point is the cause.")
        return
    from hosting_emulator.variation.points import POINTS

    # Those seen to vary, or else all.
    every = settings.vary_only or tuple(POINTS)
    points = next((points for points in (varied, every) if points and fails(points)), None)
    if points is None:
        mention("It passed when run again with the same points: the failure is intermittent.")
        return
    tries, without = 0, ""
    while points:
        found = smallest(points, fails, MOST_RUNS - tries)
        rest = "" if found.finished else ", as far as this many runs can tell"
        mention(
            f"{without or 'It fails'} with {' and '.join(found.items)} alone{rest} "
            f"({found.tries} runs).\nAgain: {again(found.items)}"
        )
        # One mistake may hide another, which is met where the first is not.
        every = tuple(point for point in every if point not in found.items)
        tries, without = tries + found.tries + 1, "Without that, it fails"
        goes_on = found.finished and tries < MOST_RUNS and every and fails(every)
        points = tuple(point for point in every if point in seen) if goes_on else ()
