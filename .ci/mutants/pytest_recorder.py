"""A pytest plugin that records which lines each test runs, how long the test takes, and its result.

It runs in a working copy, where it uses `process_recorder` and no other module of this package.
"""

from __future__ import annotations

import json
import time
from collections.abc import Generator
from typing import Any

import mutants_process_recorder as process_recorder
import pytest


class TestRecorder:
    """Records the lines that each test runs in pytest's own process."""

    __test__ = False

    def __init__(self) -> None:
        path = process_recorder.RECORDS / f"tests-{time.monotonic_ns()}"
        self._coverage = process_recorder.new_coverage(str(path))
        self._coverage.start()
        self._context = ""
        self._records: dict[str, dict[str, Any]] = {}

    def _switch(self, context: str) -> None:
        self._context = context
        process_recorder.CURRENT_TEST.write_text(context, "utf-8")
        self._coverage.switch_context(context)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._switch(item.nodeid)
        self._records[item.nodeid] = {
            "id": item.nodeid,
            "fixtures": sorted(getattr(item, "fixturenames", ())),
            "seconds": 0.0,
            "outcome": "passed",
        }
        result = yield
        self._switch("")
        with (process_recorder.RECORDS / "tests.jsonl").open("a", encoding="utf-8") as file:
            print(json.dumps(self._records.pop(item.nodeid)), file=file)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any]
    ) -> Generator[None, object, object]:
        """Record a shared fixture for all tests that use it, not only for the first test."""
        if fixturedef.scope == "function":
            return (yield)
        outer_context = self._context
        self._switch(f"fixture {fixturedef.baseid}::{fixturedef.argname}")
        try:
            return (yield)
        finally:
            self._switch(outer_context)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        record = self._records[report.nodeid]
        record["seconds"] += report.duration
        if report.outcome != "passed":
            record["outcome"] = report.outcome

    def pytest_unconfigure(self) -> None:
        self._coverage.stop()
        self._coverage.save()


def pytest_configure(config: pytest.Config) -> None:
    """Start recording tests."""
    process_recorder.end()
    config.pluginmanager.register(TestRecorder())
