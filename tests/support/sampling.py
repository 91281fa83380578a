"""Of a table with many rows alike, a few are tried at each run and all of them by `make torture`."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

import pytest


def sampled(rows: Iterable[Any], count: int, *, seed: str = "tests") -> list[Any]:
    """Return all rows for `parametrize`; all but so many, which the seed chooses, are torture."""
    rows = list(rows)
    chosen = set(Random(seed).sample(range(len(rows)), min(count, len(rows))))
    return [
        row if n in chosen else pytest.param(*_values(row), marks=pytest.mark.torture)
        for n, row in enumerate(rows)
    ]


def _values(row: Any) -> tuple[Any, ...]:
    return row if type(row) is tuple else (row,)
