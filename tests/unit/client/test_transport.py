"""One connection is kept, renewed when stale, and never repeats what may have taken effect."""

import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from hosting_emulator.client import ControlClient, EmulatorUnreachable, UnexpectedAnswer
from tests.unit.client.fake_control import FakeControl, Says


def test_requests_share_one_connection(control: FakeControl, client: ControlClient):
    control.on("GET /health", {"status": "ok"})
    control.on("POST /worlds", {"name": "w"})

    client.get("health")
    client.post("worlds", {})
    client.get("/health")

    assert control.connections == 1
    assert len(control.asked) == 3


@pytest.mark.parametrize("method", ["get", "put", "post", "patch", "delete"])
def test_connection_the_server_closed_meanwhile_is_renewed(
    control: FakeControl, client: ControlClient, method: str
):
    control.on("GET /health", Says({}, close_after=True))
    control.on(f"{method.upper()} /thing", {"done": True})
    client.get("health")
    assert control.dropped.wait(5)

    answer = getattr(client, method)("thing")

    assert answer == {"done": True}
    assert [a.path for a in control.asked] == ["/health", "/thing"]


def test_dropped_read_is_sent_once_more(control: FakeControl, client: ControlClient):
    control.on("GET /health", {})
    control.on("GET /clock", Says(close_before=True), {"mode": "real"})
    client.get("health")

    assert client.get("clock") == {"mode": "real"}


def test_dropped_read_is_not_sent_a_third_time(control: FakeControl, client: ControlClient):
    control.on("GET /health", {})
    control.on("GET /clock", Says(close_before=True))
    client.get("health")

    with pytest.raises(EmulatorUnreachable, match="closed the connection before it answered"):
        client.get("clock")

    assert len(control.bodies("GET /clock")) == 2


def test_dropped_write_is_not_repeated(control: FakeControl, client: ControlClient):
    control.on("GET /health", {})
    control.on("POST /advance", Says(close_before=True), {"moved_ms": 1})
    client.get("health")

    with pytest.raises(EmulatorUnreachable, match="closed the connection before it answered"):
        client.post("advance", {"by": "1ms"})

    assert len(control.bodies("POST /advance")) == 1


def test_works_again_after_an_error(control: FakeControl, client: ControlClient):
    control.on("POST /advance", Says(close_before=True))
    control.on("GET /health", {"status": "ok"})
    with pytest.raises(EmulatorUnreachable):
        client.post("advance")

    assert client.get("health") == {"status": "ok"}


def test_nothing_listening_names_address_and_way_out():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: nothing else can take the port
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/_emulator"

        with ControlClient(url) as client, pytest.raises(EmulatorUnreachable) as caught:
            client.health()

    assert str(caught.value) == (
        f"no emulator answers at {url} (connection refused); start it with `hosting-emulator start`"
    )
    assert caught.value.address == url


def test_no_answer_in_time(control: FakeControl):
    control.on("GET /health", Says({}, silent=True))

    with (
        ControlClient(control.control_url, timeout_s=0.01) as client,
        pytest.raises(EmulatorUnreachable, match=r"no answer within 0\.01 s"),
    ):
        client.health()


def test_something_that_does_not_speak_http():
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as threads:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/_emulator"
        greeting = threads.submit(_greet_as_ssh, server)

        with (
            ControlClient(url, timeout_s=5) as client,
            pytest.raises(UnexpectedAnswer, match="not a hosting emulator: it does not speak HTTP"),
        ):
            client.health()

        greeting.result(5)


def _greet_as_ssh(server: socket.socket) -> None:
    peer, _ = server.accept()
    with peer:
        peer.recv(65536)
        peer.sendall(b"SSH-2.0-test\r\n")
