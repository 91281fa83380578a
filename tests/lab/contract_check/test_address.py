"""What the contract check says about a server that sends no complete HTTP response."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from hosting_emulator_lab.contract_check.address import Address, Unreachable
from hosting_emulator_lab.contract_check.response import ServerResponse

#: The longest body that the check reads.
_LARGEST_BODY = 4 * 1024 * 1024

Serve = Callable[[socket.socket, threading.Event], None]


@contextmanager
def server_of_one_response(serve: Serve) -> Iterator[str]:
    """Accept one connection, serve it, and yield the address. The event is set when the test is over."""
    is_over = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65_536)
            serve(connection, is_over)

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        is_over.set()
        thread.join()
        listener.close()


def sends(content: bytes) -> Serve:
    """Send bytes and close the connection."""
    return lambda connection, _: connection.sendall(content)


def hangs(connection: socket.socket, is_over: threading.Event) -> None:
    """Send nothing."""
    is_over.wait(5)


def response_with_body(length: int) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (length, b"x" * length)


def exchange(serve: Serve, timeout_s: float = 5.0) -> ServerResponse:
    with server_of_one_response(serve) as url:
        return Address(url, timeout_s=timeout_s).exchange("GET /v1", "GET", "/v1", {}, None)


class UnstartedTimer(threading.Timer):
    """A timer that never expires, however slow the machine is."""

    def start(self) -> None:
        pass


@pytest.mark.parametrize(
    ("serve", "timeout_s", "description"),
    [
        (hangs, 0.1, "no response within 0.1 s"),
        (sends(b""), 5.0, "the connection was closed without a response"),
        (
            sends(response_with_body(10)[:-1]),
            5.0,
            "the response was cut off before its end",
        ),
        (sends(b"+OK ready\r\n"), 5.0, "what came back is not an HTTP response"),
        (sends(response_with_body(_LARGEST_BODY + 1)), 5.0, "a response of more than 4 MiB"),
    ],
    ids=["nothing", "closed", "cut off", "another protocol", "too large"],
)
def test_a_response_that_is_not_complete_is_described(
    monkeypatch: pytest.MonkeyPatch, serve: Serve, timeout_s: float, description: str
) -> None:
    monkeypatch.setattr(threading, "Timer", UnstartedTimer)

    response = exchange(serve, timeout_s)

    assert response.status == 0
    assert str(response) == f"GET /v1: {description}"


def test_a_server_that_never_stops_sending_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    has_begun = threading.Event()
    is_cut_off = threading.Event()

    class TimerOfTheBegunResponse(threading.Timer):
        """A timer that expires as soon as the response has begun."""

        def run(self) -> None:
            has_begun.wait(5)
            self.function()

    def send_single_bytes(connection: socket.socket, is_over: threading.Event) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
        has_begun.set()
        try:
            for _byte in range(500):
                connection.sendall(b" ")
                is_over.wait(0.01)
        except OSError:
            is_cut_off.set()

    monkeypatch.setattr(threading, "Timer", TimerOfTheBegunResponse)

    response = exchange(send_single_bytes, timeout_s=30.0)

    assert str(response) == "GET /v1: no complete response within 30 s"
    assert is_cut_off.is_set()


def test_the_largest_body_is_read_whole() -> None:
    response = exchange(sends(response_with_body(_LARGEST_BODY)))

    assert (response.status, len(response.body)) == (200, _LARGEST_BODY)


def _untrusted_certificate() -> OSError:
    error = ssl.SSLCertVerificationError(1, "certificate verify failed")
    error.verify_message = "self-signed certificate"
    return error


def _other_protocol(reason: str | None) -> OSError:
    error = ssl.SSLError(1, "Wrong Version Number")
    error.reason = reason  # type: ignore[assignment]
    return error


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (socket.gaierror(-2, "Name or service not known"), "its name cannot be resolved"),
        (UnicodeError("label too long"), "its name cannot be resolved"),
        (
            _other_protocol("WRONG_VERSION_NUMBER"),
            "it does not speak TLS: wrong_version_number",
        ),
        (_other_protocol(None), f"it does not speak TLS: {str(_other_protocol(None)).lower()}"),
        (OSError("No route"), "no route"),
        (TimeoutError("timed out"), "no connection within 5 s"),
        (_untrusted_certificate(), "its certificate is not trusted: self-signed certificate"),
        (OSError(101, "Network is unreachable"), "network is unreachable"),
    ],
)
def test_a_server_without_a_connection_is_unreachable_for_a_reason(
    monkeypatch: pytest.MonkeyPatch, error: OSError, reason: str
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(socket, "create_connection", fail)

    with pytest.raises(Unreachable) as refusal:
        Address("http://api.example", timeout_s=5.0).exchange("GET /v1", "GET", "/v1", {}, None)

    assert str(refusal.value) == reason


@pytest.mark.parametrize(
    ("url", "at", "connected_to"),
    [
        ("http://api.example", None, ("api.example", 80)),
        ("https://api.example/v1", None, ("api.example", 443)),
        ("http://api.example:8080", None, ("api.example", 8080)),
        ("http://shop.localhost:81", None, ("127.0.0.1", 81)),
        ("http://localhost", None, ("localhost", 80)),
        ("https://dev.example", "http://127.0.0.1:4620", ("127.0.0.1", 4620)),
        ("http://dev.example:81", "https://shop.localhost", ("127.0.0.1", 443)),
    ],
)
def test_the_connection_is_made_to_the_host_and_port_of_an_address(
    monkeypatch: pytest.MonkeyPatch, url: str, at: str | None, connected_to: tuple[str, int]
) -> None:
    connections: list[tuple[tuple[str, int], float]] = []

    def fail(address: tuple[str, int], timeout_s: float) -> None:
        connections.append((address, timeout_s))
        raise OSError("stop here")

    monkeypatch.setattr(socket, "create_connection", fail)

    with pytest.raises(Unreachable):
        Address(url, timeout_s=5.0, at=at).exchange("GET /v1", "GET", "/v1", {}, None)
    assert connections == [(connected_to, 5.0)]


def test_a_request_has_the_host_path_and_headers_of_the_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    received: list[bytes] = []

    class RecordedSocket(socket.socket):
        def sendall(self, content: Any, flags: int = 0) -> None:
            received.append(bytes(content))
            super().sendall(content, flags)

    def connect(address: tuple[str, int], timeout_s: float) -> socket.socket:
        recorded = RecordedSocket()
        recorded.settimeout(timeout_s)
        recorded.connect(address)
        return recorded

    with server_of_one_response(sends(b"HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n")) as url:
        monkeypatch.setattr(socket, "create_connection", connect)
        address = Address("http://user@api.example:81/worlds/a/", timeout_s=5.0, at=url)
        response = address.exchange("PUT it", "PUT", "/v1/x?y=1", {"X-B": "2"}, b"{}")

    request = b"".join(received).decode()
    assert request.startswith("PUT /worlds/a/v1/x?y=1 HTTP/1.1\r\n")
    assert "\r\nHost: api.example:81\r\n" in request
    assert "\r\nX-B: 2\r\n" in request
    assert request.endswith("\r\n\r\n{}")
    assert response == ServerResponse("PUT it", 204, (("X-A", "1"),), b"")
