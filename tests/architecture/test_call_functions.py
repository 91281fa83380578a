"""Every call of the contract's table has its function."""

from __future__ import annotations

from hosting_emulator.calls.responses import CALL_FUNCTIONS, REPLAY_FUNCTIONS
from hosting_emulator.contract.calls import ALL_CALLS


def test_every_call_has_a_function() -> None:
    assert CALL_FUNCTIONS.keys() == ALL_CALLS.keys(), (
        "write the function of the call in calls/responses.py and name it in CALL_FUNCTIONS"
    )


def test_only_a_call_with_an_idempotency_key_has_a_function_for_replays() -> None:
    assert all(ALL_CALLS[call_id].idempotent for call_id in REPLAY_FUNCTIONS)
