"""Faults of the wire between client and server, as a client sees them at its socket."""

from __future__ import annotations

import socket

import pytest

from hosting_emulator.sdk import HostingEmulator
from tests.support.connection_outcomes import SocketClient
from tests.support.http_world import HttpWorld
from tests.support.wire import Wire, wire

BODY = b'{"enabled": false}'


@pytest.fixture
def client(hosting_emulator: HostingEmulator) -> SocketClient:
    """A client of a fresh world whose clock is frozen."""
    return SocketClient(HttpWorld(hosting_emulator))


def begin_flag_request(client: SocketClient, connection: Wire, body: bytes, length: int) -> None:
    """Send call 1 with the beginning of a body of some length."""
    headers = [*client.api.emulator.headers().items(), ("Idempotency-Key", "k")]
    headers.append(("Content-Type", "application/json"))
    path = client.api.project_path("powered-by-flag")
    connection.send_request("PUT", path, headers, body, length=length)


def begin_read(client: SocketClient, connection: Wire) -> None:
    """Send call 5."""
    headers = client.api.emulator.headers().items()
    connection.send_request("GET", client.api.project_path("edge-dns"), headers)


def is_silent(connection: Wire) -> bool:
    """Tell whether the server sends nothing for a moment."""
    connection.socket.settimeout(0.1)
    try:
        connection.socket.recv(1, socket.MSG_PEEK)
    except TimeoutError:
        return True
    finally:
        connection.socket.settimeout(10)
    return False


def receive(connection: Wire, end: bytes) -> list[bytes]:
    """Receive data until it ends with some bytes, and return the pieces in which it arrived."""
    pieces: list[bytes] = []
    while not b"".join(pieces).endswith(end):
        pieces.append(connection.socket.recv(65536))
        assert pieces[-1]
    return pieces


# --- sliced_response ------------------------------------------------------------------------------


def test_a_sliced_response_arrives_in_pieces_that_split_headers_and_the_body(client: SocketClient):
    client.api.emulator.fault("sliced_response", bytes=7, pause_ms=3, times=1)

    with wire(client.api.emulator.base_url) as connection:
        begin_read(client, connection)
        pieces = receive(connection, b"}")

    assert len(pieces[0]) == 7
    assert len(pieces) > 10
    head, _, body = b"".join(pieces).partition(b"\r\n\r\n")
    assert f"Content-Length: {len(body)}".encode() in head
    assert client.api.dns().body == body


def test_the_connection_of_a_sliced_response_can_be_used_again(client: SocketClient):
    client.api.emulator.fault("sliced_response", bytes=50, pause_ms=1, times=1)
    path = client.api.project_path("edge-dns")

    with wire(client.api.emulator.base_url) as connection:
        sliced = client.send_on(connection, "GET", path)
        whole = client.send_on(connection, "GET", path)

    assert sliced.response.body == whole.response.body


# --- stalled_response -----------------------------------------------------------------------------


def test_a_response_stalls_until_the_frozen_clock_has_moved_on(client: SocketClient):
    client.api.emulator.fault("stalled_response", world_pause="30s", times=1)

    with wire(client.api.emulator.base_url) as connection:
        begin_read(client, connection)
        response = HTTPHead(connection)
        first = connection.socket.recv(65536) if not response.body else response.body
        assert len(first) == response.length // 2
        client.api.advance("29s")
        assert is_silent(connection)
        client.api.advance("1s")
        rest = connection.socket.recv(65536)

    assert first + rest == client.api.dns().body


class HTTPHead:
    """The head of a response, and the part of the body that came with it."""

    def __init__(self, connection: Wire) -> None:
        data = b""
        while b"\r\n\r\n" not in data:
            data += connection.socket.recv(65536)
        head, _, self.body = data.partition(b"\r\n\r\n")
        _, _, rest = head.partition(b"Content-Length: ")
        self.length = int(rest.partition(b"\r\n")[0])


@pytest.mark.parametrize(("size", "sent"), [(0, 0), (3, 3), (1_000_000, -1)])
def test_a_response_stalls_after_as_many_bytes_as_the_fault_says(
    client: SocketClient, size: int, sent: int
):
    client.api.emulator.fault("stalled_response", bytes=size, world_pause="1s", times=1)

    with wire(client.api.emulator.base_url) as connection:
        begin_read(client, connection)
        head = HTTPHead(connection)
        assert is_silent(connection)
        assert len(head.body) == sent % head.length
        client.api.advance("1s")
        assert len(connection.socket.recv(65536)) == head.length - len(head.body)


def test_a_skip_clock_moves_to_the_end_of_a_pause_in_world_time(client: SocketClient):
    clock = client.api.emulator.clock
    clock.set(mode="skip")
    client.api.emulator.fault("stalled_response", world_pause="1h", times=1)
    assert clock.now == "2026-01-01T00:00:00.000Z"

    outcome = client.deployments()

    assert outcome.kind == "answered"
    assert clock.now == "2026-01-01T01:00:00.000Z"


def test_a_stalled_response_ends_when_its_world_is_reset(client: SocketClient):
    client.api.emulator.fault("stalled_response", world_pause="1h", times=1)

    with wire(client.api.emulator.base_url) as connection:
        begin_read(client, connection)
        head = HTTPHead(connection)
        client.api.emulator.reset()
        assert len(connection.socket.recv(65536)) == head.length - len(head.body)


# --- the upload -----------------------------------------------------------------------------------


def test_a_reset_in_the_upload_comes_after_as_many_bytes_as_the_fault_says(client: SocketClient):
    fault = client.api.emulator.fault("reset_in_upload", bytes=6, times=1)

    with wire(client.api.emulator.base_url) as connection:
        begin_flag_request(client, connection, BODY[:5], len(BODY))
        assert is_silent(connection)
        connection.send(BODY[5:6])
        with pytest.raises(ConnectionResetError):
            connection.is_closed_by_server()

    assert (fault.seen, fault.hits) == (1, 1)
    [entry] = client.api.emulator.requests.page().items
    assert (entry.status, entry.lost, entry.call) == (
        0,
        "reset_in_upload",
        "set_project_powered_by_flag",
    )
    assert f"cut off after 6 of the {len(BODY)} bytes" in str(entry.trail)
    assert client.set_flag(False).response.json["enabled"] is False


@pytest.mark.parametrize(("size", "missing"), [(0, 18), (17, 1), (1000, 1)])
def test_a_reset_in_the_upload_leaves_at_least_one_byte(
    client: SocketClient, size: int, missing: int
):
    client.api.emulator.fault("reset_in_upload", bytes=size)

    with wire(client.api.emulator.base_url) as connection:
        begin_flag_request(client, connection, BODY[: len(BODY) - missing], len(BODY))
        with pytest.raises(ConnectionResetError):
            connection.is_closed_by_server()


def test_a_chunked_upload_can_be_reset_too(client: SocketClient):
    client.api.emulator.fault("reset_in_upload", bytes=4)

    with wire(client.api.emulator.base_url) as connection:
        headers = [*client.api.emulator.headers().items(), ("Transfer-Encoding", "chunked")]
        path = client.api.project_path("powered-by-flag")
        connection.send_request("PUT", path, headers)
        connection.send(b'4\r\n{"en\r\n')
        with pytest.raises(ConnectionResetError):
            connection.is_closed_by_server()


def test_faults_on_the_upload_leave_requests_without_a_body_alone(client: SocketClient):
    fault = client.api.emulator.fault("reset_in_upload")

    assert client.deployments().kind == "answered"
    assert (fault.seen, fault.hits) == (0, 0)
    assert "the request has no body" in str(fault.unused)
    assert client.set_flag().kind == "reset"


def test_an_upload_without_valid_credentials_is_refused_and_not_reset(client: SocketClient):
    fault = client.api.emulator.fault("reset_in_upload", bytes=4)
    path = client.api.project_path("powered-by-flag")

    refused = client.api.call("PUT", path, user=None, key="k", body={"enabled": True})

    assert (refused.status, refused.json["code"]) == (401, "unauthenticated")
    assert (fault.seen, fault.hits) == (0, 0)


def test_a_client_that_repeats_a_reset_upload_is_not_blamed(client: SocketClient):
    client.api.emulator.fault("reset_in_upload", times=2)

    kinds = [client.set_flag().kind for _ in range(3)]

    assert kinds == ["reset", "reset", "answered"]
    assert client.api.emulator.conduct.findings() == []


def test_a_slow_upload_and_a_later_fault_act_on_one_request(client: SocketClient):
    client.api.emulator.fault("slow_upload", bytes_per_second=500)
    client.api.emulator.fault("abort", code="service_unavailable")

    outcome = client.set_flag()

    assert outcome.response.status == 503
    assert outcome.took_s >= len(BODY) / 500


def test_a_slow_upload_is_read_piece_by_piece(client: SocketClient):
    client.api.emulator.fault("slow_upload", bytes_per_second=200_000, times=1)
    body = BODY + b" " * 30_000

    with wire(client.api.emulator.base_url) as connection:
        outcome = client.send_on(
            connection, "PUT", client.api.project_path("powered-by-flag"), "k", body
        )

    assert outcome.response.status == 200
    assert outcome.took_s >= len(body) / 200_000
