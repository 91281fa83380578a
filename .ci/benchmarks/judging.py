"""Checks figures in a test, and shows their table even if pytest captures output."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from benchmarks.report import Figure, render


def judge(capsys: pytest.CaptureFixture[str], figures: Sequence[Figure]) -> None:
    """Show the table, and fail with the names of the figures that miss their limits."""
    with capsys.disabled():
        print("", render(figures), sep="\n")
    assert [figure.what for figure in figures if not figure.holds] == []
