"""Requests that schemathesis makes up from both served documents: valid, broken and in sequence.

Each answer is held against the document: no 5xx, nothing outside its schema, no undocumented
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


def contrary(api: HttpWorld) -> HttpWorld:
    api.emulator.set_assumptions(CONTRARY)
    return api


def assert_clean(found: Findings, *, cases: int) -> None:
    print(found.summary())
    assert not found.failures, found.output
    assert found.report["exit_code"] == 0, found.output
    assert found.phases == dict.fromkeys(PHASES, "success")
    assert found.cases >= cases


@pytest.fixture
def alone() -> Iterator[HostingEmulator]:
    """The default world of an emulator that nobody else asks: all that it has may be deleted."""
    with emulator_in_thread(library=FOLDER) as running:
        yield HostingEmulator.connect(running.control)


def assert_on_what_exists(found: Findings) -> None:
    assert found.share >= 0.4, f"only {found.share:.0%} are on resources that exist"


def assert_deep(found: Findings) -> None:
    """Expect that every call was reached: a run of refusals alone would say little."""
    assert len(found.accepted) == 9
    assert all(found.accepted.values()), f"calls never accepted: {found.accepted}"


def test_the_public_api_responds_as_documented(moving: HttpWorld, tmp_path: Path):
    found = run(public_target(moving), tmp_path, examples=5)

    assert_clean(found, cases=200)
    assert_deep(found)


def test_the_public_api_responds_as_documented_under_contrary_assumptions(
    moving: HttpWorld, tmp_path: Path
):
    found = run(public_target(contrary(moving)), tmp_path, examples=5)

    assert_clean(found, cases=200)
    assert_deep(found)


def test_schemathesis_notices_undocumented_responses(moving: HttpWorld, tmp_path: Path):
    target = replace(
        public_target(moving),
        hidden=("404", "idempotency_key_reused"),
        left_out="^(?!.*source:initialize)",
    )

    found = run(target, tmp_path, examples=3, phases=("coverage",))

    assert set(found.failures) == {"UndefinedStatusCode", "CustomFailure"}


def test_the_control_api_responds_as_documented(alone: HostingEmulator, tmp_path: Path):
    found = run(control_target(alone), tmp_path, examples=1, phases=("examples", "fuzzing"))

    print(found.summary())
    assert not found.failures, found.output
    assert_on_what_exists(found)


@pytest.mark.schemathesis
def test_the_public_api_responds_as_documented_to_ten_thousand_requests(
    moving: HttpWorld, tmp_path: Path
):
    found = run(public_target(moving), tmp_path, examples=1_100)

    assert_clean(found, cases=10_000)
    assert_deep(found)
    assert_on_what_exists(found)


@pytest.mark.schemathesis
def test_the_control_api_responds_as_documented_to_ten_thousand_requests(
    alone: HostingEmulator, tmp_path: Path
):
    found = run(control_target(alone), tmp_path, examples=160)

    assert_clean(found, cases=10_000)
    assert_on_what_exists(found)


@pytest.mark.schemathesis
def test_five_thousand_requests_under_contrary_assumptions_get_documented_responses(
    moving: HttpWorld, tmp_path: Path
):
    found = run(public_target(contrary(moving)), tmp_path, examples=650)

    assert_clean(found, cases=5_000)
    assert_deep(found)


@pytest.mark.schemathesis
@pytest.mark.parametrize("who", ["member", "reader", "outsider", "no-organization", "api-key"])
def test_requests_of_every_kind_of_caller_get_documented_responses(
    moving: HttpWorld, tmp_path: Path, who: str
):
    token = moving.create_key().json["value"] if who == "api-key" else moving.emulator.token(who)

    found = run(public_target(moving, token), tmp_path, examples=150)

    assert_clean(found, cases=1_000)
