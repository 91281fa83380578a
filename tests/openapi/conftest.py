"""A world in which polling ends operations."""

import pytest

from tests.support.http_world import HttpWorld


@pytest.fixture
def moving(api: HttpWorld) -> HttpWorld:
    """A world whose clock advances to the next due event whenever an operation is polled."""
    api.emulator.clock.set("skip")
    return api
