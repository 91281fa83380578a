"""Listening to a world, and the request log's filters, as the client asks for them."""

import pytest

from hosting_emulator.sdk import (
    ControlClient,
    ControlRefused,
    EmulatorUnreachable,
    UnexpectedAnswer,
    WorldEvent,
)
from tests.support.control_samples import world
from tests.support.fake_control import FakeControl, FakeResponse

STREAM = 'retry: 1000\nid: 7\n\nid: 8\nevent: request\ndata: {"n": 1}\n\n: still here\nid: 8\n\n'


def stream(text: str, **options: object) -> FakeResponse:
    return FakeResponse(text=text, content_type="text/event-stream", **options)  # type: ignore[arg-type]


def test_events_come_one_after_the_other(client: ControlClient, control: FakeControl):
    text = STREAM + 'id: 9\nevent: gap\ndata: {"missed": 2}\n\n'
    control.on("GET /worlds/w/events?only=request%2Cworld&status=4xx", stream(text))

    with client.world("w").requests.listen(
        only=("request", "world"), status="4xx", call=None
    ) as events:
        found = list(events)

    assert found == [WorldEvent(8, "request", {"n": 1}), WorldEvent(9, "gap", {"missed": 2})]


def test_it_goes_on_after_an_event(client: ControlClient, control: FakeControl):
    control.on("GET /worlds/default/events", stream(STREAM))
    client.world().requests.listen(last_id=41).close()

    assert control.requests[-1].headers["Last-Event-ID"] == "41"
    assert control.requests[-1].headers["Accept"] == "text/event-stream"


def test_a_token_goes_along(control: FakeControl):
    control.on("GET /worlds/default/events", stream(STREAM))
    with ControlClient(control.control_url, token="secret") as client:
        client.world().requests.listen().close()

    assert control.requests[-1].headers["X-Control-Token"] == "secret"


def test_other_requests_go_on_meanwhile(client: ControlClient, control: FakeControl):
    control.on("GET /worlds/default/events", stream(STREAM))
    control.on("GET /worlds/default", world())

    with client.world().requests.listen() as events:
        assert client.world().summary["name"] == "default"
        assert len(list(events)) == 1


def test_a_refusal_is_one(client: ControlClient):
    with pytest.raises(ControlRefused, match="has no response to GET /worlds/gone/events"):
        client.world("gone").requests.listen()


def test_what_is_no_stream_is_unexpected(client: ControlClient, control: FakeControl):
    control.on(
        "GET /worlds/default/events", FakeResponse({"not": "a stream"}, deliberately_wrong=True)
    )

    with pytest.raises(UnexpectedAnswer, match="not return a stream of events"):
        client.world().requests.listen()


def test_events_that_are_no_json_are_unexpected(client: ControlClient, control: FakeControl):
    control.on("GET /worlds/default/events", stream("event: request\ndata: {\n\n"))

    with (
        client.world().requests.listen() as events,
        pytest.raises(UnexpectedAnswer, match="not JSON"),
    ):
        list(events)


def test_nobody_there_is_said_at_once():
    with (
        ControlClient("http://127.0.0.1:9/_emulator") as client,
        pytest.raises(EmulatorUnreachable),
    ):
        client.world().requests.listen()


def test_who_hangs_up_is_unreachable(client: ControlClient, control: FakeControl):
    control.on("GET /worlds/default/events", FakeResponse(close_before=True))

    with pytest.raises((EmulatorUnreachable, UnexpectedAnswer)):
        client.world().requests.listen()
