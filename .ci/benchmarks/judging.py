"""Judging figures in a test: the table is shown, whatever pytest captures, and each bar must hold."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from benchmarks.report import Figure, render


def judge(capsys: pytest.CaptureFixture[str], figures: Sequence[Figure]) -> None:
    """Show the table; fail with the names of those that miss their bar."""
    with capsys.disabled():
        print("", render(figures), sep="\n")
    assert [figure.what for figure in figures if not figure.holds] == []
