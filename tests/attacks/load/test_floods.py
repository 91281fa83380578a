"""A client that sends without end delays no other client and does not prevent a stop."""

from __future__ import annotations

import time

import pytest

from tests.attacks.load.floods import KINDS, flooded, latencies
from tests.support.emulator_process import emulator

REQUESTS = 10
#: Limits for a busy machine. On a quiet machine a request takes some milliseconds (the target is 100 ms
#: for 99 of 100), and a stop takes a second (the target is 5 s). An emulator that parses all received
#: bytes at once takes a minute.
LONGEST_S = 15.0
LONGEST_STOP_S = 15.0


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_flood_delays_no_other_client_and_no_stop(kind: str):
    with emulator("--ephemeral") as process, flooded(process, kind, 50):
        time.sleep(0.5)  # The flood is a process that has to start.
        began_s = time.monotonic()
        durations_s = latencies(process, LONGEST_S, REQUESTS)
        took_s = time.monotonic() - began_s
        print(
            f"\n{kind}: {REQUESTS} requests took {took_s:.2f} s, the longest {max(durations_s):.3f} s"
        )
        assert len(durations_s) == REQUESTS
        began_s = time.monotonic()
        code, _ = process.stop()
        stop_s = time.monotonic() - began_s
    assert code == 0
    assert stop_s < LONGEST_STOP_S
