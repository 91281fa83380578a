"""Many clients send their first requests at the same moment, as parallel test workers do."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from tests.support.emulator_process import Process, emulator

CLIENTS = 8
#: One start shows the crash in two of three runs, so several starts are needed.
STARTS = 3
STORY = {
    "name": "first",
    "description": "A first story.",
    "faults": [{"latency": {"delay_ms": 1}, "call": "list_deployments", "times": 1}],
    "story": [{"call": "list_deployments", "expect": {"status": 200}}, {"log": {"count": 1}}],
}


def test_first_scenarios_of_several_clients_at_once_do_not_crash_the_process():
    for _ in range(STARTS):
        with emulator("--ephemeral") as process:
            assert run_stories(process) == [True] * CLIENTS
            assert process.stop() == (0, "")


def run_stories(process: Process) -> list[bool]:
    """Run a story for each client, all at the same moment. Return whether each passed."""
    body = {"text": json.dumps(STORY), "file": "first.yaml"}
    clients = [process.client() for _ in range(CLIENTS)]
    barrier = Barrier(CLIENTS)

    def run(number: int) -> bool:
        barrier.wait(30)
        report = clients[number].control("POST", "scenarios/run", body)
        return bool(report["passed"])

    with ThreadPoolExecutor(CLIENTS) as threads:
        return list(threads.map(run, range(CLIENTS)))
