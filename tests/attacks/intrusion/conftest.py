"""What the security tests share: one emulator for each file, and all that a request could change."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from hosting_emulator.settings import Settings
from hosting_emulator_scenarios import FOLDER
from pytest_hosting_emulator import BackgroundEmulator
from tests.support.served_worlds import served_worlds


@pytest.fixture(scope="module")
def server() -> Iterator[BackgroundEmulator]:
    """An emulator on this machine alone, as `start` makes one, with its clock standing still."""
    settings = Settings(port=0, tls_port=0, data_dir=None, clock="frozen", library=FOLDER)
    with BackgroundEmulator(settings) as running:
        yield running


@pytest.fixture
def unchanged(server: BackgroundEmulator) -> Iterator[Callable[[], None]]:
    """Fail, at the end at the latest, if a test changed anything that the emulator keeps."""

    before = served_worlds(server.base_url)

    def check() -> None:
        assert served_worlds(server.base_url) == before

    yield check
    check()
