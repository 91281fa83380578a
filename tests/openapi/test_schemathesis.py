"""Requests that schemathesis makes up from the served document: valid, broken and in sequence.

Each answer is held against the document: no 5xx, nothing outside its schema, no undocumented
status, header or problem. `make test` runs a few hundred cases, `make schemathesis` the full run.
"""

from pathlib import Path

import pytest

from tests.conftest import Api
from tests.openapi import schemathesis_run
from tests.openapi.contrary import CONTRARY


def contrary(api: Api) -> Api:
    api.emulator.set_assumptions(CONTRARY)
    return api


def assert_clean(found: schemathesis_run.Findings, *, cases: int) -> None:
    print(found.summary())
    assert not found.failures, found.output
    assert found.report["exit_code"] == 0, found.output
    assert found.phases == dict.fromkeys(schemathesis_run.PHASES, "success")
    assert found.cases >= cases


def assert_deep(found: schemathesis_run.Findings) -> None:
    """Expect that every call was reached: a run of refusals alone would say little."""
    assert len(found.accepted) == 9
    assert all(found.accepted.values()), f"calls never accepted: {found.accepted}"


def test_answers_as_documented(moving: Api, tmp_path: Path):
    found = schemathesis_run.run(moving, tmp_path, examples=12)

    assert_clean(found, cases=300)
    assert_deep(found)


def test_answers_as_documented_under_contrary_assumptions(moving: Api, tmp_path: Path):
    found = schemathesis_run.run(contrary(moving), tmp_path, examples=12)

    assert_clean(found, cases=300)
    assert_deep(found)


def test_notices_what_is_not_documented(moving: Api, tmp_path: Path):
    hidden = ("404", "idempotency_key_reused")

    found = schemathesis_run.run(moving, tmp_path, examples=3, phases=("coverage",), hidden=hidden)

    assert set(found.failures) == {"UndefinedStatusCode", "CustomFailure"}


@pytest.mark.schemathesis
def test_full_run(moving: Api, tmp_path: Path):
    found = schemathesis_run.run(moving, tmp_path, examples=650)

    assert_clean(found, cases=5_000)
    assert_deep(found)


@pytest.mark.schemathesis
def test_full_run_under_contrary_assumptions(moving: Api, tmp_path: Path):
    found = schemathesis_run.run(contrary(moving), tmp_path, examples=650)

    assert_clean(found, cases=5_000)
    assert_deep(found)


@pytest.mark.schemathesis
@pytest.mark.parametrize("who", ["member", "reader", "outsider", "no-organization", "api-key"])
def test_full_run_as_others(moving: Api, tmp_path: Path, who: str):
    token = moving.create_key().json["value"] if who == "api-key" else moving.emulator.token(who)

    found = schemathesis_run.run(moving, tmp_path, examples=150, token=token)

    assert_clean(found, cases=1_000)
