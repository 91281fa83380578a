"""What `exec --vary` says of a command that failed, and how it finds the points that matter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from hosting_emulator.delta_debugging import smallest
from hosting_emulator_cli.executing import Execution, Ran, mention, run_once

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Runs of the command that shrinking may take, beside the two that check what there is to shrink.
MOST_RUNS = 40
#: Codes of a command that never ran.
_NEVER_RAN = (126, 127)

#: What is said where the command asked other worlds than ours, as tests do by the pytest plugin.
_ELSEWHERE = "no answer of this emulator; worlds that the command made itself vary by it too"


class Stopped(Exception):
    """A signal ended a run: nothing more is to be done."""


def execute_varied(
    wanted: Execution, again: Callable[[Sequence[str] | None], str], *, shrinking: bool
) -> int:
    """Run a command whose answers vary, and return its exit code.

    If it fails, say by which seed and points, and the line (`again`) that repeats it; with
    `shrinking`, run it until the points that matter are found. Raises Failure.
    """
    ran = run_once(wanted)
    if ran.code == 0 or ran.code in _NEVER_RAN or ran.signalled:
        return ran.code
    if shrinking or not wanted.quiet:
        points = ", ".join(ran.varied) or _ELSEWHERE
        line = again(wanted.settings.vary_only)
        mention(f"Varied by seed {wanted.settings.vary}: {points}.\nAgain: {line}")
    if shrinking:
        try:
            _Shrinking(wanted, again).begin(ran)
        except Stopped:
            mention("Stopped: nothing more is found out.")
    return ran.code


class _Shrinking:
    """The search for the points that make a command fail."""

    def __init__(self, wanted: Execution, again: Callable[[Sequence[str] | None], str]) -> None:
        self._again = again
        settings = replace(wanted.settings, log_requests=False)
        self._quiet = replace(
            wanted, settings=settings, report="never", keep=None, quiet=True, silent=True
        )

    def begin(self, ran: Ran) -> None:
        """Say what is tried and what came of it."""
        mention(f"Shrinking: at most {MOST_RUNS + 3} more runs, unseen, each with a fresh world.")
        if self._fails(()):
            mention("It fails without any variation too: no point is to blame.")
            return
        points = self._starting(ran)
        if points is None:
            mention(
                "It passes when it is run again with the same points: it fails only now and then."
            )
            return
        found = smallest(points, self._fails, MOST_RUNS)
        rest = "" if found.finished else ", as far as could be told in so many runs"
        mention(
            f"It fails with {' and '.join(found.items)} alone{rest} ({found.tries} runs).\n"
            f"Again: {self._again(found.items)}"
        )

    def _starting(self, ran: Ran) -> tuple[str, ...] | None:
        """Return points with which it fails again: those seen to vary, or else all."""
        from hosting_emulator.variation.points import POINTS

        everything = self._quiet.settings.vary_only or tuple(POINTS)
        for points in (ran.varied, everything):
            if points and self._fails(points):
                return points
        return None

    def _fails(self, points: tuple[str, ...]) -> bool:
        settings = self._quiet.settings
        if points:
            settings = replace(settings, vary_only=points)
        else:
            settings = replace(settings, vary=None, vary_only=None)
        ran = run_once(replace(self._quiet, settings=settings))
        if ran.signalled:
            raise Stopped
        return ran.code != 0
