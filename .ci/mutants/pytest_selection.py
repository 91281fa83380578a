"""A pytest plugin that runs the tests listed in a file, in this order, and records the first failure.

It runs in a working copy, and imports no other module of this package. Ids that do not exist are
skipped. A mutant of a table may change the ids of tests that are parametrized by this table, and
that alone must not count as a failure.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from pathlib import Path

import pytest

#: A JSON file: `{"tests": [ID, ...], "failure": PATH}`.
REQUEST_VARIABLE = "MUTANTS_REQUEST"


class Selection:
    """Selects tests, and writes the first failure."""

    def __init__(self, request: Path) -> None:
        content = json.loads(request.read_text("utf-8"))
        self._ranks = {test: rank for rank, test in enumerate(content["tests"])}
        self._failure = Path(content["failure"])

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> Generator[None, None, None]:
        yield
        selected = [item for item in items if item.nodeid in self._ranks]
        first_ranks: dict[Path, int] = {}
        for item in selected:
            rank = self._ranks[item.nodeid]
            first_ranks[item.path] = min(rank, first_ranks.get(item.path, rank))
        # Keep the tests of a file together, because they share fixtures.
        selected.sort(key=lambda item: (first_ranks[item.path], self._ranks[item.nodeid]))
        items[:] = selected

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._note(f"collection of {report.nodeid}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._note(report.nodeid)

    def _note(self, failure: str) -> None:
        if not self._failure.exists():
            self._failure.write_text(failure, "utf-8")


def pytest_configure(config: pytest.Config) -> None:
    """Select tests, but only in the process that was started for this, not if a test runs pytest."""
    request = os.environ.pop(REQUEST_VARIABLE, None)
    if request is not None:
        config.pluginmanager.register(Selection(Path(request)))
