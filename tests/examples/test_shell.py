"""The example in shell and curl passes, and ends at the first thing that fails."""

from __future__ import annotations

import pytest

from tests.examples.programs import need, run


@pytest.fixture(autouse=True)
def _curl() -> None:
    need("curl")


def test_the_shell_example_passes():
    done = run("shell", "--clock", "skip", "--", "./smoke.sh")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 4


def test_the_shell_example_ends_at_the_first_failure():
    done = run("shell", "--scenario", "provider-outage", "--", "./smoke.sh")

    assert (done.returncode, done.stdout) == (1, "deployments can be listed\n")
    assert "list_deployments" in done.stderr
    assert "service_unavailable" in done.stderr
