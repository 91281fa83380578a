"""Fixtures of the security tests: one emulator for each file, and a check that nothing changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from hosting_emulator_scenarios import FOLDER
from pytest_hosting_emulator import BackgroundEmulator
from tests.support.emulator_in_thread import emulator_in_thread
from tests.support.served_worlds import served_worlds


@pytest.fixture(scope="module")
def server() -> Iterator[BackgroundEmulator]:
    """An emulator on this machine only, as `start` runs it, with a frozen clock."""
    with emulator_in_thread(tls_port=0, library=FOLDER) as running:
        yield running


@pytest.fixture
def unchanged(server: BackgroundEmulator) -> Iterator[Callable[[], None]]:
    """Fail if a test changed anything that the emulator stores. The check also runs after the test."""

    before = served_worlds(server.base_url)

    def check() -> None:
        assert served_worlds(server.base_url) == before

    yield check
    check()
