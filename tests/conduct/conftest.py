"""A client whose requests are judged, in a world with a frozen clock."""

import pytest

from tests.support.judged_world import JudgedWorld


@pytest.fixture
def client() -> JudgedWorld:
    return JudgedWorld()
