"""Runs a command and its emulator for `exec`, and handles the signals that stop both.

The emulator runs in this process, so it cannot outlive the process. A supervisor process runs the
command.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from hosting_emulator import EXEC_CONDUCT_VARIABLE
from hosting_emulator.supervisor import ChildCommand, Outcome, ending_signals
from hosting_emulator_cli.client_variables import command_variables, with_variables
from hosting_emulator_cli.commands.conduct import with_rules_command
from hosting_emulator_cli.connection import connected
from hosting_emulator_cli.main import Failure
from hosting_emulator_cli.options import ONLY_VARIABLE, SEED_VARIABLE
from hosting_emulator_cli.output import say
from hosting_emulator_cli.outside_connections import ConnectionWatch
from hosting_emulator_cli.settings_command import start_errors_named
from hosting_emulator_cli.verdict import (
    NO_REQUEST,
    UNDECIDED,
    RunVerdict,
    keep_worlds,
    report_texts,
)

if TYPE_CHECKING:
    from hosting_emulator.sdk import ControlClient, WorldsObservation
    from hosting_emulator.settings import Ready, Settings

T = TypeVar("T")
#: Real seconds between SIGTERM and SIGKILL, which are sent to a command that is still running after
#: the time in `--kill-after`.
_GRACE_S = 2.0
#: Signals that arrive within this many real seconds count as one signal. For example, `timeout`
#: signals a process and then the process's group.
_ONE_PRESS_S = 0.1
#: Real seconds to wait for requests in progress after the command has ended.
SETTLE_S = 2.0
#: Real seconds to wait for an emulator to become reachable again after a fault closed its ports.
_REACHABLE_S = 1.0
#: Real seconds between Ctrl-C and the hint that a second Ctrl-C kills the command.
_HINT_S = 1.0


@dataclass(frozen=True)
class CommandResult:
    """The result of a run: the exit code, and the points at which responses varied.

    `signalled` means that this process received a signal to end. `undecided` means that the command
    succeeded, but a requested verdict or report is missing.
    """

    code: int
    varied: tuple[str, ...] = ()
    signalled: bool = False
    undecided: bool = False


@dataclass(frozen=True, kw_only=True)
class Execution:
    """A command to run, the settings of its emulator, and the requested reports.

    After a signal, the command has `patience_s` real seconds to exit. Infinity means that there is
    no limit. If `sealed` is true, this process already has a network without other machines, so
    connections to them need no watch.
    """

    command: Sequence[str]
    settings: Settings
    user: str | None
    exports: Sequence[tuple[str, str]]
    report: str
    failed_world: Path | None
    patience_s: float
    quiet: bool
    conduct: str = "off"
    skip_rules: Sequence[str] = ()
    sealed: bool = False


def execute(execution: Execution) -> CommandResult:
    """Run a command with its emulator. Raises Failure if the emulator or a process cannot be
    started.
    """
    return run_logged(execution.settings, _CommandRun(execution).run)


def run_logged(settings: Settings, run: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine that starts an emulator, and return the coroutine's result.

    The emulator logs to stderr. Raises Failure if the emulator cannot start.
    """
    for number in ending_signals():  # the event loop replaces these handlers later
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    from hosting_emulator.logs import log_to_stderr

    log_to_stderr(settings)
    with start_errors_named():
        return asyncio.run(run())


def mention(text: str) -> None:
    """Print a message on stderr. A closed stderr does not change the exit code."""
    try:
        say(text)
    except OSError:
        # Redirect stderr to the null device, because Python flushes stderr at exit, and a failure
        # would change the exit code.
        null_device = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null_device, 2)
        os.close(null_device)


def wait_until_reachable(client: ControlClient) -> None:
    """Wait until the emulator accepts connections. Raises EmulatorUnreachable after a second."""
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


class _CommandRun:
    """One run of a command with its own emulator."""

    def __init__(self, execution: Execution) -> None:
        self._execution = execution
        #: The running command, or None if it has not started yet or has already exited.
        self._child: ChildCommand | None = None
        #: The first signal to end that this process received.
        self._signal: int | None = None
        self._signalled_at = 0.0
        #: Whether a second Ctrl-C killed the command, in which case there is no report.
        self._was_killed = False
        self._timers: list[asyncio.TimerHandle] = []
        self._misbehaved = False
        self._undecided = False
        self._observation_id = ""
        #: A sentence about the command's connections to other machines, or an empty text.
        self._connections_text = ""

    async def run(self) -> CommandResult:
        """Start the emulator, run the command, and stop the emulator. Raises Failure."""
        # Start the supervisor first, so that it becomes ready while the emulator is starting.
        child = self._start_supervisor()
        try:
            for number in ending_signals():
                asyncio.get_running_loop().add_signal_handler(number, self._on_signal, number)
            return await self._run_with_emulator(child)
        finally:
            child.close()

    def _start_supervisor(self) -> ChildCommand:
        try:
            return ChildCommand("ours")
        except OSError as error:
            raise Failure(f"cannot start a process: {error.strerror}") from error

    async def _run_with_emulator(self, child: ChildCommand) -> CommandResult:
        from hosting_emulator.bootstrap import Emulator, warm_up

        async with Emulator(self._execution.settings) as emulator:
            try:
                ready = await asyncio.to_thread(emulator.ready)
                # Load the emulator's models now, while the command is starting.
                warming = asyncio.create_task(warm_up())
                code = await self._run_command(child, ready)
                await warming
                return CommandResult(
                    code,
                    varied=tuple(sorted(emulator.worlds.tally.varied)),
                    signalled=self._signal is not None,
                    undecided=self._undecided and code == UNDECIDED,
                )
            finally:
                self._child = None
                await asyncio.to_thread(child.close)

    async def _run_command(self, child: ChildCommand, ready: Ready) -> int:
        """Run the command, report on the run, and return the exit code."""
        variables = await asyncio.to_thread(self._variables, ready)
        if self._signal is not None:
            return 128 + self._signal
        command = self._execution.command
        if self._watches_connections():
            outcome = await self._watched_outcome(child, variables)
        else:
            outcome = await self._outcome(child, variables)
        for timer in self._timers:
            timer.cancel()
        if outcome.refused is not None:
            mention(f"Error: {command[0]}: {outcome.refused}")
        elif not self._was_killed:
            await asyncio.to_thread(self._report, ready, outcome)
        return self._exit_code(outcome)

    async def _outcome(self, child: ChildCommand, variables: dict[str, str]) -> Outcome:
        """Start the command, wait until it exits, and return its outcome."""
        child.begin(self._execution.command, with_variables(variables))
        self._child = child
        outcome = await asyncio.to_thread(child.outcome)
        self._child = None  # the command has ended and cannot be signalled
        return outcome

    async def _watched_outcome(self, child: ChildCommand, variables: dict[str, str]) -> Outcome:
        """Do the same as `_outcome`, and watch the command's connections to other machines."""
        with ConnectionWatch() as watch:
            outcome = await self._outcome(child, variables)
        self._connections_text = watch.sentence()
        return outcome

    def _watches_connections(self) -> bool:
        execution = self._execution
        may_report = execution.conduct != "off" or execution.report != "never"
        return may_report and not execution.sealed

    def _exit_code(self, outcome: Outcome) -> int:
        """Return the command's exit code, or the verdict's exit code if the command succeeded."""
        if outcome.code:
            return outcome.code
        if self._misbehaved:
            return 1
        if self._undecided:
            return UNDECIDED
        return 0

    # --- Signals ---------------------------------------------------------------------------------

    def _on_signal(self, number: int) -> None:
        """Forward a signal to the command.

        If `patience_s` is finite, a second Ctrl-C kills the command, and a command that is still
        running `patience_s` seconds after the first signal is ended.
        """
        now = time.monotonic()
        is_second_press = self._signal is not None and now - self._signalled_at > _ONE_PRESS_S
        self._signal = self._signal or number
        self._signalled_at = now
        child = self._child
        if child is None:
            return
        may_be_killed = self._execution.patience_s != inf
        if is_second_press and number == signal.SIGINT and may_be_killed:
            self._was_killed = True
            child.end(0)
            return
        child.signal(number)
        if may_be_killed and not self._timers:
            self._end_later(child, number)

    def _end_later(self, child: ChildCommand, number: int) -> None:
        """Schedule the termination of the command for when `patience_s` has passed.

        On a terminal, a hint says how to end the command sooner.
        """
        loop = asyncio.get_running_loop()
        self._timers.append(loop.call_later(self._execution.patience_s, child.end, _GRACE_S))
        if number == signal.SIGINT and sys.stderr.isatty() and not self._execution.quiet:
            hint = "Waiting for the command to end; press Ctrl-C again to kill it."
            self._timers.append(loop.call_later(_HINT_S, mention, hint))

    # --- The command's environment ---------------------------------------------------------------

    def _variables(self, ready: Ready) -> dict[str, str]:
        """Start observing the emulator, and return the command's variables. Raises Failure."""
        execution = self._execution
        with connected(ready.control_url, ready.control_token) as client:
            world = client.world()
            self._observation_id = self._observe(client)
            variables = command_variables(world, ready, execution.user, execution.exports)
        variables[EXEC_CONDUCT_VARIABLE] = execution.conduct
        settings = execution.settings
        if settings.vary is not None:
            # Pass the variation to the command, so that worlds that it creates in other emulators
            # vary in the same way.
            variables[SEED_VARIABLE] = settings.vary
            variables[ONLY_VARIABLE] = ",".join(settings.vary_only or ())
            return variables
        for name in (SEED_VARIABLE, ONLY_VARIABLE):
            # Clear these variables, so that the variation of an outer `exec` does not affect this
            # command.
            if name in os.environ:
                variables[name] = ""
        return variables

    def _observe(self, client: ControlClient) -> str:
        """Start observing all worlds, and return the observation's id.

        Raises Failure if a rule to skip does not exist.
        """
        from hosting_emulator.sdk import ControlRefused

        try:
            return client.observe(skip_rules=self._execution.skip_rules).id
        except ControlRefused as refused:
            raise Failure(f"--skip-rule: {with_rules_command(refused)}") from refused

    # --- Report and verdict ----------------------------------------------------------------------

    def _report(self, ready: Ready, outcome: Outcome) -> None:
        """Judge the run, and write the requested reports and worlds.

        Errors are printed instead of being raised. After an error, the run is undecided if the user
        requested a verdict or a report.
        """
        from hosting_emulator.sdk import WorldsObservation

        try:
            with connected(ready.control_url, ready.control_token) as client:
                wait_until_reachable(client)
                self._report_observation(WorldsObservation(client, self._observation_id), outcome)
        except Failure as error:
            self._give_no_verdict(error.format_message())
        except Exception as error:
            self._give_no_verdict(f"the report failed: {type(error).__name__}: {error}")

    def _give_no_verdict(self, reason: str) -> None:
        mention(f"Error: {reason}")
        self._undecided = self._execution.conduct != "off" or self._execution.report == "always"

    def _report_observation(self, observation: WorldsObservation, outcome: Outcome) -> None:
        color = sys.stderr.isatty() and "NO_COLOR" not in os.environ
        verdict = RunVerdict(observation.report(final=True, wait_s=SETTLE_S))
        self._judge(verdict, color=color)
        failed = self._exit_code(outcome) != 0
        report = self._execution.report
        has_report = report == "always" or (report == "failed" and failed)
        if has_report:
            for text in report_texts(verdict, observation, color=color):
                mention(text)
        if self._connections_text and (has_report or self._execution.conduct != "off"):
            mention(self._connections_text)
        if failed:
            self._keep_worlds(verdict, observation)

    def _keep_worlds(self, verdict: RunVerdict, observation: WorldsObservation) -> None:
        """If `--failed-world` is set, write the worlds to files and print how to open the main
        world.

        Raises Failure if a file cannot be written.
        """
        if self._execution.failed_world is None:
            return
        path, others = keep_worlds(verdict, observation, self._execution.failed_world)
        if self._execution.quiet:
            return
        line = f"hosting-emulator start --ephemeral --import {shlex.quote(str(path))}"
        mention(f"The world was saved. To open it, run: {line}")
        if others:
            names = ", ".join(shlex.quote(str(other)) for other in others)
            mention(f"Other worlds that received requests were also saved: {names}")

    def _judge(self, verdict: RunVerdict, *, color: bool) -> None:
        """Judge the command's conduct.

        Print the findings, the judges' errors and the unfinished requests.
        """
        execution = self._execution
        is_strict = execution.conduct == "error"
        if not verdict.has_requests:
            self._undecided = is_strict
            if is_strict or not execution.quiet:
                mention(NO_REQUEST)
        if execution.conduct == "off":
            return
        self._misbehaved = verdict.is_bad and is_strict
        self._undecided = self._undecided or bool(verdict.errors)
        if verdict.has_findings or execution.conduct == "report":
            mention(verdict.conduct_text(color=color))
        for error in verdict.errors:
            mention(f"Error: {error}")
        unfinished_requests = verdict.in_progress_text()
        if unfinished_requests:
            mention(unfinished_requests)
