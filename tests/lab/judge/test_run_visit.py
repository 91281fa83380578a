"""The visit of a run arms its fault, and reads from the worlds of the run what the client did."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hosting_emulator.sdk import HostingEmulator
from hosting_emulator_lab.judge import run_visit
from hosting_emulator_lab.judge.client_requests import number_requests
from hosting_emulator_lab.judge.exchange_counts import FastAttempts
from hosting_emulator_lab.judge.fault_points import FaultPoint
from hosting_emulator_lab.judge.run_observation import Observation, TooManyRequests
from hosting_emulator_lab.judge.run_results import CleanRun
from hosting_emulator_lab.judge.run_visit import RunVisit
from hosting_emulator_lab.judge.world_summary import StateRows, failed_operations
from tests.lab.judge.samples import exchange, observed, sample_clean_run, sample_observation
from tests.support.http_world import HttpWorld

DOMAINS_QUEUED = "apply_project_domains of shop queued"
DOMAINS_FAILED = "apply_project_domains of shop failed (operation_failed)"
EARLY_POLL = "polled-too-early: Polled before next_poll_after_seconds had passed"


def begun(api: HttpWorld, visit: RunVisit) -> RunVisit:
    """Begin a visit of a run that uses only the world of the test."""
    visit.scope = [api.emulator.name]
    visit.begin(api.emulator)
    return visit


def ended(api: HttpWorld, visit: RunVisit) -> Observation:
    """End a visit, and return what it observed."""
    visit.end(api.emulator)
    assert visit.observation is not None
    return visit.observation


def clean_run(api: HttpWorld, *calls: str) -> CleanRun:
    """Return a clean run that left the world of the test as it is, and sent a request to each call."""
    visit = begun(api, RunVisit())
    state = ended(api, visit).state
    rows = [exchange(call, 200, n=n, project=api.project_id()) for n, call in enumerate(calls, 1)]
    observation = sample_observation(requests=number_requests(rows), state=state)
    return replace(sample_clean_run(observation), start=state)


def changed_rows(before: StateRows, after: StateRows) -> dict[str, int]:
    """Return the rows that two states do not have in common, with the differences of their numbers."""
    changes = {}
    for kind, rows in after.items():
        for row in rows.keys() | before[kind].keys():
            if rows[row] != before[kind][row]:
                changes[row] = rows[row] - before[kind][row]
    return changes


def test_the_beginning_of_a_response_that_the_log_cuts_is_known(api: HttpWorld) -> None:
    visit = begun(api, RunVisit())
    page = api.deployments("?limit=100")

    [listing] = ended(api, visit).requests

    assert isinstance(listing.response, str)
    known_items = listing.known_response["items"]
    assert 1 < len(known_items) < len(page.json["items"])
    assert known_items == page.json["items"][: len(known_items)]


def test_the_visit_of_a_clean_run_reads_all_that_the_client_did(api: HttpWorld) -> None:
    visit = begun(api, RunVisit())

    api.create_key("ci", key="k-1")
    api.create_key("ci", key="k-1")
    api.advance("90s")
    page = api.deployments("?limit=2", user="reader")
    api.call("GET", "/v1/projects/null/edge-dns")
    operation = api.apply_domains(key="k-2").json["id"]
    api.poll(operation)
    observation = ended(api, visit)

    owner = api.emulator.users["owner"]
    reader = api.emulator.users["reader"]
    keys = f"/v1/organizations/{api.organization_id()}/user-api-keys"
    deployments = api.project_path("deployments")
    domains = api.project_path("domains")
    assert observation == observed(
        exchanges=tuple(visit.exchanges),
        requests=observation.requests,
        state=observation.state,
        codes=frozenset(["resource_not_found"]),
        conduct=(EARLY_POLL,),
        request_count=6,
        key_values=1,
        requested_keys=1,
        null_urls=frozenset(["/v1/projects/null/edge-dns"]),
        failed_operations=failed_operations(visit.start),
        world_time_s=90.0,
        fast_attempts=(
            FastAttempts("POST", keys, 1),
            FastAttempts("GET", deployments, 1),
            FastAttempts("GET", "/v1/projects/null/edge-dns", 1),
            FastAttempts("PUT", domains, 1),
            FastAttempts("GET", f"/v1/operations/{operation}", 1),
        ),
        coverage=observation.coverage,
        sent=(
            f'POST {keys} as {owner} {{"name": "ci"}}',
            f'POST {keys} as {owner} {{"name": "ci"}}',
            f"GET {deployments}?limit=2 as {reader}",
            f"GET /v1/projects/null/edge-dns as {owner}",
            f"PUT {domains} as {owner}",
            f"GET /v1/operations/{operation} as {owner}",
        ),
    )
    assert [request.name for request in observation.requests] == [
        "create_user_api_key#1",
        "create_user_api_key#2",
        "list_deployments#1",
        "get_dns_authorization#1",
        "apply_project_domains#1",
        "get_operation#1",
    ]
    listing = observation.requests[2]
    assert listing.response == page.json
    assert listing.response_bytes == len(page.body)
    assert ("Content-Type", "application/json") in listing.response_headers
    assert changed_rows(visit.start, observation.state) == {
        "'ci' of owner in acme": 1,
        DOMAINS_QUEUED: 1,
    }
    assert observation.coverage.calls["list_deployments"].roles == {"reader": 1}
    assert [exchange.n for exchange in visit.exchanges] == [1, 2, 3, 4, 5, 6]
    assert visit.requests_by_world == {api.emulator.name: 6}
    assert visit.base_url == api.emulator.base_url
    assert [finding.rule for finding in visit.findings] == [
        "operation-not-followed",
        "polled-too-early",
    ]
    assert list(visit.findings_by_chapter) == [0]


def test_a_visit_leaves_out_requests_from_before_its_run(api: HttpWorld) -> None:
    api.deployments()
    visit = begun(api, RunVisit())
    api.ticket()

    assert [request.call for request in ended(api, visit).requests] == ["create_dev_access_ticket"]


def test_a_visit_at_a_point_refuses_its_request_until_the_run_has_ended(api: HttpWorld) -> None:
    clean = clean_run(api, "list_deployments")
    point = FaultPoint.read("list_deployments#1/abort:forbidden/lasting")

    visit = begun(api, RunVisit(point, clean))
    statuses = [api.deployments().status, api.deployments().status, api.dns().status]
    observation = ended(api, visit)

    assert statuses == [403, 403, 200]
    assert api.deployments().status == 200
    assert observation.hit
    assert not observation.late
    assert (observation.refusals_in_a_row, observation.is_last_refused) == (2, True)
    assert observation.codes == {"forbidden"}
    assert observation.sent == ()
    assert changed_rows(clean.start, observation.state) == {}


@pytest.mark.parametrize(
    ("point", "is_read"),
    [
        ("list_deployments#2/rate_limit/before_commit", True),
        ("list_deployments#2/abort:forbidden/lasting", True),
        ("list_deployments#1/another_page/lasting", False),
        ("get_dns_authorization#1/rate_limit/before_commit", False),
    ],
)
def test_the_pages_are_read_only_where_a_fault_may_change_the_number_of_their_items(
    api: HttpWorld, point: str, is_read: bool
) -> None:
    clean = clean_run(api, "list_deployments", "list_deployments", "get_dns_authorization")
    visit = begun(api, RunVisit(FaultPoint.read(point), clean))
    api.deployments()
    api.deployments()
    api.dns()
    listing, *_, other = ended(api, visit).requests

    assert bool(listing.response) is is_read
    assert other.response is None


@pytest.mark.parametrize(("polls", "failures"), [(True, 1), (False, 0)])
def test_an_operation_that_fails_after_the_run_counts_only_if_the_client_polls(
    api: HttpWorld, polls: bool, failures: int
) -> None:
    clean = clean_run(api, "apply_project_domains")
    point = FaultPoint.read("apply_project_domains#1/fail/lasting")
    visit = begun(api, RunVisit(point, clean))

    operation = api.apply_domains().json["id"]
    if polls:
        api.poll(operation)
    observation = ended(api, visit)

    assert observation.failed_operations[DOMAINS_FAILED] == failures
    assert changed_rows(clean.start, observation.state) == {DOMAINS_QUEUED: 1}


@pytest.mark.parametrize(("sends", "hit"), [(True, True), (False, False)])
def test_an_earlier_operation_hits_a_client_that_begins_another_and_is_no_change_of_the_run(
    api: HttpWorld, sends: bool, hit: bool
) -> None:
    clean = clean_run(api, "apply_project_domains")
    point = FaultPoint.read("apply_project_domains#1/queued/lasting")
    visit = begun(api, RunVisit(point, clean))

    if sends:
        api.apply_domains()
    observation = ended(api, visit)

    assert observation.hit is hit
    assert changed_rows(clean.start, observation.state) == ({DOMAINS_QUEUED: 1} if sends else {})


def test_an_earlier_operation_that_the_emulator_refuses_hits_no_client(api: HttpWorld) -> None:
    rows = [exchange("apply_project_domains", 202, project="unknown")]
    clean = clean_run(api, "apply_project_domains")
    clean = replace(clean, observation=replace(clean.observation, requests=number_requests(rows)))
    visit = begun(api, RunVisit(FaultPoint.read("apply_project_domains#1/queued/lasting"), clean))

    api.apply_domains()

    assert not ended(api, visit).hit


def test_a_visit_with_a_fault_counts_what_it_hits_and_reads_what_the_client_sent(
    api: HttpWorld,
) -> None:
    fault: dict[str, Any] = {"abort": {"code": "forbidden"}, "call": "list_deployments"}
    visit = begun(api, RunVisit(fault=fault))
    with HostingEmulator.fresh(api.emulator.control) as other_world:
        assert HttpWorld(other_world).deployments().status == 200
    api.deployments()
    api.deployments()
    api.dns()
    observation = ended(api, visit)

    assert visit.fault_hits == 2
    assert len(observation.sent) == 3
    assert not observation.hit
    assert observation.requests[0].response is None
    assert api.deployments().status == 200


def test_the_broken_rules_of_a_run_are_listed_once_and_notes_are_left_out(api: HttpWorld) -> None:
    visit = begun(api, RunVisit(skip_rules=["retried-not-retryable"]))
    for _ in range(3):
        api.call("PUT", api.project_path("domains"))
    operation = api.apply_domains().json["id"]
    api.poll(operation)
    observation = ended(api, visit)

    missing_key = "missing-idempotency-key: A mutation without an Idempotency-Key"
    assert set(observation.conduct) == {missing_key, EARLY_POLL}
    assert len(observation.conduct) == 2
    assert observation.conduct_errors == (missing_key,)


def test_a_clean_run_with_more_requests_than_a_log_stores_is_refused(
    api: HttpWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_visit, "_MOST_REQUESTS", 1)
    visit = begun(api, RunVisit(is_baseline=True))
    api.dns()
    api.dns()

    with pytest.raises(TooManyRequests) as refusal:
        visit.end(api.emulator)

    assert str(refusal.value) == (
        "it sends 2 requests, but a world stores only the latest 1; give a command that sends fewer "
        "requests"
    )


def test_a_run_that_no_other_is_compared_with_may_send_more_requests_than_a_log_stores(
    api: HttpWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_visit, "_MOST_REQUESTS", 1)
    visit = begun(api, RunVisit())
    api.dns()
    api.dns()

    assert ended(api, visit).request_count == 2


def test_only_the_first_bodies_of_a_run_are_read(
    api: HttpWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_visit, "_MOST_BODIES", 2)
    visit = begun(api, RunVisit())
    api.dns()
    api.create_key("first")
    api.create_key("second")
    api.create_key("third")
    observation = ended(api, visit)

    assert [text.partition("{")[2] for text in observation.sent] == [
        "",
        '"name": "first"}',
        '"name": "second"}',
        "",
    ]


def test_a_run_in_running_time_is_compared_an_hour_after_its_beginning(api: HttpWorld) -> None:
    api.emulator.clock.scale(2.0)
    visit = begun(api, RunVisit())
    operation = api.apply_domains().json["id"]
    observation = ended(api, visit)

    assert changed_rows(visit.start, observation.state) == {
        "apply_project_domains of shop succeeded": 1
    }
    assert api.poll(operation).json["state"] == "queued"
