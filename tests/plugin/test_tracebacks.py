"""A test that uses the SDK wrongly fails at its own line, without lines of the SDK."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import hosting_emulator.sdk
from tests.plugin.conftest import Suite

MISUSES = [
    "hosting_emulator.token(user='nobody')",
    "hosting_emulator.intervene('stick_operation', project='shop')",
    "hosting_emulator.clock.advance('soon')",
    "hosting_emulator.clock.advance(-1)",
    "hosting_emulator.fault('abort', code='rate_limitd')",
    "hosting_emulator.outcome('fails')",
    "hosting_emulator.requests[0]",
    "hosting_emulator.control.world('nowhere').summary",
]


def test_an_error_of_the_sdk_shows_only_the_line_of_the_test(suite: Suite):
    tests = [
        f"def test_misuse_{index}(hosting_emulator):\n    {misuse}\n"
        for index, misuse in enumerate(MISUSES)
    ]
    suite.write(test_it="\n".join(tests))

    result = suite.run()

    result.assert_outcomes(failed=len(MISUSES))
    assert "hosting_emulator/sdk" not in result.stdout.str()


@pytest.mark.parametrize("path", sorted(Path(hosting_emulator.sdk.__path__[0]).glob("*.py")))
def test_every_module_of_the_sdk_that_raises_errors_hides_its_lines(path: Path):
    text = path.read_text(encoding="utf-8")
    is_raising = any(isinstance(node, ast.Raise) for node in ast.walk(ast.parse(text)))

    assert "\n__tracebackhide__ = True\n" in text or not is_raising or path.name == "__init__.py"
