"""Limits while a client floods the server: how long other clients wait, and how long a stop takes."""

from __future__ import annotations

import time

import pytest

from tests.attacks.load.floods import KINDS, flooded, latencies
from tests.support.emulator_process import emulator

CONNECTIONS = 100
MOST_P99_S = 0.1
LONGEST_STOP_S = 5.0


@pytest.mark.benchmark
@pytest.mark.parametrize("kind", KINDS)
def test_others_wait_at_most_100_ms_and_a_stop_takes_at_most_5_s(kind: str) -> None:
    with emulator("--ephemeral") as process, flooded(process, kind, CONNECTIONS):
        time.sleep(1.0)  # wait until the process that sends the flood has started
        took = sorted(latencies(process, 10.0, 2_000))
        began = time.monotonic()
        code, _ = process.stop()
        stop_s = time.monotonic() - began
    p50_ms, p99_ms = (1000 * took[int(len(took) * part)] for part in (0.5, 0.99))
    print(f"\n{kind}: {len(took)} requests, p50 {p50_ms:.1f} ms, p99 {p99_ms:.1f} ms, ", end="")
    print(f"longest {1000 * took[-1]:.1f} ms; stopped in {stop_s:.2f} s")
    assert code == 0
    assert p99_ms <= 1000 * MOST_P99_S
    assert stop_s <= LONGEST_STOP_S
