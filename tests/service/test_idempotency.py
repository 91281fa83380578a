"""Idempotency-Key on calls 1 to 4: one key, one request, one result."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from typing import Any

import pytest

from tests.support.calls import Response
from tests.support.checked_world import CheckedCalls, CheckedWorld
from tests.support.response_checks import expect_problem, read_timestamp

Call = Callable[..., Response]


def set_flag(world: CheckedCalls, key: str, **options: Any) -> Response:
    return world.set_flag(False, key=key, **options)


def initialize(world: CheckedCalls, key: str, **options: Any) -> Response:
    return world.initialize(1, key=key, **options)


def create_key(world: CheckedCalls, key: str, **options: Any) -> Response:
    return world.create_key("ci", key=key, **options)


def apply_domains(world: CheckedCalls, key: str, **options: Any) -> Response:
    return world.apply_domains(key=key, **options)


ALL = (set_flag, initialize, create_key, apply_domains)
every_call = pytest.mark.parametrize("call", ALL)
#: Call 3 replays only metadata, so it has its own tests.
every_call_but_keys = pytest.mark.parametrize("call", [set_flag, initialize, apply_domains])


# --- The header ---------------------------------------------------------------------------------


def _paths(world: CheckedCalls) -> list[tuple[str, str, Any]]:
    organization = world.organization_id()
    return [
        ("PUT", world.project_path("powered-by-flag"), {"enabled": False}),
        ("POST", world.project_path("source:initialize"), {"expected_source_generation": 1}),
        ("POST", f"/v1/organizations/{organization}/user-api-keys", {"name": "ci"}),
        ("PUT", world.project_path("domains"), None),
    ]


@pytest.mark.over_http
@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("key", [None, "", " ", "k" * 129, "é" * 129])
def test_a_key_of_1_to_128_characters_is_required(
    world: CheckedCalls, number: int, key: str | None
) -> None:
    method, path, body = _paths(world)[number]
    headers = {} if key is None else {"Idempotency-Key": key.encode().decode("latin-1")}

    response = world.call(method, path, body=body, headers=headers)

    assert "Idempotency-Key" in expect_problem(response, 400, "invalid_request")["detail"]


@pytest.mark.over_http
@every_call
@pytest.mark.parametrize("key", ["k", "k" * 128, "a b;c=d,\"e'", "é" * 128])
def test_any_text_of_1_to_128_characters_is_accepted_as_a_key(
    world: CheckedCalls, call: Call, key: str
) -> None:
    sent = key.encode().decode("latin-1")
    first = call(world, sent)

    second = call(world, sent)

    assert first.status < 300
    assert second.status < 300
    assert len(world.state()["tables"]["remembered_responses"]) == 1


@every_call
def test_a_key_that_is_not_utf8_is_refused(world: CheckedCalls, call: Call) -> None:
    response = call(world, "k\xff")

    assert "not UTF-8" in expect_problem(response, 400, "invalid_request")["detail"]


# --- Replays ------------------------------------------------------------------------------------


@pytest.mark.over_http
@every_call_but_keys
def test_a_retry_gets_the_first_response_byte_for_byte(world: CheckedCalls, call: Call) -> None:
    first = call(world, "k")
    after = world.state()

    second = call(world, "k")

    assert (second.status, second.body) == (first.status, first.body)
    assert second.headers["Content-Type"] == first.headers["Content-Type"]
    assert world.state() == after


@every_call_but_keys
def test_a_retry_gets_the_first_response_although_the_world_has_changed(
    world: CheckedCalls, call: Call
) -> None:
    first = call(world, "k")
    world.advance("23h")
    world.set_flag(True)

    second = call(world, "k")

    assert (second.status, second.body) == (first.status, first.body)


def test_a_replay_does_not_switch_the_flag(world: CheckedCalls) -> None:
    world.set_flag(False, key="hide")
    since = world.set_flag(True, key="show").json["enabled_at"]
    world.advance("1h")

    assert world.set_flag(False, key="hide").json["enabled"] is False

    assert world.set_flag(True, key="look").json["enabled_at"] == since


@pytest.mark.over_http
def test_an_exact_replay_of_a_key_creation_shows_metadata_and_no_value(world: CheckedCalls) -> None:
    first = create_key(world, "k")
    after = world.state()

    second = create_key(world, "k", headers={"X-Request-Id": "second-try"})

    assert second.status == 200
    assert second.json == {
        "replayed": True,
        "value": None,
        "request_id": "second-try",
        "key": first.json["key"],
    }
    assert first.json["value"] not in second.body.decode()
    assert world.state() == after


def test_the_replay_shows_when_the_key_was_last_used(world: CheckedCalls) -> None:
    value = create_key(world, "k").json["value"]
    assert "last_used_at" not in create_key(world, "k").json["key"]
    world.advance("1h")
    world.dns(token=value)
    used = world.now()
    world.advance("1h")

    key = create_key(world, "k").json["key"]

    assert abs(read_timestamp(key["last_used_at"]) - used).total_seconds() < 1


# --- The same request ---------------------------------------------------------------------------

SPELLINGS: tuple[tuple[int, tuple[bytes, ...]], ...] = (
    (0, (b'{"enabled":false}', b' {\n"enabled" :\tfalse } ', rb'{"\u0065nabled":false}')),
    (
        1,
        (
            b'{"expected_source_generation":1}',
            b'{ "expected_source_generation" : 1 }\r\n',
        ),
    ),
    (
        1,
        (
            b'{"expected_source_generation":1,"a":{"x":1,"y":[1,2]}}',
            b'{"a": {"y": [1, 2], "x": 1}, "expected_source_generation": 1}',
        ),
    ),
    (2, ('{"name":"é"}'.encode(), rb'{"name": "\u00e9"}', rb'{"name": "\u00E9"}')),
)


@pytest.mark.over_http
@pytest.mark.parametrize(("number", "bodies"), SPELLINGS)
def test_another_spelling_of_the_same_json_is_the_same_request(
    world: CheckedCalls, number: int, bodies: tuple[bytes, ...]
) -> None:
    method, path, _ = _paths(world)[number]
    json_type = {"Content-Type": "application/json"}

    responses = [world.call(method, path, key="k", raw=raw, headers=json_type) for raw in bodies]

    assert all(response.status < 300 for response in responses)
    tables = world.state()["tables"]
    assert len(tables["remembered_responses"]) == 1
    assert len(tables["user_api_keys"]) == (1 if number == 2 else 0)


# --- Another request ----------------------------------------------------------------------------


def reused(response: Response) -> None:
    refused = expect_problem(response, 409, "idempotency_key_reused")
    assert refused["retryable"] is False
    assert "new key" in refused["suggested_action"].lower()


@pytest.mark.over_http
@pytest.mark.parametrize(
    ("number", "body"),
    [
        (0, {"enabled": True}),
        (1, {"expected_source_generation": 2}),
        (2, {"name": "CI"}),
        (2, {"name": "ci "}),
    ],
)
def test_a_reused_key_with_a_changed_body_is_refused(
    world: CheckedCalls, number: int, body: dict[str, Any]
) -> None:
    method, path, first = _paths(world)[number]
    assert world.call(method, path, key="k", body=first).status < 300

    reused(world.call(method, path, key="k", body=body))


@pytest.mark.parametrize("call", [set_flag, initialize, apply_domains])
def test_a_reused_key_on_another_project_is_refused(world: CheckedCalls, call: Call) -> None:
    assert call(world, "k", project="shop").status < 300

    reused(call(world, "k", project="blog"))


def test_a_reused_key_on_another_organization_is_refused(world: CheckedCalls) -> None:
    # given a user who belongs to two organizations
    world.intervene("add_member", organization="hobby", user="owner")
    assert create_key(world, "k").status == 201

    other = world.token("owner", organization="hobby")

    reused(create_key(world, "k", organization="hobby", token=other))


@pytest.mark.over_http
@pytest.mark.parametrize(("first", "second"), list(permutations(ALL, 2)))
def test_a_reused_key_on_another_call_is_refused(
    world: CheckedCalls, first: Call, second: Call
) -> None:
    assert first(world, "k").status < 300

    reused(second(world, "k"))


@every_call
def test_the_first_request_can_be_retried_after_a_refused_reuse_of_its_key(
    world: CheckedCalls, call: Call
) -> None:
    first = call(world, "k")
    reused((apply_domains if call is not apply_domains else set_flag)(world, "k"))

    second = call(world, "k")

    assert second.status in (first.status, 200)
    if call is not create_key:
        assert second.body == first.body


# --- Whose key ----------------------------------------------------------------------------------


@pytest.mark.parametrize("call", [initialize, create_key, apply_domains])
def test_two_principals_can_use_the_same_key(world: CheckedCalls, call: Call) -> None:
    mine = call(world, "k", user="owner")
    theirs = call(world, "k", user="member")

    assert mine.status == theirs.status < 300
    ids = [(a.json.get("key") or a.json)["id"] for a in (mine, theirs)]
    assert ids[0] != ids[1]


@pytest.mark.over_http
@every_call
def test_keys_are_case_sensitive(world: CheckedCalls, call: Call) -> None:
    call(world, "key")
    call(world, "KEY")

    assert len(world.state()["tables"]["remembered_responses"]) == 2


def test_access_is_checked_before_a_replay(world: CheckedCalls) -> None:
    # given a maintainer who retries after having become a reader
    assert apply_domains(world, "k", user="member").status == 202
    world.intervene("set_role", project="shop", user="member", role="reader")

    expect_problem(apply_domains(world, "k", user="member"), 403, "forbidden")


# --- How long -----------------------------------------------------------------------------------


@every_call
def test_a_key_is_remembered_until_the_assumed_retention_ends(
    world: CheckedCalls, call: Call
) -> None:
    world.assume(idempotency_retention="24h")
    first = call(world, "k")
    world.advance("23h59m59s999ms")

    assert _same(first, call(world, "k"))


@every_call
def test_a_key_is_unused_again_after_the_assumed_retention(world: CheckedCalls, call: Call) -> None:
    world.assume(idempotency_retention="24h")
    call(world, "k")
    world.advance("24h")

    # the key can now be used for another request
    other = world.set_flag(True, key="k", project="blog")

    assert other.status == 200


@every_call
def test_every_call_remembers_a_key_for_years(world: CheckedCalls, call: Call) -> None:
    first = call(world, "k")
    world.advance("3600d")

    assert _same(first, call(world, "k"))


def test_a_retry_after_the_retention_creates_another_key(world: CheckedCalls) -> None:
    world.assume(idempotency_retention="24h")
    first = create_key(world, "k").json
    world.advance("24h")

    second = create_key(world, "k").json

    assert second["replayed"] is False
    assert second["key"]["id"] != first["key"]["id"]
    assert create_key(world, "k").json["key"]["id"] == second["key"]["id"]


def _same(first: Response, second: Response) -> bool:
    if "key" in first.json:
        return bool(second.json["replayed"] and second.json["key"] == first.json["key"])
    return first.body == second.body


# --- Refusals -----------------------------------------------------------------------------------


@pytest.mark.over_http
def test_a_refused_request_leaves_its_key_free(world: CheckedCalls) -> None:
    # given one key that meets every kind of refusal first
    refusals = [
        world.initialize("1", key="k"),  # 400
        world.initialize(1, key="k", user=None),  # 401
        world.initialize(1, key="k", user="reader"),  # 403
        world.initialize(1, key="k", project="garden"),  # 404
        world.initialize(9, key="k"),  # 409
        world.set_flag(True, key="k", headers={"X-Request-Id": "x" * 129}),  # 400
    ]
    assert [response.status for response in refusals] == [400, 401, 403, 404, 409, 400]

    assert world.initialize(1, key="k").status == 202


def test_a_refused_request_can_succeed_later_with_the_same_key(world: CheckedCalls) -> None:
    first = world.initialize(0, project="labs").json
    expect_problem(world.initialize(1, project="labs", key="k"), 409, "etag_mismatch")
    world.finish(first["id"])

    assert world.initialize(1, project="labs", key="k").status == 202


# --- At the same time ---------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(4))
def test_simultaneous_requests_with_the_same_key_have_a_single_result(
    api: CheckedWorld, number: int
) -> None:
    method, path, body = _paths(api)[number]
    before = {name: len(rows) for name, rows in api.state()["tables"].items()}
    token = api.token("owner")

    def send(_: int) -> Response:
        return api.send(method, path, token=token, key="k", body=body)

    with ThreadPoolExecutor(8) as pool:
        responses = list(pool.map(send, range(16)))

    after = {name: len(rows) for name, rows in api.state()["tables"].items()}
    grown_tables = {name for name in after if after[name] != before[name]} - {"schedule", "streams"}
    assert all(response.status < 300 for response in responses)
    assert {after[name] - before[name] for name in grown_tables} == {1}
    assert "remembered_responses" in grown_tables
    if number == 2:
        values = [a.json["value"] for a in responses if a.json["value"] is not None]
        assert len(values) == 1
        assert sum(a.json["replayed"] for a in responses) == 15
        assert len({json.dumps(a.json["key"]) for a in responses}) == 1
    else:
        assert len({(response.status, response.body) for response in responses}) == 1
