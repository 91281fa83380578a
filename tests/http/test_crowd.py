"""Memory is returned to the system once after a crowd of connections has left."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from hosting_emulator.http import crowd
from hosting_emulator.http.crowd import CROWD, QUIET_S, SUCCESSIVE_CROWD, CrowdWatch

#: The number of connections that may stay open after a crowd has left.
FEW = CROWD // 20


class Server:
    """The connections of a server whose quiet periods pass when the test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.watch = CrowdWatch()
        self.returns = 0
        self._timers: list[Callable[[], None]] = []
        loop = SimpleNamespace(call_later=self._call_later)
        monkeypatch.setattr(asyncio, "get_running_loop", lambda: loop)
        monkeypatch.setattr(crowd, "return_memory", self._return_memory)

    def open(self, count: int) -> None:
        for _ in range(count):
            self.watch.add()

    def close(self, count: int) -> None:
        for _ in range(count):
            self.watch.remove()

    def let_quiet_period_pass(self) -> None:
        [timer] = self._timers
        self._timers.clear()
        timer()

    def is_waiting(self) -> bool:
        assert len(self._timers) <= 1
        return bool(self._timers)

    def _call_later(self, seconds: float, function: Callable[..., None], *arguments: Any) -> None:
        assert seconds == QUIET_S
        self._timers.append(lambda: function(*arguments))

    def _return_memory(self) -> None:
        self.returns += 1


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    return Server(monkeypatch)


def test_memory_is_returned_when_few_connections_of_a_crowd_are_left(server: Server):
    server.open(CROWD - 1)
    assert not server.is_waiting()

    server.open(1)
    server.close(CROWD - FEW - 1)
    server.let_quiet_period_pass()
    assert (server.returns, server.is_waiting()) == (0, True)

    server.close(1)
    server.let_quiet_period_pass()
    assert (server.returns, server.is_waiting()) == (1, False)


def test_a_crowd_has_not_left_while_connections_are_opened(server: Server):
    server.open(CROWD)
    server.close(CROWD)
    server.open(1)

    server.let_quiet_period_pass()
    assert server.returns == 0

    server.let_quiet_period_pass()
    assert server.returns == 1


def test_a_thousand_successive_connections_are_a_crowd(server: Server):
    for crowd_count in (1, 2):
        for _ in range(SUCCESSIVE_CROWD - 1):
            server.open(1)
            server.close(1)
        assert not server.is_waiting()

        server.open(1)
        server.close(1)
        server.let_quiet_period_pass()
        assert server.returns == crowd_count


def test_each_crowd_is_counted_from_the_beginning(server: Server):
    server.open(CROWD)
    server.close(CROWD - FEW)
    server.let_quiet_period_pass()

    server.open(CROWD - FEW - 1)
    assert not server.is_waiting()
    server.open(1)
    server.close(CROWD - FEW)
    server.let_quiet_period_pass()

    assert server.returns == 2
