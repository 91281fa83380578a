"""What `exec --vary` says of a command that failed, and how it finds the points that matter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from hosting_emulator.delta_debugging import smallest
from hosting_emulator_cli.executing import Executed, Execution, execute, mention

#: Runs of the command that shrinking may take, beside the two that check what there is to shrink.
MOST_RUNS = 40
#: Codes of a command that never ran.
_NEVER_RAN = (126, 127)

#: What is said where the command asked other worlds than ours, as tests do by the pytest plugin.
_ELSEWHERE = "no answer of this emulator; worlds that the command made itself vary by it too"


class Stopped(Exception):
    """A signal ended a run: nothing more is to be done."""


def execute_varied(
    execution: Execution, again: Callable[[Sequence[str] | None], str], *, shrinking: bool
) -> int:
    """Run a command whose answers vary, and return its exit code.

    If it fails, say by which seed and points, and the line (`again`) that repeats it; with
    `shrinking`, run it until the points that matter are found. Raises Failure.
    """
    first = execute(execution)
    if first.code == 0 or first.code in _NEVER_RAN or first.signalled:
        return first.code
    settings = execution.settings
    if shrinking or not execution.quiet:
        points = ", ".join(first.varied) or _ELSEWHERE
        line = again(settings.vary_only)
        mention(f"Varied by seed {settings.vary}: {points}.\nAgain: {line}")
    if shrinking:
        try:
            _shrink(execution, first, again)
        except Stopped:
            mention("Stopped: nothing more is found out.")
    return first.code


def _shrink(
    execution: Execution, first: Executed, again: Callable[[Sequence[str] | None], str]
) -> None:
    """Search the points that make a command fail; say what is tried and what came of it."""
    settings = replace(execution.settings, log_requests=False)
    unseen = replace(execution, report="never", keep=None, quiet=True, silent=True)

    def fails(points: tuple[str, ...]) -> bool:
        varied = {"vary_only": points} if points else {"vary": None, "vary_only": None}
        ran = execute(replace(unseen, settings=replace(settings, **varied)))
        if ran.signalled:
            raise Stopped
        return ran.code != 0

    mention(f"Shrinking: at most {MOST_RUNS + 3} more runs, unseen, each with a fresh world.")
    if fails(()):
        mention("It fails without any variation too: no point is to blame.")
        return
    from hosting_emulator.variation.points import POINTS

    # Those seen to vary, or else all.
    starts = (first.varied, settings.vary_only or tuple(POINTS))
    points = next((points for points in starts if points and fails(points)), None)
    if points is None:
        mention("It passes when it is run again with the same points: it fails only now and then.")
        return
    found = smallest(points, fails, MOST_RUNS)
    rest = "" if found.finished else ", as far as could be told in so many runs"
    mention(
        f"It fails with {' and '.join(found.items)} alone{rest} ({found.tries} runs).\n"
        f"Again: {again(found.items)}"
    )
