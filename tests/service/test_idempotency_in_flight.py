"""A second request while the response to the first one with its key is not complete.

Requests overlap only while a change is written to disk, so these tests hold the disk back: each
`fsync` waits for the test.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from hosting_emulator.sdk import ControlClient, HostingEmulator
from tests.support.emulator_in_thread import emulator_in_thread
from tests.support.http_world import HttpWorld
from tests.support.response_checks import expect_problem
from tests.support.wire import Wire, wire

_PATIENCE_S = 10.0


class Disk:
    """A disk whose syncs begin, and then wait until the test lets them end."""

    def __init__(self) -> None:
        self.began = threading.Event()
        self.released = threading.Event()
        self.released.set()

    def fsync(self, descriptor: int) -> None:
        self.began.set()
        if not self.released.wait(_PATIENCE_S):
            raise OSError("the test never released the disk")

    def hold(self) -> None:
        self.began.clear()
        self.released.clear()


class Stage(NamedTuple):
    """A world that responds only after its disk has synced, the disk, and two connections."""

    api: HttpWorld
    disk: Disk
    first: Wire
    second: Wire

    def send_flag(self, connection: Wire, key: str = "k", enabled: str = "false") -> None:
        """Send call 1, and let the server handle it until it waits for the disk."""
        token = self.api.emulator.token("owner")
        headers = [
            ("Authorization", f"Bearer {token}"),
            ("Idempotency-Key", key),
            ("Content-Type", "application/json"),
        ]
        path = self.api.project_path("powered-by-flag")
        connection.send_request("PUT", path, headers, b'{"enabled":%s}' % enabled.encode())
        for _ in range(20):
            self.api.emulator.control.health()  # the server responds while the disk is held

    def begin(self) -> None:
        """Send the first request, and wait until its change is on its way to the disk."""
        self.api.emulator.token("owner")
        self.disk.hold()
        self.send_flag(self.first)
        assert self.disk.began.wait(_PATIENCE_S)


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    disk = Disk()
    monkeypatch.setattr(os, "fsync", disk.fsync)
    with ExitStack() as stack:
        server = stack.enter_context(
            emulator_in_thread(data_dir=tmp_path / "data", durability="disk")
        )
        stack.callback(disk.released.set)
        control = stack.enter_context(ControlClient(server.control_url))
        emulator = HostingEmulator(control, control.create_world("held"))
        first = stack.enter_context(wire(emulator.base_url))
        second = stack.enter_context(wire(emulator.base_url))
        yield Stage(HttpWorld(emulator), disk, first, second)


def silent(connection: Wire) -> bool:
    """Tell whether nothing has arrived on a connection yet."""
    connection.socket.setblocking(False)
    try:
        connection.socket.recv(1)
    except BlockingIOError:
        return True
    finally:
        connection.socket.settimeout(_PATIENCE_S)
    return False


def test_a_retry_waits_for_the_first_request_and_gets_its_response(stage: Stage) -> None:
    # given a first request whose change is on its way to the disk
    stage.begin()

    stage.send_flag(stage.second)
    waited = silent(stage.first), silent(stage.second)
    stage.disk.released.set()

    first = stage.first.read_response()
    second = stage.second.read_response()
    assert waited == (True, True)
    assert first.status == second.status == 200
    assert first.body == second.body


def test_a_retry_during_the_first_request_is_refused_if_so_assumed(stage: Stage) -> None:
    stage.api.emulator.control.world("held").set_assumptions({"idempotency_in_flight": "refuse"})
    stage.begin()

    stage.send_flag(stage.second)
    stage.disk.released.set()

    first = stage.first.read_response()
    second = stage.second.read_response()
    assert first.status == 200
    expect_problem(second, 503, "service_unavailable")
    [entry] = [
        entry
        for entry in stage.api.emulator.control.world("held").requests.page().items
        if entry.status == 503
    ]
    assert "In use: a request with the key k is still in progress." in str(entry.trail)
    # and after the first response it is replayed as usual
    assert stage.api.set_flag(False, key="k").body == first.body


def test_a_changed_request_during_the_first_one_is_a_reused_key(stage: Stage) -> None:
    """A changed request is `idempotency_key_reused` (contract, 1), however the first one ends."""
    stage.api.emulator.control.world("held").set_assumptions({"idempotency_in_flight": "refuse"})
    stage.begin()

    stage.send_flag(stage.second, enabled="true")
    stage.disk.released.set()

    assert stage.first.read_response().status == 200
    expect_problem(stage.second.read_response(), 409, "idempotency_key_reused")


def test_a_request_with_another_key_is_not_refused_during_the_first_one(stage: Stage) -> None:
    stage.api.emulator.control.world("held").set_assumptions({"idempotency_in_flight": "refuse"})
    stage.begin()

    stage.send_flag(stage.second, key="another", enabled="true")
    stage.disk.released.set()

    first = stage.first.read_response()
    second = stage.second.read_response()
    assert [first.status, second.status] == [200, 200]
    assert [first.json["enabled"], second.json["enabled"]] == [False, True]
