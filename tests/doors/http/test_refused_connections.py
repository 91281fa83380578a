"""A temporary outage: connections are refused and later accepted again."""

from __future__ import annotations

import socket
import time
from urllib.parse import urlsplit

import pytest

from tests.support.emulator_process import Client, Process, emulator


def connects(address: tuple[str, int]) -> bool:
    try:
        socket.create_connection(address, timeout=5).close()
    except ConnectionRefusedError:
        return False
    return True


@pytest.mark.parametrize("after_commit", [False, True])
def test_new_connections_are_refused_for_the_time_of_the_fault(after_commit: bool) -> None:
    with emulator("--ephemeral", "--clock", "frozen") as process:
        address = _address(process)
        client = process.client()
        fault = {"refuse_connections": {"for_ms": 400}, "times": 1, "after_commit": after_commit}
        client.control("POST", "worlds/default/faults", fault)
        began_s = time.monotonic()

        with pytest.raises(ConnectionResetError):
            _flag(process, client)

        assert not connects(address)
        while not connects(address):
            assert time.monotonic() - began_s < 30
        assert time.monotonic() - began_s >= 0.4
        new_client = process.client()
        project = new_client.state()["tables"]["projects"][process.ready["project_id"]]
        assert project.get("flag_enabled", False) is not after_commit
        assert _flag(process, new_client).status == 200


def test_an_emulator_can_be_stopped_while_it_refuses_connections() -> None:
    with emulator("--ephemeral") as process:
        client = process.client()
        client.control("POST", "worlds/default/faults", {"refuse_connections": {"for_ms": 60_000}})
        with pytest.raises(ConnectionResetError):
            _flag(process, client)

        assert process.stop()[0] == 0


def _address(process: Process) -> tuple[str, int]:
    parts = urlsplit(process.ready["base_url"])
    return str(parts.hostname), int(parts.port or 0)


def _flag(process: Process, client: Client):
    headers = {"Authorization": f"Bearer {process.ready['token']}", "Idempotency-Key": "one"}
    path = f"/v1/projects/{process.ready['project_id']}/powered-by-flag"
    return client.send("PUT", path, {"enabled": False}, headers)
