"""A fake control server, and a client of it."""

from collections.abc import Iterator

import pytest

from hosting_emulator.sdk import ControlClient
from tests.support.fake_control import FakeControl


@pytest.fixture
def control() -> Iterator[FakeControl]:
    with FakeControl() as fake:
        yield fake


@pytest.fixture
def client(control: FakeControl) -> Iterator[ControlClient]:
    with ControlClient(control.control_url, timeout_s=5) as client:
        yield client
