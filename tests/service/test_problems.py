"""Problem documents: the fields of every refusal, its link, and request ids."""

from __future__ import annotations

import urllib.request
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support.checked_world import CheckedWorld
from tests.support.response_checks import CODES, check_problem, expect_problem, without_request_id
from tests.support.wire import wire


def read(url: str) -> str:
    with urllib.request.urlopen(url) as response:
        assert response.status == 200
        assert response.headers["Content-Type"].startswith("text/html")
        return str(response.read().decode())


# --- The codes ------------------------------------------------------------------------------------


def test_the_table_holds_the_contracts_57_codes(api: CheckedWorld) -> None:
    table = api.emulator.control.contract("problems")

    assert [row["code"] for row in table] == CODES
    assert len(set(CODES)) == 57


def test_the_statuses_of_the_contract_are_in_the_table(api: CheckedWorld) -> None:
    table = {row["code"]: row for row in api.emulator.control.contract("problems")}

    missing = table["resource_not_found"]
    reused = table["idempotency_key_reused"]
    assert (missing["status"], missing["retryable"]) == (404, False)
    assert (reused["status"], reused["retryable"]) == (409, False)
    assert "new key" in reused["suggested_action"].lower()


def test_each_code_has_a_page(api: CheckedWorld) -> None:
    docs = api.emulator.control.info().docs_url

    for code in CODES:
        assert code in read(f"{docs}/errors/{code.replace('_', '-')}"), code


def test_the_link_of_a_problem_opens_and_shows_its_code(api: CheckedWorld) -> None:
    refusals = [
        api.set_flag("no"),
        api.set_flag(True, user=None),
        api.set_flag(True, user="reader"),
        api.set_flag(True, user="no-organization"),
        api.set_flag(True, project="garden"),
        api.initialize(7),
        api.call("GET", "/v1/nothing"),
    ]

    for refusal in refusals:
        document = refusal.json
        assert document["code"] in read(document["type"])
    assert len({refusal.json["code"] for refusal in refusals}) == 6


def test_the_link_leads_back_to_where_the_client_came_from(api: CheckedWorld) -> None:
    # given a client that reaches the emulator under another name
    with wire(api.emulator.base_url) as connection:
        port = urlsplit(api.emulator.base_url).port
        path = f"{connection.prefix}/v1/nothing"
        connection.send(f"GET {path} HTTP/1.1\r\nHost: emulator.localhost:{port}\r\n\r\n".encode())

        document = connection.read_response().json

    assert document["type"].startswith(f"http://emulator.localhost:{port}/")


# --- X-Request-Id ---------------------------------------------------------------------------------


@pytest.mark.parametrize("sent", ["r", "r" * 128, "trace-1/span:2", "é" * 128, "a b"])
def test_a_problem_has_the_request_id_of_the_client(api: CheckedWorld, sent: str) -> None:
    headers = {"X-Request-Id": sent.encode().decode("latin-1")}

    response = api.send("PUT", api.project_path("powered-by-flag"), user="owner", headers=headers)

    assert response.json["request_id"] == sent
    assert response.headers["X-Request-Id"].encode("latin-1").decode() == sent


def test_a_request_without_an_id_gets_its_own(api: CheckedWorld) -> None:
    ids = {api.set_flag("no").json["request_id"] for _ in range(5)}

    assert len(ids) == 5


@pytest.mark.parametrize("sent", ["", " ", "r" * 129, "é" * 129])
def test_a_request_id_out_of_bounds_is_refused_and_replaced(api: CheckedWorld, sent: str) -> None:
    headers = {"X-Request-Id": sent.encode().decode("latin-1")}

    document = expect_problem(api.dns(headers=headers), 400, "invalid_request")

    assert "X-Request-Id" in document["detail"]
    assert document["request_id"] not in ("", sent)


def test_two_request_ids_are_refused_and_replaced(api: CheckedWorld) -> None:
    with wire(api.emulator.base_url) as connection:
        token = ("Authorization", f"Bearer {api.emulator.token()}")
        ids = [("X-Request-Id", "one"), ("X-Request-Id", "two")]
        connection.send_request("GET", api.project_path("edge-dns"), [token, *ids])

        document = expect_problem(connection.read_response(), 400, "invalid_request")

    assert document["request_id"] not in ("one", "two", "one, two")


def test_a_successful_response_has_no_request_id(api: CheckedWorld) -> None:
    response = api.dns(headers={"X-Request-Id": "mine"})

    assert response.status == 200
    assert "X-Request-Id" not in response.headers


# --- Paths and methods ----------------------------------------------------------------------------


UNKNOWN_PATHS = [
    "/",
    "/v1",
    "/v1/",
    "/v1/projects",
    "/v1/projects/",
    "/v1/projects/{project}",
    "/v1/projects/{project}/",
    "/v1/projects/{project}/powered-by-flag/",
    "/v1/projects/{project}/Powered-By-Flag",
    "/v1/projects//edge-dns",
    "/v1/projects/{project}/source",
    "/v1/projects/{project}/source:",
    "/v1/projects/{project}/source:initialise",
    "/v1/projects/{project}/source/initialize",
    "/v1/projects/{project}/database",
    "/v1/projects/{project}/database/compute/",
    "/v1/projects/{project}/x/edge-dns",
    "/v1/projects/{project}/edge-dns/x",
    "/v1//projects/{project}/edge-dns",
    "/v2/projects/{project}/edge-dns",
    "/V1/projects/{project}/edge-dns",
    "/v1/organizations/{project}",
    "/v1/operations",
    "/v1/operations/",
    "/v1/../v1/projects/{project}/edge-dns",
    "/%2e%2e/etc/passwd",
    "/v1/%00",
    "/v1/" + "x/" * 2000,
]


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_unknown_path_is_not_found(api: CheckedWorld, method: str) -> None:
    for path in UNKNOWN_PATHS:
        response = api.call(method, path.format(project=api.emulator.project))

        expect_problem(response, 404, "resource_not_found")


def test_the_log_names_the_nearest_path(api: CheckedWorld) -> None:
    path = f"/v1/projects/{api.emulator.project}/edge-dsn"

    problem = expect_problem(api.call("GET", path), 404, "resource_not_found")

    (why,) = api.emulator.requests[-1].why
    assert why.endswith("did you mean GET /v1/projects/{project_id}/edge-dns?")
    assert "edge-dns" not in problem["detail"]
    assert "identifier" not in problem["suggested_action"]


def test_the_refusal_of_a_path_without_v1_names_the_nearest_path(api: CheckedWorld) -> None:
    path = f"/projects/{api.emulator.project}/edge-dns"

    problem = expect_problem(api.call("GET", path), 404, "resource_not_found")

    assert "GET /v1/projects/{project_id}/edge-dns" in problem["detail"]


def test_an_unknown_path_outside_every_world_is_not_found(api: CheckedWorld) -> None:
    root = api.emulator.base_url.partition("/worlds/")[0]
    for path in ("/", "/favicon.ico", "/worlds", "/worlds/", "/worlds/nowhere/v1/x", "/worlds/%00"):
        api.emulator.base_url = root
        expect_problem(api.send("GET", path), 404, "resource_not_found")


ALLOW = {
    "/v1/projects/{project}/powered-by-flag": "PUT",
    "/v1/projects/{project}/source:initialize": "POST",
    "/v1/organizations/{organization}/user-api-keys": "POST",
    "/v1/projects/{project}/domains": "PUT",
    "/v1/projects/{project}/edge-dns": "GET",
    "/v1/projects/{project}/deployments": "GET",
    "/v1/projects/{project}/dev-access-tickets": "POST",
    "/v1/projects/{project}/database/compute": "GET",
    "/v1/operations/01JGFJJZ000000000000000000": "GET",
}


METHODS = ("GET", "PUT", "POST", "PATCH", "DELETE", "OPTIONS", "TRACE", "HEAD")


@pytest.mark.parametrize("path", ALLOW)
def test_a_wrong_method_is_refused_and_the_allowed_one_named(api: CheckedWorld, path: str) -> None:
    target = path.format(project=api.emulator.project, organization=api.emulator.organization)

    for method in METHODS:
        if method == ALLOW[path]:
            continue
        response = api.send(method, target)

        assert response.status == 405, method
        assert response.headers["Allow"] == ALLOW[path], method
        if method != "HEAD":
            expect_problem(response, 405, "invalid_request")


def test_a_wrong_method_does_not_reveal_whether_a_project_exists(api: CheckedWorld) -> None:
    there = api.call("DELETE", api.project_path("edge-dns"), user="outsider")
    missing = api.call("DELETE", "/v1/projects/01JGFJJZ000000000000000000/edge-dns")

    assert without_request_id(there) == without_request_id(missing)


# --- Limits ---------------------------------------------------------------------------------------


def test_a_rate_limit_gives_the_seconds_to_wait(api: CheckedWorld) -> None:
    api.assume(rate_limit="3/60s")
    assert [api.dns().status for _ in range(3)] == [200] * 3
    api.advance("1500ms")

    refused = api.dns()

    document = expect_problem(refused, 429, "rate_limited")
    assert document["retry_after_seconds"] == 59  # 58.5 seconds are left
    assert refused.headers["Retry-After"] == "59"
    assert document["retryable"] is True


def test_a_request_after_retry_after_is_accepted(api: CheckedWorld) -> None:
    api.assume(rate_limit="1/90s")
    api.dns()

    wait = api.dns().json["retry_after_seconds"]
    api.advance(f"{wait - 1}s")
    early = api.dns()
    api.advance("1s")

    expect_problem(early, 429, "rate_limited")
    assert api.dns().status == 200


def test_the_rate_limit_counts_each_principal_separately(api: CheckedWorld) -> None:
    api.assume(rate_limit="1/60s")

    responses = [api.dns(user=user).status for user in ("owner", "owner", "reader", "reader")]

    assert responses == [200, 429, 200, 429]


def test_a_rate_limited_request_leaves_its_key_unused(api: CheckedWorld) -> None:
    api.assume(rate_limit="1/60s")
    api.dns()
    expect_problem(api.apply_domains(key="k"), 429, "rate_limited")
    api.advance("60s")

    assert api.set_flag(False, key="k").status == 200


def test_a_problem_is_never_cached(api: CheckedWorld) -> None:
    assert api.dns(project="garden").headers["Cache-Control"] == "no-store"


def test_a_problem_contains_no_secret(api: CheckedWorld) -> None:
    token = api.emulator.token()
    sent: list[dict[str, Any]] = [
        {"token": token + "x"},
        {"token": token, "headers": {"X-Request-Id": "r" * 200}},
        {"token": "phk_" + "s" * 43},
    ]
    for options in sent:
        text = str(check_problem(api.dns(**options)))
        assert token not in text
        assert "s" * 43 not in text
