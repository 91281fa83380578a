"""The tests of Idempotency-Keys that several checks share: bounds, and keys that differ in case."""

from __future__ import annotations

import secrets
import string
from collections.abc import Callable

from hosting_emulator_lab.contract_check.checks.malformed_requests import KEY_BOUND_KEYS
from hosting_emulator_lab.contract_check.response import ServerResponse
from hosting_emulator_lab.contract_check.run import CheckRun


def accepts_key(run: CheckRun, response: ServerResponse) -> bool:
    """Judge whether a key within the bounds was accepted. Return False if it was refused."""
    if response.code == "invalid_request":
        run.evidence.differs(KEY_BOUND_KEYS, response, "the key is within bounds")
        return False
    if response.ok or response.code == "idempotency_key_reused":
        run.evidence.holds(KEY_BOUND_KEYS, response)
    else:
        run.evidence.skips(KEY_BOUND_KEYS, response)
    return True


def short_key(run: CheckRun) -> str:
    """Return a key of one character. If a call has accepted such a key before, return this key."""
    return run.short_key or secrets.choice(string.ascii_letters)


def send_short_key(run: CheckRun, send: Callable[..., ServerResponse]) -> None:
    """Send a request under a key of one character.

    Nothing else may depend on the response, because an earlier check may have used the key.
    """
    key = short_key(run)
    if accepts_key(run, send("an Idempotency-Key of 1", key=key)):
        run.short_key = key


def judge_other_case(run: CheckRun, response: ServerResponse, *, is_new: bool) -> None:
    """Judge a request under a key that differs from a used key only in the case of its letters.

    It is a different key, so the response must be a new result. `is_new` says whether it is. A
    replay is wrong, and a refusal of the key as reused is wrong too.
    """
    is_replay = response.ok and not is_new
    if response.code == "idempotency_key_reused" or is_replay:
        run.evidence.differs(
            "idempotency-key", response, "two keys that differ only in case count as one"
        )
    elif response.ok:
        run.evidence.holds("idempotency-key", response)
