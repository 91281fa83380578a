"""Listening to the events of a world, with the filters of the request log."""

import http.client
from types import SimpleNamespace
from typing import Any

import pytest

from hosting_emulator.sdk import (
    ControlClient,
    ControlRefused,
    EmulatorUnreachable,
    UnexpectedResponse,
    WorldEvent,
)
from hosting_emulator.sdk.event_stream import EventStream
from tests.support.control_samples import world
from tests.support.fake_control import FakeControl, FakeResponse

STREAM = 'retry: 1000\nid: 7\n\nid: 8\nevent: request\ndata: {"n": 1}\n\n: still here\nid: 8\n\n'


def stream(text: str, **options: object) -> FakeResponse:
    return FakeResponse(text=text, content_type="text/event-stream", **options)  # type: ignore[arg-type]


def test_listen_yields_events_in_order(client: ControlClient, control: FakeControl):
    text = STREAM + 'id: 9\nevent: gap\ndata: {"missed": 2}\n\n'
    control.on("GET /worlds/w/events?kinds=request%2Cworld&status=4xx", stream(text))

    with client.world("w").requests.listen(
        kinds=("request", "world"), status="4xx", call=None
    ) as events:
        received = list(events)

    assert received == [
        WorldEvent(id=8, kind="request", data={"n": 1}),
        WorldEvent(id=9, kind="gap", data={"missed": 2}),
    ]


def test_listen_continues_after_an_event(client: ControlClient, control: FakeControl):
    control.on("GET /worlds/default/events", stream(STREAM))
    client.world().requests.listen(last_id=41).close()

    assert control.requests[-1].headers["Last-Event-ID"] == "41"
    assert control.requests[-1].headers["Accept"] == "text/event-stream"


@pytest.mark.parametrize("error", [ConnectionResetError(), http.client.IncompleteRead(b"")])
def test_a_lost_event_stream_is_an_error(error: Exception):
    def fail() -> bytes:
        raise error

    response: Any = SimpleNamespace(readline=fail)
    connection: Any = None
    events = EventStream("http://127.0.0.1:4620/_emulator", connection, response)

    with pytest.raises(EmulatorUnreachable) as caught:
        next(iter(events))

    assert caught.value.reason == "it stopped sending events"


def test_listen_sends_the_control_token(control: FakeControl):
    control.on("GET /worlds/default/events", stream(STREAM))
    with ControlClient(control.control_url, token="secret") as client:
        client.world().requests.listen().close()

    assert control.requests[-1].headers["X-Control-Token"] == "secret"


def test_other_requests_are_sent_while_listening(client: ControlClient, control: FakeControl):
    control.on("GET /worlds/default/events", stream(STREAM))
    control.on("GET /worlds/default", world())

    with client.world().requests.listen() as events:
        assert client.world().summary.name == "default"
        assert len(list(events)) == 1


def test_listen_raises_a_refusal(client: ControlClient):
    with pytest.raises(ControlRefused, match="has no response to GET /worlds/gone/events"):
        client.world("gone").requests.listen()


def test_listen_refuses_a_response_that_is_no_stream(client: ControlClient, control: FakeControl):
    control.on(
        "GET /worlds/default/events", FakeResponse({"not": "a stream"}, deliberately_wrong=True)
    )

    with pytest.raises(
        UnexpectedResponse, match=r"emulator: it does not return a stream of events$"
    ):
        client.world().requests.listen()


def test_listen_refuses_events_that_are_not_json(client: ControlClient, control: FakeControl):
    control.on("GET /worlds/default/events", stream("event: request\ndata: {\n\n"))

    with (
        client.world().requests.listen() as events,
        pytest.raises(UnexpectedResponse, match=r"emulator: its events are not JSON$"),
    ):
        list(events)


def test_listen_raises_an_error_without_an_emulator():
    with (
        ControlClient("http://127.0.0.1:9/_emulator") as client,
        pytest.raises(EmulatorUnreachable),
    ):
        client.world().requests.listen()


def test_listen_raises_an_error_if_the_connection_is_closed(
    client: ControlClient, control: FakeControl
):
    control.on("GET /worlds/default/events", FakeResponse(close_before=True))

    with pytest.raises((EmulatorUnreachable, UnexpectedResponse)):
        client.world().requests.listen()
