"""Keys within the contract's bounds must be accepted, and keys that differ in case are different keys."""

from __future__ import annotations

import pytest

from hosting_emulator_lab.contract_check.checks.idempotency_keys import (
    accepts_key,
    judge_other_case,
    send_short_key,
    short_key,
)
from hosting_emulator_lab.contract_check.response import ServerResponse
from tests.lab.contract_check.scripted_server import (
    Reply,
    new_run,
    operations_without_proof,
    problem,
    verdict_of,
)

_OK = Reply({"enabled": True})
_REUSED = problem(409, "idempotency_key_reused")
_INVALID = problem(400, "invalid_request")
_BUSY = problem(503, "service_unavailable")
_PUT = "PUT /v1/projects/{project_id}/powered-by-flag"


@pytest.mark.parametrize(
    ("reply", "is_accepted", "verdict"),
    [
        (_OK, True, f"holds: {_PUT}: 200"),
        (_REUSED, True, f"holds: {_PUT}: 409 idempotency_key_reused"),
        (_BUSY, True, f"skipped: {_PUT}: 503 service_unavailable"),
        (problem(409, "in_use"), True, f"skipped: {_PUT}: 409 in_use"),
        (_INVALID, False, f"differs: {_PUT}: 400 invalid_request: the key is within bounds"),
    ],
)
def test_a_key_within_the_bounds_must_be_accepted(
    reply: Reply, is_accepted: bool, verdict: str
) -> None:
    run = new_run(lambda _: reply)
    response = run.call("set_project_powered_by_flag")

    assert accepts_key(run, response) is is_accepted
    assert verdict_of(run, "limit.idempotency-key") == verdict
    if verdict.startswith("holds"):
        assert operations_without_proof(run, "idempotency-key") == "2, 3, 4"
    else:
        assert verdict_of(run, "idempotency-key") == verdict


@pytest.mark.parametrize(("reply", "is_remembered"), [(_OK, True), (_INVALID, False)])
def test_a_short_key_that_was_accepted_is_sent_again(reply: Reply, is_remembered: bool) -> None:
    run = new_run(lambda _: reply)
    keys: list[str] = []

    def send(purpose: str, *, key: str) -> ServerResponse:
        keys.append(key)
        return run.call("set_project_powered_by_flag", purpose, key=key)

    send_short_key(run, send)

    (key,) = keys
    assert len(key) == 1
    assert key.isalpha()
    assert run.short_key == (key if is_remembered else "")
    if is_remembered:
        assert [short_key(run) for _ in range(20)] == [key] * 20


_AS_ONE = "two keys that differ only in case count as one"


@pytest.mark.parametrize(
    ("reply", "is_new", "verdict"),
    [
        (_OK, True, "skipped: no response of operations 2, 3, 4 showed it"),
        (_OK, False, f"differs: {_PUT}: 200: {_AS_ONE}"),
        (_REUSED, True, f"differs: {_PUT}: 409 idempotency_key_reused: {_AS_ONE}"),
        (_REUSED, False, f"differs: {_PUT}: 409 idempotency_key_reused: {_AS_ONE}"),
        (_BUSY, True, "skipped: no response showed it"),
        (_BUSY, False, "skipped: no response showed it"),
    ],
)
def test_a_key_that_differs_in_case_is_another_key(
    reply: Reply, is_new: bool, verdict: str
) -> None:
    run = new_run(lambda _: reply)

    judge_other_case(run, run.call("set_project_powered_by_flag"), is_new=is_new)

    assert verdict_of(run, "idempotency-key") == verdict
