"""The bars as a test: `make bench` runs it alone; `make test` never does, figures want quiet."""

from __future__ import annotations

import pytest

from tests.benchmarks.bench import heading, measure
from tests.benchmarks.report import render


@pytest.mark.benchmark
def test_every_bar_holds(capsys: pytest.CaptureFixture[str]):
    first_line = heading()

    figures = measure(rounds=5, seconds=2)

    with capsys.disabled():
        print("", first_line, "", render(figures), sep="\n")
    assert [figure.what for figure in figures if not figure.holds] == []
