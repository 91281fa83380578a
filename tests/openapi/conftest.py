"""What these tests share: a world where operations come to their end by being polled."""

import pytest

from tests.support.http_world import HttpWorld


@pytest.fixture
def moving(api: HttpWorld) -> HttpWorld:
    """A world whose time moves to the next due event whenever an operation is polled."""
    api.emulator.clock.set("skip")
    return api
