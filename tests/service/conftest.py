"""The world of the service's tests: in this process, and over HTTP."""

from __future__ import annotations

import os

import pytest

from hosting_emulator.sdk import HostingEmulator
from tests.support.checked_world import CheckedCalls, CheckedInProcess, CheckedWorld


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run the tests of `world` in process. Run those marked `over_http`, or in CI all, over HTTP too."""
    if "world" not in metafunc.fixturenames:
        return
    transports = ["in process"]
    is_marked = metafunc.definition.get_closest_marker("over_http") is not None
    if is_marked or os.environ.get("CI") == "true":
        transports.append("over HTTP")
    metafunc.parametrize("world", transports, indirect=True)


@pytest.fixture
def world(request: pytest.FixtureRequest) -> CheckedCalls:
    """A fresh world whose every response is checked. Its clock is frozen."""
    if request.param == "in process":
        return CheckedInProcess()
    emulator: HostingEmulator = request.getfixturevalue("hosting_emulator")
    return CheckedWorld(emulator)
