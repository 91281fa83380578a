"""The summary of a world has rows without ids, times and secrets."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from hosting_emulator_lab.judge.world_summary import (
    failed_operations,
    rows_text,
    without_failed,
)
from tests.lab.judge.samples import key_row, operation_row, state


@pytest.mark.parametrize(
    ("tables", "kind", "rows"),
    [
        (
            {"operations": {"1": operation_row("failed", error={"code": "etag_mismatch"})}},
            "operation",
            ["apply_project_domains of shop failed (etag_mismatch)"],
        ),
        (
            {"operations": {"1": operation_row("running", stuck=True)}},
            "operation",
            ["apply_project_domains of shop running and stuck"],
        ),
        (
            {
                "operations": {
                    "1": {**operation_row("running"), "kind": "held_by_intervention"},
                    "2": {"kind": "apply_project_domains", "project_id": "unknown"},
                }
            },
            "operation",
            ["apply_project_domains of unknown queued"],
        ),
        (
            {"deployments": {"1": {"project_id": "N", "status": "ready"}}},
            "deployment",
            ["notes ready"],
        ),
        (
            {"user_api_keys": {"1": {**key_row("ci"), "revoked": True}}},
            "API key",
            ["'ci' of owner in acme revoked"],
        ),
        (
            {"dev_access_tickets": {"1": {"project_id": "S", "principal": "P"}}},
            "dev access ticket",
            ["shop for owner unused"],
        ),
        (
            {"dns_authorizations": {"S": {"status": "authorized", "zone": "example.com"}}},
            "DNS authorization",
            ["shop authorized example.com"],
        ),
        (
            {"databases": {"S/prod": {"placement": {"state": "a", "pending_state": "b"}}}},
            "database",
            ["shop/prod a to b"],
        ),
        ({"databases": {"S/dev": {}}}, "database", ["shop/dev none"]),
        ({"dns_authorizations": {"N": {}}}, "DNS authorization", ["notes not_authorized "]),
        (
            {
                "dev_access_tickets": {
                    "1": {"project_id": "S", "principal": "P", "state": "revoked"},
                    "2": {"project_id": "S", "principal": "P", "state": "used"},
                }
            },
            "dev access ticket",
            ["shop for owner used"],
        ),
        (
            {"projects": {"S": {"alias": "shop", "source_generation": 3}}},
            "source",
            ["shop at generation 3"],
        ),
        ({}, "flag", ["shop shows its flag", "notes hides its flag"]),
        ({}, "source", ["shop at generation 0", "notes at generation 0"]),
    ],
)
def test_a_row_names_things_by_their_aliases(tables: dict[str, Any], kind: str, rows: list[str]):
    assert state(**tables)[kind] == Counter(rows)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("ci-20261128T023456", "ci-…T…"),
        ("ci-20261128T023456Z", "ci-…T…Z"),
        ("ci 2026-11-28T02:34:56.789Z", "ci …"),
        ("ci-2026-11-28", "ci-…"),
        ("ci_02:34:56", "ci_…"),
        ("ci-1764297296", "ci-…"),
        ("ci-692908d0", "ci-…"),
        ("ci-3 v2.10", "ci-3 v2.10"),
        ("deadbeef", "deadbeef"),
    ],
)
def test_the_row_of_a_key_shows_no_time_of_its_name(name: str, shown: str):
    """The two clean runs may have made their keys in the same second, so only a trial's name differs."""
    rows = state(user_api_keys={"1": key_row(name)})["API key"]

    assert list(rows) == [f"{shown!r} of owner in acme"]


def test_a_text_has_at_most_four_rows_in_alphabetical_order():
    assert rows_text(Counter()) == "none"
    assert rows_text(Counter({"b": 2, "a": 1})) == "a, b (2 times)"
    assert rows_text(Counter("abcdef")) == "a, b, c, d, and 2 more"


def test_failed_rows_are_those_whose_state_is_a_failure():
    failed = "apply_project_domains of shop failed (etag_mismatch)"
    cancelled = "apply_project_domains of shop cancelled"
    succeeded = "apply_project_domains of failed succeeded"
    rows = {"operation": Counter([failed, cancelled, succeeded])}

    assert failed_operations(rows) == Counter([failed, cancelled])
    assert without_failed(rows) == {"operation": Counter([succeeded])}


def test_a_row_that_a_run_removed_is_not_a_failed_operation():
    rows = {"operation": Counter({"apply_project_domains of shop failed": -1})}

    assert failed_operations(rows) == Counter()
