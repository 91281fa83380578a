"""A run of the check waits if the server asks for it, stops if the server is silent, and refuses options."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator_lab.contract_check import CheckRefused
from hosting_emulator_lab.contract_check.address import Unreachable
from hosting_emulator_lab.contract_check.checks.reads import read_dns
from hosting_emulator_lab.contract_check.options import CheckOptions, validate_options
from tests.lab.contract_check.scripted_server import (
    ORGANIZATION_ID,
    PROJECT_ID,
    SILENCE,
    Reply,
    Request,
    make_check,
    problem,
)


class Server:
    """A server that sends a list of replies, and repeats the last of them."""

    def __init__(self, *replies: Reply) -> None:
        self._replies = list(replies)
        self.requests: list[Request] = []

    def __call__(self, request: Request) -> Reply:
        self.requests.append(request)
        if len(self._replies) > 1:
            return self._replies.pop(0)
        return self._replies[0]


_DNS = Reply({"status": "not_authorized", "zone": None, "scopes": [], "expires_at": None})


def limited(
    status: int = 429, code: str = "rate_limited", after: str = "2", **headers: str
) -> Reply:
    reply = problem(status, code)
    return Reply(reply.document, status, {**reply.headers, "Retry-After": after, **headers})


#: The date of a response.
_NOW = "Fri, 27 Nov 2026 12:00:00 GMT"


@pytest.mark.parametrize(
    ("reply", "waits"),
    [
        (limited(), [2]),
        (limited(429, "too_fast"), [2]),
        (limited(503, "service_unavailable"), [2]),
        (limited(400, "rate_limited"), [2]),
        (limited(after="99999"), [99_999]),
        (limited(after="Fri, 27 Nov 2026 12:00:06 GMT", Date=_NOW), [6]),
        # The date has passed, no date says from when to count, or the date is far away.
        (limited(after="Fri, 27 Nov 2026 11:59:59 GMT", Date=_NOW), []),
        (limited(after="Fri, 27 Nov 2026 12:00:06 GMT", Date=""), []),
        (limited(after="Fri, 27 Nov 2027 12:00:06 GMT", Date=_NOW), []),
        # The server asks for no delay, in a form that the check does not read, or for no limit.
        (limited(after="0"), []),
        (limited(after="100000"), []),
        (limited(after="1.5"), []),
        (limited(after="²"), []),
        (limited(400, "invalid_request"), []),
        (limited(500, "invalid_request"), []),
    ],
)
def test_the_check_repeats_a_limited_request_after_the_delay_that_the_server_asks_for(
    reply: Reply, waits: list[float]
) -> None:
    paused: list[float] = []

    run = make_check(read_dns, Server(reply, _DNS), pause=paused.append, patience_s=100_000.0)

    assert paused == waits
    assert run.waited_s == sum(waits)


def test_the_check_sends_a_limited_request_at_most_five_times() -> None:
    server = Server(limited())

    make_check(read_dns, server)

    assert len(server.requests) == 5


@pytest.mark.parametrize(("patience_s", "count"), [(3.9, 2), (4.0, 3), (0.0, 1)])
def test_the_check_repeats_no_request_beyond_its_patience(patience_s: float, count: int) -> None:
    server = Server(limited())

    run = make_check(read_dns, server, patience_s=patience_s)

    assert len(server.requests) == count
    assert run.requests == count
    assert run.waited_s == 2.0 * (count - 1)


def test_the_check_stops_after_three_requests_in_a_row_without_a_response() -> None:
    run = make_check(read_dns, Server(SILENCE, _DNS, SILENCE, SILENCE, _DNS, SILENCE))
    statuses = [run.read().status for _ in range(4)]
    assert statuses == [200, 0, 0, 200]

    assert [run.read().status for _ in range(2)] == [0, 0]
    with pytest.raises(Unreachable) as stop:
        run.read()
    assert str(stop.value) == "the server did not respond to 3 requests in a row"


@pytest.mark.parametrize(("observed", "name"), [(None, "environment"), ("env", "env")])
def test_a_required_parameter_has_the_name_that_was_observed(
    observed: str | None, name: str
) -> None:
    server = Server(Reply({}))
    run = make_check(read_dns, server)
    if observed is not None:
        run.behavior.record("environment_parameter", observed)

    run.call("read_database_compute")

    assert server.requests[-1].query == {name: "dev"}


def test_the_time_of_the_service_is_in_a_field_and_in_a_header() -> None:
    reply = Reply({"observed_at": "2026-11-27T12:00:01Z"}, 200, {"Date": _NOW})
    run = make_check(read_dns, Server(reply))
    run.behavior.record("environment_parameter", "environment")

    now = run.now()

    assert now.date_ms is not None
    assert now.observed_ms == now.date_ms + 1000


@pytest.mark.parametrize(("token", "is_secret"), [("12345678", True), ("1234567", False)])
def test_a_token_of_eight_characters_or_more_must_not_be_in_a_response(
    token: str, is_secret: bool
) -> None:
    reply = Reply({**_DNS.document, "note": f"sent by {token}"})

    run = make_check(read_dns, Server(reply), token=token)

    faults = {row.fault for row in run.evidence.differences}
    assert ("it shows a credential that was sent or shown before" in faults) is is_secret


def checked_options(**overrides: Any) -> CheckOptions:
    required = {
        "base_url": "https://api.example",
        "token": "t",
        "project_id": PROJECT_ID,
        "organization_id": ORGANIZATION_ID,
    }
    return CheckOptions(**{**required, **overrides})


_GOOD_OPTIONS: list[dict[str, Any]] = [
    {},
    {"base_url": "http://127.0.0.1:1/v1"},
    {"base_url": "HTTPS://API.example/worlds/a"},
    {"origin_url": "http://127.0.0.1:4620"},
    {"api_key": "phk_1", "reader_token": "a b"},
    {"assumed": {"operation_path": "/v1/{operation_id}", "limit_parameter": "n"}},
]


@pytest.mark.parametrize("overrides", _GOOD_OPTIONS)
def test_the_check_accepts_options_that_it_can_use(overrides: dict[str, Any]) -> None:
    validate_options(checked_options(**overrides))


@pytest.mark.parametrize(
    ("overrides", "beginning"),
    [
        ({"base_url": "https://"}, "--base-url: "),
        ({"base_url": "https://x:0"}, "--base-url: "),
        ({"base_url": "https://x:99999"}, "--base-url: "),
        ({"base_url": "https://user@x"}, "--base-url: "),
        ({"base_url": "https://x/#part"}, "--base-url: "),
        ({"base_url": "https://x/a b"}, "--base-url: "),
        ({"base_url": "https://x/\x7f"}, "--base-url: "),
        ({"base_url": "https://é.example"}, "--base-url: "),
        ({"origin_url": ""}, "--origin-url: "),
        ({"project_id": PROJECT_ID.lower()}, "--project: "),
        ({"organization_id": ""}, "--organization: "),
        ({"token": ""}, "--token "),
        ({"token": " "}, "--token "),
        ({"token": "é"}, "--token "),
        ({"no_organization_token": "a\tb"}, "--no-organization-token "),
        ({"api_key": ""}, "--user-api-key "),
        ({"assumed": {"operation_path": "/v1/jobs"}}, "operation_path '/v1/jobs' "),
        ({"assumed": {"operation_path": "/v2/{operation_id}"}}, "operation_path '/v2/"),
        ({"assumed": {"key_prefix": "sk_"}}, "the check does not take 'key_prefix'"),
        ({"assumed": {"limit_parameter": ""}}, "assumption limit_parameter cannot be "),
    ],
)
def test_the_check_refuses_options_that_it_cannot_use(
    overrides: dict[str, Any], beginning: str
) -> None:
    with pytest.raises(CheckRefused) as refusal:
        validate_options(checked_options(**overrides))

    assert str(refusal.value).startswith(beginning)
