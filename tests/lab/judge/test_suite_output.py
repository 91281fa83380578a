"""Commands whose output contains the summary of a test runner are test suites."""

from __future__ import annotations

import pytest

from hosting_emulator_lab.judge.suite_output import is_test_suite


@pytest.mark.parametrize(
    "line",
    [
        "3 passed in 0.12s",
        "======= 3 passed, 1 warning in 0.12s =======",
        "Ran 3 tests in 0.012s",
        "ok      example.com/shop    0.014s",
        "ok  \texample.com/shop\t(cached)",
        "# tests 3",
        "\u2139 tests 3",
        "      Tests  3 passed (3)",
        "Tests:       3 passed, 3 total",
        "[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0",
        "Passed!  - Failed:     0, Passed:     3, Skipped:     0, Total:     3",
        r"\x1b[32m3 passed in 0.12s\x1b[0m",
    ],
)
def test_the_summary_of_a_test_runner_shows_a_test_suite(line: str):
    assert is_test_suite(["collected 3 items", line])


@pytest.mark.parametrize(
    "line", ["3 deployments passed", "ok", "ok shop is deployed", "Tests of the shop", "# 3 tests"]
)
def test_other_lines_do_not_show_a_test_suite(line: str):
    assert not is_test_suite([line])
