"""Sends an X-Request-Id within the contract's bounds, and outside them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from hosting_emulator.contract.calls import CALLS
from hosting_emulator_lab.contract_check.clauses import CALL_CLAUSES
from hosting_emulator_lab.contract_check.declared_check import declare_check
from hosting_emulator_lab.contract_check.response import ServerResponse
from hosting_emulator_lab.contract_check.run import PLAIN_READ, PREFIX, UNUSED_ID, CheckRun

_KEYS = ("request-id", "limit.request-id")
_SHORTEST = 1
_LONGEST = 128
_TOO_LONG = "x" * (_LONGEST + 1)


@declare_check()
def send_request_ids(run: CheckRun) -> None:
    """Send the shortest and the longest X-Request-Id, an empty one, and one that is too long."""
    if run.unreadable:
        run.evidence.skips(_KEYS, run.unreadable)
        return
    for length in (_SHORTEST, _LONGEST):
        response = _read(run, _request_id(length))
        if run.expect.success(_KEYS, response):
            run.evidence.holds("limit.request-id", response)
            is_echoed = response.header("X-Request-Id") is not None
            run.behavior.record("request_id_on_success", "echoed" if is_echoed else "absent")
        _read(run, _request_id(length), UNUSED_ID)
    outside_bounds = [_read(run, ""), _read(run, _TOO_LONG)]
    for call_id in run.callable_ids():
        # Get a refusal from each call, because the header of a refusal must not repeat an id that
        # is out of bounds.
        for request_id in ("", _TOO_LONG):
            headers = {"X-Request-Id": request_id}
            run.call(call_id, _purpose(request_id), subject=UNUSED_ID, headers=headers)
    if all(response.ok for response in outside_bounds):
        run.behavior.record("request_id_invalid", "ignored")
    elif all(response.is_invalid_input for response in outside_bounds):
        run.behavior.record("request_id_invalid", "refused")
    else:
        run.behavior.note("an empty X-Request-Id is not treated like one that is too long")


def _request_id(length: int) -> str:
    return (PREFIX * 6)[-length:]


def _purpose(request_id: str) -> str:
    if request_id:
        return f"an X-Request-Id of {len(request_id)}"
    return "an empty X-Request-Id"


def _read(run: CheckRun, request_id: str, subject: str | None = None) -> ServerResponse:
    headers = {"X-Request-Id": request_id}
    return run.read(_purpose(request_id), subject=subject, headers=headers)


@declare_check()
def send_request_ids_to_other_reads(run: CheckRun) -> None:
    """Send the shortest and the longest X-Request-Id to the other calls that only read."""
    for call_id in run.callable_ids():
        is_read = CALLS[call_id].method == "GET" and call_id != PLAIN_READ
        if is_read and CALL_CLAUSES[call_id].call in run.evidence.working_calls:
            accept_request_ids(run, partial(run.call, call_id))


def accept_request_ids(run: CheckRun, repeat: Callable[..., ServerResponse]) -> None:
    """Repeat a request that succeeded with the shortest and the longest X-Request-Id."""
    for length in (_SHORTEST, _LONGEST):
        headers = {"X-Request-Id": _request_id(length)}
        response = repeat(f"an X-Request-Id of {length}", headers=headers)
        if response.code == "idempotency_key_reused":
            # Skip the sentences, because the server refuses every repetition, independently of its
            # X-Request-Id.
            run.evidence.skips(_KEYS, response)
        elif run.expect.success(_KEYS, response):
            run.evidence.holds(_KEYS, response)
