"""Each method requests the right resource, and every refusal is a clear error."""

from collections.abc import Callable

import pytest

from hosting_emulator import __version__
from hosting_emulator.sdk import (
    ControlClient,
    ControlError,
    ControlRefused,
    HostingEmulator,
    UnexpectedResponse,
)
from pytest_hosting_emulator import RunningEmulator
from tests.support.control_samples import (
    ADVANCED,
    HEALTH,
    exchange,
    new_world,
    request_page,
    world,
)
from tests.support.fake_control import ANOTHER_SERVER, FakeControl, FakeResponse, refusal
from tests.support.http_world import HttpWorld


def test_each_method_of_the_sdk_reaches_its_resource(api: HttpWorld):
    """Each method is called once with a real emulator. tests/service checks what a world responds."""
    emulator = api.emulator
    control = emulator.control
    world = emulator.name
    operation = api.apply_domains().json["id"]
    state = emulator.export()

    for table in ("problems", "conduct-rules", "interventions"):
        assert isinstance(control.contract(table), list)
    assert control.scenarios()
    assert control.info().control_url == control.control_url
    assert control.health().status == "ok"
    assert emulator.openapi()["openapi"] == "3.1.0"
    assert control.contract("scenario-schema.json")["$schema"]
    assert {"abort", "timeout"} <= {
        kind["kind"] for kind in control.contract("fault-kinds")["effects"]
    }
    assert control.scenario("rate-limited").text
    assert world in {summary.name for summary in control.worlds()}
    assert emulator.clock.state.mode == emulator.clock.change({"mode": "frozen"}).mode
    assert emulator.clock.move(by="1s").moved_ms == 1000
    assert emulator.why(operation).operation == operation
    assert emulator.set_assumptions({"rate_limit": "off"}) == emulator.assumptions
    assert emulator.requests.page(user="owner").items[0].call == "apply_project_domains"
    assert emulator.requests.page(limit=1, trail=False).total == 1
    assert emulator.requests.whole(1).response.body_bytes > 0
    assert emulator.requests.har(state=True, status="2xx")["log"]["_state"]
    assert emulator.requests.resend(1).status == 202
    assert emulator.report_document(requests=1).requests.total == 2
    rule = control.contract("conduct-rules")[0]["id"]
    assert emulator.conduct.read(skip_rules=[rule], final=True).skipped_rules == [rule]
    oldest = emulator.commits()[-1]
    assert emulator.rewind(oldest.commit).name == world
    assert emulator.create_api_key("reader", name="ci", permissions=[]).value
    assert emulator.mint_token(interactive=False, lifetime=60).expires_in == 60
    assert emulator.load_scenario(name="rate-limited").name == world
    assert emulator.import_state(state).counts["operations"]
    assert emulator.reset().name == world


def test_the_sdk_escapes_names_in_paths(api: HttpWorld):
    with pytest.raises(ControlRefused, match="'a/b c'") as refused:
        _ = api.emulator.control.world("a/b c").summary

    assert refused.value.status == 404


@pytest.mark.parametrize(
    "ask",
    [
        lambda world: world.control.world("").delete(),
        lambda world: world.control.scenario(""),
        lambda world: world.why(""),
        lambda world: world.control.delete(world.control_path("faults", "")),
    ],
)
def test_the_sdk_refuses_an_empty_name(api: HttpWorld, ask: Callable[[HostingEmulator], object]):
    with pytest.raises(ValueError, match=r"a name or id is empty, .* (worlds|scenarios)/"):
        ask(api.emulator)


def test_the_sdk_sends_the_control_token(control: FakeControl):
    control.on("GET /health", HEALTH)

    with ControlClient(control.control_url, token="s3cret") as client:
        client.health()

    assert control.requests[0].headers["X-Control-Token"] == "s3cret"


def test_the_sdk_sends_no_token_header_without_a_token(control: FakeControl, client: ControlClient):
    control.on("GET /health", HEALTH)

    client.health()

    assert "X-Control-Token" not in control.requests[0].headers


def test_the_sdk_declares_its_bodies_as_json(control: FakeControl, client: ControlClient):
    control.on("POST /worlds", new_world("w"))

    client.post("worlds", {"name": "é"})

    assert control.requests[0].headers["Content-Type"] == "application/json"
    assert control.requests[0].body == {"name": "é"}


def test_the_sdk_returns_none_for_an_empty_response(control: FakeControl, client: ControlClient):
    control.on("DELETE /worlds/w", None)

    assert client.delete("worlds/w") is None


def test_control_refused_carries_the_problem(control: FakeControl, client: ControlClient):
    control.on("GET /worlds/w", refusal(404, "there is no\nworld w", "No such world"))

    with pytest.raises(ControlRefused) as caught:
        _ = client.world("w").summary

    refused = caught.value
    assert (refused.status, refused.title) == (404, "No such world")
    assert refused.detail == "there is no\nworld w"
    assert str(refused) == "there is no world w"


def test_control_refused_without_a_detail_shows_the_title(
    control: FakeControl, client: ControlClient
):
    control.on("GET /worlds/w", FakeResponse({"title": "Busy"}, 503, deliberately_wrong=True))

    with pytest.raises(ControlRefused, match=r"^Busy$"):
        _ = client.world("w").summary


def test_control_refused_without_a_problem_shows_the_status(
    control: FakeControl, client: ControlClient
):
    control.on("GET /worlds/w", FakeResponse(["?"], 500, deliberately_wrong=True))

    with pytest.raises(ControlRefused, match="refused with status 500"):
        _ = client.world("w").summary


def test_the_sdk_recognizes_another_server_at_the_address(
    control: FakeControl, client: ControlClient
):
    control.on("GET /health", ANOTHER_SERVER)

    with pytest.raises(
        UnexpectedResponse, match="not a hosting emulator: it returned text/html with status 200"
    ):
        client.health()


def test_all_errors_of_the_control_api_share_a_base_class():
    assert issubclass(ControlRefused, ControlError)
    assert issubclass(UnexpectedResponse, ControlError)


@pytest.mark.parametrize("url", ["", "127.0.0.1:4620", "ftp://x/_emulator", "http://", "http:///a"])
def test_the_sdk_refuses_a_malformed_address(url: str):
    with pytest.raises(ValueError, match="is not an address: write it like http"):
        ControlClient(url)


def test_a_refusal_names_both_versions_if_they_differ(
    hosting_emulator_server: RunningEmulator, monkeypatch: pytest.MonkeyPatch
):
    control = hosting_emulator_server.control
    with pytest.raises(ControlRefused) as equal:
        control.get("worlds/missing")
    monkeypatch.setattr("hosting_emulator.sdk.transport.__version__", "99.0")

    with pytest.raises(ControlRefused) as different:
        control.get("worlds/missing")

    versions = f" (the emulator is version {__version__}, and this client is version 99.0)"
    assert str(different.value) == str(equal.value) + versions


def test_a_request_has_a_content_type_only_with_a_body(control: FakeControl, client: ControlClient):
    control.on("GET /health", HEALTH)
    control.on("POST /worlds/w/clock/advance", ADVANCED)

    client.health()
    client.world("w").clock.advance("1s")

    read, change = control.requests
    assert ("Content-Type" in read.headers, read.body) == (False, None)
    assert change.headers["Content-Type"] == "application/json"
    assert change.body == {"by": "1s"}


def test_a_scenario_replaces_a_changed_world_unless_told_otherwise(
    control: FakeControl, client: ControlClient
):
    control.on("GET /worlds/w", world("w"))
    control.on("POST /worlds/w/scenario", {**world("w"), "notices": []})
    handle = client.world("w")

    handle.load_scenario(name="early")
    handle.load_scenario(text="name: x", file="x.yaml", replace=False)

    assert control.bodies("POST /worlds/w/scenario") == [
        {"name": "early", "replace": True},
        {"text": "name: x", "file": "x.yaml"},
    ]


def test_the_total_of_requests_is_read_with_a_single_request(
    control: FakeControl, client: ControlClient
):
    control.on("GET /worlds/w", world("w"))
    control.on("GET /worlds/w/requests?limit=1", request_page(exchange(9), total=9))

    assert client.world("w").requests.total == 9
