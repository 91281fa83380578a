"""Each method of an observation sends the request that it describes."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from hosting_emulator.sdk import WorldsObservation

Use = Callable[[WorldsObservation], object]


class Requests:
    """A transport that records requests, and returns lists without items."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def fetch(self, kind: object, method: str, path: str) -> SimpleNamespace:
        self.lines.append(f"{method} {path}")
        return SimpleNamespace(items=[])

    def get(self, path: str) -> dict[str, object]:
        self.lines.append(f"GET {path}")
        return {}

    def delete(self, path: str) -> None:
        self.lines.append(f"DELETE {path}")


@pytest.mark.parametrize(
    ("use", "request_line"),
    [
        (lambda it: it.report(), "GET observations/o%201?final=false&wait_ms=0"),
        (lambda it: it.report(wait_s=-1), "GET observations/o%201?final=false&wait_ms=0"),
        (
            lambda it: it.report(final=True, wait_s=59.9996),
            "GET observations/o%201?final=true&wait_ms=60000",
        ),
        (
            lambda it: it.report(final=True, wait_s=61),
            "GET observations/o%201?final=true&wait_ms=60000",
        ),
        (lambda it: it.report(wait_s=1.25), "GET observations/o%201?final=false&wait_ms=1250"),
        (lambda it: it.state(2), "GET observations/o%201/chapters/2/state"),
        (lambda it: it.state(2, seed=True), "GET observations/o%201/chapters/2/state?seed=true"),
        (lambda it: it.state(2, began=True), "GET observations/o%201/chapters/2/state?began=true"),
        (
            lambda it: it.state(2, seed=True, began=True),
            "GET observations/o%201/chapters/2/state?seed=true&began=true",
        ),
        (lambda it: it.world_report(2), "GET observations/o%201/chapters/2/report?requests=20"),
        (
            lambda it: it.world_report(2, requests=5),
            "GET observations/o%201/chapters/2/report?requests=5",
        ),
        (lambda it: it.requests(2), "GET observations/o%201/chapters/2/requests?limit=1000"),
        (lambda it: it.requests(2, limit=7), "GET observations/o%201/chapters/2/requests?limit=7"),
        (lambda it: it.whole_request(2, 7), "GET observations/o%201/chapters/2/requests/7"),
        (lambda it: it.close(), "DELETE observations/o%201"),
    ],
)
def test_each_method_of_an_observation_sends_its_request(use: Use, request_line: str) -> None:
    transport: Any = Requests()

    use(WorldsObservation(transport, "o 1"))

    assert transport.lines == [request_line]
