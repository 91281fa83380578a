"""Requests that schemathesis generates from both served documents: valid, broken and in sequence.

Each response is checked against the document: no 5xx, nothing outside its schema, no undocumented
status, header or problem. `make test` runs a few hundred cases, `make schemathesis` the full run.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from hosting_emulator.sdk import HostingEmulator
from hosting_emulator_scenarios import FOLDER
from tests.openapi.contrary import CONTRARY
from tests.openapi.schemathesis_run import PHASES, Findings, control_target, public_target, run
from tests.support.emulator_in_thread import emulator_in_thread
from tests.support.http_world import HttpWorld


def with_contrary_assumptions(api: HttpWorld) -> HttpWorld:
    api.emulator.set_assumptions(CONTRARY)
    return api


def assert_clean(findings: Findings, *, cases: int) -> None:
    print(findings.summary())
    assert not findings.failures, findings.output
    assert findings.report["exit_code"] == 0, findings.output
    assert findings.phases == dict.fromkeys(PHASES, "success")
    assert findings.cases >= cases


@pytest.fixture
def alone() -> Iterator[HostingEmulator]:
    """The default world of an emulator that no other test uses: everything in it may be deleted."""
    with emulator_in_thread(library=FOLDER) as running:
        yield HostingEmulator.connect(running.control)


def assert_on_what_exists(findings: Findings) -> None:
    assert findings.share >= 0.4, f"only {findings.share:.0%} are on resources that exist"


def assert_deep(findings: Findings) -> None:
    """Expect that every call succeeded at least once."""
    assert len(findings.accepted) == 9
    assert all(findings.accepted.values()), f"calls never accepted: {findings.accepted}"


def test_the_public_api_responds_as_documented(moving: HttpWorld, tmp_path: Path):
    findings = run(public_target(moving), tmp_path, examples=5)

    assert_clean(findings, cases=200)
    assert_deep(findings)


def test_the_public_api_responds_as_documented_under_contrary_assumptions(
    moving: HttpWorld, tmp_path: Path
):
    findings = run(public_target(with_contrary_assumptions(moving)), tmp_path, examples=5)

    assert_clean(findings, cases=200)
    assert_deep(findings)


def test_schemathesis_notices_undocumented_responses(moving: HttpWorld, tmp_path: Path):
    target = replace(
        public_target(moving),
        hidden=("404", "idempotency_key_reused"),
        left_out="^(?!.*source:initialize)",
    )

    findings = run(target, tmp_path, examples=3, phases=("coverage",))

    assert set(findings.failures) == {"UndefinedStatusCode", "CustomFailure"}


def test_the_control_api_responds_as_documented(alone: HostingEmulator, tmp_path: Path):
    findings = run(control_target(alone), tmp_path, examples=1, phases=("examples", "fuzzing"))

    print(findings.summary())
    assert not findings.failures, findings.output
    assert_on_what_exists(findings)


@pytest.mark.schemathesis
def test_the_public_api_responds_as_documented_to_ten_thousand_requests(
    moving: HttpWorld, tmp_path: Path
):
    findings = run(public_target(moving), tmp_path, examples=1_100)

    assert_clean(findings, cases=10_000)
    assert_deep(findings)
    assert_on_what_exists(findings)


@pytest.mark.schemathesis
def test_the_control_api_responds_as_documented_to_ten_thousand_requests(
    alone: HostingEmulator, tmp_path: Path
):
    findings = run(control_target(alone), tmp_path, examples=160)

    assert_clean(findings, cases=10_000)
    assert_on_what_exists(findings)


@pytest.mark.schemathesis
def test_five_thousand_requests_under_contrary_assumptions_get_documented_responses(
    moving: HttpWorld, tmp_path: Path
):
    findings = run(public_target(with_contrary_assumptions(moving)), tmp_path, examples=650)

    assert_clean(findings, cases=5_000)
    assert_deep(findings)


@pytest.mark.schemathesis
@pytest.mark.parametrize("user", ["member", "reader", "outsider", "no-organization", "api-key"])
def test_requests_of_every_kind_of_caller_get_documented_responses(
    moving: HttpWorld, tmp_path: Path, user: str
):
    token = moving.create_key().json["value"] if user == "api-key" else moving.emulator.token(user)

    findings = run(public_target(moving, token), tmp_path, examples=150)

    assert_clean(findings, cases=1_000)
