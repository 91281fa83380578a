"""Running: the clean run first, then each point in a world of its own, several at a time.

One emulator in this process serves them all; the runs are processes of their own.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hosting_emulator.explore.judging import (
    Clean,
    Ended,
    Result,
    judge,
    settled,
    wants_another_look,
)
from hosting_emulator.explore.kinds import LATE_MS
from hosting_emulator.explore.points import Point
from hosting_emulator.explore.seeing import Seen, TooManyRequests, see
from hosting_emulator.explore.states import State, summary
from hosting_emulator.sdk import ControlClient
from hosting_emulator.supervisor import ChildCommand, TimedRun
from hosting_emulator_cli.exploring.excerpts import excerpt
from hosting_emulator_cli.exploring.worlds import RunWorld, open_point, open_world
from hosting_emulator_cli.groups import Failure
from hosting_emulator_cli.output import printable
from hosting_emulator_cli.variables import with_variables

if TYPE_CHECKING:
    from hosting_emulator.settings import Ready
    from hosting_emulator_cli.exploring.wanted import Wanted

#: How long a run may take at least, and how often as long as the clean run, in real seconds.
_LIMIT_S, _TIMES = 10.0, 3
#: How long the clean run may take where nothing is said, in real seconds.
_CLEAN_LIMIT_S = 600.0
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b")


class Runner:
    """Runs the command in worlds of one emulator. `end` ends whatever runs, and what would begin."""

    def __init__(self, wanted: Wanted, ready: Ready, client: ControlClient) -> None:
        self._wanted, self._ready, self._client = wanted, ready, client
        self._running: set[ChildCommand] = set()
        self._port = re.compile(rf"(?<![0-9]){ready.base_url.rpartition(':')[2]}(?![0-9])")
        self._stopped = False
        self.limit_s = wanted.limit_s or _LIMIT_S

    def is_stopped(self) -> bool:
        """Whether all was ended."""
        return self._stopped

    def end(self) -> None:
        """End all runs, and begin none any more."""
        self._stopped = True
        for process in self._running:
            process.end()

    async def clean(self) -> Clean | None:
        """Run the command without a failure, twice; None if all was ended meanwhile.

        Raises Failure if it fails by itself.
        """
        start = await asyncio.to_thread(self._start)
        ended, seen = await self._clean("clean", sizes=True)
        if self.is_stopped():
            return None
        if self._wanted.limit_s is None:
            self.limit_s = max(_LIMIT_S, _TIMES * ended.duration_s)
        _, again = await self._clean("clean-again")
        return None if self.is_stopped() else Clean(start, seen, ended, again)

    async def point(
        self, name: str, point: Point, clean: Clean, *, through: bool = False
    ) -> Result:
        """Run a point in a new world of this name, and judge it. Raises Failure.

        What goes wrong is looked at twice, unless the command's output passes `through`.
        """
        result = await self._point(name, point, clean, through=through)
        if through or self.is_stopped() or not wants_another_look(result):
            return result
        return settled(result, await self._point(f"{name}-again", point, clean))

    # --- The parts of a run ------------------------------------------------------------------

    async def _point(
        self, name: str, point: Point, clean: Clean, *, through: bool = False
    ) -> Result:
        world = await asyncio.to_thread(self._open_point, name, point, clean)
        ran = await self._run(world, self.limit_s, through=through)
        seen = await self._see(world)
        if seen.late:
            await asyncio.sleep(LATE_MS / 1000)
            seen = await self._see(world)
        await asyncio.to_thread(self._client.delete_world, name)
        return judge(
            point,
            self._ended(ran),
            seen,
            clean,
            limit_s=round(self.limit_s, 1),
            conduct=self._wanted.conduct,
        )

    async def _clean(self, name: str, *, sizes: bool = False) -> tuple[Ended, Seen]:
        wanted = self._wanted
        world = await asyncio.to_thread(
            open_world, self._client, self._ready, name, wanted.principal, wanted.exports
        )
        limit_s = wanted.limit_s or _CLEAN_LIMIT_S
        ran = await self._run(world, limit_s)
        if ran.outcome.refused is not None:
            raise Failure(f"{wanted.command[0]}: {ran.outcome.reason}")
        ended = self._ended(ran)
        if not self.is_stopped() and (ended.hung or ended.code):
            why = f"did not end within {limit_s:g} s" if ended.hung else f"ended with {ended.code}"
            raise CleanRunFailed(f"without any failure the command {why}", ended.output)
        seen = await self._see(world, sizes=sizes)
        await asyncio.to_thread(self._client.delete_world, name)
        return ended, seen

    async def _run(self, world: RunWorld, limit_s: float, *, through: bool = False) -> TimedRun:
        process = ChildCommand(output="ours" if through else "kept", own_session=True)
        self._running.add(process)
        try:
            if self.is_stopped():
                process.end()
            environment = with_variables(world.variables)
            return await process.run(self._wanted.command, environment, limit_s=limit_s)
        finally:
            self._running.discard(process)

    async def _see(self, world: RunWorld, *, sizes: bool = False) -> Seen:
        try:
            return await asyncio.to_thread(see, self._client, world.name, world.fault, sizes=sizes)
        except TooManyRequests as error:
            raise Failure(f"the command cannot be explored: {error}") from error

    def _start(self) -> State:
        return summary(self._client.export_state())

    def _open_point(self, name: str, point: Point, clean: Clean) -> RunWorld:
        wanted = self._wanted
        try:
            return open_point(
                self._client,
                self._ready,
                name,
                wanted.principal,
                wanted.exports,
                point,
                clean.seen.requests,
            )
        except ValueError as error:
            raise Failure(f"--point: {error}") from error

    def _ended(self, ran: TimedRun) -> Ended:
        return Ended(ran.outcome.code, ran.hung, ran.seconds, self._last_lines(ran.output))

    def _last_lines(self, output: bytes) -> tuple[str, ...]:
        """Return what tells most of an output, as it would be in any other run."""
        text = output.decode("utf-8", "replace")
        text = _ADDRESS.sub("0x…", self._port.sub("PORT", text))
        lines = [
            printable(line.rstrip().expandtabs(4)) for line in text.splitlines() if line.strip()
        ]
        return excerpt(lines)


class CleanRunFailed(Exception):
    """The command fails without our help; `output` are its last lines."""

    def __init__(self, message: str, output: Sequence[str]) -> None:
        super().__init__(message)
        self.output = output
