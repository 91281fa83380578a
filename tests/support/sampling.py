"""Samples of tables with many similar rows. A normal run tries a few rows, and `make torture` all.

A rotating sample contains different rows at each commit, until all rows have been tried. The date
and the time do not affect a sample.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

import pytest

#: The environment variable whose number chooses the rotating sample instead of the commit.
SAMPLE_VARIABLE = "TEST_SAMPLE"
#: Whether the functions omit the rows that are marked as torture. `tests/conftest.py` sets this if the
#: run would deselect these rows, because there are as many of them as all other tests, and each
#: worker would collect them.
omits_torture = False


def sampled(rows: Iterable[Any], count: int) -> list[Any]:
    """Return all rows for `parametrize`. All but `count` rows are marked as torture, or omitted.

    The sample is the same at each commit, so the function suits tables with rows that do not pass yet.
    """
    rows = list(rows)
    chosen = Random("tests").sample(range(len(rows)), min(count, len(rows)))
    return _marked(rows, set(chosen))


def rotating(rows: Iterable[Any], count: int, *, number: int | None = None) -> list[Any]:
    """Return all rows for `parametrize`. All but `count` rows are marked as torture, or omitted.

    `number` chooses the unmarked rows. The default is `sample_number()`. Consecutive numbers choose
    consecutive parts of the shuffled table, so every row is chosen once before any row is repeated.
    """
    rows = list(rows)
    if number is None:
        number = sample_number()
    shuffled = list(range(len(rows)))
    Random("tests").shuffle(shuffled)
    start = number * count
    positions = range(start, start + min(count, len(rows)))
    return _marked(rows, {shuffled[position % len(rows)] for position in positions})


def sample_number() -> int:
    """Return the number in the variable TEST_SAMPLE, or the number of the current commit.

    Raises pytest.UsageError if the variable does not contain a number.
    """
    text = os.environ.get(SAMPLE_VARIABLE)
    if not text:
        return commit_number(Path(__file__).parent)
    if not (text.isascii() and text.isdigit()):
        raise pytest.UsageError(f"{SAMPLE_VARIABLE} is {text!r}, not a number such as 1234")
    return int(text)


def commit_number(folder: Path) -> int:
    """Return the number of commits in the history of the checked-out commit of a folder.

    In a shallow clone, whose history is incomplete, the number is derived from the commit's hash.
    Without a commit, as in a source distribution, the number is 0.
    """
    if _git(folder, "rev-parse", "--is-shallow-repository") == "true":
        return int(_git(folder, "rev-parse", "--short=8", "HEAD"), 16)
    return int(_git(folder, "rev-list", "--count", "HEAD") or 0)


def _git(folder: Path, *arguments: str) -> str:
    """Return the output of a Git command. The output is empty if Git fails or is not installed."""
    command = ["git", "-C", str(folder), *arguments]
    try:
        finished = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return finished.stdout.strip() if finished.returncode == 0 else ""


def _marked(rows: list[Any], chosen: set[int]) -> list[Any]:
    if omits_torture:
        return [rows[index] for index in sorted(chosen)]
    return [
        row if index in chosen else pytest.param(*_values(row), marks=pytest.mark.torture)
        for index, row in enumerate(rows)
    ]


def _values(row: Any) -> tuple[Any, ...]:
    return row if type(row) is tuple else (row,)
