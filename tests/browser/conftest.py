"""What the browser's tests share: one headless Chromium for all, and addresses of the page."""

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
    found = Dashboard(chromium)
    yield found
    found.close()


@pytest.fixture
def origin(api: HttpWorld) -> str:
    """Where the emulator that `api` speaks to serves its pages."""
    parts = urlsplit(api.emulator.base_url)
    return f"{parts.scheme}://{parts.netloc}"


@pytest.fixture
def panel(api: HttpWorld, origin: str) -> Callable[[str], str]:
    """The address of one of the page's panels, about the world of `api`."""

    def address(name: str) -> str:
        mark = "&" if "?" in name else "?"
        return f"{origin}/_emulator#/{name}{mark}world={api.emulator.name}"

    return address
