"""A malformed request never gets an internal error, and a refused one changes nothing."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hosting_emulator.contract.calls import CALLS
from tests.support.calls import Response
from tests.support.in_process import InProcess, fresh_world

WORLD = fresh_world()
API = InProcess(WORLD)
TOKEN = API.token("owner")
READER_TOKEN = API.token("reader")
TOKEN_WITHOUT_ORGANIZATION = API.token("no-organization")
SHOP = API.project_id("shop")
ACME = API.organization_id("acme")
OPERATION = min(API.records("operations"))

#: Any text that can come out of a socket: aiohttp decodes headers and paths with surrogateescape.
WIRE = st.binary(max_size=200).map(lambda raw: raw.decode("utf-8", "surrogateescape"))
IDS = st.one_of(
    st.sampled_from([SHOP, ACME, OPERATION, SHOP.lower(), SHOP[:-1], SHOP + "0", "", "..", "%2F"]),
    WIRE,
)
PATHS = st.one_of(
    st.builds(
        lambda spec, subject_id: spec.path.replace(f"{{{spec.subject}_id}}", subject_id),
        st.sampled_from(sorted(CALLS.values(), key=lambda spec: spec.call_id)),
        IDS,
    ),
    IDS.map(lambda operation_id: f"/v1/operations/{operation_id}"),
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
    st.sampled_from(
        [
            TOKEN,
            TOKEN,
            TOKEN,
            READER_TOKEN,
            TOKEN_WITHOUT_ORGANIZATION,
            TOKEN[:-2],
            TOKEN + "x",
            "a.b.c",
            ".",
        ]
    ),
    WIRE,
)
HEADERS = st.lists(
    st.one_of(
        TOKENS.map(lambda token: ("Authorization", f"Bearer {token}")),
        WIRE.map(lambda value: ("Authorization", value)),
        st.one_of(st.sampled_from(["k", "k" * 128, "k" * 129, ""]), WIRE).map(
            lambda value: ("Idempotency-Key", value)
        ),
        st.one_of(st.sampled_from(["r", "r" * 129, ""]), WIRE).map(
            lambda value: ("X-Request-Id", value)
        ),
        st.sampled_from(["application/json", "application/json; charset=x", "text/plain", ""]).map(
            lambda value: ("Content-Type", value)
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
    st.dictionaries(NAMES, VALUES, max_size=3).map(lambda value: json.dumps(value).encode()),
    VALUES.map(lambda value: json.dumps(value).encode()),
    st.sampled_from([b"", b"{}", b'{"enabled":true}', b'{"name":"x"}', b"[" * 5_000, b'{"a":1']),
)


def check(response: Response, world: object) -> None:
    """Check a response to a request that `WORLD` received. `world` is the world after it."""
    assert response.status < 500
    if response.status < 400:
        return
    assert world is WORLD
    body = response.json
    assert body["status"] == response.status
    assert set(body) >= {"type", "title", "status", "code", "request_id", "retryable"}
    assert body["suggested_action"]
    assert 1 <= len(body["request_id"]) <= 128
    assert response.headers["X-Request-Id"] == body["request_id"]


@given(
    method=st.sampled_from(["GET", "PUT", "POST", "DELETE", "HEAD", "PATCH", "X" * 300]),
    path=PATHS,
    query=QUERIES,
    headers=HEADERS,
    body=BODIES,
)
@settings(max_examples=250, deadline=None)
def test_a_random_request_succeeds_or_gets_a_problem_that_changes_nothing(
    method: str, path: str, query: str, headers: list[tuple[str, str]], body: bytes
) -> None:
    api = InProcess(WORLD)

    response = api.send(method, path.replace("?", "") + query, headers, body)

    check(response, api.world)


@given(
    request=st.sampled_from(
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
def test_a_write_with_a_random_body_and_its_retry_have_the_same_response(
    request: tuple[str, str], key: str, body: bytes
) -> None:
    api = InProcess(WORLD)
    method, path = request
    headers = [
        ("Authorization", f"Bearer {TOKEN}"),
        ("Idempotency-Key", key),
        ("Content-Type", "application/json"),
    ]

    response = api.send(method, path, headers, body)
    check(response, api.world)
    retry = api.send(method, path, headers, body)

    if response.status >= 400:
        assert retry.status == response.status
    elif not path.endswith(("keys", "tickets")):
        assert (retry.status, retry.body) == (response.status, response.body)


@given(cursor=st.one_of(st.text("AZaz09_-", max_size=20), WIRE))
@settings(max_examples=150, deadline=None)
def test_a_random_cursor_is_refused(cursor: str) -> None:
    api = InProcess(WORLD)
    valid_cursor = api.deployments("?limit=7").json["next_cursor"]

    response = api.deployments(f"?limit=7&cursor={cursor}")

    check(response, api.world)
    assert response.status == 400 or cursor.rstrip() == valid_cursor


@pytest.mark.parametrize("index", range(16))
def test_a_cursor_with_a_changed_character_is_refused(index: int) -> None:
    api = InProcess(WORLD)
    cursor = api.deployments("?limit=7").json["next_cursor"]
    character = "B" if cursor[index] == "A" else "A"
    changed_cursor = cursor[:index] + character + cursor[index + 1 :]

    response = api.deployments(f"?limit=7&cursor={changed_cursor}")

    assert (response.status, response.json["code"]) == (400, "invalid_request")


def test_a_cursor_of_another_project_is_refused() -> None:
    api = InProcess(WORLD)
    cursor = api.deployments("?limit=7").json["next_cursor"]

    response = api.deployments(f"?limit=7&cursor={cursor}", project="docs")

    assert (response.status, response.json["code"]) == (400, "invalid_request")
