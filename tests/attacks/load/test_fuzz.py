"""Thousands of valid and mutated requests: each gets a response, none causes a failure or leaks memory."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import ExitStack
from random import Random
from typing import Any

import pytest

from tests.attacks.load.mutations import PLAYGROUND, Templates, mutate
from tests.support.calls import Response
from tests.support.emulator_process import emulator
from tests.support.held_connections import OPEN_DESCRIPTORS
from tests.support.server_process import ServerProcess
from tests.support.wire import read_responses

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not OPEN_DESCRIPTORS.exists(), reason="looks at a process through /proc"),
]
#: The most requests on one connection, and the number of requests between two cleanups.
PIPELINED = 8
CLEARED = 1_000
#: The most memory that may be added between a third of the run and its end.
#: (The short run ends before the request logs are full.)
FLAT_KB = 30_000


class Fuzzer:
    """A seeded stream of requests to one emulator."""

    def __init__(self, server: ServerProcess, seed: int) -> None:
        self._server = server
        self._random = Random(seed)
        self._client = server.process.client()
        self.clear()
        ready = server.process.ready
        page = self.control("GET", "/worlds/default/operations")
        ids = {
            "project": ready["project_id"],
            "organization": ready["organization_id"],
            "operation": page["items"][0]["id"] if page["items"] else ready["project_id"],
        }
        state = self.control("GET", f"/worlds/{PLAYGROUND}/state")
        host = f"127.0.0.1:{server.address[1]}"
        self._templates = Templates(host, ready["token"], ids, state).all
        self.sent = self.answered = 0
        self.statuses: Counter[str] = Counter()

    def control(self, method: str, path: str, body: Any = None) -> Any:
        """Send a valid request to the control API."""
        return self._client.control(method, path.removeprefix("/"), body)

    def close(self) -> None:
        """Close the connection to the control API."""
        self._client.close()

    def clear(self) -> None:
        """Delete what earlier requests created, as a test suite does between its tests."""
        for world in self.control("GET", "/worlds")["items"]:
            if world["name"] != "default":
                self.control("DELETE", f"/worlds/{world['name']}")
        self.control("DELETE", "/worlds/default/faults")
        self.control("POST", "/worlds/default/reset", {})
        self.control("POST", "/worlds", {"name": PLAYGROUND, "seed": "s"})

    def run(self, count: int) -> None:
        """Send requests until that many more got a response; requests after a malformed one get none."""
        until = self.answered + count
        clear = self.answered + CLEARED
        while self.answered < until:
            batch = [self._one() for _ in range(self._random.randint(1, PIPELINED))]
            self.sent += len(batch)
            data = b"".join(batch)
            try:
                for response in read_responses(self._server.send_bytes(data)):
                    self._judge(response)
            except AssertionError as error:
                error.add_note(f"request {self.sent}: {data!r}")
                raise
            if self.answered >= clear:
                clear += CLEARED
                self.clear()
        self.clear()

    def _one(self) -> bytes:
        return mutate(self._random.choice(self._templates)(self._random), self._random)

    def _judge(self, response: Response) -> None:
        self.answered += 1
        self.statuses[f"{response.status // 100}xx"] += 1
        assert response.status < 500, response
        if response.header("Content-Type") == "application/problem+json":
            document = response.json
            assert document["status"] == response.status
            assert document["detail"]


@pytest.mark.parametrize(
    ("count", "seed"), [(2_000, 1), pytest.param(100_000, 2, marks=pytest.mark.torture)]
)
def test_every_request_of_the_fuzzer_gets_a_response(count: int, seed: int):
    with ExitStack() as closing:
        process = closing.enter_context(emulator("--ephemeral", "--clock", "frozen"))
        server = ServerProcess(process)
        fuzzer = Fuzzer(server, seed)
        closing.callback(fuzzer.close)
        began_s = time.monotonic()
        fuzzer.run(count // 3)
        early_kb = server.resident_kb()

        fuzzer.run(count - count // 3)

        late_kb = server.resident_kb()
        duration_s = time.monotonic() - began_s
        figures = f"{fuzzer.answered} answers {dict(fuzzer.statuses)} in {duration_s:.0f} s"
        print(f"\n{fuzzer.sent} requests, {figures},")
        print(f"resident {early_kb} KB after a third, {late_kb} KB at the end")
        assert server.is_responsive()
        fuzzer.close()
        server.wait_until(lambda: server.connection_count() == 0)
        assert process.stop() == (0, "")
        assert late_kb - early_kb < FLAT_KB
        assert fuzzer.statuses["2xx"] > count / 10
