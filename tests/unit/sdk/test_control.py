"""Each method asks for the right resource, and every refusal is a clear error."""

from typing import Any

import pytest

from hosting_emulator.sdk import ControlClient, ControlError, ControlRefused, UnexpectedAnswer
from tests.unit.sdk.fake_control import FakeControl, Says

OPERATION = "01J00000000000000000000000"
WHY = f"GET /worlds/w/operations/{OPERATION}/why"
STEP = f"POST /worlds/default/operations/{OPERATION}/step"


@pytest.mark.parametrize(
    ("method", "arguments", "request_line", "body"),
    [
        ("health", {}, "GET /health", None),
        ("info", {}, "GET /info", None),
        ("openapi", {"world": "w"}, "GET /worlds/w/openapi.json", None),
        ("world", {}, "GET /worlds/default", None),
        ("world", {"name": "a/b c"}, "GET /worlds/a%2Fb%20c", None),
        ("create_world", {}, "POST /worlds", {}),
        (
            "create_world",
            {
                "name": "w",
                "seed": "s",
                "clock": {"mode": "scaled", "rate": 60},
                "assumptions": {"rate_limit": "off"},
                "ephemeral": False,
            },
            "POST /worlds",
            {
                "name": "w",
                "seed": "s",
                "clock": {"mode": "scaled", "rate": 60},
                "assumptions": {"rate_limit": "off"},
                "ephemeral": False,
            },
        ),
        (
            "create_world",
            {"scenario": "outage"},
            "POST /worlds",
            {"scenario": {"name": "outage"}},
        ),
        (
            "create_world",
            {"scenario_text": "name: a", "scenario_file": "a.yaml"},
            "POST /worlds",
            {"scenario": {"text": "name: a", "file": "a.yaml"}},
        ),
        ("create_world", {"state": {"a": 1}}, "POST /worlds", {"state": {"a": 1}}),
        ("fork", {"world": "w"}, "POST /worlds/w/fork", {}),
        (
            "fork",
            {"world": "w", "name": "v", "ephemeral": True},
            "POST /worlds/w/fork",
            {"name": "v", "ephemeral": True},
        ),
        ("fork", {"commit": 0}, "POST /worlds/default/fork", {"commit": 0}),
        ("rewind", {"commit": 3, "world": "w"}, "POST /worlds/w/rewind", {"commit": 3}),
        ("har", {"world": "w"}, "GET /worlds/w/requests.har?limit=1000", None),
        (
            "har",
            {"limit": 2, "state": True, "status": "4xx"},
            "GET /worlds/default/requests.har?limit=2&state=true&status=4xx",
            None,
        ),
        ("reset", {"world": "w"}, "POST /worlds/w/reset", {}),
        ("delete_world", {"world": "w"}, "DELETE /worlds/w", None),
        ("export_state", {"world": "w"}, "GET /worlds/w/state", None),
        ("import_state", {"state": {"a": 1}, "world": "w"}, "PUT /worlds/w/state", {"a": 1}),
        ("conduct", {}, "GET /worlds/default/conduct", None),
        (
            "conduct",
            {"world": "w", "off": ["a", "b"], "final": True},
            "GET /worlds/w/conduct?off=a%2Cb&final=true",
            None,
        ),
        ("clock", {"world": "w"}, "GET /worlds/w/clock", None),
        (
            "set_clock",
            {"world": "w", "clock": {"mode": "frozen"}},
            "PUT /worlds/w/clock",
            {"mode": "frozen"},
        ),
        ("advance", {"by": "10m"}, "POST /worlds/default/clock/advance", {"by": "10m"}),
        (
            "advance",
            {"until_operation": OPERATION},
            "POST /worlds/default/clock/advance",
            {"until_operation": OPERATION},
        ),
        ("token", {}, "POST /worlds/default/tokens", {"as": "owner", "interactive": True}),
        (
            "token",
            {
                "principal": "reader",
                "world": "w",
                "organization": "free",
                "interactive": False,
                "expires_in_seconds": 60,
            },
            "POST /worlds/w/tokens",
            {
                "as": "reader",
                "organization": "free",
                "interactive": False,
                "expires_in_seconds": 60,
            },
        ),
        ("create_api_key", {}, "POST /worlds/default/api-keys", {"as": "owner"}),
        (
            "create_api_key",
            {
                "principal": "reader",
                "world": "w",
                "name": "ci",
                "organization": "acme",
                "permissions": [],
            },
            "POST /worlds/w/api-keys",
            {"as": "reader", "name": "ci", "organization": "acme", "permissions": []},
        ),
        ("step_operation", {"operation_id": OPERATION}, STEP, None),
        ("why", {"operation_id": OPERATION, "world": "w"}, WHY, None),
        ("request_page", {"world": "w", "limit": 2}, "GET /worlds/w/requests?limit=2", None),
        ("request", {"n": 7, "world": "w"}, "GET /worlds/w/requests/7", None),
        ("report", {"world": "w"}, "GET /worlds/w/report?requests=20", None),
        ("snapshot", {"world": "w"}, "POST /worlds/w/snapshots", {}),
        (
            "restore_snapshot",
            {"snapshot_id": "snapshot-1", "world": "w"},
            "POST /worlds/w/snapshots/snapshot-1/restore",
            {},
        ),
        ("fault", {"fault_id": "fault-1"}, "GET /worlds/default/faults/fault-1", None),
        (
            "add_fault",
            {"fault": {"timeout": {}, "times": 1}, "world": "w"},
            "POST /worlds/w/faults",
            {"timeout": {}, "times": 1},
        ),
        ("fault_kinds", {}, "GET /contract/fault-kinds", None),
        (
            "intervene",
            {"word": "stick_operation", "fields": {"project": "shop"}},
            "POST /worlds/default/interventions",
            {"stick_operation": {"project": "shop"}},
        ),
        (
            "intervene",
            {"word": "leave_key_creation_uncertain", "world": "w"},
            "POST /worlds/w/interventions",
            {"leave_key_creation_uncertain": {}},
        ),
        ("scenario", {"name": "outage"}, "GET /scenarios/outage", None),
        ("load_scenario", {"name": "a"}, "POST /worlds/default/scenario", {"name": "a"}),
        (
            "load_scenario",
            {"text": "name: a", "file": "a.yaml", "world": "w"},
            "POST /worlds/w/scenario",
            {"text": "name: a", "file": "a.yaml"},
        ),
        ("run_scenario", {"name": "a"}, "POST /scenarios/run", {"name": "a"}),
        (
            "run_scenario",
            {"text": "name: a", "world": "w"},
            "POST /scenarios/run",
            {"text": "name: a", "world": "w"},
        ),
        ("scenario_schema", {}, "GET /contract/scenario-schema.json", None),
    ],
)
def test_method_asks_for_its_resource(
    control: FakeControl,
    client: ControlClient,
    method: str,
    arguments: dict[str, Any],
    request_line: str,
    body: Any,
):
    control.on(request_line, {"answer": 1})

    answer = getattr(client, method)(**arguments)

    assert answer == (None if method == "delete_world" else {"answer": 1})
    assert control.bodies(request_line) == [body]


@pytest.mark.parametrize(
    ("method", "arguments", "request_line"),
    [
        ("worlds", [], "GET /worlds"),
        ("problems", [], "GET /contract/problems"),
        ("conduct_rules", [], "GET /contract/conduct-rules"),
        ("assumptions", [], "GET /worlds/default/assumptions"),
        ("set_assumptions", [{"rate_limit": "off"}], "PATCH /worlds/default/assumptions"),
        ("requests", [], "GET /worlds/default/requests?limit=50"),
        ("unfinished_operations", [], "GET /worlds/default/operations?unfinished=true"),
        ("snapshots", [], "GET /worlds/default/snapshots"),
        ("faults", [], "GET /worlds/default/faults"),
        ("interventions", [], "GET /contract/interventions"),
        ("scenarios", [], "GET /scenarios"),
    ],
)
def test_lists_are_unwrapped(
    control: FakeControl,
    client: ControlClient,
    method: str,
    arguments: list[Any],
    request_line: str,
):
    control.on(request_line, {"items": [{"n": 1}]})

    assert getattr(client, method)(*arguments) == [{"n": 1}]


def test_faults_are_removed_and_cleared(control: FakeControl, client: ControlClient):
    control.on("DELETE /worlds/w/faults/a%2Fb", Says(status=204))
    control.on("DELETE /worlds/w/faults", {"removed": 2})

    client.remove_fault("a/b", "w")

    assert client.clear_faults("w") == 2
    assert [asked.path for asked in control.asked] == ["/worlds/w/faults/a%2Fb", "/worlds/w/faults"]


def test_snapshots_are_forgotten(control: FakeControl, client: ControlClient):
    control.on("DELETE /worlds/w/snapshots/snapshot-1", Says(status=204))

    client.delete_snapshot("snapshot-1", "w")

    assert [asked.path for asked in control.asked] == ["/worlds/w/snapshots/snapshot-1"]


def test_control_token_is_sent_with_every_request(control: FakeControl):
    control.on("GET /health", {})

    with ControlClient(control.control_url, token="s3cret") as client:
        client.health()

    assert control.asked[0].headers["X-Control-Token"] == "s3cret"


def test_no_control_token_no_header(control: FakeControl, client: ControlClient):
    control.on("GET /health", {})

    client.health()

    assert "X-Control-Token" not in control.asked[0].headers


def test_body_is_declared_as_json(control: FakeControl, client: ControlClient):
    control.on("POST /worlds", {})

    client.post("worlds", {"name": "é"})

    assert control.asked[0].headers["Content-Type"] == "application/json"
    assert control.asked[0].body == {"name": "é"}


def test_empty_answer_is_none(control: FakeControl, client: ControlClient):
    control.on("DELETE /worlds/w", Says(status=204))

    assert client.delete("worlds/w") is None


def test_refusal_carries_the_problem(control: FakeControl, client: ControlClient):
    problem = {"title": "No such world", "status": 404, "detail": "there is no\nworld w"}
    control.on("GET /worlds/w", Says(problem, 404, content_type="application/problem+json"))

    with pytest.raises(ControlRefused) as caught:
        client.world("w")

    refused = caught.value
    assert (refused.status, refused.title) == (404, "No such world")
    assert refused.detail == "there is no\nworld w"
    assert str(refused) == "there is no world w"


def test_refusal_without_a_detail_shows_its_title(control: FakeControl, client: ControlClient):
    control.on("GET /worlds/w", Says({"title": "Busy"}, 503))

    with pytest.raises(ControlRefused, match=r"^Busy$"):
        client.world("w")


def test_refusal_without_a_problem_shows_its_status(control: FakeControl, client: ControlClient):
    control.on("GET /worlds/w", Says(["?"], 500))

    with pytest.raises(ControlRefused, match="refused with status 500"):
        client.world("w")


def test_another_server_at_the_address_is_told_apart(control: FakeControl, client: ControlClient):
    control.on("GET /health", Says(text="<h1>It works!</h1>", content_type="text/html"))

    with pytest.raises(
        UnexpectedAnswer, match="not a hosting emulator: it answers text/html with status 200"
    ):
        client.health()


def test_all_errors_share_a_base():
    assert issubclass(ControlRefused, ControlError)
    assert issubclass(UnexpectedAnswer, ControlError)


@pytest.mark.parametrize("url", ["", "127.0.0.1:4620", "ftp://x/_emulator", "http://", "http:///a"])
def test_malformed_address_is_refused_at_once(url: str):
    with pytest.raises(ValueError, match="is not an address"):
        ControlClient(url)
