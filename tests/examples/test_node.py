"""The example in Node passes, and where it fails `exec` tells why."""

from __future__ import annotations

import pytest

from tests.examples.programs import need, run


@pytest.fixture(autouse=True)
def _node() -> None:
    need("node")


def test_the_node_example_passes():
    done = run("node", "--clock", "skip", "--", "node", "--test")

    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "pass 4" in done.stdout


def test_a_failed_node_example_prints_the_request_log():
    done = run("node", "--clock", "skip", "--as", "reader", "--", "node", "--test")

    assert done.returncode == 1
    assert "set_project_powered_by_flag" in done.stderr
    assert "forbidden" in done.stderr
