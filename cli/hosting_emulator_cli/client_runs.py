"""Runs a command repeatedly, each time with a separate emulator.

All emulators run in this process and share one event loop. The planning code and each run have
separate threads, so that they do not block the event loop while they wait.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from hosting_emulator.sdk import ControlClient, HostingEmulator
from hosting_emulator.supervisor import ChildCommand, TimedRun, ending_signals
from hosting_emulator_cli.client_variables import command_variables, with_variables
from hosting_emulator_cli.command_output import excerpt
from hosting_emulator_cli.main import Failure
from hosting_emulator_cli.options import ONLY_VARIABLE, SEED_VARIABLE
from hosting_emulator_cli.printable import printable
from hosting_emulator_lab.judge.run_results import RunEnd
from hosting_emulator_lab.run_conditions import RunConditions, RunsStopped

if TYPE_CHECKING:
    from hosting_emulator.bootstrap import Emulator
    from hosting_emulator.settings import Ready, Settings

#: The calls whose responses show an operation.
_OPERATION_CALLS = ("get_operation", "apply_project_domains", "initialize_managed_source")
#: The assumptions about how operations progress.
_PROFILES = ("source_profile", "domains_profile")
#: A run that sends more requests than this to one world is ended like a run that exceeds its time limit.
#: A clean run may send a fifth of them, so such a command repeats itself. Without this limit, a test
#: whose waiting only advances the world's clock would occupy a processor until its time limit.
_MOST_REQUESTS = 5000
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b")


class Visit(Protocol):
    """Prepares and examines the worlds of one run. RunVisit is an example."""

    def begin(self, world: HostingEmulator, token: str | None = None) -> None:
        """Prepare the run's world, before the command starts. `token` is the command's token."""

    def end(self, world: HostingEmulator) -> None:
        """Examine the run's worlds after the command has exited."""


class ClientRuns:
    """Runs one command repeatedly. Each run has a separate process, emulator and world.

    The worlds are copies of the world that `settings` describe. `user` is the user whose token the
    command gets, or None for the default user. Each pair in `exports` contains a variable's name and
    its new name. `variables` are more environment variables of the command.
    """

    def __init__(
        self,
        command: Sequence[str],
        settings: Settings,
        user: str | None,
        exports: Sequence[tuple[str, str]],
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self._command = command
        self._settings = settings
        self._user = user
        self._exports = exports
        self._variables = variables or {}
        self._run_settings = replace(settings, scenario=None, state=None)
        #: Why no more runs may start, or an empty string while runs may start.
        self.stop_reason = ""
        #: The first signal that asked this process to end.
        self._signal: int | None = None
        #: The running commands. Each command is removed while the lock is held, before it is
        #: closed.
        self._running: set[ChildCommand] = set()
        #: Idle supervisors, which can be reused to run the command again.
        self._idle: list[ChildCommand] = []
        self._lock = threading.Lock()
        #: The names of those assumptions in _PROFILES that have their default values, or None until
        #: the first run has read them.
        self._default_profiles: list[str] | None = None
        #: The emulator whose default world is copied for each run. No command talks to it.
        self._pattern: Emulator
        self._loop: asyncio.AbstractEventLoop

    async def use(self, work: Callable[[], int]) -> int:
        """Call `work`, which may perform runs, in a thread. Return the exit code.

        The exit code is that of `work`, or 128+N if signal N ended the runs.
        """
        from hosting_emulator.bootstrap import Emulator, warm_up

        self._loop = asyncio.get_running_loop()
        for number in ending_signals():
            self._loop.add_signal_handler(number, self._interrupt, number)
        self._pattern = Emulator(self._settings)
        await warm_up()
        try:
            code = await asyncio.to_thread(work)
        finally:
            for process in self._idle:
                process.close()
            await self._pattern.stop()
        if self._signal is not None:
            return 128 + self._signal
        return code

    def _interrupt(self, number: int) -> None:
        self._signal = self._signal or number
        self.stop("interrupted")

    def stop(self, reason: str) -> None:
        """Terminate all running commands and prevent further runs. The first reason is kept."""
        self.stop_reason = self.stop_reason or reason
        with self._lock:
            for process in self._running:
                process.end()

    # --- One run ---------------------------------------------------------------------------------

    def perform(
        self,
        visit: Visit,
        name: str,
        limit_s: float | None,
        conditions: RunConditions,
    ) -> RunEnd:
        """Run the command once, for at most `limit_s` real seconds if this is not None.

        `visit` begins before the command starts, and ends after the command has ended. If the run's
        world has a base path, the world is called `name`. Raises RunsStopped if the runs were stopped,
        and Failure if the command cannot be started.
        """
        if self.stop_reason:
            raise RunsStopped
        with self._emulator(conditions) as (emulator, ready, client):
            world = client.world()
            self._set_clock(world, conditions)
            if conditions.operation_profile:
                self._set_operation_profile(world, conditions.operation_profile)
            if conditions.next_poll_s is not None:
                _set_next_poll(world, conditions.next_poll_s)
            if conditions.has_base_path:
                world = world.fork(name)
            variables = command_variables(world, ready, self._user, self._exports)
            variables.update(self._variables)
            token_name = dict(self._exports).get("HOSTING_TOKEN", "HOSTING_TOKEN")
            if conditions.vary is not None:
                # Worlds that the command creates in other emulators must vary in the same way.
                variables[SEED_VARIABLE] = conditions.vary
                variables[ONLY_VARIABLE] = ",".join(conditions.vary_only)
            visit.begin(world, variables[token_name])
            timed_run, sent_too_much = self._run_command(
                with_variables(variables), limit_s, emulator
            )
            if timed_run.outcome.refused is not None:
                raise Failure(f"{self._command[0]}: {timed_run.outcome.refused}")
            visit.end(world)
            varied = tuple(sorted(emulator.worlds.tally.varied))
        lines = _comparable_lines(timed_run, ready)
        return RunEnd(
            timed_run.outcome.code,
            timed_run.hung or sent_too_much,
            timed_run.seconds,
            excerpt(lines),
            printed_lines=tuple(lines),
            varied=varied,
            cpu_s=timed_run.cpu_s,
            pid=timed_run.pid,
            prints_token=variables[token_name].encode() in timed_run.output,
            sent_too_much=sent_too_much,
        )

    @staticmethod
    def _set_clock(world: HostingEmulator, conditions: RunConditions) -> None:
        if conditions.clock == "scaled":
            world.clock.change({"mode": "scaled", "rate": conditions.rate})
        elif conditions.clock == "skip":
            world.clock.change({"mode": "skip"})

    @contextmanager
    def _emulator(
        self, conditions: RunConditions
    ) -> Iterator[tuple[Emulator, Ready, ControlClient]]:
        """Serve a copy of the pattern's default world on a free port within a `with` block."""
        from hosting_emulator.bootstrap import Emulator

        settings = self._run_settings
        if conditions.vary is not None:
            settings = replace(
                settings, vary=conditions.vary, vary_only=conditions.vary_only or None
            )

        async def start() -> Emulator:
            emulator = Emulator(settings, copy_of=self._pattern)
            await emulator.start()
            return emulator

        emulator = asyncio.run_coroutine_threadsafe(start(), self._loop).result()
        try:
            ready = emulator.ready()
            with ControlClient(ready.control_url, token=ready.control_token) as client:
                yield emulator, ready, client
        finally:
            asyncio.run_coroutine_threadsafe(emulator.stop(), self._loop).result()

    def _set_operation_profile(self, world: HostingEmulator, profile: str) -> None:
        """Set the profile of each kind of operation whose profile has its default value."""
        if self._default_profiles is None:
            # The worlds of all runs are copies of one world, so they have the same assumptions.
            self._default_profiles = [
                row.name
                for row in world.assumptions
                if row.name in _PROFILES and row.value == row.default
            ]
        if self._default_profiles:
            world.set_assumptions(dict.fromkeys(self._default_profiles, profile))

    def _run_command(
        self, environment: dict[str, str], limit_s: float | None, emulator: Emulator
    ) -> tuple[TimedRun, bool]:
        """Run the command until it ends, but for at most `limit_s` real seconds.

        If `limit_s` is None, there is no limit. A command that sends too many requests to one of the
        worlds of `emulator` is ended, too. Returns the finished run, and whether it was ended for this
        reason. Raises RunsStopped if the runs were stopped.
        """
        process = self._begin_command(environment)
        limit = _RequestLimit(lambda: self._end(process))
        emulator.watch_requests(limit.count)
        try:
            timed_run = process.finish(limit_s)
        finally:
            with self._lock:
                self._running.discard(process)
                if process.is_free:
                    self._idle.append(process)
            if not process.is_free:
                process.close()
        if self.stop_reason:
            raise RunsStopped
        return timed_run, limit.is_exceeded

    def _end(self, process: ChildCommand) -> None:
        """End a command, unless its run is over already."""
        with self._lock:
            if process in self._running:
                process.end()

    def _begin_command(self, environment: dict[str, str]) -> ChildCommand:
        """Start the command under an idle supervisor, or under a new supervisor if none is idle.

        Raises RunsStopped if the runs were stopped.
        """
        with self._lock:
            if self.stop_reason:
                raise RunsStopped
            process = self._idle.pop() if self._idle else ChildCommand("kept")
            process.begin(self._command, environment)
            self._running.add(process)
        return process


class _RequestLimit:
    """Calls `end` once, when a world has received more than _MOST_REQUESTS requests.

    `is_exceeded` says whether that has happened.
    """

    def __init__(self, end: Callable[[], None]) -> None:
        self.is_exceeded = False
        self._end = end
        self._counts: Counter[str] = Counter()

    def count(self, world: str) -> None:
        """Count a request to a world."""
        self._counts[world] += 1
        if self._counts[world] > _MOST_REQUESTS and not self.is_exceeded:
            self.is_exceeded = True
            self._end()


def _set_next_poll(world: HostingEmulator, seconds: int) -> None:
    """Make responses request the next poll of an operation after this many seconds."""
    change = {"set": {"/progress/next_poll_after_seconds": seconds}}
    for call in _OPERATION_CALLS:
        world.arm({"alter": change, "call": call})


def _comparable_lines(timed_run: TimedRun, ready: Ready) -> list[str]:
    """Return the non-empty lines of a run's output in a form that can be compared between runs.

    Memory addresses and the emulator's port, which differ between runs, become placeholders.
    """
    port = re.compile(rf"(?<![0-9]){ready.base_url.rpartition(':')[2]}(?![0-9])")
    text = port.sub("PORT", timed_run.output.decode("utf-8", "replace"))
    text = _ADDRESS.sub("0x…", text)
    return [printable(line.rstrip().expandtabs(4)) for line in text.splitlines() if line.strip()]
