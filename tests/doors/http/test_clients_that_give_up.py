"""A client that closes its side before it has the whole response."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.http_world import HttpWorld
from tests.support.wire import wire

NOTE = "the client closed its side before the whole response had been sent"


@pytest.fixture
def api(hosting_emulator: Any) -> HttpWorld:
    """Calls of a world with a frozen clock."""
    return HttpWorld(hosting_emulator)


def abandon_a_request(api: HttpWorld) -> None:
    """Send a request whose response stalls, and close the connection after its first byte."""
    path = f"/v1/projects/{api.project_id()}/edge-dns"
    headers = list(api.emulator.headers("owner").items())
    with wire(api.emulator.base_url) as connection:
        connection.send_request("GET", path, headers)
        connection.socket.recv(1)


def test_the_log_says_that_a_client_gave_up_and_a_recording_repeats_it(api: HttpWorld):
    api.add_fault(stalled_response={"world_pause": "30s"}, times=1)
    abandon_a_request(api)
    for _ in range(500):
        if NOTE in api.emulator.requests[0].why:
            break
        assert api.dns().status == 200

    recording = api.emulator.record(last=1)

    assert "gives_up: true" in recording.text
    assert "stalled_response" in recording.text
