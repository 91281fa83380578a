"""The client reuses one connection, renews a stale one, and never repeats a request that may have acted."""

import http.client
import json
import os
import re
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import trustme
from msgspec import to_builtins

from hosting_emulator.sdk import ControlClient, EmulatorUnreachable, UnexpectedResponse
from tests.support.control_samples import (
    ADVANCED,
    ASSUMPTIONS,
    CLOCK,
    HEALTH,
    items,
    new_world,
)
from tests.support.fake_control import FakeControl, FakeResponse


def test_requests_share_one_connection(control: FakeControl, client: ControlClient):
    control.on("GET /health", HEALTH)
    control.on("POST /worlds", new_world("w"))

    client.get("health")
    client.post("worlds", {})
    client.get("/health")

    assert control.connections == 1
    assert len(control.requests) == 3


@pytest.mark.parametrize(
    ("method", "path", "response"),
    [
        ("get", "/worlds/w/clock", CLOCK),
        ("put", "/worlds/w/clock", CLOCK),
        ("post", "/worlds/w/clock/advance", ADVANCED),
        ("patch", "/worlds/w/assumptions", items(*ASSUMPTIONS)),
        ("delete", "/worlds/w", None),
    ],
)
def test_a_connection_that_the_server_closed_is_renewed(
    control: FakeControl, client: ControlClient, method: str, path: str, response: Any
):
    control.on("GET /health", FakeResponse(HEALTH, close_after=True))
    control.on(f"{method.upper()} {path}", response)
    client.get("health")
    assert control.dropped.wait(5)

    received = getattr(client, method)(path)

    assert received == response
    assert [request.path for request in control.requests] == ["/health", path]


def test_a_read_whose_connection_broke_is_sent_again(control: FakeControl, client: ControlClient):
    control.on("GET /health", HEALTH)
    control.on("GET /worlds/w/clock", FakeResponse(close_before=True), CLOCK)
    client.get("health")

    assert client.get("worlds/w/clock") == CLOCK


def test_a_read_is_sent_at_most_twice(control: FakeControl, client: ControlClient):
    control.on("GET /health", HEALTH)
    control.on("GET /worlds/w/clock", FakeResponse(close_before=True))
    client.get("health")

    with pytest.raises(EmulatorUnreachable, match="closed the connection before responding"):
        client.get("worlds/w/clock")

    assert len(control.bodies("GET /worlds/w/clock")) == 2


def test_a_write_whose_connection_broke_is_not_repeated(
    control: FakeControl, client: ControlClient
):
    control.on("GET /health", HEALTH)
    control.on("POST /worlds/w/clock/advance", FakeResponse(close_before=True), ADVANCED)
    client.get("health")

    with pytest.raises(EmulatorUnreachable, match="closed the connection before responding"):
        client.post("worlds/w/clock/advance", {"by": "1ms"})

    assert len(control.bodies("POST /worlds/w/clock/advance")) == 1


def test_the_client_works_after_an_error(control: FakeControl, client: ControlClient):
    control.on("POST /worlds/w/clock/advance", FakeResponse(close_before=True))
    control.on("GET /health", HEALTH)
    with pytest.raises(EmulatorUnreachable):
        client.post("worlds/w/clock/advance")

    assert client.get("health") == HEALTH


def test_an_unreachable_emulator_error_names_the_address_and_the_start_command():
    with socket.socket() as taken:
        # bound, but not listening, so that no other program can take the port
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/_emulator"

        with ControlClient(url) as client, pytest.raises(EmulatorUnreachable) as caught:
            client.health()

    assert str(caught.value) == (
        f"no emulator responds at {url} (connection refused); start it with "
        f"`hosting-emulator start --port {urlsplit(url).port}`"
    )
    assert caught.value.address == url


def test_a_response_that_does_not_arrive_in_time_is_an_error(control: FakeControl):
    control.on("GET /health", FakeResponse(HEALTH, silent=True))

    with (
        ControlClient(control.control_url, timeout_s=0.01) as client,
        pytest.raises(EmulatorUnreachable, match=r"no response within 0\.01 s"),
    ):
        client.health()


def test_a_server_that_does_not_speak_http_is_refused():
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as threads:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/_emulator"
        greeting = threads.submit(_greet_as_ssh, server)

        with (
            ControlClient(url, timeout_s=5) as client,
            pytest.raises(UnexpectedResponse, match="it does not speak HTTP"),
        ):
            client.health()

        greeting.result(5)


@contextmanager
def raw_server(*scripts: Callable[[socket.socket], None]) -> Iterator[str]:
    """Run a server during a block that accepts a connection for each script. Yields its address."""

    def serve() -> None:
        for script in scripts:
            connection, _ = server.accept()
            with connection:
                connection.recv(4096)
                script(connection)

    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as threads:
        server.settimeout(5)
        serving = threads.submit(serve)
        yield f"http://127.0.0.1:{server.getsockname()[1]}/_emulator"
        serving.result(5)


def respond_with(body: bytes, length: int | None = None) -> Callable[[socket.socket], None]:
    """Return a script that sends a response. By default, its body has the announced length."""
    announced = len(body) if length is None else length
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    return lambda connection: connection.sendall(head % announced + body)


HEALTH_JSON = json.dumps(HEALTH).encode()


def test_a_response_that_ends_early_is_an_error():
    with (
        raw_server(respond_with(b'{"status":', 100)) as url,
        ControlClient(url, timeout_s=5) as client,
        pytest.raises(EmulatorUnreachable) as caught,
    ):
        client.health()

    assert caught.value.reason == "it closed the connection in the middle of its response"


def test_a_connection_that_the_server_reset_is_renewed():
    is_read = threading.Event()
    is_reset = threading.Event()

    def respond_and_reset(connection: socket.socket) -> None:
        respond_with(HEALTH_JSON)(connection)
        is_read.wait(5)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
        is_reset.set()

    with (
        raw_server(respond_and_reset, respond_with(HEALTH_JSON)) as url,
        ControlClient(url, timeout_s=5) as client,
    ):
        assert client.health().status == "ok"
        is_read.set()
        assert is_reset.wait(5)

        assert client.health().status == "ok"


def test_an_interrupted_request_leaves_no_response_for_the_next_one(
    control: FakeControl, client: ControlClient, monkeypatch: pytest.MonkeyPatch
):
    control.on("GET /health", HEALTH)
    control.on("GET /worlds/w/clock", CLOCK)

    def interrupt(_: http.client.HTTPConnection) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as interrupted:
        interrupted.setattr(http.client.HTTPConnection, "getresponse", interrupt)
        with pytest.raises(KeyboardInterrupt):
            client.get("health")

    assert control.dropped.wait(5)  # the client has closed the connection
    assert client.get("worlds/w/clock") == CLOCK
    assert control.connections == 2


def test_threads_share_one_connection(control: FakeControl, client: ControlClient):
    control.on("GET /health", HEALTH)

    with ThreadPoolExecutor(8) as threads:
        responses = list(threads.map(lambda _: client.get("health"), range(100)))

    assert responses == [HEALTH] * 100
    assert control.connections == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # The fake has its own threads.
def test_a_forked_child_opens_its_own_connection(control: FakeControl, client: ControlClient):
    control.on("GET /health", HEALTH)
    client.get("health")

    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if client.get("health") == HEALTH else 1)
        finally:
            os._exit(2)

    assert os.waitpid(child, 0)[1] == 0
    assert client.get("health") == HEALTH
    assert control.connections == 2


def test_a_path_that_would_break_the_request_line_is_refused(
    control: FakeControl, client: ControlClient
):
    for path, reason in {
        "a b": "is not a request target, because it contains a space",
        "a\r\nX:y": "cannot be sent: use printable ASCII characters only",
        "é": "cannot be sent: use printable ASCII characters only",
    }.items():
        with pytest.raises(ValueError, match=f"^{re.escape(repr(path))} {reason}$"):
            client.get(path)

    assert control.connections == 0


def test_a_control_token_that_would_break_its_header_is_refused():
    with pytest.raises(ValueError, match="printable ASCII characters only"):
        ControlClient("http://127.0.0.1:4620/_emulator", token="a\r\nHost: b")


def test_the_client_speaks_tls_to_an_https_address(
    control: FakeControl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    control.on("GET /health", HEALTH)
    url = control.control_url.replace("http://127.0.0.1", "https://localhost")
    control.encrypt(context)

    with (
        ControlClient(url, timeout_s=5) as client,
        pytest.raises(EmulatorUnreachable, match="certificate"),
    ):
        client.health()
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    with ControlClient(url, timeout_s=5) as client:
        assert [to_builtins(client.health()), to_builtins(client.health())] == [HEALTH] * 2

    assert control.connections == 2


def _greet_as_ssh(server: socket.socket) -> None:
    peer, _ = server.accept()
    with peer:
        peer.recv(65536)
        peer.sendall(b"SSH-2.0-test\r\n")
