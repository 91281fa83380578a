"""Recognizes test suites by what their runners print."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hosting_emulator_lab.judge.failed_tests import without_color

_SUMMARIES = (
    # pytest: 3 passed, 1 skipped in 0.12s, with or without a frame of equals signs
    re.compile(r"^=* ?[0-9]+ passed.* in [0-9.]+s.*$"),
    # unittest: Ran 3 tests in 0.012s
    re.compile(r"^Ran [0-9]+ tests? in [0-9.]+s$"),
    # go test: ok  	example.com/shop	0.014s
    re.compile(r"^ok\s+\S+\s+(?:[0-9.]+s|\(cached\)).*$"),
    # node:test: # tests 3, or with U+2139 in place of #
    re.compile(r"^(?:#|\u2139) tests [0-9]+$"),
    # vitest and jest: Tests  3 passed (3), or Tests:       3 passed, 3 total
    re.compile(r"^\s*Tests:?\s+[0-9]+ passed.*$"),
    # Maven: Tests run: 3, Failures: 0, Errors: 0, Skipped: 0
    re.compile(r"^(?:\[INFO\] )?Tests run: [0-9]+, .*$"),
    # dotnet test: Passed!  - Failed:     0, Passed:     3
    re.compile(r"^Passed!\s.*$"),
)


def is_test_suite(printed_lines: Iterable[str]) -> bool:
    """Return whether lines that a command printed contain the summary of a test runner."""
    return any(
        pattern.match(without_color(line)) for line in printed_lines for pattern in _SUMMARIES
    )
