"""A client under watch in a world whose clock stands still."""

import pytest

from tests.support.watched_client import Watched


@pytest.fixture
def client() -> Watched:
    return Watched()
