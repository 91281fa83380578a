"""Exploring from the first signal to the last report: emulator, clean run, plan, points, report."""

from __future__ import annotations

import asyncio
import os
import shlex
import time
from typing import TYPE_CHECKING

from hosting_emulator.explore.judging import Clean
from hosting_emulator.explore.planning import Plan, plan
from hosting_emulator.explore.report import Exploration
from hosting_emulator.explore.telling import plain, plan_text, result_text
from hosting_emulator.sdk import ControlClient, ControlError
from hosting_emulator.supervisor import (
    become_subreaper,
    descendants,
    end_orphans,
    ending_signals,
    exit_on_signals,
)
from hosting_emulator_cli.exploring.keeping import Kept, key_of
from hosting_emulator_cli.exploring.running import CleanRunFailed, Runner
from hosting_emulator_cli.exploring.watching import Watched
from hosting_emulator_cli.exploring.writing import write_reports
from hosting_emulator_cli.groups import Failure
from hosting_emulator_cli.output import printable, say
from hosting_emulator_cli.progress import working

if TYPE_CHECKING:
    from hosting_emulator.explore.points import Point
    from hosting_emulator.settings import Ready
    from hosting_emulator_cli.exploring.wanted import Wanted

_PATIENCE_S = 5.0


def explore(wanted: Wanted) -> int:
    """Explore, and return the exit code. Raises Failure for what cannot be explored."""
    exit_on_signals()
    from hosting_emulator.bootstrap import log_to_stderr
    from hosting_emulator.settings import StartError

    log_to_stderr(wanted.settings)
    not_ours = descendants(os.getpid())
    become_subreaper()
    try:
        return asyncio.run(_Exploring(wanted).through())
    except (StartError, ControlError) as error:
        raise Failure(str(error)) from error
    except OSError as error:
        raise Failure(f"cannot start a process: {error.strerror or error}") from error
    finally:
        end_orphans(not_ours)


class _Exploring:
    """One exploration."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._signal: int | None = None
        self._runner: Runner | None = None
        self._cut = ""
        self._began = time.monotonic()

    async def through(self) -> int:
        """Start the emulator, explore, stop the emulator."""
        from hosting_emulator.bootstrap import Emulator, log_requests, warm_up

        loop = asyncio.get_running_loop()
        for number in ending_signals():
            loop.add_signal_handler(number, self._heed, number)
        emulator = Emulator(self._wanted.settings)
        log_requests(self._wanted.settings, emulator.worlds)
        await emulator.start()
        try:
            ready = await asyncio.to_thread(emulator.ready)
            await warm_up()
            with ControlClient(ready.control_url, token=ready.control_token) as client:
                return await self._explore(ready, client)
        finally:
            await emulator.stop()

    def _heed(self, number: int) -> None:
        self._signal = self._signal or number
        self._stop("interrupted")

    def _signalled(self) -> int | None:
        """The exit code after a signal; None: there was none."""
        return None if self._signal is None else 128 + self._signal

    def _stop(self, why: str) -> None:
        self._cut = self._cut or why
        if self._runner is not None:
            self._runner.end()

    async def _explore(self, ready: Ready, client: ControlClient) -> int:
        runner = self._runner = Runner(self._wanted, ready, client)
        if (code := self._signalled()) is not None:
            return code
        if self._wanted.settings.state is not None:  # it brought a clock of its own
            await asyncio.to_thread(client.set_clock, clock={"mode": "skip"})
        try:
            with working("The clean run"):
                clean = await runner.clean()
        except CleanRunFailed as error:
            for line in error.output:
                say(f"| {printable(line)}")
            raise Failure(
                f"{error}; explore begins with a run that ends well: what it printed stands above"
            ) from error
        if clean is None:
            return self._signalled() or 0
        if self._wanted.point is not None:
            return await self._one(runner, self._wanted.point, clean)
        return await self._all(runner, clean)

    async def _one(self, runner: Runner, point: Point, clean: Clean) -> int:
        """Run one point, its output passing through."""
        result = await runner.point("point", point, clean, through=True)
        if (code := self._signalled()) is not None:
            return code
        say(printable(result_text(result, plain)))
        for finding in result.conduct:
            say(printable(f"conduct: {finding}"))
        return 0 if result.fine else 1

    async def _all(self, runner: Runner, clean: Clean) -> int:
        wanted = self._wanted
        planned = plan(
            clean.seen.requests,
            faults=wanted.faults,
            calls=wanted.calls,
            max_runs=wanted.max_runs,
        )
        if not planned.requests:
            raise Failure(_nothing_to_explore(wanted))
        kept = Kept(wanted.state, key_of(wanted, clean), planned)
        say(plan_text(planned, wanted.jobs))
        if kept.says:
            say(kept.says)
        await self._run_points(runner, planned, clean, kept)
        results = kept.in_order(planned.points)
        subject = shlex.join(wanted.command)
        cut = self._cut if len(results) < len(planned.points) else ""
        exploration = Exploration(
            *(subject, clean, planned, results, wanted.repeat, cut),
            conduct=wanted.conduct,
            repeat_clean=wanted.repeat_clean,
        )
        write_reports(wanted, exploration)
        if (code := self._signalled()) is not None:
            return code
        return 0 if exploration.survived else 1

    async def _run_points(self, runner: Runner, planned: Plan, clean: Clean, kept: Kept) -> None:
        names = {point: f"run-{n}" for n, point in enumerate(planned.points, 1)}
        left = [point for point in planned.points if point not in kept.results][::-1]
        timer = self._bounded()
        with Watched("Exploring", len(kept.results), len(planned.points)) as watched:

            async def work() -> None:
                while left and not runner.is_stopped():
                    point = left.pop()
                    result = await runner.point(names[point], point, clean)
                    if runner.is_stopped():  # it was ended, which says nothing of the client
                        return
                    kept.add(result)
                    watched.add(result)

            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(min(self._wanted.jobs, len(left))):
                        group.create_task(work())
            except* (Failure, ControlError, OSError) as failed:
                raise failed.exceptions[0] from None
            finally:
                if timer is not None:
                    timer.cancel()

    def _bounded(self) -> asyncio.TimerHandle | None:
        """Stop when the budget is used up, which the clean run counts against."""
        budget_s = self._wanted.budget_s
        if budget_s is None:
            return None
        left_s = max(0.0, budget_s - (time.monotonic() - self._began))
        why = f"the budget of {budget_s:g} s is used up"
        return asyncio.get_running_loop().call_later(left_s, self._stop, why)


def _nothing_to_explore(wanted: Wanted) -> str:
    if wanted.calls:
        return f"the command makes no request of {' or '.join(wanted.calls)}: nothing to explore"
    return (
        "the command makes no request that a fault could meet: does it use HOSTING_BASE_URL and "
        "HOSTING_TOKEN?"
    )
