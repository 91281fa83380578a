"""Worlds in a shared emulator end some time after their tests were killed, and not before."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event, Thread

import pytest

from hosting_emulator.sdk import ControlClient
from pytest_hosting_emulator import RunningEmulator, worlds
from tests.plugin.conftest import Suite
from tests.support.control_samples import CLOCK
from tests.support.exec_process import wait_until
from tests.support.fake_control import FakeControl

TOLD_TTL = """
import pytest
from hosting_emulator.sdk import ControlClient

@pytest.fixture(autouse=True)
def asked(monkeypatch):
    asked = []
    make = ControlClient.create_world
    def create_world(self, name=None, **request):
        asked.append(request["ttl"])
        return make(self, name, **request)
    monkeypatch.setattr(ControlClient, "create_world", create_world)
    return asked
"""


@pytest.fixture
def control() -> Iterator[FakeControl]:
    with FakeControl() as fake:
        yield fake


def test_only_worlds_of_another_emulator_have_a_time_to_live(
    suite: Suite, hosting_emulator_server: RunningEmulator
):
    suite.write(
        conftest=TOLD_TTL,
        test_it="""
        def test_it(request, asked, hosting_emulator_worlds):
            hosting_emulator_worlds()
            hosting_emulator_worlds(ttl="1h")
            at_url = request.config.getoption("hosting_emulator_url")
            assert asked == ["6h" if at_url else None, "1h"]
        """,
    )

    suite.passes()
    suite.passes(f"--hosting-emulator-url={hosting_emulator_server.base_url}")


def test_open_worlds_are_renewed_while_the_tests_run(
    control: FakeControl, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
):
    monkeypatch.setattr(worlds, "_RENEW_S", 0.001)
    control.on("GET /worlds/ci/clock", CLOCK)
    world = ControlClient(control.control_url).world("ci")
    open_worlds = worlds.OpenWorlds()
    ended = Event()
    open_worlds.open.append(worlds.OpenWorld(world, "hosting_emulator", request.node))
    renewing = Thread(target=open_worlds.renew_until, args=(ended,))

    renewing.start()
    wait_until(lambda: len(control.requests) > 2 or None)
    ended.set()
    renewing.join()

    world.control.close()
    assert {request.path for request in control.requests} == {"/worlds/ci/clock"}
