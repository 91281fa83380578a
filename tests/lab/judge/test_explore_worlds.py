"""`explore` observes every world that a client uses, and its faults reach all of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.lab.judge.explore_process import explore_report, run_explore, verdicts_by_point

CLIENT = str(Path(__file__).with_name("worlds_client.py"))
AFTER_COMMIT = "create_user_api_key#1/connection_reset/after_commit"


def worlds_client(*steps: str) -> tuple[str, ...]:
    """Return the arguments of `explore` that run the worlds client."""
    return ("--", sys.executable, CLIENT, *steps)


@pytest.mark.parametrize(
    "steps",
    [
        ("own", "read", "delete"),
        ("read", "reset"),
        ("reset", "read"),
        ("clear", "read"),
        ("load", "read"),
        ("own", "reset", "clear", "read", "delete"),
    ],
    ids=" ".join,
)
def test_faults_reach_requests_in_worlds_that_the_client_creates_or_resets(
    steps: tuple[str, ...],
):
    report = explore_report("--faults", "connection_reset", *worlds_client(*steps))

    assert [request["request"] for request in report["clean"]["requests"]] == [
        "get_dns_authorization#1"
    ]
    assert verdicts_by_point(report) == {
        "get_dns_authorization#1/connection_reset/before_commit": "failed"
    }


def test_requests_are_numbered_over_all_worlds():
    steps = ("read", "own", "read", "reset", "read")

    report = explore_report("--faults", "gateway_error", *worlds_client(*steps))

    # The second read repeats the first in another world.
    assert set(verdicts_by_point(report).values()) == {"failed"}
    assert len(report["clean"]["requests"]) == 3


@pytest.mark.parametrize("last_step", ["reset", "load", "delete"])
def test_the_state_before_the_client_resets_its_world_is_judged(last_step: str):
    steps = ("own", "twice", last_step)

    report = explore_report("--faults", "connection_reset", *worlds_client(*steps))

    assert verdicts_by_point(report)[AFTER_COMMIT] == "doubled"


def test_a_key_that_is_created_once_in_a_world_that_is_deleted_is_not_doubled():
    report = explore_report("--faults", "rate_limit", *worlds_client("own", "key", "delete"))

    assert set(verdicts_by_point(report).values()) == {"survived"}


def test_lasting_faults_reach_the_worlds_that_the_client_creates():
    report = explore_report("--faults", "outage", *worlds_client("own", "reset", "read", "delete"))

    assert set(verdicts_by_point(report).values()) == {"gave up"}


def test_conduct_findings_in_a_deleted_world_count():
    process = run_explore(
        "--faults", "gateway_error", *worlds_client("own", "without-key", "delete")
    )

    assert process.returncode == 1
    assert "missing-idempotency-key" in process.stdout


def test_explore_counts_a_request_without_a_valid_token():
    process = run_explore("--", "sh", "-c", 'curl -s "$HOSTING_BASE_URL/v1/operations/1"')

    assert process.returncode == 2
    assert "sends 1 request" in process.stderr


def test_exploring_one_point_reaches_it_in_a_world_that_the_client_creates():
    process = run_explore("--trial", AFTER_COMMIT, *worlds_client("own", "twice", "delete"))

    assert process.returncode == 1
    assert f"{AFTER_COMMIT}  doubled: " in process.stderr
    assert "[new-key-after-uncertainty]" in process.stderr
