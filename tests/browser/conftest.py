"""What the browser tests share: one headless Chromium, and the addresses of the dashboard."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest

from tests.browser.chromium import Chromium, needed_program
from tests.browser.dashboard import Dashboard
from tests.support.http_world import HttpWorld


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with Chromium(needed_program(), tmp_path_factory.mktemp("chromium")) as browser:
        yield browser


@pytest.fixture(scope="module")
def dashboard(chromium: Chromium) -> Iterator[Dashboard]:
    shared_dashboard = Dashboard(chromium)
    yield shared_dashboard
    shared_dashboard.close()


@pytest.fixture
def origin(api: HttpWorld) -> str:
    """Return the origin at which the emulator of `api` serves its pages."""
    parts = urlsplit(api.emulator.base_url)
    return f"{parts.scheme}://{parts.netloc}"


@pytest.fixture
def panel(api: HttpWorld, origin: str) -> Callable[[str], str]:
    """Return the address of a panel of the dashboard for the world of `api`."""

    def address(name: str) -> str:
        mark = "&" if "?" in name else "?"
        return f"{origin}/_emulator#/{name}{mark}world={api.emulator.name}"

    return address
