"""What the contract check says about one response by itself."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from hosting_emulator_lab.contract_check.clauses import CALL_CLAUSES
from hosting_emulator_lab.contract_check.evidence import Evidence
from hosting_emulator_lab.contract_check.response import ServerResponse
from hosting_emulator_lab.contract_check.response_judge import ResponseJudge
from hosting_emulator_lab.contract_check.run import UNUSED_ID, CheckRun
from hosting_emulator_lab.contract_check.server_behavior import ServerBehavior
from hosting_emulator_lab.contract_check.service_times import ServiceTimes
from tests.lab.contract_check.tampered_world import TamperedWorld

#: Calls, and requests that make the emulator refuse them, by the name of the response in this file.
_REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "flag": ("set_project_powered_by_flag", {"body": {"enabled": True}}),
    "dns": ("get_dns_authorization", {}),
    "page": ("list_deployments", {}),
    "ticket": ("create_dev_access_ticket", {}),
    "key": ("create_user_api_key", {}),
    "operation": ("apply_project_domains", {}),
    "compute": ("read_database_compute", {"query": "?environment=dev"}),
    "problem": ("get_dns_authorization", {"subject": UNUSED_ID}),
    "flag problem": ("set_project_powered_by_flag", {"subject": UNUSED_ID}),
}
_PROJECT = TamperedWorld().project_id()
_NOON = "Sun, 01 Mar 2026 12:00:00 GMT"
_HALF_A_MINUTE_LATER = "Sun, 01 Mar 2026 12:00:30 GMT"


@cache
def response_of(name: str) -> ServerResponse:
    """Return the emulator's response to a request of _REQUESTS."""
    served = TamperedWorld()
    options = served.options()
    run = CheckRun(options, served.connect(options.base_url), "")
    call_id, request = _REQUESTS[name]
    response = run.call(call_id, judged=False, **request)  # type: ignore[arg-type]
    return replace(response, title="it", purpose="")


def changed(
    name: str,
    http_status: int | None = None,
    headers: dict[str, str | None] | None = None,
    **members: Any,
) -> ServerResponse:
    """Return a response of the emulator with other values. None removes a header, `...` a member."""
    response = response_of(name)
    all_headers = {**dict(response.headers), **(headers or {})}
    document = {**response.document, **members}
    return replace(
        response,
        status=http_status or response.status,
        headers=tuple((key, value) for key, value in all_headers.items() if value is not None),
        body=json.dumps({key: value for key, value in document.items() if value != ...}).encode(),
    )


class Judged:
    """Responses with everything that the judge recorded about them."""

    def __init__(self, *responses: ServerResponse, secrets: tuple[str, ...] = ()) -> None:
        self.evidence = Evidence()
        self.behavior = ServerBehavior()
        times = ServiceTimes(self.evidence)
        judge = ResponseJudge(_PROJECT, self.evidence, self.behavior, times)
        judge.secrets.update(dict.fromkeys(secrets, "ticket.once"))
        for response in responses:
            judge.judge(response)

    @property
    def faults(self) -> list[str]:
        return [
            f"{' '.join(difference.keys)}: {difference.fault}"
            for difference in self.evidence.differences
        ]

    def verdict(self, key: str) -> tuple[str, list[str]]:
        return self.evidence.verdict(key, "")


def retry_after(seconds: Any, header: str | None, date: str | None = _NOON) -> ServerResponse:
    headers = {"Retry-After": header, "Date": date}
    return changed("problem", headers=headers, retry_after_seconds=seconds)


def operation(**members: Any) -> ServerResponse:
    """Return an operation that was created at 12:05, with members of its progress and its own."""
    own_names = ("deployment_id", "blocking_operation_id", "state")
    own = {name: value for name, value in members.items() if name in own_names}
    inner = {name: value for name, value in members.items() if name not in own_names}
    if "progress_deployment_id" in inner:
        inner["deployment_id"] = inner.pop("progress_deployment_id")
    at = "2026-03-01T12:05:00.000Z"
    progress = {**response_of("operation")["progress"], "observed_at": at, **inner}
    return changed("operation", progress=progress, created_at=at, updated_at=at, **own)


def not_authorized(**members: Any) -> ServerResponse:
    document: dict[str, Any] = {
        "status": "not_authorized",
        "zone": None,
        "scopes": [],
        "expires_at": None,
    }
    return changed("dns", **{**document, **members})


_RETRY_AFTER = "problem.retry_after_seconds"
_TICKET_ORIGIN = "https://dev-calm-green-lake.dev.example"


@pytest.mark.parametrize("name", _REQUESTS)
def test_a_response_of_the_emulator_has_no_fault(name: str) -> None:
    assert Judged(response_of(name)).faults == []


@pytest.mark.parametrize(
    "response",
    [
        changed("problem", headers={"X-Request-Id": "r"}),
        changed("problem", headers={"X-Request-Id": "r" * 128}),
        changed("problem", headers={"Content-Type": "Application/Problem+JSON; charset=utf-8"}),
        changed(
            "flag problem",
            413,
            status=413,
            code="payload_too_large",
            type="/errors/payload-too-large",
        ),
        changed("flag problem", 429, status=429, code="rate_limited", type="/errors/rate-limited"),
        retry_after(2, "2"),
        retry_after(2, " 2 "),
        retry_after(2, "000000002"),
        retry_after(30, _HALF_A_MINUTE_LATER),
        retry_after(90, _HALF_A_MINUTE_LATER),
        retry_after(2, _HALF_A_MINUTE_LATER, date=None),
        changed("dns", headers={"Content-Type": None}),
        changed("dns", headers={"Content-Type": "application/vnd.example+json"}),
        changed("page", next_cursor=""),
        changed("flag", enabled=False, enabled_at=None),
        changed("key", 202),
        not_authorized(),
        operation(observed_at="2026-03-01T12:00:00.000Z"),
        operation(deployment_id=UNUSED_ID, progress_deployment_id=UNUSED_ID),
        operation(blocking_operation_id=UNUSED_ID, state="queued"),
        changed("ticket", origin=...),
        changed("dns", created_at="2026-03-01T12:00:01Z", updated_at="2026-03-01T12:00:00Z"),
    ],
)
def test_an_unusual_response_within_the_contract_has_no_fault(response: ServerResponse) -> None:
    assert Judged(response).faults == []


@pytest.mark.parametrize(
    ("response", "faults"),
    [
        (
            changed("problem", headers={"Content-Type": None}),
            ["problem-media problem: its media type is missing"],
        ),
        (
            changed("problem", headers={"Content-Type": "application/json"}),
            ["problem-media problem: its media type is application/json"],
        ),
        (
            changed("problem", headers={"X-Request-Id": None}),
            ["problem request-id: it has no header X-Request-Id"],
        ),
        (
            changed("problem", headers={"X-Request-Id": ""}),
            ["request-id: X-Request-Id has 0 characters"],
        ),
        (
            changed("problem", headers={"X-Request-Id": "r" * 129}),
            ["request-id: X-Request-Id has 129 characters"],
        ),
        (
            changed(
                "flag problem", 412, status=412, code="etag_mismatch", type="/errors/etag-mismatch"
            ),
            ["flag.statuses: the contract does not list its status"],
        ),
        (changed("problem", status=403), ["problem.status: status in the document is 403"]),
        (changed("problem", status="404"), ["problem.status: status: '404' is not an integer"]),
        (
            changed("problem", type="/errors/resource_not_found"),
            [
                "problem.type: type is '/errors/resource_not_found', "
                "which does not end in /errors/resource-not-found"
            ],
        ),
        (
            changed("problem", 400, status=400),
            ["condition.missing condition.statuses: its status should be 404"],
        ),
        (changed("problem", retryable=True), ["condition.missing: retryable is true"]),
        (
            changed(
                "flag problem", code="idempotency_key_reused", type="/errors/idempotency-key-reused"
            ),
            ["condition.reused condition.statuses: its status should be 409"],
        ),
        (retry_after(2, "3"), [f"{_RETRY_AFTER}: retry_after_seconds is 2, and Retry-After 3"]),
        (
            retry_after(2, None),
            [f"{_RETRY_AFTER}: retry_after_seconds is 2, and Retry-After missing"],
        ),
        (
            retry_after(2, "0000000002"),
            [f"{_RETRY_AFTER}: retry_after_seconds is 2, and Retry-After 0000000002"],
        ),
        (
            retry_after(91, _HALF_A_MINUTE_LATER),
            [f"{_RETRY_AFTER}: retry_after_seconds is 91, and Retry-After {_HALF_A_MINUTE_LATER}"],
        ),
        (changed("flag", 201), ["flag.200: its status should be 200"]),
        (
            changed("dns", headers={"Content-Type": "text/html"}),
            ["json: its media type is text/html"],
        ),
        (
            changed("dns", headers={"Content-Type": "application/problem+json"}),
            ["json: its media type is application/problem+json"],
        ),
        (
            changed("flag", status="on", at=7),
            ["flag.closed: it has additional fields: at, status"],
        ),
        (
            changed("flag", enabled=False, enabled_at="2026-03-01T12:00:00Z"),
            ["flag.enabled_at: enabled_at is set while hidden"],
        ),
        (
            not_authorized(
                zone="shop.example", scopes=["dns.write"], expires_at="2026-03-02T12:00:00Z"
            ),
            [
                "dns.zone: zone is not null although status is not_authorized",
                "dns.expires_at: expires_at is not null although status is not_authorized",
                "dns.scopes: scopes are not empty although status is not_authorized",
            ],
        ),
        (
            operation(observed_at="2026-03-01T11:59:59.999Z"),
            ["progress-object: the progress was observed before the operation began"],
        ),
        (
            operation(deployment_id=_PROJECT, progress_deployment_id=UNUSED_ID),
            ["progress-object: the progress is about another deployment"],
        ),
        (
            operation(blocking_operation_id=UNUSED_ID, state="running"),
            ["states.blocking: it waits for another operation, and is not queued"],
        ),
        (
            changed("ticket", origin=_TICKET_ORIGIN),
            ["ticket.redeem_url: redeem_url does not start with the origin"],
        ),
        (
            changed(
                "operation",
                updated_at="2026-03-01T11:59:58Z",
                created_at="2026-03-01T11:59:59.001Z",
            ),
            ["operation.times: updated_at is before created_at"],
        ),
        (
            changed("dns", 302, {"Location": "/login?next=%2F"}),
            ["dns.call: it redirects to /login"],
        ),
        (changed("dns", 302), ["dns.call: "]),
        (changed("dns", 600), ["dns.call: "]),
        (
            changed("dns", account_id="42", api_token="t"),
            [
                "dns.no-credentials: account_id looks like a provider's identifier",
                "dns.no-credentials: api_token looks like a credential",
            ],
        ),
        (
            changed("page", provider_id="42", api_token="t"),
            [
                "compute.no-identifiers: provider_id looks like a provider's identifier",
                "ticket.once: api_token looks like a credential",
            ],
        ),
    ],
)
def test_a_response_that_breaks_the_contract_has_exactly_these_faults(
    response: ServerResponse, faults: list[str]
) -> None:
    assert Judged(response).faults == faults


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        (b"<p>", ["json {}: its body is not JSON"]),
        (b"\xff", ["json {}: its body is not JSON"]),
        (b'{"a": NaN}', ["json {}: its body is not JSON"]),
        (b"[]", ["{}: its body is not a JSON object"]),
        (b'"text"', ["{}: its body is not a JSON object"]),
    ],
)
@pytest.mark.parametrize(("name", "key"), [("dns", "dns.response"), ("problem", "problem")])
def test_a_body_that_is_no_json_object_breaks_the_sentence_about_the_response(
    name: str, key: str, body: bytes, faults: list[str]
) -> None:
    judged = Judged(replace(response_of(name), body=body))

    assert judged.faults == [fault.format(key) for fault in faults]
    assert judged.evidence.working_calls == set()


def test_an_object_without_any_expected_field_proves_nothing_about_the_response() -> None:
    judged = Judged(replace(response_of("operation"), body=b"{}"))

    assert judged.verdict("domains.accepted") == (
        "undecided",
        ["it: 202: it has none of the fields of Operation"],
    )
    assert judged.verdict("domains.call")[0] == "holds"


@pytest.mark.parametrize(("phase", "words"), [("building", ["building"]), (7, [])])
def test_the_words_of_an_open_set_are_observed(phase: Any, words: list[str]) -> None:
    observed = Judged(operation(phase=phase)).behavior.words

    assert sorted(observed.get("progress.phase", [])) == words


def test_additional_times_of_a_resource_are_not_compared() -> None:
    response = changed("dns", created_at="2026-03-01T12:00:00Z", updated_at="2026-02-01T12:00:00Z")

    assert Judged(response).faults == []


@pytest.mark.parametrize("name", ["dns", "page", "ticket", "key", "operation", "compute"])
def test_a_successful_response_proves_the_sentences_about_its_call(name: str) -> None:
    response = response_of(name)
    keys = CALL_CLAUSES[response.call_id]

    judged = Judged(response)

    assert [judged.verdict(key)[0] for key in keys] == ["holds", "holds"]


def test_a_problem_proves_its_condition_only_if_a_correct_request_succeeds() -> None:
    not_found = response_of("problem")

    alone = Judged(not_found)
    after_success = Judged(response_of("dns"), not_found)

    assert alone.verdict("condition.missing")[0] == "skipped"
    assert after_success.verdict("condition.missing")[0] == "holds"


def test_a_sentence_that_sums_up_two_conditions_needs_both() -> None:
    reused = changed("problem", 409, status=409, code="idempotency_key_reused")

    half = Judged(response_of("dns"), response_of("problem"))
    whole = Judged(response_of("dns"), response_of("problem"), reused)

    assert half.verdict("condition.statuses")[0] == "skipped"
    assert whole.verdict("condition.statuses")[0] == "holds"


def test_each_credential_in_a_document_is_reported() -> None:
    response = changed("dns", password="x", private_key="x")

    faults = [fault for fault in Judged(response).faults if "dns.no-credentials" in fault]
    assert len(faults) == 2


def test_the_form_of_the_timestamps_in_responses_is_observed() -> None:
    observed = Judged(response_of("operation")).behavior.observed_assumptions()

    assert observed["timestamp_form"] == "milliseconds"


@pytest.mark.parametrize(
    ("phase", "verdict"), [("queued", "holds"), ("building", "undecided"), (None, "differs")]
)
def test_the_phase_that_the_contract_names_must_have_been_seen(
    phase: str | None, verdict: str
) -> None:
    assert Judged(operation(phase=phase)).verdict("progress-object")[0] == verdict


def test_a_credential_in_a_header_or_body_breaks_the_sentence_that_forbids_it() -> None:
    fault = "ticket.once: it shows a credential that was sent or shown before"
    in_header = changed("dns", headers={"X-Debug": "token-123"})
    in_body = changed("dns", debug="token-123")

    assert Judged(in_header, secrets=("token-123", "other")).faults == [fault]
    assert Judged(in_body, secrets=("token-123", "other")).faults == [fault]


@pytest.mark.parametrize("status", [413, 429])
def test_a_limit_shows_nothing_about_the_statuses_of_a_call(status: int) -> None:
    judged = Judged(changed("flag problem", status, status=status, code="x", type="/errors/x"))

    assert judged.verdict("flag.statuses") == (
        "skipped",
        [f"it: {status} x: a limit on all requests, not a response of this call"],
    )
    for key in (_RETRY_AFTER, "limit.retry-after"):
        assert judged.verdict(key) == ("skipped", [f"it: {status} x: without retry_after_seconds"])
    assert judged.behavior.values == {"listed_statuses": "open"}


def test_a_limit_on_a_call_without_listed_statuses_shows_nothing_about_them() -> None:
    judged = Judged(changed("problem", 429, status=429, code="x", type="/errors/x"))

    assert judged.verdict("flag.statuses") == ("skipped", ["no response showed it"])
    assert judged.behavior.values == {}


@pytest.mark.parametrize(
    ("name", "status", "observed"),
    [
        ("problem", 412, {"etag_mismatch": 412}),
        ("problem", 400, {"etag_mismatch": 400}),
        ("flag problem", 412, {"etag_mismatch": 412}),
        ("flag problem", 400, {}),  # the status may be forced, because the call lists its statuses
        ("problem", 405, {}),
        ("problem", 413, {}),
        ("problem", 415, {}),
    ],
)
def test_the_status_of_a_problem_is_observed_unless_the_status_has_another_reason(
    name: str, status: int, observed: dict[str, int]
) -> None:
    judged = Judged(changed(name, status, status=status, code="etag_mismatch"))

    assert judged.behavior.observed_assumptions()["problem_statuses"] == observed


def test_a_request_id_in_the_body_that_differs_from_the_header_is_noted() -> None:
    judged = Judged(changed("problem", request_id="other"))

    assert judged.faults == []
    assert judged.behavior.notes == [
        "a problem's request_id differs from its X-Request-Id: the contract does not forbid it"
    ]
    assert Judged(response_of("problem")).behavior.notes == []


def test_the_status_of_a_success_is_observed_if_an_assumption_sets_it() -> None:
    assert Judged(changed("ticket", 200)).behavior.values == {"ticket_created_status": 200}


@pytest.mark.parametrize(
    ("observed_at", "faults"),
    [
        ("2026-03-01T12:00:00.000Z", []),
        (
            "2026-03-01T11:59:59.999Z",
            ["compute.observed_at: observed_at is earlier than events before the request"],
        ),
    ],
)
def test_an_observation_is_at_most_five_minutes_older_than_earlier_events(
    observed_at: str, faults: list[str]
) -> None:
    """The operation was created at 12:05."""
    judged = Judged(operation(), changed("compute", observed_at=observed_at))

    assert judged.faults == faults


def created_key(created_at: str) -> ServerResponse:
    key = {**response_of("key")["key"], "created_at": created_at}
    return changed("key", key=key)


@pytest.mark.parametrize(
    "event",
    [
        changed("operation", updated_at="2026-03-01T13:00:00Z"),
        created_key("2026-03-01T13:00:00Z"),
    ],
    ids=["updated_at", "created_at"],
)
def test_creations_and_updates_are_events(event: ServerResponse) -> None:
    judged = Judged(event, response_of("compute"))

    assert judged.faults == [
        "compute.observed_at: observed_at is earlier than events before the request"
    ]


def changed_progress(**members: Any) -> ServerResponse:
    progress = {**response_of("operation")["progress"], **members}
    kept = {name: value for name, value in progress.items() if value != ...}
    return changed("operation", progress=kept)


@pytest.mark.parametrize(
    ("response", "faults"),
    [
        (changed("flag", enabled=None), ["flag.enabled: enabled is null"]),
        (changed("flag", enabled=...), ["flag.enabled: enabled is missing"]),
        (changed("flag", enabled=1), ["flag.enabled: enabled: 1 is not a boolean"]),
        (changed("flag", enabled_at=None), []),
        (
            changed("flag", enabled_at=7),
            ["flag.enabled_at timestamp: enabled_at: 7 is not a timestamp"],
        ),
        (changed("ticket", ticket_id="x"), ["ticket.ticket_id ulid: ticket_id: 'x' is not a Ulid"]),
        (changed_progress(phase=None), ["progress-object: progress.phase is null"]),
        (changed_progress(phase=...), []),
        (
            changed("page", items=[{"id": "x"}]),
            ["deployment.id ulid: items[].id: 'x' is not a Ulid"],
        ),
        (
            changed("dns", zone="a.b"),
            ["dns.zone limit.zone: zone: out of bounds: the string has 3 characters"],
        ),
        (
            changed("dns", zone="A.example"),
            ["dns.zone: zone: 'A.example' is not a zone of lowercase labels"],
        ),
    ],
)
def test_a_wrong_field_is_reported_with_its_path(
    response: ServerResponse, faults: list[str]
) -> None:
    own_faults = [fault for fault in Judged(response).faults if "items[]." not in fault]
    items_faults = [fault for fault in Judged(response).faults if "items[].id" in fault]

    assert own_faults + items_faults == faults


def test_another_projects_documents_are_reported() -> None:
    page = response_of("page").document
    items = [{**page["items"][0], "project_id": UNUSED_ID}, *page["items"][1:]]

    assert Judged(changed("flag", project_id=UNUSED_ID)).faults == [
        "flag.project_id: project_id is another project's"
    ]
    assert Judged(changed("page", items=items)).faults == [
        "deployments.page-through: items[].project_id is another project's"
    ]
