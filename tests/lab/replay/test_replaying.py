"""A recorded session is replayed in the same world, in another one and in a changed one."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from typing import Any

import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from hosting_emulator.sdk import ControlClient, ControlRefused, HostingEmulator
from hosting_emulator_lab.replay import (
    Beginning,
    Recording,
    ReplayReport,
    read_record,
    replay,
    temporary_world,
)
from tests.support.http_world import HttpWorld
from tests.support.wire import wire


def walk(api: HttpWorld) -> None:
    """Use each call, polls, pages, replays, problems, and a key as a credential."""
    clock = api.emulator.clock
    api.set_flag(False, key="flag-1")
    api.set_flag(False, key="flag-1")
    api.set_flag(True, key="flag-1")
    clock.advance("3s")
    domains = api.apply_domains(key="domains-1").json["id"]
    source = api.initialize(1, key="source-1").json["id"]
    for _ in range(5):
        clock.advance("4500ms")
        api.poll(domains)
        api.poll(source)
    api.apply_domains(key="domains-1")
    key = api.create_key("ci", key="key-1").json
    api.create_key("ci", key="key-1")
    api.deployments("?limit=2", token=key["value"])
    api.create_key("more", key="key-2", token=key["value"])
    page = api.deployments("?limit=3").json
    while page.get("next_cursor"):
        page = api.deployments(f"?limit=20&cursor={page['next_cursor']}", user="reader").json
    api.deployments("?cursor=made-up")
    for project in ("shop", "blog", "docs", "labs"):
        api.dns(project=project)
        api.compute("?environment=prod", project=project)
    api.ticket()
    api.ticket(user="reader")
    api.dns(user="outsider")
    api.dns(user="no-organization")
    api.dns(user=None)
    api.dns(token="made-up")
    api.call("GET", "/v1/projects/nothing/edge-dns", headers={"X-Request-Id": "mine"})
    api.call("DELETE", api.project_path("domains"))
    api.call("PUT", api.project_path("powered-by-flag"), raw=b"{", key="k")
    api.set_flag(1)
    clock.advance("31d")
    api.dns()


def record_of(api: HttpWorld, *, state: bool = True) -> Recording:
    return read_record(api.emulator.requests.har(state=state))


def replay_in_fresh_world(
    control: ControlClient, record: Recording, beginning: Beginning | None = None
) -> ReplayReport:
    with temporary_world(control, record, beginning or Beginning()) as fresh:
        return replay(control, record, control.world(fresh.name))


def differences(report: ReplayReport) -> list[tuple[int, str, Any, Any]]:
    return [
        (request.recorded.n, *difference)
        for request in report.requests
        for difference in request.differences
    ]


def test_a_replay_in_the_same_world_has_no_differences(api: HttpWorld):
    walk(api)
    record = record_of(api)

    report = replay_in_fresh_world(api.emulator.control, record)

    assert differences(report) == []
    assert report.skipped == []
    assert report.notes == []
    assert len(report.requests) == len(api.emulator.requests) >= 40


def test_a_replay_in_a_world_of_another_seed_differs_only_in_ids(api: HttpWorld):
    walk(api)
    record = record_of(api)

    report = replay_in_fresh_world(api.emulator.control, record, Beginning(seed="another"))

    assert differences(report) == []
    recorded_id, replayed_id = (
        operation_of(request) for request in (record.requests[3], report.requests[3])
    )
    assert recorded_id != replayed_id


def operation_of(request: Any) -> str:
    return str(json.loads(request.response.text)["id"])


def test_a_replay_in_a_varying_world_has_no_differences(hosting_emulator: HostingEmulator):
    control = hosting_emulator.control
    with HostingEmulator.fresh(control, vary="7") as varied:
        walk(HttpWorld(varied))
        record = record_of(HttpWorld(varied))

    assert differences(replay_in_fresh_world(control, record)) == []


def test_a_replay_without_recorded_state_uses_a_world_of_the_same_seed(api: HttpWorld):
    walk(api)
    record = record_of(api, state=False)

    assert record.state is None
    assert differences(replay_in_fresh_world(api.emulator.control, record)) == []


def test_a_replay_names_the_assumption_behind_a_difference(api: HttpWorld):
    walk(api)
    record = record_of(api)
    control = api.emulator.control

    status = replay_in_fresh_world(control, record, Beginning(assumptions={"accepted_status": 200}))
    null_cursor = replay_in_fresh_world(
        control, record, Beginning(assumptions={"last_page_cursor": "null"})
    )

    numbers = [
        request.n
        for request in record.requests
        if request.response and request.response.status == 202
    ]
    assert differences(status) == [(n, "status", 202, 200) for n in numbers]
    assert {difference[1:] for difference in differences(null_cursor)} == {
        ("body.next_cursor", "(absent)", None)
    }


def test_a_replay_follows_the_cursor_of_a_partly_recorded_page(api: HttpWorld):
    page = api.deployments("?limit=40").json
    api.deployments(f"?limit=40&cursor={page['next_cursor']}")
    record = record_of(api)

    report = replay_in_fresh_world(api.emulator.control, record, Beginning(seed="another"))

    assert record.requests[0].response is not None
    assert record.requests[0].response.text is None
    assert differences(report) == []


def test_a_replay_in_a_used_world_reports_the_differences(api: HttpWorld):
    api.create_key("ci", key="key-1")
    record = record_of(api)
    control = api.emulator.control

    report = replay(control, record, control.world(api.emulator.name))

    assert differences(report) == [
        (1, "status", 201, 200),
        (1, "body.replayed", False, True),
        (1, "body.value", "<redacted>", None),
    ]


def test_a_replay_reports_a_recurring_id_that_changes(api: HttpWorld):
    for _ in range(2):
        api.apply_domains(key="domains-1")
    record = record_of(api)
    control = api.emulator.control

    report = replay_in_fresh_world(
        control, record, Beginning(assumptions={"idempotency_retention": "1ms"})
    )
    assert differences(report) == []  # no time passed

    short = Beginning(assumptions={"idempotency_retention": "1ms"})
    later = replace(record.requests[1], at_ms=record.requests[1].at_ms + 5)
    report = replay_in_fresh_world(
        control, replace(record, requests=(record.requests[0], later)), short
    )

    assert report.requests[1].differences[0].at == "body.id"
    assert ", which is 01" in report.requests[1].differences[0].recorded


def test_a_replay_loses_a_lost_response_only_with_the_same_fault(api: HttpWorld):
    api.emulator.fault("connection_reset", call="get_dns_authorization", times=1)
    with pytest.raises(ConnectionError):
        api.dns()
    record = record_of(api)
    control = api.emulator.control

    assert differences(replay_in_fresh_world(control, record)) == []
    assert differences(replay_in_fresh_world(control, record, Beginning(seed="seed"))) == [
        (1, "response", "(no response)", "status 200")
    ]


def test_a_replay_recreates_an_api_key_older_than_the_recording(api: HttpWorld):
    key = api.emulator.create_api_key("member", permissions=["dns.read"]).value
    api.dns(token=key)
    api.deployments(token=key)
    record = record_of(api)

    report = replay_in_fresh_world(api.emulator.control, record)

    assert [request.response.status for request in report.requests if request.response] == [
        200,
        403,
    ]
    assert differences(report) == []
    [sender] = {request.sender for request in record.requests}
    assert sender is not None
    assert report.notes == [
        f"the API key {sender.api_key} is older than the recording: a similar key was created"
    ]


def test_a_replay_is_refused_for_an_expired_token_again(api: HttpWorld):
    token = api.emulator.mint_token("owner", lifetime="1h").access_token
    api.emulator.clock.advance("2h")
    assert "expired" in api.dns(token=token).json["detail"]

    report = replay_in_fresh_world(api.emulator.control, record_of(api))

    assert [request.response.status for request in report.requests if request.response] == [401]
    assert differences(report) == []


def test_a_replay_reports_another_status_of_a_request_with_an_unknown_token(api: HttpWorld):
    api.dns(token="made-up")
    control = api.emulator.control

    with HostingEmulator.fresh(control) as other_world:
        other_world.fault("gateway_error", credentials="invalid")
        report = replay(control, record_of(api), other_world)

    assert (1, "status", 401, 502) in differences(report)


def test_a_replay_can_send_every_request_as_one_user(api: HttpWorld):
    api.ticket()
    api.dns(user=None)
    record = record_of(api)
    control = api.emulator.control

    with temporary_world(control, record, Beginning()) as fresh:
        report = replay(control, record, control.world(fresh.name), user="reader")
        users = [request.user for request in fresh.requests]

    assert users == ["reader", "nobody"]
    assert differences(report)[0] == (1, "status", 201, 403)


def test_a_replay_leaves_the_clock_alone_when_time_must_not_move(api: HttpWorld):
    operation = api.apply_domains().json["id"]
    api.emulator.clock.advance("1h")
    api.poll(operation)
    record = record_of(api)
    control = api.emulator.control

    with temporary_world(control, record, Beginning()) as fresh:
        report = replay(control, record, control.world(fresh.name), move_time=False)

    assert differences(report)[0] == (2, "body.state", "succeeded", "queued")


@pytest.mark.parametrize("at", ["2020-01-01T00:00:00Z", "2030-01-01T00:00:00Z"])
def test_a_replay_lets_as_much_time_pass_in_a_world_of_another_time(api: HttpWorld, at: str):
    operation = api.apply_domains().json["id"]
    api.emulator.clock.advance("1h")
    api.poll(operation)
    record = record_of(api)
    control = api.emulator.control

    with HostingEmulator.fresh(control, clock={"mode": "frozen", "at": at}) as other_world:
        report = replay(control, record, control.world(other_world.name))
        now = other_world.clock.now

    assert differences(report) == []
    assert now == at.replace("T00:00:00Z", "T01:00:00.000Z")


def test_a_replay_notes_that_it_does_not_move_a_running_clock(api: HttpWorld):
    api.ticket()
    record = record_of(api)
    control = api.emulator.control

    with HostingEmulator.fresh(control, clock="real") as running:
        report = replay(control, record, control.world(running.name))

    assert differences(report) == []
    assert report.notes == [
        f"the clock of {running.name} is running, so the replay does not move it"
    ]


def test_a_recording_of_the_skip_clock_replays_without_differences(api: HttpWorld):
    api.emulator.clock.skip()
    operation = api.initialize(1).json["id"]
    while api.poll(operation).json["state"] != "succeeded":
        pass
    record = record_of(api)

    assert differences(replay_in_fresh_world(api.emulator.control, record)) == []


def test_exchanges_of_the_request_log_can_be_replayed(api: HttpWorld):
    walk(api)
    control = api.emulator.control
    world = api.emulator
    items = [world.requests.whole(item.n) for item in world.requests.page(limit=1000).items]
    record = read_record(to_builtins(items))

    report = replay_in_fresh_world(control, record, Beginning(seed=world.summary.seed))

    # The log does not show which requests used an API key: that request was refused for its key.
    asked_with_key = next(item.n for item in items if item.code == "interactive_login_required")
    assert {n for n, *_ in differences(report)} == {asked_with_key}
    recorded, replayed = differences(report)[-1][2:]
    assert recorded.startswith("interactive_login_required: This call needs")
    assert (replayed["value"], replayed["key"]["name"]) == ("<redacted>", "more")
    assert len(report.requests) == len(items)


def test_a_replay_skips_and_reports_requests_that_cannot_be_sent(api: HttpWorld):
    api.call("PUT", api.project_path("powered-by-flag"), raw=b"x" * 20_000, key="k")
    api.call("GET", "/v1/projects/p/edge-dns?ticket=" + "x" * 43)
    api.dns(headers={"X-Request-Id": "y" * 43})
    api.create_key("z" * 43)
    api.dns(headers={f"X-Trace-{number}": "a " * 3000 for number in range(4)})
    api.dns()

    report = replay_in_fresh_world(api.emulator.control, record_of(api))

    reasons = [request.skipped for request in report.requests]
    assert reasons == [request.recorded.unsendable for request in report.requests]
    assert [reason is None for reason in reasons] == [False, False, False, False, False, True]


def test_a_replay_skips_requests_of_users_who_are_not_in_its_world(api: HttpWorld):
    api.dns()
    api.emulator.add(users=[{"alias": "zed", "organizations": {"acme": "owner"}}])
    api.dns(user="zed")
    api.dns(token=api.emulator.create_api_key("zed").value)
    api.dns(user="reader")

    report = replay_in_fresh_world(api.emulator.control, record_of(api))

    reasons = [request.skipped for request in report.requests]
    assert [reason is None for reason in reasons] == [True, False, False, True]
    assert reasons[1] == reasons[2]
    assert str(reasons[1]).startswith("its sender zed cannot send it here: ")
    assert differences(report) == []


def test_a_user_chosen_for_a_replay_must_exist(api: HttpWorld):
    api.dns()

    with pytest.raises(ControlRefused) as refused:
        replay(api.emulator.control, record_of(api), api.emulator, user="zed")

    assert refused.value.status == 404


@pytest.mark.parametrize("coding", ["gzip", "GZIP", "x-gzip", "deflate"])
def test_a_replay_sends_the_decoded_body_of_a_compressed_request(api: HttpWorld, coding: str):
    document = b'{"name": "packed"}'
    packed = zlib.compress(document) if coding == "deflate" else gzip.compress(document)
    headers = {"Content-Type": "application/json", "Content-Encoding": coding}
    path = f"/v1/organizations/{api.organization_id('acme')}/user-api-keys"
    created = api.call("POST", path, raw=packed, key="k", headers=headers)
    api.deployments(token=created.json["value"])

    report = replay_in_fresh_world(api.emulator.control, record_of(api))

    assert created.status == 201
    assert differences(report) == []
    assert report.skipped == []


def test_a_replay_sends_a_body_that_was_recorded_compressed_with_its_coding(api: HttpWorld):
    packed = gzip.compress(b'{"enabled": false}')
    api.set_flag(True)
    har = api.emulator.requests.har()
    request = har["log"]["entries"][0]["request"]
    request["headers"].append({"name": "Content-Encoding", "value": "gzip"})
    request["postData"].update({"text": base64.b64encode(packed).decode(), "encoding": "base64"})

    report = replay_in_fresh_world(api.emulator.control, read_record(har))

    (exchange,) = report.requests
    assert exchange.response is not None
    assert exchange.response.members["enabled"] is False


def test_a_replay_skips_requests_whose_body_was_refused_unread(api: HttpWorld):
    path = api.project_path("powered-by-flag")
    packed = gzip.compress(b'{"enabled": true}')
    api.call("PUT", path, raw=b"x" * (1024 * 1024 + 1), key="k1")
    api.call("GET", api.project_path("edge-dns"), raw=b"x" * (2 * 1024 * 1024))
    api.call("PUT", path, raw=packed[:-9], key="k2", headers={"Content-Encoding": "gzip"})
    api.call("PUT", path, raw=packed, key="k3", headers={"Content-Encoding": "br"})
    api.dns()

    report = replay_in_fresh_world(api.emulator.control, record_of(api))

    reason = "its body was not recorded"
    assert [request.skipped for request in report.requests] == [reason] * 4 + [None]
    assert differences(report) == []


def test_a_head_request_and_a_header_that_is_not_ascii_are_replayed_without_differences(
    api: HttpWorld,
):
    headers = list(api.emulator.headers().items())
    with wire(api.emulator.base_url) as connection:
        connection.send_request("HEAD", api.project_path("edge-dns"), headers)
        assert connection.read_response("HEAD").status == 405
        headers.append(("X-Request-Id", "café"))
        connection.send_request("GET", "/v1/projects/nothing/edge-dns", headers)
        assert connection.read_response().status == 404

    report = replay_in_fresh_world(api.emulator.control, record_of(api))

    assert differences(report) == []
    assert report.skipped == []


#: Requests that a client library might send differently: odd paths, bodies and headers.
ODD_REQUESTS: list[tuple[str, str, dict[str, str], bytes | None, int]] = [
    ("GET", "/v1/projects/[x]{a,b}/../edge-dns", {}, None, 404),
    ("GET", "/v1/projects/$HOME/edge-dns", {}, None, 404),
    ("GET", "edge-dns", {}, b"{}", 200),
    ("DELETE", "edge-dns", {}, None, 405),
    ("PUT", "domains", {"Idempotency-Key": ""}, None, 400),
    ("PUT", "powered-by-flag", {"Idempotency-Key": "a"}, b'{"enabled": true}', 400),
    (
        "PUT",
        "powered-by-flag",
        {"Idempotency-Key": "it's", "Content-Type": "application/json"},
        b'{"enabled": "it\'s $HOME `x`"}',
        400,
    ),
]


def test_a_recorded_body_that_is_not_text_is_sent_unchanged(api: HttpWorld):
    api.set_flag(True)
    har = api.emulator.requests.har()
    posted = har["log"]["entries"][0]["request"]["postData"]
    posted.update({"text": "//4=", "encoding": "base64"})
    record = read_record(har)
    assert record.requests[0].body == b"\xff\xfe"

    report = replay_in_fresh_world(api.emulator.control, record)

    (exchange,) = report.requests
    assert exchange.response is not None
    assert exchange.response.members["detail"] == "The request body is not UTF-8 (byte 0)."


@pytest.mark.parametrize(("method", "path", "headers", "body", "status"), ODD_REQUESTS)
def test_an_odd_request_is_sent_exactly_as_recorded(
    api: HttpWorld, method: str, path: str, headers: dict[str, str], body: bytes | None, status: int
):
    target = path if path.startswith("/") else api.project_path(path)
    request_headers = [*api.emulator.headers().items(), *headers.items()]
    with wire(api.emulator.base_url) as connection:
        connection.send_request(method, target, request_headers, body or b"")
        connection.read_response(method)
    before = record_of(api)

    with api.emulator.fork(commit=1) as other_world:
        replay(api.emulator.control, before, other_world)
        after = record_of(HttpWorld(other_world))

    first = before.requests[0]
    second = after.requests[0]
    assert first.response is not None
    assert second.response is not None
    assert first.response.status == status
    for name in ("method", "target", "body", "sender"):
        assert getattr(first, name) == getattr(second, name)
    assert (first.response.status, first.response.code) == (
        second.response.status,
        second.response.code,
    )


def test_each_request_is_sent_by_its_sender_for_the_same_organization(api: HttpWorld):
    api.emulator.intervene("add_member", organization="hobby", user="owner", role="owner")
    for token in (
        api.emulator.token(),
        api.emulator.token(organization="hobby"),
        api.emulator.token(interactive=False),
        api.emulator.token("reader"),
    ):
        api.create_key(organization="hobby", token=token)
    before = record_of(api)

    with api.emulator.fork(commit=2) as other_world:
        replay(api.emulator.control, before, other_world)
        after = record_of(HttpWorld(other_world))

    assert [request.sender for request in before.requests] == [
        request.sender for request in after.requests
    ]
