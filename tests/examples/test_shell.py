"""The example in shell and curl passes, and it ends at the first failure."""

from __future__ import annotations

import pytest

from tests.examples.programs import need, run


@pytest.fixture(autouse=True)
def _curl() -> None:
    need("curl")


def test_the_shell_example_passes():
    process = run("shell", "--clock", "skip", "--", "./smoke.sh")

    assert (process.returncode, process.stderr) == (0, "")
    assert process.stdout.count("\n") == 4


def test_the_shell_example_ends_at_the_first_failure():
    process = run("shell", "--scenario", "provider-outage", "--", "./smoke.sh")

    assert (process.returncode, process.stdout) == (1, "deployments can be listed\n")
    assert "list_deployments" in process.stderr
    assert "service_unavailable" in process.stderr
