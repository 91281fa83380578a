"""No request, however malformed, is answered with our own failure, or leaves a mark if refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hosting_emulator.contract.calls import CALLS
from tests.support.in_process import InProcess, fresh_world

WORLD = fresh_world()
API = InProcess(WORLD)
TOKEN, READER, KEYLESS = API.token("owner"), API.token("reader"), API.token("no-organization")
SHOP, ACME = API.project_id("shop"), API.organization_id("acme")
OPERATION = min(key for key in WORLD.tables["operations"])

#: Any text that can come out of a socket: aiohttp decodes headers and paths with surrogateescape.
WIRE = st.binary(max_size=200).map(lambda raw: raw.decode("utf-8", "surrogateescape"))
IDS = st.one_of(
    st.sampled_from([SHOP, ACME, OPERATION, SHOP.lower(), SHOP[:-1], SHOP + "0", "", "..", "%2F"]),
    WIRE,
)
PATHS = st.one_of(
    st.builds(
        lambda spec, found: spec.path.replace(f"{{{spec.subject}_id}}", found),
        st.sampled_from(sorted(CALLS.values(), key=lambda spec: spec.call_id)),
        IDS,
    ),
    IDS.map(lambda found: f"/v1/operations/{found}"),
    WIRE,
)
QUERIES = st.one_of(
    st.just(""),
    st.builds(
        lambda name, value: f"?{name}={value}",
        st.sampled_from(["cursor", "limit", "environment", "limit=5&limit", "%00", "ü"]),
        st.one_of(st.sampled_from(["1", "0", "101", "-1", "1e1", "٣", "dev", "x" * 600]), WIRE),
    ),
    WIRE.map("?".__add__),
)
TOKENS = st.one_of(
    st.sampled_from([TOKEN, TOKEN, TOKEN, READER, KEYLESS, TOKEN[:-2], TOKEN + "x", "a.b.c", "."]),
    WIRE,
)
HEADERS = st.lists(
    st.one_of(
        TOKENS.map(lambda token: ("Authorization", f"Bearer {token}")),
        WIRE.map(lambda found: ("Authorization", found)),
        st.one_of(st.sampled_from(["k", "k" * 128, "k" * 129, ""]), WIRE).map(
            lambda found: ("Idempotency-Key", found)
        ),
        st.one_of(st.sampled_from(["r", "r" * 129, ""]), WIRE).map(
            lambda found: ("X-Request-Id", found)
        ),
        st.sampled_from(["application/json", "application/json; charset=x", "text/plain", ""]).map(
            lambda found: ("Content-Type", found)
        ),
    ),
    max_size=6,
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=70),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
NAMES = st.sampled_from(["enabled", "name", "expected_source_generation", "other", ""])
BODIES = st.one_of(
    st.binary(max_size=200),
    st.dictionaries(NAMES, VALUES, max_size=3).map(lambda found: json.dumps(found).encode()),
    VALUES.map(lambda found: json.dumps(found).encode()),
    st.sampled_from([b"", b"{}", b'{"enabled":true}', b'{"name":"x"}', b"[" * 5_000, b'{"a":1']),
)


def check(answer, before, after):
    assert answer.status < 500
    if answer.status < 400:
        return
    assert after is before
    body = answer.json
    assert body["status"] == answer.status
    assert set(body) >= {"type", "title", "status", "code", "request_id", "retryable"}
    assert body["suggested_action"]
    assert 1 <= len(body["request_id"]) <= 128
    assert answer.headers["X-Request-Id"] == body["request_id"]


@given(
    method=st.sampled_from(["GET", "PUT", "POST", "DELETE", "HEAD", "PATCH", "X" * 300]),
    path=PATHS,
    query=QUERIES,
    headers=HEADERS,
    body=BODIES,
)
@settings(max_examples=250, deadline=None)
def test_any_request(method, path, query, headers, body):
    api = InProcess(WORLD)

    answer = api.send(method, path.replace("?", "") + query, headers, body)

    check(answer, WORLD, api.world)


@given(
    call=st.sampled_from(
        [
            ("PUT", f"/v1/projects/{SHOP}/powered-by-flag"),
            ("POST", f"/v1/projects/{SHOP}/source:initialize"),
            ("POST", f"/v1/organizations/{ACME}/user-api-keys"),
            ("PUT", f"/v1/projects/{SHOP}/domains"),
            ("POST", f"/v1/projects/{SHOP}/dev-access-tickets"),
        ]
    ),
    key=st.one_of(st.just("k"), WIRE),
    body=BODIES,
)
@settings(max_examples=150, deadline=None)
def test_any_body_of_a_call_that_writes(call, key, body):
    api = InProcess(WORLD)
    headers = [
        ("Authorization", f"Bearer {TOKEN}"),
        ("Idempotency-Key", key),
        ("Content-Type", "application/json"),
    ]

    answer = api.send(call[0], call[1], headers, body)
    check(answer, WORLD, api.world)
    again = api.send(call[0], call[1], headers, body)

    if answer.status < 400 and not call[1].endswith(("keys", "tickets")):
        assert (again.status, again.body) == (answer.status, answer.body)
    if answer.status >= 400:
        assert again.status == answer.status


@given(cursor=st.one_of(st.text("AZaz09_-", max_size=20), WIRE))
@settings(max_examples=150, deadline=None)
def test_no_cursor_that_was_not_given(cursor):
    api = InProcess(WORLD)
    given_out = api.deployments("?limit=7").json["next_cursor"]

    answer = api.deployments(f"?limit=7&cursor={cursor}")

    check(answer, WORLD, api.world)
    assert answer.status == 400 or cursor.rstrip() == given_out


@pytest.mark.parametrize("place", range(16))
def test_no_cursor_that_was_changed(place):
    api = InProcess(WORLD)
    cursor = api.deployments("?limit=7").json["next_cursor"]
    changed = cursor[:place] + ("A" if cursor[place] != "A" else "B") + cursor[place + 1 :]

    answer = api.deployments(f"?limit=7&cursor={changed}")

    assert (answer.status, answer.json["code"]) == (400, "invalid_request")


def test_no_cursor_of_another_project():
    api = InProcess(WORLD)
    cursor = api.deployments("?limit=7").json["next_cursor"]

    answer = api.deployments(f"?limit=7&cursor={cursor}", project="docs")

    assert (answer.status, answer.json["code"]) == (400, "invalid_request")
