"""Conduct over the control API: client behavior over HTTP, the rules, and redemptions in the log."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from socket import SHUT_WR
from time import sleep
from urllib.parse import urlsplit

import pytest
from msgspec import to_builtins

from hosting_emulator.sdk import ControlRefused, HostingEmulator
from tests.support.checked_world import CheckedWorld
from tests.support.conduct_rules import conduct_rule_ids
from tests.support.dev_origins import issue, redeem, secret_of
from tests.support.http_client import HttpClient
from tests.support.http_world import HttpWorld
from tests.support.wire import wire


def broken(api: HttpWorld) -> list[tuple[str, list[int]]]:
    """Return the broken rules, each with the requests that broke it."""
    findings = api.emulator.conduct.read().findings
    return [(finding.rule, finding.requests) for finding in findings]


def test_the_conduct_report_describes_each_broken_rule(api: CheckedWorld) -> None:
    api.apply_domains(key=None)
    api.dns()

    report = to_builtins(api.emulator.conduct.read())

    rules = api.emulator.control.contract("conduct-rules")
    rule = next(rule for rule in rules if rule["id"] == "missing-idempotency-key")
    assert report == {
        "judged": 2,
        "unseen": 0,
        "findings": [
            {
                "rule": rule["id"],
                "severity": "error",
                "title": rule["title"],
                "message": "apply_project_domains was sent without an Idempotency-Key.",
                "requests": [1],
                "more_requests": 0,
                "at": "2026-01-01T00:00:00.000Z",
                "because": rule["because"],
                "place": rule["place"],
                "matters": rule["matters"],
                "instead": rule["instead"],
            }
        ],
        "counts": {rule["id"]: 1},
        "skipped_rules": [],
        "remarks": [],
        "errors": [],
        "complete": True,
    }


def test_a_refused_body_that_the_call_does_not_read_is_still_reported(api: CheckedWorld) -> None:
    api.call("GET", api.project_path("edge-dns"), raw=b"x" * 1_048_577)

    (finding,) = api.emulator.conduct.read().findings

    assert (finding.rule, finding.severity) == ("unread-field", "warning")


def test_rules_can_be_switched_off_by_their_ids(api: CheckedWorld) -> None:
    api.apply_domains(key=None)
    off = ["missing-idempotency-key", "unread-field"]

    report = api.emulator.conduct.read(skip_rules=off)

    assert (report.findings, report.counts, report.skipped_rules) == ([], {}, off)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("skip_rules=polled-to-early", "polled-too-early?"),
        ("skip_rules=x", "/_emulator/contract/conduct-rules lists the rules"),
        ("final=yes", "final "),
        ("finel=true", "final?"),
    ],
)
def test_an_invalid_query_of_the_conduct_report_is_refused(
    api: CheckedWorld, query: str, words: str
) -> None:
    with pytest.raises(ControlRefused) as refused:
        api.emulator.control.get(f"worlds/{api.emulator.name}/conduct?{query}")

    assert refused.value.status == 400
    assert words in str(refused.value)


def test_the_control_api_lists_every_rule_of_conduct(api: CheckedWorld) -> None:
    rules = api.emulator.control.contract("conduct-rules")

    assert [rule["id"] for rule in rules] == conduct_rule_ids()
    assert {rule["severity"] for rule in rules} == {"error", "warning", "note"}


def test_a_new_key_after_a_lost_response_is_reported(api: CheckedWorld) -> None:
    with api.emulator.fault("connection_reset", after_commit=True, times=1):
        with pytest.raises(OSError, match=r"reset|closed|Remote"):
            HttpWorld.create_key(api, key="first")
        api.create_key(key="second")

    assert broken(api) == [("new-key-after-uncertainty", [1, 2])]


# --- Several workers with one token ---------------------------------------------------------------


def send(client: HttpClient, api: HttpWorld, method: str, path: str, key: str | None = None) -> int:
    """Send a request and return the status of its response."""
    headers = {"Authorization": f"Bearer {api.emulator.token('owner')}"}
    if key is not None:
        headers["Idempotency-Key"] = key
    target = urlsplit(api.emulator.url(f"/v1/projects/{{project}}/{path}")).path
    return client.send(method, target, headers=headers).status


Connect = Callable[..., HttpClient]


@pytest.fixture
def connect(api: CheckedWorld) -> Iterator[Connect]:
    """Return a function that creates clients with their own connections, which are closed at the end."""
    with ExitStack() as opened:

        def make(timeout_s: float = 30.0) -> HttpClient:
            return opened.enter_context(HttpClient(api.emulator.base_url, timeout_s=timeout_s))

        yield make


def test_conduct_does_not_accuse_two_workers_that_both_receive_their_responses(
    api: CheckedWorld, connect: Connect
) -> None:
    first = connect()
    second = connect()
    assert send(second, api, "GET", "edge-dns") == 200
    with (
        api.emulator.fault(
            "latency", delay_ms=500, times=1, call="apply_project_domains"
        ) as held_up,
        ThreadPoolExecutor() as threads,
    ):
        late = threads.submit(send, first, api, "PUT", "domains", "first")
        while held_up.seen == 0:
            sleep(0.001)
        assert send(second, api, "PUT", "domains", "second") == 202
        assert not late.done()
        assert late.result() == 202

    findings = api.emulator.conduct.read().findings
    assert [finding for finding in findings if finding.severity != "note"] == []


def test_a_client_that_gave_up_and_took_a_new_key_is_accused(
    api: CheckedWorld, connect: Connect
) -> None:
    with api.emulator.fault("latency", delay_ms=500, times=1):
        impatient = connect(timeout_s=0.1)
        with pytest.raises(TimeoutError):
            send(impatient, api, "PUT", "domains", "first")
        impatient.close()
        assert send(connect(), api, "PUT", "domains", "second") == 202
    wait_for_requests(api, 2)

    assert [rule for rule, _ in broken(api)] == ["new-key-after-uncertainty"]


def test_conduct_does_not_accuse_a_client_that_gave_up_and_reused_its_key(
    api: CheckedWorld, connect: Connect
) -> None:
    with api.emulator.fault("latency", delay_ms=500, times=1):
        impatient = connect(timeout_s=0.1)
        with pytest.raises(TimeoutError):
            send(impatient, api, "PUT", "domains", "first")
        impatient.close()
        assert send(connect(), api, "PUT", "domains", "first") == 202
    wait_for_requests(api, 2)

    assert broken(api) == []


def test_a_client_that_only_ends_its_side_receives_its_responses(api: CheckedWorld) -> None:
    for key in ("first", "second"):
        headers = {**api.emulator.headers("owner"), "Idempotency-Key": key}
        with wire(api.emulator.base_url) as connection:
            connection.send_request("PUT", api.project_path("domains"), headers.items())
            connection.socket.shutdown(SHUT_WR)
            assert connection.read_response("PUT").status == 202
        api.advance("2s")

    assert broken(api) == []


def test_the_first_request_of_another_call_is_no_retry_of_a_limited_one(
    api: CheckedWorld, connect: Connect
) -> None:
    pool = connect()
    with api.emulator.fault("abort", code="rate_limited", retry_after_seconds=5, times=1):
        assert send(pool, api, "GET", "edge-dns") == 429
    assert send(pool, api, "PUT", "domains", "first") == 202

    assert broken(api) == []


def test_a_limited_request_that_is_sent_again_at_once_is_accused(
    api: CheckedWorld, connect: Connect
) -> None:
    pool = connect()
    with api.emulator.fault("abort", code="rate_limited", retry_after_seconds=5, times=1):
        assert send(pool, api, "GET", "edge-dns") == 429
    assert send(pool, api, "GET", "deployments") == 200
    assert send(pool, api, "GET", "edge-dns") == 200

    assert broken(api) == [("retried-too-soon", [1, 3])]


def test_a_limited_client_with_a_connection_for_each_request_is_accused_of_immediate_retries(
    api: CheckedWorld, connect: Connect
) -> None:
    with api.emulator.fault("abort", code="rate_limited", retry_after_seconds=5, times=7):
        for _ in range(7):
            with connect() as client:
                assert send(client, api, "GET", "edge-dns") == 429

    assert warnings(api) == ["retried-too-soon"]


def test_a_limited_mutation_that_is_sent_again_on_a_new_connection_is_accused(
    api: CheckedWorld, connect: Connect
) -> None:
    with api.emulator.fault("abort", code="rate_limited", retry_after_seconds=5, times=2):
        for _ in range(2):
            with connect() as client:
                assert send(client, api, "PUT", "domains", "first") == 429

    assert warnings(api) == ["retried-too-soon"]


def test_a_loop_of_polls_with_a_connection_for_each_is_accused(
    api: CheckedWorld, connect: Connect
) -> None:
    operation_id = begin_operation(api, connect)
    poll(api, connect, operation_id, times=8)

    assert warnings(api) == ["polled-too-early"]


def test_a_loop_after_the_end_with_a_connection_for_each_poll_is_accused(
    api: CheckedWorld, connect: Connect
) -> None:
    operation_id = begin_operation(api, connect)
    api.emulator.clock.until(operation_id)
    poll(api, connect, operation_id, times=8)

    assert warnings(api) == ["polled-after-end"]


def test_conduct_does_not_accuse_two_programs_that_each_send_a_request_once(
    api: CheckedWorld, connect: Connect
) -> None:
    with api.emulator.fault("abort", code="rate_limited", retry_after_seconds=5, times=2):
        for _ in range(2):
            with connect() as client:
                assert send(client, api, "GET", "edge-dns") == 429

    assert warnings(api) == []


def begin_operation(api: HttpWorld, connect: Connect) -> str:
    """Apply domains on a separate connection and return the id of the operation."""
    path = urlsplit(api.emulator.url("/v1/projects/{project}/domains")).path
    with connect() as client:
        headers = api.emulator.headers("owner", key="first")
        operation_id: str = client.send("PUT", path, headers=headers).json["id"]
    return operation_id


def poll(api: HttpWorld, connect: Connect, operation_id: str, *, times: int) -> None:
    """Poll an operation several times, each time on a separate connection."""
    path = urlsplit(api.emulator.url(f"/v1/operations/{operation_id}")).path
    for _ in range(times):
        with connect() as client:
            headers = api.emulator.headers("owner")
            assert client.send("GET", path, headers=headers).status == 200


def warnings(api: HttpWorld) -> list[str]:
    """Return the rules of the findings that are worse than a note."""
    findings = api.emulator.conduct.read().findings
    return [finding.rule for finding in findings if finding.severity != "note"]


def wait_for_requests(api: HttpWorld, expected: int) -> None:
    """Wait until the log has that many requests, because a client that gave up does not wait."""
    while len(api.emulator.requests.page().items) < expected:
        sleep(0.01)


def test_a_request_that_the_emulator_replays_is_not_judged(api: CheckedWorld) -> None:
    api.apply_domains(key="a")
    api.emulator.requests.resend(1)

    report = api.emulator.conduct.read()

    assert (report.judged, report.findings, len(report.remarks)) == (1, [], 1)


def test_findings_survive_a_reset_and_a_restored_snapshot(api: CheckedWorld) -> None:
    with api.emulator.snapshot():
        api.apply_domains(key=None)
    assert broken(api) == [("missing-idempotency-key", [1])]

    api.emulator.reset()
    assert broken(api) == [("missing-idempotency-key", [1])]


# --- Redeeming is an exchange ---------------------------------------------------------------------


def test_redeeming_a_ticket_is_in_the_request_log_without_its_secret(api: CheckedWorld) -> None:
    ticket = issue(api)
    assert redeem(api, ticket).status == 303
    assert redeem(api, ticket).status == 404

    first, second = api.emulator.requests.page(call="redeem_ticket").items[::-1]

    assert (first.n, first.status, first.project) == (2, 303, api.emulator.project)
    assert (second.status, second.code, second.why) == (
        404,
        "resource_not_found",
        ("the ticket is used",),
    )
    whole = api.emulator.requests.whole(2)
    assert secret_of(ticket) not in str(whole)
    assert ("Set-Cookie", "<redacted>") in [(*pair,) for pair in whole.response.headers]
    assert broken(api) == [("ticket-redeemed-twice", [3])]


def test_redeeming_a_ticket_is_in_the_har_at_its_own_origin(api: CheckedWorld) -> None:
    ticket = issue(api)
    redeem(api, ticket)

    entry = api.emulator.requests.har()["log"]["entries"][1]

    assert entry["request"]["url"] == (
        ticket["origin"] + "/.service/dev-access/redeem?stage=dev&ticket=<redacted>"
    )
    assert entry["response"]["redirectURL"] == ticket["origin"] + "/"


def test_a_redemption_cannot_be_sent_again(api: CheckedWorld) -> None:
    redeem(api, issue(api))

    with pytest.raises(ControlRefused, match="works only once"):
        api.emulator.requests.resend(2)


def test_a_redemption_can_be_asserted_on(api: CheckedWorld) -> None:
    redeem(api, issue(api))

    (request,) = api.emulator.requests.assert_made("redeem_ticket", status=303, times=1)

    assert (request.project, request.user) == (api.emulator.project, None)


def test_an_access_token_that_is_sent_to_a_dev_origin_is_reported(api: CheckedWorld) -> None:
    origin = urlsplit(issue(api)["origin"]).netloc
    for token in (api.emulator.token("owner"), None):
        headers = {"Host": origin} | ({"Authorization": f"Bearer {token}"} if token else {})
        with HttpClient(api.emulator.base_url) as visitor:
            assert visitor.send("GET", "/", headers=headers).status == 401

    assert broken(api) == [("token-sent-elsewhere", [2])]
    assert api.emulator.requests.whole(2).path == "/"


# --- Clients by their connections ----------------------------------------------------------------


def test_two_jobs_with_one_token_are_distinguished_by_their_connections(
    api: CheckedWorld, connect: Connect
) -> None:
    jobs = [connect(), connect()]

    def read(job: HttpClient) -> int:
        return send(job, api, "GET", "edge-dns")

    assert [read(job) for job in jobs] == [200, 200]
    with api.emulator.fault("abort", code="rate_limited", retry_after_seconds=5, times=1):
        assert read(jobs[0]) == 429
    for _ in range(20):  # Only at the first request could the other one have been on its way.
        assert read(jobs[1]) == 200
        api.emulator.clock.advance("0.1s")
    assert broken(api) == []

    assert read(jobs[0]) == 200
    assert broken(api) == [("retried-too-soon", [3, 24])]


ODD_DOCUMENTS = {
    "a list": [1],
    "a text": "expires_at ticket_id next_cursor id",
    "an id that is a list": {"id": [1], "ticket_id": [1], "expires_at": "2026-01-01T00:00:00Z"},
    "a state that is a list": {"id": "a", "state": [1], "progress": [1]},
    "a state that is an object": {"id": "a", "state": {"a": 1}, "progress": "soon"},
    "an expiry that is no time": {"ticket_id": "a", "expires_at": "yesterday"},
    "an expiry that is a number": {"ticket_id": "a", "expires_at": 12},
    "a cursor that is an object": {"items": {"a": 1}, "next_cursor": {"a": [1]}},
}


@pytest.mark.parametrize("document", ODD_DOCUMENTS.values(), ids=ODD_DOCUMENTS)
def test_no_response_of_a_fault_breaks_a_judge(
    hosting_emulator: HostingEmulator, document: object
) -> None:
    api = HttpWorld(hosting_emulator)
    with hosting_emulator.fault("respond", status=201, content=json.dumps(document)):
        api.ticket()
        api.deployments()
        api.apply_domains(key=None)
        api.apply_domains(key="domains-1")

    report = api.emulator.conduct.read(final=True)

    assert report.errors == []
    assert report.counts["missing-idempotency-key"] == 1


def test_a_redirect_to_no_url_breaks_no_judge(hosting_emulator: HostingEmulator) -> None:
    api = HttpWorld(hosting_emulator)
    with hosting_emulator.fault("redirect", location="http://[broken"):
        api.apply_domains(key=None)

    report = api.emulator.conduct.read(final=True)

    assert report.errors == []
    assert report.counts["missing-idempotency-key"] == 1


def test_a_loop_of_polls_on_two_connections_in_turn_is_reported(
    api: CheckedWorld, connect: Connect
) -> None:
    """Node's fetch uses the connections of its pool in this way, even for sequential requests."""
    operation_id = api.apply_domains(key="domains-1").json["id"]
    path = urlsplit(api.emulator.url(f"/v1/operations/{operation_id}")).path
    pool = [connect(), connect()]
    for number in range(40):
        pool[number % 2].send("GET", path, headers=api.emulator.headers("owner"))

    report = api.emulator.conduct.read()

    severities = [finding.severity for finding in report.findings]
    assert (list(report.counts), severities) == (["polled-too-early"], ["warning"])
