"""What the contract check says about a server that sends no complete HTTP response."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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

    assert str(response) == "GET /v1: no complete response within 60 s"
    assert is_cut_off.is_set()


def test_the_largest_body_is_read_whole() -> None:
    response = exchange(sends(response_with_body(_LARGEST_BODY)))

    assert (response.status, len(response.body)) == (200, _LARGEST_BODY)


def _untrusted_certificate() -> OSError:
    error = ssl.SSLCertVerificationError(1, "certificate verify failed")
    error.verify_message = "self-signed certificate"
    return error


@pytest.mark.parametrize(
    ("error", "reason"),
    [
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
