"""The check of X-Request-Id sends ids within the contract's bounds and outside them."""

from __future__ import annotations

import pytest

from hosting_emulator_lab.contract_check.checks.request_ids import (
    accept_request_ids,
    send_request_ids,
    send_request_ids_to_other_reads,
)
from hosting_emulator_lab.contract_check.run import UNUSED_ID
from tests.lab.contract_check.scripted_server import (
    Reply,
    Request,
    faults_of,
    make_check,
    new_run,
    problem,
    verdict_of,
)

_DNS = Reply({"status": "not_authorized", "zone": None, "scopes": [], "expires_at": None})
_ECHOED = Reply(_DNS.document, 200, {"X-Request-Id": "r-1"})
_INVALID = problem(400, "invalid_request")
_REUSED = problem(409, "idempotency_key_reused")
_EMPTY_DIFFERS = "an empty X-Request-Id is not treated like one that is too long"


@pytest.mark.parametrize(
    ("valid", "empty", "too_long", "values", "notes"),
    [
        (
            _DNS,
            _INVALID,
            _INVALID,
            {"request_id_on_success": "absent", "request_id_invalid": "refused"},
            [],
        ),
        (
            _ECHOED,
            _DNS,
            _DNS,
            {"request_id_on_success": "echoed", "request_id_invalid": "ignored"},
            [],
        ),
        (_DNS, _DNS, _INVALID, {"request_id_on_success": "absent"}, [_EMPTY_DIFFERS]),
        (_DNS, _INVALID, _DNS, {"request_id_on_success": "absent"}, [_EMPTY_DIFFERS]),
    ],
)
def test_what_a_server_does_with_request_ids_is_observed(
    valid: Reply, empty: Reply, too_long: Reply, values: dict[str, str], notes: list[str]
) -> None:
    lengths: list[int] = []
    refused_lengths: set[int] = set()

    def respond(request: Request) -> Reply:
        length = len(request.headers["X-Request-Id"])
        if UNUSED_ID in request.path:
            refused_lengths.add(length)
            return problem(404, "resource_not_found")
        lengths.append(length)
        return {0: empty, 129: too_long}.get(length, valid)

    run = make_check(send_request_ids, respond)

    assert lengths == [1, 128, 0, 129]
    assert refused_lengths == {1, 128, 0, 129}
    assert faults_of(run) == []
    assert run.behavior.values == values
    assert run.behavior.notes == notes
    assert verdict_of(run, "limit.request-id").startswith("holds: ")


def test_request_ids_show_nothing_if_nothing_can_be_read() -> None:
    run = new_run(lambda _: _DNS)
    run.unreadable = "the reason"

    send_request_ids.make(run)

    assert run.requests == 0
    for key in ("request-id", "limit.request-id"):
        assert verdict_of(run, key) == "skipped: the reason"


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (_DNS, "holds: GET "),
        (_INVALID, "differs: GET "),
        (_REUSED, "skipped: GET "),
    ],
)
def test_a_request_that_succeeded_succeeds_with_any_valid_request_id(
    reply: Reply, verdict: str
) -> None:
    run = new_run(lambda _: reply)

    accept_request_ids(run, run.read)

    assert run.requests == 2
    observed = verdict_of(run, "limit.request-id")
    assert observed.startswith(verdict)
    assert "(an X-Request-Id of 1)" in observed


def test_request_ids_are_sent_to_the_other_reads_that_work() -> None:
    paths: list[str] = []

    def respond(request: Request) -> Reply:
        paths.append(request.path.rpartition("/")[2])
        return Reply({"items": []})

    run = new_run(respond)
    run.behavior.record("environment_parameter", "environment")
    run.evidence.working_calls |= {"dns.call", "deployments.call", "flag.call"}

    send_request_ids_to_other_reads.make(run)

    assert paths == ["deployments"] * 2
