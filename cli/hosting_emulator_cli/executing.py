"""Executing: a command with an emulator around it, from the first signal to the last process.

The emulator runs in this process, so that it cannot outlive it; the command runs under its supervisor.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hosting_emulator.supervisor import ChildCommand, Outcome, ending_signals, exit_on_signals
from hosting_emulator_cli.conduct_reports import begin_watch, conduct_of
from hosting_emulator_cli.environments import with_variables
from hosting_emulator_cli.groups import Failure
from hosting_emulator_cli.options import connected
from hosting_emulator_cli.output import as_json, say
from hosting_emulator_cli.variables import first_project, organization_of, world_variables
from hosting_emulator_cli.varying import ONLY_VARIABLE, SEED_VARIABLE

if TYPE_CHECKING:
    from hosting_emulator.sdk import ControlClient
    from hosting_emulator.settings import Ready, Settings

#: A token that outlives every move of the clock that a test would make.
_TEN_YEARS_S = 10 * 365 * 86_400
#: How long the command may take to end after SIGTERM, once `--kill-after` is over.
_GRACE_S = 2.0
#: Two signals closer than this are one: `timeout`, say, sends to us and to our group.
_ONE_PRESS_S = 0.1
#: When to say that a second Ctrl-C would help.
_HINT_S = 1.0


@dataclass(frozen=True, slots=True)
class Execution:
    """What is to be run and how. `patience_s` None: wait for ever for a command to end.

    A `silent` one hears and says nothing: it has the null device for its input and output.
    """

    command: Sequence[str]
    settings: Settings
    principal: str
    exports: Sequence[tuple[str, str]]
    report: str
    keep: Path | None
    patience_s: float | None
    quiet: bool
    conduct: str = "off"
    conduct_off: Sequence[str] = ()
    silent: bool = False


class Ran(NamedTuple):
    """What became of a command: its exit code, at which points its answers varied.

    `signalled`: we were told to end it.
    """

    code: int
    varied: tuple[str, ...] = ()
    signalled: bool = False


def execute(wanted: Execution) -> int:
    """Run the command and return its exit code. Raises Failure when the emulator cannot start."""
    return run_once(wanted).code


def run_once(wanted: Execution) -> Ran:
    """Run the command. Raises Failure when the emulator cannot start."""
    exit_on_signals()
    from hosting_emulator.bootstrap import log_to_stderr
    from hosting_emulator.settings import StartError

    log_to_stderr(wanted.settings)
    try:
        return asyncio.run(_Run(wanted).through())
    except StartError as error:
        raise Failure(str(error)) from error


class _Run:
    """One run of a command."""

    def __init__(self, wanted: Execution) -> None:
        self._wanted = wanted
        self._child: ChildCommand | None = None
        self._began = False
        self._signal: int | None = None
        self._signalled_at = 0.0
        self._at_once = False
        self._later: list[asyncio.TimerHandle] = []
        self._misbehaved = False

    async def through(self) -> Ran:
        """Start the emulator, run the command, stop the emulator."""
        from hosting_emulator.bootstrap import Emulator, log_requests, warm_up

        loop = asyncio.get_running_loop()
        for number in ending_signals():
            loop.add_signal_handler(number, self._heed, number)
        try:
            # First: its supervisor gets ready while the emulator does.
            self._child = ChildCommand(output="null" if self._wanted.silent else "ours")
        except OSError as error:
            raise Failure(f"cannot start a process: {error.strerror}") from error
        try:
            emulator = Emulator(self._wanted.settings)
            log_requests(self._wanted.settings, emulator.worlds)
            await emulator.start()
            try:
                ready = await asyncio.to_thread(emulator.ready)
                # While the command begins, which takes its time too.
                warming = asyncio.create_task(warm_up())
                code = await self._run(ready)
                await warming
                varied = tuple(sorted(emulator.worlds.tally.varied))
                return Ran(code, varied, self._signal is not None)
            finally:
                await asyncio.to_thread(self._child.close)
                self._child = None
                await emulator.stop()
        finally:
            if self._child is not None:
                self._child.close()

    async def _run(self, ready: Ready) -> int:
        assert self._child is not None
        variables = await asyncio.to_thread(self._variables, ready)
        variables |= _variation(self._wanted.settings)
        if self._signal is not None:
            return 128 + self._signal
        self._child.begin(self._wanted.command, with_variables(variables))
        self._began = True
        outcome = await self._child.outcome()
        self._heed_no_more()
        if outcome.refused is not None:
            mention(f"Error: {self._wanted.command[0]}: {outcome.reason}")
        elif not self._at_once:
            await asyncio.to_thread(self._tell, ready, outcome)
        return outcome.code or int(self._misbehaved)

    # --- Signals -----------------------------------------------------------------------------

    def _heed(self, number: int) -> None:
        now = time.monotonic()
        again = self._signal is not None and now - self._signalled_at > _ONE_PRESS_S
        if self._signal is None:
            self._signal = number
        self._signalled_at = now
        if self._child is None or not self._began:
            return
        patience_s = self._wanted.patience_s
        if again and number == signal.SIGINT and patience_s is not None:
            self._at_once = True
            self._child.end(0)
            return
        self._child.signal(number)
        if patience_s is not None and not self._later:
            loop = asyncio.get_running_loop()
            self._later.append(loop.call_later(patience_s, self._child.end, _GRACE_S))
            if number == signal.SIGINT and sys.stderr.isatty() and not self._wanted.quiet:
                words = "Waiting for the command to end; Ctrl-C again ends it at once."
                self._later.append(loop.call_later(_HINT_S, mention, words))

    def _heed_no_more(self) -> None:
        """There is nothing left to signal; we end at once anyway."""
        self._began = False
        for timer in self._later:
            timer.cancel()

    # --- What the command is told, and what is told of it -------------------------------------

    def _variables(self, ready: Ready) -> dict[str, str]:
        """Ask the emulator for the world's variables, and name them as wanted. Raises Failure."""
        with connected(ready.control_url, ready.control_token) as client:
            info, world = client.info(), client.world()
            if self._wanted.conduct != "off":
                begin_watch(client, self._wanted.conduct_off)
            asked = client.token(self._wanted.principal, expires_in_seconds=_TEN_YEARS_S)
        token = asked["access_token"]
        found = world_variables(info, world, token, first_project(world, organization_of(token)))
        found["HOSTING_CONTROL_URL"] = ready.control_url
        if ready.tls_url is not None and ready.ca_file is not None:
            found |= {"HOSTING_TLS_URL": ready.tls_url, "HOSTING_CA_FILE": ready.ca_file}
        if ready.control_token is not None:
            found["HOSTING_EMULATOR_CONTROL_TOKEN"] = ready.control_token
        renamed = {name for name, _ in self._wanted.exports}
        under = {name: value for name, value in found.items() if name not in renamed}
        return under | {o: found[name] for name, o in self._wanted.exports if name in found}

    def _tell(self, ready: Ready, outcome: Outcome) -> None:
        """Write the report and the world, as far as they are wanted. What fails is said only."""
        wanted, failed = self._wanted, outcome.code != 0
        try:
            with connected(ready.control_url, ready.control_token) as client:
                if wanted.conduct != "off":
                    text, bad = conduct_of(client, wanted.conduct_off)
                    if not wanted.silent and (bad or wanted.conduct == "report"):
                        mention(text)
                    self._misbehaved = bad and wanted.conduct == "error"
                    failed = failed or self._misbehaved
                if wanted.report == "always" or (wanted.report == "failed" and failed):
                    mention(_report(client))
                if wanted.keep is not None and failed:
                    self._keep(client, wanted.keep)
        except Failure as error:
            mention(f"Error: {error.format_message()}")

    def _keep(self, client: ControlClient, path: Path) -> None:
        from hosting_emulator_cli.files import PRIVATE, write_whole

        write_whole(path, as_json(client.export_state()) + "\n", mode=PRIVATE)
        if not self._wanted.quiet:
            mention(f"The world is kept: hosting-emulator start --ephemeral --from {path}")


def _report(client: ControlClient) -> str:
    from hosting_emulator.sdk import report_text

    color = sys.stderr.isatty() and "NO_COLOR" not in os.environ
    return report_text(client.report(), color=color)


def _variation(settings: Settings) -> dict[str, str]:
    """Return the variables by which worlds that the command makes elsewhere vary as ours do."""
    if settings.vary is None:
        # What an outer run says does not hold here.
        return {name: "" for name in (SEED_VARIABLE, ONLY_VARIABLE) if name in os.environ}
    return {SEED_VARIABLE: settings.vary, ONLY_VARIABLE: ",".join(settings.vary_only or ())}


def mention(text: str) -> None:
    """Say something; where nobody listens any more, the exit code is the command's all the same."""
    try:
        say(text)
    except OSError:
        # Python tries again at its end, and would then end by a code of its own.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)
