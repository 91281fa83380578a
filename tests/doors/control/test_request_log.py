"""The request log over the control API: filters, trails, HAR and replay."""

import json
from datetime import datetime
from http.client import IncompleteRead
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from referencing import Registry, Resource

from hosting_emulator.sdk import ControlRefused, HostingEmulator
from tests.support.checked_world import CheckedWorld
from tests.support.wire import wire

SCHEMAS = Path(__file__).parent / "har_schema"


def path(api: CheckedWorld, rest: str) -> str:
    return f"worlds/{api.emulator.name}/{rest}"


def numbers(api: CheckedWorld, **filters: Any) -> list[int]:
    return [item.n for item in api.emulator.requests.page(**filters).items]


@pytest.fixture
def world_with_requests(api: CheckedWorld) -> CheckedWorld:
    """A world that received four requests."""
    api.dns()
    api.dns(user="outsider")
    api.set_flag(True, user="reader", project="blog", key="flag-1")
    api.apply_domains(key="domains-1")
    return api


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, [4, 3, 2, 1]),
        ({"call": "apply_project_domains"}, [4]),
        ({"status": "4xx"}, [3, 2]),
        ({"status": "404"}, [2]),
        ({"user": "reader"}, [3]),
        ({"user": "nobody"}, []),
        ({"project": "shop"}, [4, 2, 1]),
        ({"text": "ENABLED"}, [3]),
        ({"after": 2}, [4, 3]),
        ({"since": "2020-01-01T00:00:00Z", "limit": 1}, [4]),
        ({"before": "2020-01-01T00:00:00Z"}, []),
    ],
)
def test_the_request_log_is_filtered(
    world_with_requests: CheckedWorld, filters: dict[str, Any], expected: list[int]
):
    assert numbers(world_with_requests, **filters) == expected


def test_the_trail_names_headers_whose_bytes_are_not_utf8(api: CheckedWorld):
    headers = {"X-Latin": "caf\xe9", "X-Text": "café".encode().decode("latin-1")}

    api.dns(headers=headers)

    exchange = api.emulator.requests.whole(1)
    sent = dict(exchange.request.headers)
    assert (sent["X-Latin"], sent["X-Text"]) == ("café", "café")
    [text] = [step.text for step in exchange.trail or () if step.step == "header"]
    assert text.startswith("The value of the header X-Latin is not UTF-8 text.")


def test_a_filter_accepts_a_duration_before_now(api: CheckedWorld):
    api.dns()
    api.advance("10m")
    api.dns()

    assert numbers(api, since="5m") == [2]
    assert numbers(api, before="5m") == [1]
    assert numbers(api, since="10m") == [2, 1]


def test_requests_without_a_known_token_are_listed_as_nobody(api: CheckedWorld):
    """The user of a valid token is known, whatever else is wrong with the request."""
    api.call("POST", api.project_path("edge-dns"))
    api.dns(token="x.y.z")
    api.dns(user="outsider")

    user = [item.user for item in api.emulator.requests.page().items]

    assert user == ["outsider", "nobody", "owner"]
    assert numbers(api, user="nobody") == [2]
    assert numbers(api, project="shop") == [3, 2, 1]


@pytest.mark.parametrize(
    ("filters", "status", "words"),
    [
        ("call=list_deployment", 400, "list_deployments"),
        ("call=zzz", 400, "the possible values are set_project_powered_by_flag"),
        ("status=4x", 400, "a class such as 4xx"),
        ("status=999", 400, "a class such as 4xx"),
        ("user=bob", 404, "'bob'"),
        ("project=shap", 404, "'shap'.*shop"),
        ("since=yesterday", 400, "yesterday.*90s"),
        ("after=-1", 400, "the number of a request"),
        ("trail=no", 400, "trail"),
    ],
)
def test_an_impossible_filter_is_refused(api: CheckedWorld, filters: str, status: int, words: str):
    with pytest.raises(ControlRefused, match=words) as refused:
        api.emulator.control.get(path(api, f"requests?{filters}"))

    assert refused.value.status == status


@pytest.mark.parametrize("name", ["call", "status", "user", "project", "text", "since", "after"])
def test_an_empty_filter_is_refused_instead_of_selecting_every_request(
    api: CheckedWorld, name: str
):
    with pytest.raises(ControlRefused) as refusal:
        api.emulator.control.get(path(api, f"requests?{name}="))

    assert refusal.value.status == 400
    assert refusal.value.title == f"Bad {name}"


def test_a_filter_that_is_given_twice_is_refused(api: CheckedWorld):
    with pytest.raises(ControlRefused) as refusal:
        api.emulator.control.get(path(api, "requests?status=200&status=404"))

    assert refusal.value.status == 400
    assert refusal.value.title == "Bad status"


def test_items_of_the_log_have_a_trail_unless_it_is_switched_off(world_with_requests: CheckedWorld):
    emulator = world_with_requests.emulator
    hidden = emulator.requests.page(status="404").items[0]
    scope = [step.text for step in hidden.trail or () if step.step == "scope"]

    assert "member (maintainer), owner (owner), reader (reader)" in scope[0]
    assert emulator.requests.whole(2).trail == hidden.trail
    assert all(item.trail is None for item in emulator.requests.page(trail=False).items)


def test_a_response_names_no_users_who_have_access(world_with_requests: CheckedWorld):
    assert b"acme" not in world_with_requests.dns(user="outsider").body


# --- HAR ----------------------------------------------------------------------------------------


def har_validator() -> Any:
    schemas = [json.loads(file.read_text()) for file in SCHEMAS.glob("*.json")]
    resources = [(schema["$id"], Resource.from_contents(schema)) for schema in schemas]
    registry: Registry[Any] = Registry().with_resources(
        [
            pair
            for id_, resource in resources
            for pair in ((id_, resource), (id_.rstrip("#"), resource))
        ]
    )
    return jsonschema.Draft6Validator({"$ref": "har.json#"}, registry=registry)


def test_a_har_fits_the_schema_of_har_1_2(world_with_requests: CheckedWorld):
    key = world_with_requests.create_key("ci").json["value"]
    world_with_requests.send(
        "GET", "/v1/nowhere?a=1&a=&b=%20", user=None, headers={"Cookie": "s=1"}
    )
    world_with_requests.send("PUT", "/v1/nowhere", raw=b"\xff\xfe")
    world_with_requests.emulator.fault("connection_reset", times=1)
    with pytest.raises(OSError, match=r"."):
        world_with_requests.dns()

    har = world_with_requests.emulator.requests.har()

    har_validator().validate(har)
    entries: list[Any] = har["log"]["entries"]
    assert [entry["_number"] for entry in entries] == list(range(1, 9))
    assert key not in json.dumps(har)


def test_a_har_contains_the_state_of_its_world_before_the_first_exchange(api: CheckedWorld):
    world = api.emulator
    before = tables_but_the_clock(world.export())

    for enabled in (False, True, False):
        api.set_flag(enabled)
    log = world.requests.har(state=True)["log"]

    assert tables_but_the_clock(log["_state"]) == before
    assert "_state" not in world.requests.har()["log"]


def tables_but_the_clock(state: Any) -> dict[str, Any]:
    return {name: rows for name, rows in state["tables"].items() if name != "clock"}


def test_a_har_says_when_its_world_began(api: CheckedWorld):
    world = api.emulator
    created_at = world.clock.now
    empty_at = world.clock.advance("1h")
    empty = world.requests.har()["log"]["_world"]
    api.dns()
    world.clock.advance("1h")
    used = world.requests.har()["log"]["_world"]
    world.reset()
    reset_at = world.clock.now
    later_at = world.clock.advance("2h")
    after_reset = world.requests.har()["log"]["_world"]
    world.load_scenario(
        text="{name: x, description: y, clock: {at: 2030-01-31T09:30:00Z, mode: frozen}}"
    )
    world.clock.advance("1h")
    after_load = world.requests.har()["log"]["_world"]

    assert [(row["began_at"], row["at"]) for row in (empty, used, after_reset, after_load)] == [
        (created_at, empty_at),
        (created_at, empty_at),
        (reset_at, later_at),
        ("2030-01-31T09:30:00.000Z", "2030-01-31T10:30:00.000Z"),
    ]


def test_the_har_schema_of_the_tests_refuses_an_invalid_har(world_with_requests: CheckedWorld):
    har: Any = world_with_requests.emulator.requests.har()
    del har["log"]["entries"][0]["response"]["content"]["mimeType"]

    with pytest.raises(jsonschema.ValidationError, match="mimeType"):
        har_validator().validate(har)


def test_a_har_has_what_a_browsers_importer_reads(world_with_requests: CheckedWorld):
    """The schema accepts invalid and negative numbers, because its `min` is no JSON Schema keyword."""
    world_with_requests.send("GET", "/v1/nowhere?a=1", user=None)
    world_with_requests.emulator.fault("truncate", bytes=3, times=1)
    with pytest.raises(IncompleteRead):
        world_with_requests.dns()

    har: Any = world_with_requests.emulator.requests.har()

    assert len(har["log"]["entries"]) == 6
    for entry in har["log"]["entries"]:
        request = entry["request"]
        response = entry["response"]
        timings = entry["timings"]
        assert datetime.fromisoformat(entry["startedDateTime"]).tzinfo is not None
        assert set(timings) == {"send", "wait", "receive"}
        assert min(timings.values()) >= 0 < entry["time"] == sum(timings.values())
        assert (request["headersSize"], response["headersSize"]) == (-1, -1)  # not known
        for size in (request["bodySize"], response["bodySize"], response["content"]["size"]):
            assert isinstance(size, int)
            assert size >= 0
        assert response["_transferSize"] == response["bodySize"]
        assert isinstance(response["content"]["text"], str)
        assert response["redirectURL"] == ""
        assert entry["cache"] == {}
        assert [pair["name"] for pair in request["queryString"]] == ["a"] * (
            "?a=" in request["url"]
        )
        assert ("postData" in request) == (request["bodySize"] > 0)


def test_a_har_shows_what_a_network_panel_shows(world_with_requests: CheckedWorld):
    har: Any = world_with_requests.emulator.requests.har(call="set_project_powered_by_flag")
    (entry,) = har["log"]["entries"]

    request = entry["request"]
    response = entry["response"]
    project = world_with_requests.emulator.projects["blog"]
    assert (
        request["url"]
        == f"{world_with_requests.emulator.base_url}/v1/projects/{project}/powered-by-flag"
    )
    assert json.loads(request["postData"]["text"]) == {"enabled": True}
    assert {"name": "Authorization", "value": "Bearer <redacted>"} in request["headers"]
    assert (response["status"], response["statusText"]) == (403, "Forbidden")
    assert json.loads(response["content"]["text"])["code"] == "forbidden"
    assert entry["startedDateTime"] == world_with_requests.emulator.clock.now
    assert entry["time"] == sum(entry["timings"].values())
    assert "world time" in har["log"]["comment"]


# --- Replay -------------------------------------------------------------------------------------


def test_a_replay_is_sent_as_the_same_user_with_a_new_key(world_with_requests: CheckedWorld):
    emulator = world_with_requests.emulator

    replayed = emulator.requests.resend(4)

    assert (replayed.n, replayed.status, replayed.user) == (5, 202, "owner")
    assert replayed.idempotency_key not in (None, "domains-1")
    assert not replayed.replayed
    assert emulator.requests.resend(4).idempotency_key != replayed.idempotency_key


def test_a_replay_with_the_same_key_gets_the_first_response(world_with_requests: CheckedWorld):
    replayed = world_with_requests.emulator.requests.resend(4, same_key=True)

    assert (replayed.idempotency_key, replayed.replayed) == ("domains-1", True)
    (decision,) = [step.text for step in replayed.trail if step.step == "idempotency"]
    assert "domains-1" in decision
    assert "#4" in decision


def test_a_replay_works_although_the_token_has_expired(world_with_requests: CheckedWorld):
    world_with_requests.emulator.clock.advance("90d")

    assert world_with_requests.emulator.requests.resend(1).status == 200
    assert world_with_requests.emulator.requests.resend(2).user == "outsider"


def test_a_replay_sends_the_same_api_key_or_unknown_token(api: CheckedWorld):
    key = api.create_key("ci").json["value"]
    api.dns(token=key)
    api.dns(token="x.y.z")
    emulator = api.emulator

    by_key = emulator.requests.resend(2)
    unknown = emulator.requests.resend(3)

    assert by_key.status == 200
    assert "API key 'ci'" in by_key.trail[0].text
    assert unknown.status == 401


def test_a_replay_meets_faults_without_waiting_for_them(world_with_requests: CheckedWorld):
    world_with_requests.emulator.fault("latency", delay_ms=1)
    world_with_requests.emulator.fault("timeout", times=1)

    replayed = world_with_requests.emulator.requests.resend(1)

    assert (replayed.status, replayed.lost) == (0, "timeout")
    assert [step.text for step in replayed.trail if step.step == "fault"][:2] == [
        "fault-1 (latency, before_commit) acted, hit 1.",
        "fault-2 (timeout, before_commit) acted, hit 1.",
    ]


def test_the_log_stores_only_the_beginning_of_long_headers(api: CheckedWorld):
    """The log keeps a thousand requests, which may have a quarter of a megabyte of headers each."""
    long_headers = {f"X-{number}": "z" * 8_000 for number in range(24)}
    api.dns(headers={"X-Small": "y" * 100} | long_headers)

    whole = api.emulator.requests.whole(1)
    headers = dict(whole.request.headers)

    assert headers["X-Small"] == "y" * 100
    assert headers["X-0"] == "z" * 2_048 + "... (8000 bytes)"
    assert headers["X-23"] == "... (8000 bytes)"
    assert sum(map(len, headers.values())) < 20_000
    with pytest.raises(ControlRefused, match="only the beginning of the headers"):
        api.emulator.requests.resend(1)


def test_a_request_that_is_not_stored_completely_cannot_be_replayed(api: CheckedWorld):
    api.send("PUT", "/v1/nowhere", raw=b"x" * 20_000)

    with pytest.raises(ControlRefused, match="only the first 16384 of 20000 bytes"):
        api.emulator.requests.resend(1)
    with pytest.raises(ControlRefused, match="no request '9'"):
        api.emulator.requests.resend(9)


#: Heads of requests whose body is refused, with the body and the length that the log shows.
REFUSED_BODIES: dict[str, tuple[dict[str, str], bytes, int]] = {
    "too long": ({"Content-Length": "1048577"}, b"", 1_048_577),
    "wrong coding": ({"Content-Length": "3", "Content-Encoding": "gzip"}, b"abc", 3),
    "unknown transfer coding": (
        {"Transfer-Encoding": "gzip, chunked"},
        b"3\r\nabc\r\n0\r\n\r\n",
        3,
    ),
    "broken chunk": ({"Transfer-Encoding": "chunked"}, b"3\r\nabc\r\nZZ\r\n", 3),
    "broken first chunk": ({"Transfer-Encoding": "chunked"}, b"ZZ\r\n", 1),
}


@pytest.mark.parametrize("case", REFUSED_BODIES)
def test_the_log_shows_that_a_refused_body_is_not_kept(api: CheckedWorld, case: str):
    headers, body, length = REFUSED_BODIES[case]
    with wire(api.emulator.base_url) as connection:
        request_headers = {**api.emulator.headers(key="k"), **headers}
        connection.send_request(
            "PUT", api.project_path("powered-by-flag"), request_headers.items(), body, length=-1
        )
        assert connection.read_response().status >= 400

    request = api.emulator.requests.whole(1).request

    assert (request.body, request.body_bytes, request.body_cut) == ("", length, True)
    har: Any = api.emulator.requests.har()
    posted = har["log"]["entries"][0]["request"]["postData"]
    assert (posted["text"], posted["comment"]) == ("", "The body was not kept.")


def test_the_request_that_began_an_operation_names_it(api: CheckedWorld):
    operation = api.initialize(1, key="begin").json["id"]
    api.initialize(1, key="begin")
    api.initialize(7, key="refused")

    items = api.emulator.requests.page(limit=3).items

    assert [item.operation for item in items] == [None, operation, operation]


@pytest.mark.parametrize("status", ["100", "1xx", "6xx", "0200", "-1", "٤٠٤"])
def test_a_status_that_no_response_has_is_refused(hosting_emulator: HostingEmulator, status: str):
    with pytest.raises(ControlRefused) as refused:
        hosting_emulator.requests.page(status=status)

    assert refused.value.status == 400


def test_a_span_of_time_that_ends_before_it_begins_is_refused(hosting_emulator: HostingEmulator):
    with pytest.raises(ControlRefused) as refused:
        hosting_emulator.requests.page(since="1m", before="5m")

    assert refused.value.status == 400
