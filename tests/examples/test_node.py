"""The Node example passes; when it fails, `exec` prints the request log."""

from __future__ import annotations

import pytest

from tests.examples.programs import need, run


@pytest.fixture(autouse=True)
def _node() -> None:
    need("node")


def test_the_node_example_passes():
    process = run("node", "--clock", "skip", "--", "node", "--test")

    assert (process.returncode, process.stderr) == (0, ""), process.stdout
    assert "pass 4" in process.stdout


def test_a_failed_node_example_prints_the_request_log():
    process = run("node", "--clock", "skip", "--user", "reader", "--", "node", "--test")

    assert process.returncode == 1
    assert "set_project_powered_by_flag" in process.stderr
    assert "forbidden" in process.stderr
