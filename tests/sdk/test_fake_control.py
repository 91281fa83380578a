"""The fake of the control API accepts only responses that the control API could send."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator.sdk import ControlClient
from tests.support.control_samples import (
    ADVANCED,
    API_KEY,
    ASSUMPTIONS,
    CLOCK,
    HEALTH,
    INFO,
    STUCK,
    TOKEN,
    VARIATION,
    conduct_report,
    exchange,
    fault,
    items,
    message,
    request_page,
    story_report,
    world,
)
from tests.support.fake_control import FakeControl, FakeResponse, event_stream

RESPONSES = {
    "GET /health": HEALTH,
    "GET /info": INFO,
    "GET /worlds/w": world("w", variation=VARIATION),
    "GET /worlds/w/clock": CLOCK,
    "POST /worlds/w/clock/advance": ADVANCED,
    "POST /worlds/w/tokens": TOKEN,
    "POST /worlds/w/api-keys": API_KEY,
    "GET /worlds/w/assumptions": items(*ASSUMPTIONS),
    "POST /worlds/w/interventions": STUCK,
    "POST /worlds/w/faults": fault(),
    "GET /worlds/w/requests?limit=1": request_page(exchange(1)),
    "GET /worlds/w/requests/1": exchange(
        1, request=message("{}"), response=message(None), trail=[]
    ),
    "GET /worlds/w/conduct": conduct_report(),
    "POST /scenarios/run": story_report(),
}


def replaced(document: Any, path: tuple[str | int, ...], value: Any) -> Any:
    """Return a copy of a document with another value at a path."""
    if not path:
        return value
    copied = document.copy()
    copied[path[0]] = replaced(document[path[0]], path[1:], value)
    return copied


@pytest.mark.parametrize("request_line", RESPONSES)
def test_the_fake_accepts_a_response_of_the_control_api(
    control: FakeControl, request_line: str
) -> None:
    control.on(request_line, RESPONSES[request_line])


@pytest.mark.parametrize("request_line", RESPONSES)
def test_the_fake_refuses_a_response_that_lacks_a_member(
    control: FakeControl, request_line: str
) -> None:
    body = RESPONSES[request_line]

    # No declared type contains the member of the fault's effect.
    for name in body.keys() - {"timeout"}:
        rest = {key: value for key, value in body.items() if key != name}
        with pytest.raises(AssertionError, match=f"'{name}' is a required property"):
            control.on(request_line, rest)


@pytest.mark.parametrize("request_line", RESPONSES)
def test_the_fake_refuses_a_response_with_an_undeclared_member(
    control: FakeControl, request_line: str
) -> None:
    with pytest.raises(AssertionError, match="'undeclared' was unexpected"):
        control.on(request_line, {**RESPONSES[request_line], "undeclared": 1})


@pytest.mark.parametrize(
    ("request_line", "path", "value"),
    [
        ("GET /health", ("status",), "up"),
        ("GET /worlds/w", ("projects", 0, "handle"), 5),
        ("GET /worlds/w", ("clock", "mode"), "slow"),
        ("GET /worlds/w/requests?limit=1", ("items", 0, "status"), "200"),
        ("GET /worlds/w/requests/1", ("response", "headers"), {}),
        ("POST /worlds/w/faults", ("hits",), None),
    ],
)
def test_the_fake_refuses_a_member_of_another_type(
    control: FakeControl, request_line: str, path: tuple[str | int, ...], value: Any
) -> None:
    body = replaced(RESPONSES[request_line], path, value)

    with pytest.raises(AssertionError, match="/".join(map(str, path))):
        control.on(request_line, body)


@pytest.mark.parametrize(
    ("request_line", "response", "difference"),
    [
        ("GET /nothing", {}, "the control API has no GET /nothing"),
        ("POST /health", HEALTH, "the control API has no POST /health"),
        ("POST /worlds", FakeResponse(world("w"), 200), "its status is 200"),
        ("DELETE /worlds/w", {}, "it has a body"),
        ("GET /health", FakeResponse(text="<html>", content_type="text/html"), "text/html"),
        ("GET /health", FakeResponse({"title": "Busy"}, 503), "'detail' is a required property"),
    ],
)
def test_the_fake_refuses_an_undocumented_response(
    control: FakeControl, request_line: str, response: Any, difference: str
) -> None:
    with pytest.raises(AssertionError, match=difference):
        control.on(request_line, response)


def test_the_fake_refuses_an_event_that_is_no_logged_request() -> None:
    with pytest.raises(AssertionError, match="'n' is a required property"):
        event_stream(("request", {}))


def test_a_response_has_the_documented_status_of_success(
    control: FakeControl, client: ControlClient
) -> None:
    control.on("DELETE /worlds/w", None)

    assert client.delete("worlds/w") is None
    assert [response.status for response in control.responses["DELETE /worlds/w"]] == [204]


def test_the_fake_sends_a_deliberately_wrong_response(
    control: FakeControl, client: ControlClient
) -> None:
    control.on("GET /health", FakeResponse({"status": "up"}, deliberately_wrong=True))

    assert client.get("health") == {"status": "up"}
