"""Sentences of the contract, each quoted, and the responses that follow from it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from ruamel.yaml import YAML

from hosting_emulator.contract.assumptions import DEFAULTS
from hosting_emulator.contract.openapi import openapi_document
from hosting_emulator.contract.problems import PROBLEMS, Refused
from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.sdk import ControlRefused
from hosting_emulator_scenarios import FOLDER
from tests.support.calls import Response
from tests.support.checked_world import CheckedWorld
from tests.support.dev_origins import issue, redeem
from tests.support.in_process import InProcess, fresh_world
from tests.support.response_checks import check_problem, expect_problem
from tests.support.sign_in_client import Browser
from tests.support.varied_worlds import new_varied_world
from tests.support.wire import wire
from tests.support.world_documents import openapi_of

# --- "when the current owner switched the flag on" ------------------------------------------------


@pytest.mark.parametrize("assumed", ["kept", "renewed"])
def test_enabled_at_is_when_the_current_owner_switched_the_flag_on(
    api: CheckedWorld, assumed: str
) -> None:
    """enabled_at: "when the current owner switched the flag on; null while hidden"."""
    # given a flag that one owner switched on, and another owner since
    api.assume(flag_reenabled=assumed)
    api.set_flag(False)
    theirs = api.set_flag(True).json["enabled_at"]
    api.advance("1h")
    api.intervene("transfer_ownership", organization="acme", to="member")

    # when the new owner switches it on
    api.advance("1h")
    own = api.set_flag(True, user="member").json["enabled_at"]

    # then it is their moment, which they keep
    assert own == api.emulator.clock.now > theirs
    api.advance("1h")
    later = api.set_flag(True, user="member").json["enabled_at"]
    assert (later == own) is (assumed == "kept")


def test_a_second_owner_by_project_role_counts_as_an_owner_of_the_flag(api: CheckedWorld) -> None:
    """Either of two current owners may have switched the flag on, but not a former owner."""
    role: dict[str, Any] = {"project": "shop", "user": "member"}
    api.set_flag(False)
    api.intervene("set_role", **role, role="owner")
    theirs = api.set_flag(True, user="member").json["enabled_at"]
    api.advance("1h")
    assert api.set_flag(True).json["enabled_at"] == theirs

    api.intervene("set_role", **role, role="maintainer")

    assert api.set_flag(True).json["enabled_at"] == api.emulator.clock.now


def test_the_flag_of_a_new_world_was_switched_on_by_its_first_owner(api: CheckedWorld) -> None:
    """Its first owner keeps the moment; the next owner does not."""
    began = api.set_flag(True).json["enabled_at"]
    assert began < api.emulator.clock.now

    api.intervene("transfer_ownership", organization="acme", to="member")

    assert api.set_flag(True, user="member").json["enabled_at"] == api.emulator.clock.now


# --- "next_cursor (string, opaque continuation cursor, characters A-Z a-z 0-9 _ -)" ---------------


def test_next_cursor_is_a_string_or_absent(api: CheckedWorld) -> None:
    """Page of deployments: "next_cursor (string, opaque continuation cursor […])".

    Where the contract allows null it writes "or null".
    """
    first = api.deployments("?limit=40").json
    last = api.deployments(f"?limit=40&cursor={first['next_cursor']}").json

    assert isinstance(first["next_cursor"], str)
    assert last.keys() == {"items"}


def test_no_variation_writes_null_where_the_contract_does_not_write_or_null() -> None:
    """ "timestamp or null", "string or null", "object or null" are the contract's words."""
    for seed in range(100):
        api = InProcess(new_varied_world(str(seed)))
        responses = [
            api.create_key(key="k"),
            api.create_key(key="k"),
            api.initialize(1),
            api.deployments("?limit=100"),
            api.compute(project="docs"),
            api.dns(project="labs"),
            api.set_flag(False),
            api.dns(project="garden"),
        ]

        assert set().union(*(nulls(response.json) for response in responses)) <= NULLABLE, seed


NULLABLE = {"enabled_at", "value", "zone", "expires_at", "database"}


def nulls(document: Any) -> set[str]:
    """Return the known fields that are null anywhere in a response."""
    if isinstance(document, list):
        return set().union(*map(nulls, document))
    if not isinstance(document, dict):
        return set()
    own = {name for name, value in document.items() if value is None and name in KNOWN}
    return own.union(*(nulls(value) for value in document.values()))


KNOWN = {field.name for resource in RESOURCES.values() for field in resource.fields}


# --- "Unauthenticated requests fail with code unauthenticated" ------------------------------------

_JSON = {"Content-Type": "application/json"}
WRONG: dict[str, tuple[str, str, dict[str, Any]]] = {
    "nothing else": ("GET", "edge-dns", {}),
    "an X-Request-Id that is too long": (
        "GET",
        "edge-dns",
        {"headers": {"X-Request-Id": "x" * 129}},
    ),
    "an X-Request-Id that is empty": ("GET", "edge-dns", {"headers": {"X-Request-Id": ""}}),
    "a body that is too big": ("PUT", "powered-by-flag", {"raw": b" " * 1_048_577}),
    "bad JSON": ("PUT", "powered-by-flag", {"raw": b"{", "headers": _JSON, "key": "k"}),
    "a body that cannot be unpacked": (
        "PUT",
        "powered-by-flag",
        {"raw": b"no gzip", "headers": {**_JSON, "Content-Encoding": "gzip"}, "key": "k"},
    ),
    "no Idempotency-Key": ("PUT", "domains", {}),
    "a wrong method": ("DELETE", "domains", {}),
    "an unknown path": ("GET", "nothing-is-here", {}),
    "a malformed project id": ("GET", "edge-dns", {"project": "shop"}),
}


@pytest.mark.parametrize("defect", WRONG)
def test_unauthenticated_requests_fail_with_code_unauthenticated(
    api: CheckedWorld, defect: str
) -> None:
    """ "Unauthenticated requests fail with code unauthenticated", whatever else is wrong with them."""
    method, rest, fields = WRONG[defect]
    options = dict(fields)
    project = options.pop("project", api.emulator.project)
    path = f"/v1/projects/{project}/{rest}"

    nobody = api.call(method, path, user=None, **options)
    stranger = api.call(method, path, token="made up", **options)

    expect_problem(nobody, 401, "unauthenticated")
    expect_problem(stranger, 401, "unauthenticated")
    assert 1 <= len(nobody.headers["X-Request-Id"]) <= 128
    owner = api.send(method, path, **options)
    assert (owner.status == 200) is (defect == "nothing else")
    assert owner.status != 401


# --- "documentation link of the form {docs_url}/errors/<code>" ------------------------------------


def link(response: Response) -> str:
    """Return the link of a problem without the part that names its code."""
    url: str = check_problem(response)["type"]
    return url.partition("/errors/")[0]


@pytest.mark.parametrize("host", ["hosting.attacker.com", "hosting.attacker.example", "", "a b"])
def test_the_link_of_a_problem_ignores_a_foreign_host_header(api: CheckedWorld, host: str) -> None:
    """type: "documentation link of the form {docs_url}/errors/<code with hyphens […]>"."""
    ours = urlsplit(api.emulator.base_url)._replace(path="/_emulator/docs").geturl()

    assert link(api.dns(project="garden", headers={"Host": host})) == ours
    with wire(api.emulator.base_url) as connection:  # neither of two Host headers counts
        connection.send_request("GET", "/v1/x", [("Host", "hosting.attacker.com")])
        assert link(connection.read_response()) == ours


def test_the_link_of_a_problem_uses_another_name_of_this_machine(api: CheckedWorld) -> None:
    """The link then opens through a mapped port too."""
    docs_url = link(api.dns(project="garden", headers={"Host": "localhost:81"}))

    assert docs_url == "http://localhost:81/_emulator/docs"


def test_a_request_that_cannot_be_parsed_gets_a_complete_link(api: CheckedWorld) -> None:
    """It has the default world's docs_url, because it belongs to no other world."""

    def broken() -> str:
        with wire(api.emulator.base_url) as connection:
            connection.send(b"hello there\r\n\r\n")
            return link(connection.read_response())

    ours = urlsplit(api.emulator.base_url)._replace(path="/_emulator/docs").geturl()
    assert broken() == ours
    default = api.emulator.control.world()
    default.set_assumptions({"docs_url": "https://docs.example"})
    try:
        assert broken() == "https://docs.example"
    finally:
        default.set_assumptions({"docs_url": "own"})


# --- "rather than creating another token" ---------------------------------------------------------


def test_an_exact_replay_never_creates_another_key_however_late(api: CheckedWorld) -> None:
    """ "After any uncertainty the same name and Idempotency-Key are reused rather than creating
    another token": no expiry of that is given, and "only the first creation returns the full value".
    """
    first = api.create_key(key="k").json

    for later in ("1d", "89d", "3000d"):
        api.advance(later)
        replay = api.create_key(key="k").json
        assert (replay["replayed"], replay["value"]) == (True, None)
        assert replay["key"]["id"] == first["key"]["id"]


def test_the_first_result_is_returned_however_late(api: CheckedWorld) -> None:
    """ "Same key and same body: first result returned without switching again." """
    first = api.set_flag(False, key="k")
    api.set_flag(True)
    api.advance("3000d")

    assert api.set_flag(False, key="k").body == first.body
    expect_problem(api.set_flag(True, key="k"), 409, "idempotency_key_reused")


def test_a_retryable_refusal_is_never_remembered(api: CheckedWorld) -> None:
    """retryable: the same request, sent again unchanged, can succeed; so its key cannot be bound."""
    api.assume(idempotency_remembers="all_answers")
    api.intervene("set_permissions", organization="acme", permissions=[])
    refused = expect_problem(api.create_key(key="k"), 503, "api_key_permissions_unavailable")
    assert refused["retryable"] is True

    api.intervene("set_permissions", organization="acme", permissions=["dns.read"])

    assert api.create_key(key="k").status == 201


# --- "Error statuses listed: 400, 401, 403, 404, 409, 503 (Problem Details)" ----------------------

LISTED = {400, 401, 403, 404, 409, 503}


def test_call_1_has_only_listed_statuses_for_every_code() -> None:
    """ "Error statuses listed: 400, 401, 403, 404, 409, 503", for every refusal."""
    for code, row in PROBLEMS.items():
        api = InProcess()
        api.add_fault(abort={"code": code})

        refused = api.set_flag(True)

        listed = row.status if row.status in LISTED else 400
        assert refused.json["code"] == code
        assert refused.status == refused.json["status"] == listed, code
        assert api.apply_domains().status == row.status, (
            code
        )  # statuses of other calls are "not shown"


def test_call_1_responds_400_to_a_long_body_and_at_a_rate_limit(
    api: CheckedWorld,
) -> None:
    api.assume(body_limit_bytes=64, rate_limit="1/60s")
    path = api.project_path("powered-by-flag")
    long = b"{}".ljust(65)

    expect_problem(
        api.call("PUT", path, raw=long, key="k", headers=_JSON), 400, "payload_too_large"
    )
    assert api.dns().status == 200
    limited = api.set_flag(True)

    document = expect_problem(limited, 400, "rate_limited")
    assert document["retryable"] is True
    assert limited.headers["Retry-After"] == str(document["retry_after_seconds"]) == "60"
    expect_problem(api.dns(), 429, "rate_limited")


@pytest.mark.parametrize("status", [418, 422, 500])
def test_no_assumption_gives_call_1_another_status(status: int) -> None:
    statuses = {code: status for code in PROBLEMS if "status" not in PROBLEMS[code].specified}
    api = InProcess(fresh_world(problem_statuses=statuses))

    assert api.set_flag(True, user="reader").status == 403
    assert api.set_flag("yes").status == 400
    assert api.set_flag(True, user=None).status == 401
    assert api.ticket(user="reader").status == status


@pytest.mark.parametrize(("assumed", "status"), [("closed", 400), ("open", 422)])
def test_no_fault_gives_call_1_another_status(api: CheckedWorld, assumed: str, status: int) -> None:
    api.assume(listed_statuses=assumed)
    api.emulator.fault("abort", code="invalid_request", status=422)

    flag = api.send("PUT", api.project_path("powered-by-flag"), key="k", body={"enabled": True})
    expect_problem(flag, status, "invalid_request")
    expect_problem(api.send("GET", api.project_path("edge-dns")), 422, "invalid_request")


def test_an_open_list_lets_a_fault_for_call_1_alone_set_another_status(api: CheckedWorld) -> None:
    api.assume(listed_statuses="open")
    api.emulator.fault("abort", code="forbidden", status=410, call="set_project_powered_by_flag")

    expect_problem(api.set_flag(True), 410, "forbidden")


def test_the_status_of_a_fault_overrides_the_assumed_status_of_its_code() -> None:
    api = InProcess(fresh_world(problem_statuses={"service_unavailable": 502}))
    api.add_fault(abort={"code": "service_unavailable"}, times=1)
    api.add_fault(abort={"code": "service_unavailable", "status": 503}, times=1)

    assert [api.dns().status, api.dns().status] == [502, 503]


def test_the_openapi_document_lists_exactly_the_statuses_of_call_1() -> None:
    document = openapi_document(DEFAULTS)

    flag = document["paths"]["/v1/projects/{project_id}/powered-by-flag"]["put"]["responses"]

    assert {int(status) for status in flag} == {200, *LISTED}


# --- "Both are given with status 404 and 409 respectively" ----------------------------------------


@pytest.mark.parametrize("code", ["resource_not_found", "idempotency_key_reused"])
def test_a_status_that_the_contract_fixes_cannot_be_changed(api: CheckedWorld, code: str) -> None:
    """ "Resource missing or outside the caller's access scope | 404", "Idempotency-Key reused with a
    changed request | 409 […] Both are given with status 404 and 409 respectively."
    """
    with pytest.raises(ControlRefused, match=f"the contract fixes the status of {code}"):
        api.emulator.fault("abort", code=code, status=410)
    with pytest.raises(ControlRefused, match=f"the contract fixes the status of {code}"):
        api.assume(problem_statuses={code: 410})
    with pytest.raises(ValueError, match=f"the contract fixes the status of {code}"):
        Refused(code, "nothing else can be answered either", status=410)

    api.emulator.fault("abort", code=code, status=PROBLEMS[code].status, times=1)
    assert api.send("GET", api.project_path("edge-dns")).status == PROBLEMS[code].status


def test_no_assumption_is_about_the_status_of_a_refused_ticket(api: CheckedWorld) -> None:
    """resource_not_found is 404, also where a ticket is used, expired, revoked or unknown."""
    assert not [row for row in api.emulator.assumptions if "ticket_refused" in row.name]
    ticket = issue(api)
    assert redeem(api, ticket).status == 303

    expect_problem(redeem(api, ticket), 404, "resource_not_found")


# --- retry_after_seconds: "for a rate limit; matches Retry-After" ---------------------------------


def test_no_scenario_of_the_library_has_a_retry_after_except_for_a_rate_limit() -> None:
    """retry_after_seconds: "1 to 86400; for a rate limit; matches Retry-After"."""
    all_aborts = [
        (path.stem, options)
        for path in FOLDER.glob("*.yaml")
        for options in aborts(YAML(typ="safe").load(path))
    ]

    assert all_aborts
    for name, options in all_aborts:
        assert options["code"] == "rate_limited" or "retry_after_seconds" not in options, name


def test_a_refusal_other_than_a_rate_limit_has_no_retry_after(api: CheckedWorld) -> None:
    api.emulator.fault("abort", code="service_unavailable")

    unavailable = api.send("GET", api.project_path("edge-dns"))

    assert "retry_after_seconds" not in expect_problem(unavailable, 503, "service_unavailable")
    assert "Retry-After" not in unavailable.headers


def test_a_retry_after_without_a_rate_limit_is_possible_and_marked(api: CheckedWorld) -> None:
    api.emulator.fault("abort", code="service_unavailable", retry_after_seconds=5)
    assert api.send("GET", api.project_path("edge-dns")).json["retry_after_seconds"] == 5

    abort = api.emulator.control.contract("fault-kinds")["effects"][0]
    assert abort["kind"] == "abort"
    assert "beyond the contract" in " ".join(abort["about"].split())
    assert "retry_after_seconds" not in abort["example"]


def aborts(document: Any) -> Iterator[dict[str, Any]]:
    """Yield the options of every abort in a document."""
    if isinstance(document, dict):
        if isinstance(document.get("abort"), dict):
            yield document["abort"]
        for value in document.values():
            yield from aborts(value)
    elif isinstance(document, list):
        for value in document:
            yield from aborts(value)


# --- "Requires a current interactive user session" ------------------------------------------------


@pytest.fixture
def browser(api: CheckedWorld) -> Browser:
    """A browser without a session, at the world's identity provider."""
    return Browser(api.emulator.summary.issuer)


@pytest.mark.parametrize("by", ["cookie", "hint"])
def test_an_ended_session_cannot_create_an_api_key(
    api: CheckedWorld, browser: Browser, by: str
) -> None:
    """Operation 3 "requires a current interactive user session"."""
    tokens = browser.redeem(browser.choose("owner").parameters["code"]).json
    assert api.create_key(token=tokens["access_token"]).status == 201

    sign_out(browser, tokens, by)

    expect_problem(api.create_key(token=tokens["access_token"]), 403, "interactive_login_required")


@pytest.mark.parametrize("by", ["cookie", "hint"])
def test_ending_a_session_ends_its_refresh_tokens_and_codes(browser: Browser, by: str) -> None:
    tokens = browser.redeem(browser.choose("owner").parameters["code"]).json
    code = browser.authorize(prompt="none").parameters["code"]

    sign_out(browser, tokens, by)

    refused = browser.refresh(tokens["refresh_token"])
    assert (refused.status, refused.json["error"]) == (400, "invalid_grant")
    assert "session has ended" in refused.json["error_description"]
    assert browser.redeem(code).json["error"] == "invalid_grant"
    assert browser.authorize(prompt="none").parameters["error"] == "login_required"


def test_other_calls_accept_the_token_of_an_ended_session_until_it_expires(
    api: CheckedWorld, browser: Browser
) -> None:
    """ "Session-only onboarding and session revocation require an interactive access JWT"; other
    operations take any bearer token.
    """
    tokens = browser.redeem(browser.choose("owner").parameters["code"]).json
    sign_out(browser, tokens, "cookie")

    assert api.dns(token=tokens["access_token"]).status == 200
    api.advance("1h")
    assert api.dns(token=tokens["access_token"]).status == 401


def test_signing_out_ends_only_its_own_session(api: CheckedWorld, browser: Browser) -> None:
    elsewhere = Browser(browser.issuer)
    other = elsewhere.redeem(elsewhere.choose("owner").parameters["code"]).json
    tokens = browser.redeem(browser.choose("owner").parameters["code"]).json

    sign_out(browser, tokens, "hint")

    assert elsewhere.refresh(other["refresh_token"]).status == 200
    assert api.create_key(token=other["access_token"]).status == 201
    assert api.create_key().status == 201  # a token minted by name
    new_tokens = browser.redeem(browser.choose("owner").parameters["code"]).json
    assert api.create_key(token=new_tokens["access_token"]).status == 201


def test_a_session_is_state_of_its_world(api: CheckedWorld, browser: Browser) -> None:
    """A state from before the end of a session still has the session."""
    tokens = browser.redeem(browser.choose("owner").parameters["code"]).json
    before = api.state()
    sign_out(browser, tokens, "hint")

    api.load(before)

    assert api.create_key(token=tokens["access_token"]).status == 201
    assert browser.refresh(tokens["refresh_token"]).status == 200


def test_a_token_minted_by_name_has_a_session_that_can_be_ended(
    api: CheckedWorld, browser: Browser
) -> None:
    """An exact replay of operation 3 requires a current session too."""
    # given tokens of two users made by name, and a sign-in by a browser
    by_name = api.emulator.token("owner")
    others = api.emulator.token("member")
    signed_in = browser.redeem(browser.choose("owner").parameters["code"]).json
    assert api.create_key(token=by_name, key="k").status == 201

    # when the sessions of one of them end
    api.intervene("end_session", user="owner")

    # then neither token makes a key, nor shows one again, and other calls go on
    for token in (by_name, signed_in["access_token"]):
        expect_problem(api.create_key(token=token), 403, "interactive_login_required")
        assert api.dns(token=token).status == 200
    expect_problem(api.create_key(token=by_name, key="k"), 403, "interactive_login_required")
    assert browser.refresh(signed_in["refresh_token"]).json["error"] == "invalid_grant"
    assert browser.authorize(prompt="none").parameters["error"] == "login_required"
    assert api.create_key(token=others).status == 201

    # and a new token, and a new sign-in, work until they are ended as well
    for _ in range(2):
        by_name = api.emulator.mint_token("owner").access_token
        signed_in_again = browser.redeem(browser.choose("owner").parameters["code"]).json[
            "access_token"
        ]
        assert {api.create_key(token=token).status for token in (by_name, signed_in_again)} == {201}
        api.intervene("end_session", user="owner")
        expect_problem(api.create_key(token=by_name), 403, "interactive_login_required")


def sign_out(browser: Browser, tokens: dict[str, Any], by: str) -> None:
    """End a session: the one of a browser's cookie, or the one that an ID token was issued in."""
    if by == "hint":
        browser = Browser(browser.issuer)
        assert browser.send(f"/end-session?id_token_hint={tokens['id_token']}").status == 200
    else:
        assert browser.send("/end-session").status == 200


# --- "current observation for queued or running work" --------------------------------------------


def test_a_reconciliation_is_observed_at_the_time_of_the_poll(api: CheckedWorld) -> None:
    """reconciliation: "current observation for queued or running work, separate from the immutable
    terminal state"; as progress, it is observed by whoever polls.
    """
    operation = api.apply_domains().json["id"]
    api.advance("3s")
    api.intervene("require_reconciliation", operation=operation)

    for _ in range(2):
        api.advance("5s")
        polled = api.poll(operation).json
        now = api.emulator.clock.now
        assert polled["reconciliation"]["observed_at"] == polled["progress"]["observed_at"] == now
        assert polled["updated_at"] < now


# --- "of the form https://dev-<word>-<word>-<word>.<dev_zone>" ------------------------------------


@pytest.mark.parametrize(
    ("port", "ending"),
    [(None, "dev.localhost"), (443, "dev.localhost"), (4643, "dev.localhost:4643")],
)
def test_an_origin_has_a_port_only_where_it_would_not_open_without_it(
    port: int | None, ending: str
) -> None:
    """origin: "of the form https://dev-<word>-<word>-<word>.<dev_zone> (lowercase letters […])"."""
    api = InProcess()
    api.dev_port = port

    ticket = api.ticket().json

    assert re.fullmatch(rf"https://dev-[a-z]+-[a-z]+-[a-z]+\.{ending}", ticket["origin"])
    assert ticket["redeem_url"].startswith(ticket["origin"] + "/.service/dev-access/redeem?")

    # and the OpenAPI document of this server allows only this form
    schemas = openapi_of(api)["components"]["schemas"]
    for name in ("origin", "redeem_url"):
        pattern = schemas["DevAccessTicket"]["properties"][name]["pattern"]
        other = ticket[name].replace(ending, "dev.localhost" if ":" in ending else f"{ending}:1")
        assert re.search(pattern, ticket[name])
        assert not re.search(pattern, other)
