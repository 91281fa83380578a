"""What is to be explored and how, as the command line says it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hosting_emulator.explore.judging import Conduct
    from hosting_emulator.explore.points import Point
    from hosting_emulator.settings import Settings


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to run, and how. Times are real seconds; None: as long as is usual, or without bound.

    `point` is the one to run instead of all; `repeat` writes the line that runs one, and
    `repeat_clean` is one that shows the conduct of the clean run.
    """

    command: Sequence[str]
    settings: Settings
    principal: str
    exports: Sequence[tuple[str, str]]
    faults: Sequence[str]
    calls: Sequence[str]
    jobs: int
    max_runs: int
    limit_s: float | None
    budget_s: float | None
    point: Point | None
    conduct: Conduct
    state: Path | None
    json: bool
    junit: Path | None
    html: Path | None
    repeat: Callable[[Point], str]
    repeat_clean: str


def usual_jobs() -> int:
    """Return how many runs go on at a time where nothing is said: many only wait."""
    return max(4, min(16, 3 * (os.cpu_count() or 1)))
