"""`explore` sees the requests in every world of a run, and its faults reach all of them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.lab.judge.test_explore import explored, run

CLIENT = str(Path(__file__).with_name("worlds_client.py"))
AFTER = "create_user_api_key#1/connection_reset/after_commit"


def client(*steps: str) -> tuple[str, ...]:
    return ("--", sys.executable, CLIENT, *steps)


def verdicts(report: dict[str, Any]) -> dict[str, str]:
    return {point["point"]: point["verdict"] for point in report["points"]}


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
    report = explored("--faults", "connection_reset", *client(*steps))

    assert [request["request"] for request in report["clean"]["requests"]] == [
        "get_dns_authorization#1"
    ]
    assert verdicts(report) == {"get_dns_authorization#1/connection_reset/before_commit": "failed"}


def test_requests_are_numbered_over_all_worlds():
    steps = ("read", "own", "read", "reset", "read")

    report = explored("--faults", "gateway_error", *client(*steps))

    # The second read repeats the first in another world.
    assert set(verdicts(report).values()) == {"failed"}
    assert len(report["clean"]["requests"]) == 3


@pytest.mark.parametrize("last", ["reset", "load", "delete"])
def test_the_state_before_the_client_resets_its_world_is_judged(last: str):
    steps = ("own", "twice", last)

    report = explored("--faults", "connection_reset", *client(*steps))

    assert verdicts(report)[AFTER] == "doubled"


def test_a_key_that_is_created_once_in_a_world_that_is_deleted_is_not_doubled():
    report = explored("--faults", "rate_limit", *client("own", "key", "delete"))

    assert set(verdicts(report).values()) == {"survived"}


@pytest.mark.parametrize(("fault", "verdict"), [("fail", "survived"), ("outage", "gave up")])
def test_lasting_faults_reach_the_worlds_that_the_client_creates(fault: str, verdict: str):
    report = explored("--faults", fault, *client("own", "reset", "read", "delete"))

    # A read starts no operation.
    assert set(verdicts(report).values()) == (set() if fault == "fail" else {verdict})


def test_conduct_findings_in_a_deleted_world_count():
    process = run("--faults", "gateway_error", *client("own", "without-key", "delete"))

    assert process.returncode == 1
    assert "missing-idempotency-key" in process.stdout


def test_explore_counts_a_request_without_a_valid_token():
    process = run("--", "sh", "-c", 'curl -s "$HOSTING_BASE_URL/v1/operations/1"')

    assert process.returncode == 2
    assert "sends 1 request" in process.stderr


def test_exploring_one_point_reaches_it_in_a_world_that_the_client_creates():
    process = run("--point", AFTER, *client("own", "twice", "delete"))

    assert process.returncode == 1
    assert f"{AFTER}  doubled: " in process.stderr
    assert "[new-key-after-uncertainty]" in process.stderr
