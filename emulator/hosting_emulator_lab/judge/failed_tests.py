"""Reads the names of failed tests from the output of a test suite.

Each pattern matches a line that a test runner prints for a failed test. Other commands rarely print
such a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_PATTERNS = (
    # pytest: FAILED tests/test_shop.py::test_deploys - AssertionError
    re.compile(r"^(?:FAILED|ERROR) (?P<name>\S+::.+?)(?: - .*)?$"),
    # unittest: FAIL: test_deploys (test_shop.ShopTest.test_deploys)
    re.compile(r"^(?:FAIL|ERROR): (?P<name>\w+ \([\w.]+\))$"),
    # go test: --- FAIL: TestDeploys (0.21s)
    re.compile(r"^\s*--- FAIL: (?P<name>\S+) \([0-9.]+s\)$"),
    # TAP, as node:test and tap print it: not ok 2 - deploys
    re.compile(r"^\s*not ok [0-9]+ (?:- )?(?P<name>.+?)(?: # .*)?$"),
    # node:test: ✖ deploys (213.5ms)
    re.compile(r"^\s*✖ (?P<name>.+) \([0-9.]+ms\)$"),
    # vitest: FAIL  shop.test.ts > deploys, and jest, which prints ● and U+203A between the names
    re.compile(r"^\s*FAIL\s+(?P<name>\S+ > .+)$"),
    re.compile(r"^\s*● (?P<name>.+ \u203a .+)$"),
    # Gradle: ShopTest > deploys() FAILED
    re.compile(r"^(?P<name>\S+ > .+) FAILED$"),
    # Maven: [ERROR] ShopTest.deploys:31 …
    re.compile(r"^\[ERROR\]\s+(?P<name>\w+\.\w+):[0-9]+ .*$"),
    # dotnet test: Failed Shop.Tests.Deploys [213 ms]
    re.compile(r"^\s*Failed (?P<name>\S+) \[[0-9<> ]+m?s\]$"),
)
#: Matches an escape sequence that changes the color, as it is escaped in stored output lines.
_COLOR = re.compile(r"\\x1b\[[0-9;]*m")


def failed_tests(printed_lines: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the failed tests in the order of the output, without duplicates."""
    names: dict[str, None] = {}
    for line in printed_lines:
        name = _failed_test(without_color(line))
        if name:
            names[name] = None
    return tuple(names)


def without_color(line: str) -> str:
    """Return an output line without the escape sequences that change the color."""
    return _COLOR.sub("", line)


def _failed_test(line: str) -> str:
    """Return the name of the test whose failure a line reports, or an empty text."""
    for pattern in _PATTERNS:
        match = pattern.match(line)
        if match:
            return match["name"]
    return ""
