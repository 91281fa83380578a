"""Requests in progress while their world is deleted, reset or replaced."""

from __future__ import annotations

import json
import socket
from urllib.parse import urlsplit

import pytest

from tests.support.emulator_process import emulator


class Upload:
    """A request whose body has not yet arrived completely."""

    def __init__(self, base_url: str, path: str, token: str) -> None:
        parts = urlsplit(base_url)
        body = json.dumps({"enabled": False}).encode()
        self.socket = socket.create_connection((str(parts.hostname), parts.port))
        self.socket.sendall(
            f"PUT {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
            "Content-Type: application/json\r\nIdempotency-Key: slow\r\nConnection: close\r\n"
            f"Content-Length: {len(body)}\r\n\r\n".encode()
        )
        self.socket.sendall(body[:5])
        self.rest = body[5:]

    def finish(self) -> int:
        """Send the rest of the body and return the status of the response."""
        self.socket.sendall(self.rest)
        response = b""
        while chunk := self.socket.recv(65_536):
            response += chunk
        self.socket.close()
        return int(response.split()[1])


@pytest.fixture
def data(tmp_path):
    return ("--data-dir", str(tmp_path), "--clock", "frozen")


def test_a_delayed_change_of_a_deleted_world_reaches_no_later_world(data):
    with emulator(*data) as process:
        client = process.client()
        client.control("POST", "worlds", {"name": "old", "clock": {"mode": "frozen"}})
        path = f"/worlds/old/v1/projects/{process.ready['project_id']}/powered-by-flag"
        upload = Upload(process.base_url, path, client.token("owner", "old"))
        client.control("GET", "health")

        client.control("DELETE", "worlds/old")
        client.control("POST", "worlds", {"name": "new", "clock": {"mode": "frozen"}})
        before = client.state("new")
        status = upload.finish()

        assert status in (404, 503)
        assert client.state("new") == before
        process.kill()

    with emulator(*data) as process:
        client = process.client()
        assert client.state("new") == before
        names = [world["name"] for world in client.control("GET", "worlds")["items"]]
        assert names == ["default", "new"]


def test_a_change_after_a_reset_counts_for_the_new_state(data):
    with emulator(*data) as process:
        client = process.client()
        path = f"/v1/projects/{process.ready['project_id']}/powered-by-flag"
        upload = Upload(process.base_url, path, client.token())
        client.control("GET", "health")

        client.control("POST", "worlds/default/reset", {})
        assert upload.finish() == 200

        expected = client.state()
        process.kill()

    with emulator(*data) as process:
        assert process.client().state() == expected
