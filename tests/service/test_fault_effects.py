"""Every effect as a client sees it at its socket, before and after the commit."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from typing import Any

import pytest

from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.sdk import HostingEmulator
from tests.support.connection_outcomes import ConnectionOutcome, SocketClient
from tests.support.http_world import HttpWorld
from tests.support.response_checks import check_problem
from tests.support.wire import wire

PHASES = ("before_commit", "after_commit")


@pytest.fixture
def client(hosting_emulator: HostingEmulator) -> SocketClient:
    """A client of a fresh world whose clock is frozen."""
    return SocketClient(HttpWorld(hosting_emulator))


def fault_kinds(client: SocketClient) -> dict[str, Any]:
    """Return the kinds of faults by name, as the emulator lists them."""
    effects = client.api.emulator.control.contract("fault-kinds")["effects"]
    return {effect["kind"]: effect for effect in effects}


def flag_is_on(client: SocketClient) -> bool:
    emulator = client.api.emulator
    projects = emulator.export()["tables"]["projects"]
    return bool(projects[emulator.project].get("flag_enabled"))


def held(outcome: ConnectionOutcome) -> dict[str, Any]:
    """Expect a problem in the contract's form."""
    return check_problem(outcome.response)


def is_json(body: bytes) -> bool:
    try:
        json.loads(body)
    except ValueError:
        return False
    return True


# --- What each looks like ------------------------------------------------------------------------


def see_altered_header(outcome: ConnectionOutcome) -> None:
    assert (outcome.kind, outcome.response.status) == ("answered", 200)
    assert outcome.response.header("X-Edge-Region") == "eu"


def see_abort(outcome: ConnectionOutcome) -> None:
    assert (outcome.kind, outcome.response.status) == ("answered", 503)
    problem = held(outcome)
    assert (problem["code"], problem["retryable"]) == ("service_unavailable", True)
    assert (problem["retry_after_seconds"], outcome.response.header("Retry-After")) == (5, "5")


def see_gateway_error(outcome: ConnectionOutcome) -> None:
    assert (outcome.kind, outcome.response.status) == ("answered", 502)
    assert outcome.response.header("Content-Type") == "text/html"
    assert b"<h1>502 Bad Gateway</h1>" in outcome.response.body
    assert outcome.response.header("X-Request-Id") is None


def see_latency(outcome: ConnectionOutcome) -> None:
    assert (outcome.kind, outcome.response.status) == ("answered", 200)
    assert outcome.took_s >= 0.030


def see_timeout(outcome: ConnectionOutcome) -> None:
    assert outcome.kind == "silent"


def see_connection_reset(outcome: ConnectionOutcome) -> None:
    assert outcome.kind == "reset"


def see_empty_response(outcome: ConnectionOutcome) -> None:
    assert outcome.kind == "empty"


def see_truncate(outcome: ConnectionOutcome) -> None:
    assert (outcome.kind, outcome.response.status, len(outcome.response.body)) == ("cut", 200, 20)
    assert int(outcome.response.header("Content-Length") or 0) > 20
    assert outcome.response.body.startswith(b'{"project_id":"')


def see_malformed_response(outcome: ConnectionOutcome) -> None:
    assert (outcome.kind, outcome.response.status) == ("answered", 200)
    assert outcome.response.header("Content-Type") == "application/json"
    assert len(outcome.response.body) == int(outcome.response.header("Content-Length") or 0)
    assert not is_json(outcome.response.body)


def see_slow_response(outcome: ConnectionOutcome) -> None:
    assert (outcome.kind, outcome.response.status) == ("answered", 200)
    assert outcome.response.json["enabled"] is False
    assert outcome.took_s >= len(outcome.response.body) / 2000


def see_rate_limit(outcome: ConnectionOutcome) -> None:
    assert (outcome.kind, outcome.response.status) == ("answered", 400)  # call 1 lists its statuses
    assert held(outcome)["code"] == "rate_limited"
    assert outcome.response.header("Retry-After") == "10"


def see_redirect(outcome: ConnectionOutcome) -> None:
    assert (outcome.kind, outcome.response.status, outcome.response.body) == ("answered", 307, b"")
    assert outcome.response.header("Location") == "https://elsewhere.example/x"
    assert outcome.response.header("Content-Type") is None


def see_reset_in_body(outcome: ConnectionOutcome) -> None:
    assert (outcome.kind, outcome.response.status) == ("torn", 200)


def see_wrong_content_length(outcome: ConnectionOutcome) -> None:
    assert (outcome.kind, outcome.response.status) == ("cut", 200)
    assert int(outcome.response.header("Content-Length") or 0) == len(outcome.response.body) + 10
    assert is_json(outcome.response.body)


def see_duplicate_response(outcome: ConnectionOutcome) -> None:
    assert (outcome.kind, outcome.response.status) == ("answered", 200)
    assert outcome.response.json["enabled"] is False


def see_respond(outcome: ConnectionOutcome) -> None:
    assert (outcome.kind, outcome.response.status) == ("answered", 418)
    assert outcome.response.json == {"short": True}
    assert outcome.response.header("X-Teapot") == "yes"
    assert outcome.response.header("Content-Type") == "application/json"


def see_slow_upload(outcome: ConnectionOutcome) -> None:
    assert (outcome.kind, outcome.response.status) == ("answered", 200)
    assert outcome.took_s >= len(b'{"enabled": false}') / 500


def see_whole_flag(outcome: ConnectionOutcome) -> None:
    assert (outcome.kind, outcome.response.status) == ("answered", 200)
    assert outcome.response.json["enabled"] is False


def see_stalled_response(outcome: ConnectionOutcome) -> None:
    see_whole_flag(outcome)
    assert outcome.took_s >= 0.030


Look = Callable[[ConnectionOutcome], None]
EFFECTS: list[tuple[str, dict[str, Any], Look]] = [
    ("abort", {"code": "service_unavailable", "retry_after_seconds": 5}, see_abort),
    ("gateway_error", {}, see_gateway_error),
    ("latency", {"delay_ms": 30}, see_latency),
    ("timeout", {}, see_timeout),
    ("connection_reset", {}, see_connection_reset),
    ("empty_response", {}, see_empty_response),
    ("truncate", {"bytes": 20}, see_truncate),
    ("malformed_response", {}, see_malformed_response),
    ("slow_response", {"bytes_per_second": 2000}, see_slow_response),
    ("rate_limit", {"limit": 0, "window": "10s"}, see_rate_limit),
    ("redirect", {"location": "https://elsewhere.example/x"}, see_redirect),
    ("reset_in_body", {"bytes": 20}, see_reset_in_body),
    ("wrong_content_length", {"by": 10}, see_wrong_content_length),
    ("duplicate_response", {}, see_duplicate_response),
    (
        "respond",
        {"status": 418, "headers": {"X-Teapot": "yes"}, "content": {"short": True}},
        see_respond,
    ),
    ("slow_upload", {"bytes_per_second": 500}, see_slow_upload),
    ("reset_in_upload", {"bytes": 5}, see_connection_reset),
    ("sliced_response", {"bytes": 20, "pause_ms": 1}, see_whole_flag),
    ("stalled_response", {"pause_ms": 30}, see_stalled_response),
    ("alter", {"headers": {"X-Edge-Region": "eu"}}, see_altered_header),
    ("deliver_twice", {"response": "second"}, see_whole_flag),
]
#: These act on the whole emulator, so their tests in `doors/http` have their own emulators, or on reads only
#: (`test_stale_reads.py`), or on requests over a limit (`test_admission.py`).
ELSEWHERE = (
    "refuse_connections",
    "bad_certificate",
    "stale_read",
    "admission_window",
    "admission_queue",
)
#: These let the response through, so the request is carried out in either phase.
LET_THROUGH = (
    "latency",
    "slow_response",
    "duplicate_response",
    "slow_upload",
    "sliced_response",
    "stalled_response",
    "alter",
    "deliver_twice",
)
#: These act before the request has arrived, on the whole request, or on the response of the call, so they
#: have no phase.
WITHOUT_PHASE = ("slow_upload", "reset_in_upload", "alter", "deliver_twice")
EFFECTS_BY_PHASE = [
    pytest.param(*effect, phase, id=f"{effect[0]}-{phase}")
    for effect in EFFECTS
    for phase in PHASES
    if phase == "before_commit" or effect[0] not in WITHOUT_PHASE
]


@pytest.mark.parametrize(("effect", "options", "look", "phase"), EFFECTS_BY_PHASE)
def test_each_kind_of_fault_has_its_effect_at_the_client(
    client: SocketClient, effect: str, options: dict[str, Any], look: Look, phase: str
):
    after_commit = None if effect in ("alter", "deliver_twice") else phase == "after_commit"
    with client.api.emulator.fault(effect, after_commit=after_commit, times=1, **options) as fault:
        outcome = client.set_flag(False)
        assert (fault.seen, fault.hits) == (1, 1)

    look(outcome)
    is_committed = phase == "after_commit" or effect in LET_THROUGH
    assert flag_is_on(client) is not is_committed


def test_the_table_of_effects_has_every_kind_of_fault(client: SocketClient):
    assert {*(effect for effect, _, _ in EFFECTS), *ELSEWHERE} == set(fault_kinds(client)), (
        "add the new kind to EFFECTS, with what a client sees of it"
    )


@pytest.mark.parametrize("kind", [effect for effect, _, _ in EFFECTS])
def test_the_example_of_each_kind_acts_on_every_request(client: SocketClient, kind: str):
    outcomes = {
        "timeout": "silent",
        "connection_reset": "reset",
        "empty_response": "empty",
        "truncate": "cut",
        "reset_in_body": "torn",
        "wrong_content_length": "cut",
        "reset_in_upload": "reset",
    }
    example = fault_kinds(client)[kind]["example"]
    client.api.add_fault(**{kind: example})

    outcomes_seen = [client.set_flag(False, key=key).kind for key in ("first", "second")]

    assert outcomes_seen == [outcomes.get(kind, "answered")] * 2


# --- Finer points --------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_gateway_error_can_have_its_own_page(client: SocketClient, status: int):
    client.api.emulator.fault("gateway_error", status=status, html="<p>Grüße</p>", times=1)
    client.api.emulator.fault("gateway_error", status=status)

    own = client.set_flag()
    usual = client.set_flag()

    assert (own.response.status, own.response.body) == (status, "<p>Grüße</p>".encode())
    assert f"<h1>{status} ".encode() in usual.response.body


def test_an_abort_can_have_its_own_status_and_detail(client: SocketClient):
    client.api.emulator.fault("abort", code="forbidden", status=451, detail="Not here.")

    outcome = client.deployments()

    assert (outcome.response.status, held(outcome)["detail"]) == (451, "Not here.")


@pytest.mark.parametrize("size", [0, 1, 1_000_000])
def test_truncate_cuts_where_it_says_and_at_least_one_byte(client: SocketClient, size: int):
    client.api.emulator.fault("truncate", bytes=size)

    outcome = client.set_flag()

    whole = int(outcome.response.header("Content-Length") or 0)
    assert (outcome.kind, len(outcome.response.body)) == ("cut", min(size, whole - 1))
    assert flag_is_on(client)
    [entry] = client.api.emulator.requests.page().items
    note = f"bytes=1000000 would have sent the whole body, so {whole - 1} were sent"
    assert (note in str(entry.why), note in str(entry.trail)) == (size > 1, size > 1)


@pytest.mark.parametrize(
    ("effect", "options"),
    [
        ("truncate", {"bytes": 5}),
        ("malformed_response", {}),
        ("slow_response", {"bytes_per_second": 9_000}),
    ],
)
def test_a_fault_breaks_a_problem_document_like_any_response(
    client: SocketClient, effect: str, options: dict[str, Any]
):
    client.api.emulator.fault(effect, **options)
    body = b'{"enabled": "yes"}'

    outcome = client.send("PUT", client.api.project_path("powered-by-flag"), "k", body)

    assert outcome.response.status == 400
    assert outcome.response.header("Content-Type") == "application/problem+json"
    if effect == "slow_response":
        assert outcome.took_s >= len(outcome.response.body) / 9_000
        held(outcome)
    else:
        assert not is_json(outcome.response.body)


def test_a_slow_response_leaves_the_connection_usable(client: SocketClient):
    client.api.emulator.fault("slow_response", bytes_per_second=10_000, times=1)
    path = client.api.project_path("edge-dns")

    with wire(client.api.emulator.base_url) as connection:
        slow, next_one = (client.send_on(connection, "GET", path) for _ in range(2))

    assert slow.response.body == next_one.response.body
    assert slow.took_s >= len(slow.response.body) / 10_000


@pytest.mark.parametrize("effect", ["truncate", "malformed_response", "empty_response"])
def test_a_broken_response_ends_the_connection(client: SocketClient, effect: str):
    client.api.emulator.fault(effect)

    with wire(client.api.emulator.base_url) as connection:
        client.send_on(connection, "GET", client.api.project_path("edge-dns"))

        assert connection.is_closed_by_server()


def test_a_timeout_keeps_the_connection_open_until_the_client_closes_it(client: SocketClient):
    fault = client.api.emulator.fault("timeout", times=1)

    with wire(client.api.emulator.base_url) as connection:
        path = client.api.project_path("edge-dns")
        assert client.send_on(connection, "GET", path).kind == "silent"
        connection.send(b"GET / HTTP/1.1\r\n\r\n")  # it is neither read nor responded to
        connection.socket.settimeout(0.05)
        with pytest.raises(TimeoutError):
            connection.is_closed_by_server()

    assert fault.hits == 1
    assert client.deployments().kind == "answered"


def test_latencies_add_up_over_both_phases(client: SocketClient):
    client.api.emulator.fault("latency", delay_ms=15)
    client.api.emulator.fault("latency", delay_ms=10)
    client.api.emulator.fault("latency", delay_ms=10, after_commit=True)

    assert client.set_flag().took_s >= 0.035


def test_a_delayed_response_gets_the_effect_of_the_next_fault(client: SocketClient):
    client.api.emulator.fault("latency", delay_ms=20)
    client.api.emulator.fault("connection_reset")

    outcome = client.set_flag()

    assert outcome.kind == "reset"
    assert outcome.took_s >= 0.020
    assert flag_is_on(client)


def test_a_delayed_request_gets_its_faults_although_they_were_cleared_meanwhile(
    client: SocketClient,
):
    emulator = client.api.emulator
    emulator.fault("latency", delay_ms=80)
    fault = emulator.fault("connection_reset")
    path = client.api.project_path("edge-dns")

    with wire(emulator.base_url) as connection:
        connection.send_request("GET", path, list(emulator.headers().items()))
        until = time.monotonic() + 5
        while not fault.hits and time.monotonic() < until:
            pass
        emulator.clear_faults()

        with pytest.raises(ConnectionResetError):
            connection.is_closed_by_server()


def test_a_delayed_request_does_not_delay_others(client: SocketClient):
    client.api.emulator.fault("latency", delay_ms=5_000, times=1)
    path = client.api.project_path("edge-dns")

    with wire(client.api.emulator.base_url) as waiting:
        assert client.send_on(waiting, "GET", path).kind == "silent"
        assert client.send("GET", path).kind == "answered"


@pytest.mark.parametrize("code", PROBLEMS)
def test_the_detail_of_an_armed_problem_is_what_the_service_might_say(
    hosting_emulator: HostingEmulator, code: str
) -> None:
    api = HttpWorld(hosting_emulator)
    with api.emulator.fault("abort", code=code, times=1):
        problem = api.dns().json

    assert problem["code"] == code
    assert not re.search(r"\b(our|contract|emulator|reading)\b|`", problem["detail"], re.IGNORECASE)
