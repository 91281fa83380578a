"""An Idempotency-Key that holds only words and the process id repeats in later runs."""

from __future__ import annotations

import pytest

from hosting_emulator_lab.judge.client_requests import number_requests
from hosting_emulator_lab.judge.process_id_keys import process_id_key
from tests.lab.judge.samples import exchange

PID = 4711


def key_shown(key: str | None, pid: int = PID) -> str:
    """Return the key that counts in a run whose only request has this key."""
    requests = number_requests([exchange("apply_project_domains", idempotency_key=key)])
    return process_id_key(requests, pid)


@pytest.mark.parametrize("key", ["4711", "domains-4711", "domains-4711-2", "domains-4911"])
def test_a_key_of_words_and_the_id_of_a_process_of_the_run_repeats(key: str) -> None:
    assert key_shown(key) == key


@pytest.mark.parametrize(
    "key",
    [
        None,
        "domains",
        "domains-471",
        "domains-4710",
        "domains-4912",
        "4711-1767225600",
        "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
        "order-14711",
    ],
)
def test_other_keys_do_not_repeat(key: str | None) -> None:
    assert key_shown(key) == ""


def test_a_command_whose_process_id_is_unknown_is_not_accused() -> None:
    assert key_shown("domains-4711", pid=0) == ""
    assert key_shown("domains-10", pid=0) == ""
