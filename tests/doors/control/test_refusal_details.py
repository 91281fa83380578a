"""What a refusal of the control API says: each sentence that no other test reads."""

from __future__ import annotations

import json
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.support.checked_world import CheckedWorld
from tests.support.dev_origins import issue, redeem

REQUESTS = "/worlds/{world}/requests"
WORLD_NAME = (
    "is not a valid world name: use 1 to 63 characters from a-z, 0-9 and -, and do not start with -"
)
LIFETIME = "lifetime must be a whole number of seconds from 1s to 3650d, not"
WRITE_TIMESTAMP = "write it like 2026-01-31T09:30:00Z (with Z or an offset)"
REFUSALS: list[tuple[str, str, Any, str]] = [
    (
        "GET",
        f"{REQUESTS}?since=yesterday",
        None,
        f"'yesterday' is not a timestamp: {WRITE_TIMESTAMP}. A duration before now is also "
        "accepted, such as 90s or 5m",
    ),
    ("GET", f"{REQUESTS}?since=1h&before=1h", None, "before must be later than since"),
    ("GET", f"{REQUESTS}?after=x", None, "after must be the number of a request"),
    ("GET", f"{REQUESTS}?limit=1&limit=2", None, "limit must have a single value, not '1' and '2'"),
    ("GET", f"{REQUESTS}?call=", None, "call is empty; leave it out to accept any value"),
    ("GET", f"{REQUESTS}?trail=maybe", None, "trail must be true or false"),
    ("GET", f"{REQUESTS}?limit=0", None, "limit must be a number from 1 to 1000"),
    ("GET", f"{REQUESTS}?limit=1001", None, "limit must be a number from 1 to 1000"),
    ("GET", f"{REQUESTS}?limit=%2B1", None, "limit must be a number from 1 to 1000"),
    (
        "GET",
        "/worlds/{world}/events?kinds=nothing",
        None,
        "kinds must name kinds of events: request, commit, clock, fault, outcome, world, worlds",
    ),
    (
        "GET",
        f"{REQUESTS}?call=*",
        None,
        "call must be a single value, not '*'; leave out call to accept any value",
    ),
    (
        "GET",
        f"{REQUESTS}?call=/x",
        None,
        "call must be a single value, not '/x'; leave out call to accept any value",
    ),
    (
        "POST",
        "/worlds",
        {"state": {}, "scenario": {"name": "admission"}},
        "an exported state contains a clock and assumptions: leave out scenario, clock and assumptions",
    ),
    (
        "POST",
        "/worlds",
        {"scenario": {"name": "admission"}, "clock": {"at": "2026-01-01T00:00:00Z"}},
        "the scenario sets the start time: leave out clock.at",
    ),
    ("POST", "/worlds", {"name": "A world"}, f"'A world' {WORLD_NAME}"),
    ("POST", "/worlds", {"name": "a" * 64}, f"{'a' * 64!r} {WORLD_NAME}"),
    ("POST", "/worlds", {"name": "default"}, "a world named 'default' already exists"),
    (
        "POST",
        "/worlds",
        {"vary_only": ["page-size"]},
        "vary_only requires vary: set vary to a seed",
    ),
    ("POST", "/worlds/{world}/scenario", {}, "give either name or text"),
    (
        "POST",
        "/worlds/{world}/scenario",
        {"name": "admission", "text": "name: x"},
        "give either name or text",
    ),
    ("POST", "/worlds/{world}/tokens", {"lifetime": "0s"}, f"{LIFETIME} '0s'"),
    ("POST", "/worlds/{world}/tokens", {"lifetime": "1500ms"}, f"{LIFETIME} '1500ms'"),
    ("POST", "/worlds/{world}/tokens", {"lifetime": "87600h1s"}, f"{LIFETIME} '87600h1s'"),
    (
        "POST",
        "/worlds/{world}/api-keys",
        {"name": ""},
        "a key's name must have 1 to 64 characters",
    ),
    (
        "POST",
        "/worlds/{world}/api-keys",
        {"name": "k" * 65},
        "a key's name must have 1 to 64 characters",
    ),
    (
        "POST",
        "/worlds/{world}/api-keys",
        {"user": "no-organization", "name": "ci"},
        "no-organization does not belong to an organization",
    ),
    ("DELETE", "/protected-faults/x", None, "there is no protected fault 'x'"),
    (
        "DELETE",
        "/worlds/{world}/snapshots/x",
        None,
        "there is no snapshot 'x'; the snapshots are none",
    ),
    (
        "POST",
        "/worlds/{world}/faults",
        {"bad_certificate": {"reason": "expired"}},
        "bad_certificate acts at the TLS port, but this server has no TLS port: start it with "
        "--tls-port",
    ),
]


def send(api: CheckedWorld, method: str, path: str, body: Any) -> tuple[int, Any]:
    """Send a control request, and return its status and document."""
    content = None
    if body is not None:
        content = json.dumps(body).encode()
    url = api.emulator.control.control_url + path.format(world=api.emulator.name)
    request = Request(url, content, {"Content-Type": "application/json"}, method=method)
    try:
        with urlopen(request) as response:
            return response.status, json.loads(response.read() or b"null")
    except HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


@pytest.mark.parametrize(("method", "path", "body", "detail"), REFUSALS)
def test_a_refusal_of_the_control_api_says_what_is_wrong(
    api: CheckedWorld, method: str, path: str, body: Any, detail: str
) -> None:
    status, problem = send(api, method, path, body)

    assert problem["detail"] == detail
    assert status == problem["status"]


@pytest.mark.parametrize(
    ("lifetime", "lifetime_s", "expires_at"),
    [
        ("1s", 1, "2026-01-01T00:00:01.000Z"),
        ("3650d", 315_360_000, "2035-12-30T00:00:00.000Z"),
    ],
)
def test_a_token_has_a_lifetime_of_a_second_to_ten_years(
    api: CheckedWorld, lifetime: str, lifetime_s: int, expires_at: str
) -> None:
    status, token = send(api, "POST", "/worlds/{world}/tokens", {"lifetime": lifetime})

    assert status == 201
    assert (token["expires_in"], token["expires_at"]) == (lifetime_s, expires_at)


def test_a_change_of_the_variation_returns_its_points(api: CheckedWorld) -> None:
    status, variation = send(
        api, "PUT", "/worlds/{world}/variation", {"seed": "7", "only": ["page-size"]}
    )

    assert status == 200
    assert variation == send(api, "GET", "/worlds/{world}/variation", None)[1]
    assert variation["seed"] == "7"


def test_the_longest_name_of_a_key_is_accepted(api: CheckedWorld) -> None:
    status, created = send(api, "POST", "/worlds/{world}/api-keys", {"name": "k" * 64})

    assert status == 201
    assert created["key"]["name"] == "k" * 64


def test_a_protected_fault_is_removed_only_by_the_program_that_armed_it(api: CheckedWorld) -> None:
    status, protected = send(
        api,
        "POST",
        "/protected-faults",
        {"fault": {"timeout": {}}, "worlds": [api.emulator.name]},
    )
    assert status == 201
    fault_id = protected["id"]

    status, refused = send(api, "DELETE", f"/worlds/{{world}}/faults/{fault_id}", None)

    send(api, "DELETE", f"/protected-faults/{fault_id}", None)
    assert (status, refused["title"]) == (409, "Not removed")
    assert refused["detail"] == (
        f"{fault_id} is protected: only the program that armed it can remove it"
    )


def test_a_request_that_redeems_a_ticket_is_not_resent(api: CheckedWorld) -> None:
    redeem(api, issue(api))
    number = api.emulator.requests.page(limit=1).items[0].n

    status, refused = send(api, "POST", f"/worlds/{{world}}/requests/{number}/resend", {})

    assert (status, refused["title"]) == (409, "Not resent")
    assert refused["detail"] == f"request {number} redeems a ticket, which works only once"


def test_a_snapshot_that_does_not_exist_is_refused_with_the_ids_of_the_others(
    api: CheckedWorld,
) -> None:
    ids = [send(api, "POST", "/worlds/{world}/snapshots", {})[1]["id"] for _ in range(2)]

    _, refused = send(api, "POST", f"/worlds/{{world}}/snapshots/{'x' * 41}/restore", {})

    assert (
        refused["detail"]
        == f"there is no snapshot {'x' * 40!r}; the snapshots are {', '.join(ids)}"
    )
