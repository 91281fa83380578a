"""Redeeming a dev access ticket at its origin, over plain HTTP by Host header."""

from __future__ import annotations

import json
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlsplit

import pytest
from msgspec import to_builtins

from tests.support.checked_world import CheckedWorld
from tests.support.dev_origins import REDEEM, issue, redeem, secret_of, visit
from tests.support.response_checks import check_problem, expect_problem, without_request_id

# --- Success --------------------------------------------------------------------------------------


def test_redeeming_a_ticket_redirects_to_the_origin_with_a_session(api: CheckedWorld) -> None:
    ticket = issue(api)

    response = redeem(api, ticket)

    assert response.status == 303
    assert response.headers["Location"] == ticket["origin"] + "/"
    assert response.headers["Cache-Control"] == "no-store"
    assert len(response.headers.get_all("Set-Cookie")) == 1


def test_the_session_cookie_is_host_only_secure_and_http_only(api: CheckedWorld) -> None:
    response = redeem(api, issue(api))

    (cookie,) = SimpleCookie(response.headers["Set-Cookie"]).values()
    assert cookie["httponly"] is True
    assert cookie["secure"] is True
    assert cookie["domain"] == ""
    assert cookie["path"] == "/"
    assert cookie["samesite"].lower() in ("lax", "strict")


def test_the_session_cookie_does_not_contain_the_secret_of_the_ticket(api: CheckedWorld) -> None:
    ticket = issue(api)
    cookie = redeem(api, ticket).headers["Set-Cookie"].partition(";")[0]

    state = json.dumps(api.state())

    assert secret_of(ticket) not in cookie
    assert secret_of(ticket) not in state
    assert cookie.rpartition(".")[2] not in state


def test_only_the_session_opens_the_dev_site(api: CheckedWorld) -> None:
    ticket = issue(api)
    elsewhere = issue(api, project="blog", user="owner")["origin"]
    ticket = issue(api)
    cookie = redeem(api, ticket).headers["Set-Cookie"].partition(";")[0]

    with_session = visit(api, ticket["origin"] + "/", cookie=cookie)

    assert with_session.status == 200
    assert visit(api, ticket["origin"] + "/").status == 401
    assert visit(api, ticket["origin"] + "/", cookie=cookie + "x").status == 401
    assert visit(api, elsewhere + "/", cookie=cookie).status == 401


def test_the_port_of_the_host_header_does_not_matter(api: CheckedWorld) -> None:
    ticket = issue(api)
    host = urlsplit(ticket["origin"]).netloc

    response = visit(api, ticket["redeem_url"], host=f"{host.upper()}:4620")

    assert response.status == 303


# --- Refusals -------------------------------------------------------------------------------------


def test_a_ticket_is_valid_for_ten_minutes_of_world_time(api: CheckedWorld) -> None:
    ticket = issue(api)
    api.advance("9m59s999ms")

    assert redeem(api, ticket).status == 303


def test_a_ticket_is_refused_after_ten_minutes(api: CheckedWorld) -> None:
    ticket = issue(api)
    api.advance("10m")

    response = redeem(api, ticket)

    expect_problem(response, 404, "resource_not_found")
    problem = response.json
    assert "ticket" in problem["suggested_action"]
    assert "new" not in problem["detail"]


def used(api: CheckedWorld) -> dict[str, Any]:
    ticket = issue(api)
    assert redeem(api, ticket).status == 303
    return ticket


def revoked(api: CheckedWorld) -> dict[str, Any]:
    ticket = issue(api)
    issue(api)
    return ticket


def revoked_from_another_project(api: CheckedWorld) -> dict[str, Any]:
    ticket = issue(api)
    issue(api, project="blog")
    return ticket


def expired(api: CheckedWorld) -> dict[str, Any]:
    ticket = issue(api)
    api.advance("10m")
    return ticket


def expired_and_revoked(api: CheckedWorld) -> dict[str, Any]:
    ticket = expired(api)
    issue(api)
    return ticket


def unknown(api: CheckedWorld) -> dict[str, Any]:
    ticket = issue(api)
    return {**ticket, "redeem_url": ticket["redeem_url"][:-43] + "A" * 43}


def of_another_project(api: CheckedWorld) -> dict[str, Any]:
    shop = issue(api)
    blog = issue(api, project="blog")
    return {**blog, "redeem_url": shop["redeem_url"][:-43] + secret_of(blog)}


def its_digest(api: CheckedWorld) -> dict[str, Any]:
    ticket = issue(api)
    row = api.state()["tables"]["dev_access_tickets"][ticket["ticket_id"]]
    return {**ticket, "redeem_url": ticket["redeem_url"][:-43] + row["digest"]}


def its_id(api: CheckedWorld) -> dict[str, Any]:
    ticket = issue(api)
    return {**ticket, "redeem_url": ticket["redeem_url"][:-43] + ticket["ticket_id"]}


def empty(api: CheckedWorld) -> dict[str, Any]:
    ticket = issue(api)
    return {**ticket, "redeem_url": ticket["redeem_url"][:-43]}


BAD = (
    used,
    revoked,
    revoked_from_another_project,
    expired,
    expired_and_revoked,
    unknown,
    of_another_project,
    its_digest,
    its_id,
    empty,
)


@pytest.mark.parametrize("bad", BAD)
def test_every_invalid_ticket_gets_the_same_response(api: CheckedWorld, bad: Any) -> None:
    """Unknown, used, expired, revoked or of another origin: the response has the same bytes."""
    ticket = bad(api)
    before = api.state()

    response = redeem(api, ticket)

    expect_problem(response, 404, "resource_not_found")
    assert "Set-Cookie" not in response.headers
    assert without_request_id(response) == without_request_id(redeem(api, unknown_at(ticket)))
    assert api.state() == before


def unknown_at(ticket: dict[str, Any]) -> dict[str, Any]:
    start = ticket["redeem_url"].partition("&ticket=")[0]
    return {**ticket, "redeem_url": f"{start}&ticket={'B' * 43}"}


def test_only_the_principals_own_earlier_tickets_are_revoked(api: CheckedWorld) -> None:
    # given two owners of one project
    api.intervene("set_role", project="shop", user="reader", role="owner")
    mine = issue(api)

    theirs = issue(api, user="reader")

    assert redeem(api, mine).status == 303
    assert redeem(api, theirs).status == 303


def test_a_ticket_issued_by_a_key_revokes_the_earlier_ticket_of_its_user(api: CheckedWorld) -> None:
    mine = issue(api)
    value = api.create_key().json["value"]

    by_key = issue(api, token=value)

    expect_problem(redeem(api, mine), 404, "resource_not_found")
    assert redeem(api, by_key).status == 303


def test_a_new_ticket_does_not_end_the_session_of_a_used_one(api: CheckedWorld) -> None:
    ticket = issue(api)
    cookie = redeem(api, ticket).headers["Set-Cookie"].partition(";")[0]

    issue(api)
    api.advance("1h")

    assert visit(api, ticket["origin"] + "/", cookie=cookie).status == 200


@pytest.mark.parametrize("bad", BAD)
def test_a_refused_redemption_does_not_end_a_valid_ticket(api: CheckedWorld, bad: Any) -> None:
    refused = bad(api)
    good = issue(api)

    redeem(api, refused)

    assert redeem(api, good).status == 303


@pytest.mark.parametrize(
    "query",
    [
        "",
        "?",
        "?ticket={secret}",
        "?stage=dev",
        "?stage=prod&ticket={secret}",
        "?stage=dev&stage=dev&ticket={secret}",
        "?stage=dev&ticket={secret}&ticket={secret}",
        "?stage=dev&ticket={secret}&ticket=x",
        "?stage=dev&Ticket={secret}",
    ],
)
def test_a_redeem_url_of_another_form_is_refused(api: CheckedWorld, query: str) -> None:
    ticket = issue(api)
    before = api.state()

    response = visit(api, ticket["origin"] + REDEEM + query.format(secret=secret_of(ticket)))

    expect_problem(response, 400, "invalid_request")
    assert api.state() == before
    assert redeem(api, ticket).status == 303


def test_the_link_of_a_refused_redemption_opens_on_this_emulator(api: CheckedWorld) -> None:
    """This holds with and without the port in the Host header."""
    ticket = issue(api)
    base = urlsplit(api.emulator.base_url)
    dev_host = urlsplit(ticket["origin"]).hostname

    for host, expected in [
        (dev_host, base.netloc),
        (f"{dev_host}:{base.port}", f"{dev_host}:{base.port}"),
    ]:
        response = visit(api, ticket["origin"] + REDEEM, host=host)

        link = urlsplit(expect_problem(response, 400, "invalid_request")["type"])
        assert link.netloc == expected
        page = visit(api, f"https://x{link.path}", host=link.netloc)
        assert page.status == 200
        assert b"invalid_request" in page.body


def test_redeeming_leaves_no_gap_in_the_request_log(api: CheckedWorld) -> None:
    ticket = issue(api)
    redeem(api, ticket)
    expect_problem(redeem(api, ticket), 404, "resource_not_found")
    api.dns()

    log = api.emulator.requests.page().items

    assert [entry.n for entry in log] == list(range(len(log), 0, -1))


@pytest.mark.parametrize("method", ["HEAD", "POST", "PUT", "DELETE", "OPTIONS"])
def test_only_the_method_get_redeems_a_ticket(api: CheckedWorld, method: str) -> None:
    ticket = issue(api)

    response = visit(api, ticket["redeem_url"], method=method)

    assert response.status == 405
    assert response.headers["Allow"] == "GET"
    if method != "HEAD":  # a response to HEAD has no body
        assert response.json["detail"] == "This path on a dev origin accepts only GET."
    assert redeem(api, ticket).status == 303


def test_a_dev_site_names_all_its_methods_in_allow(api: CheckedWorld) -> None:
    origin = issue(api)["origin"]

    refused = visit(api, f"{origin}/", method="POST")

    assert (refused.status, refused.headers["Allow"]) == (405, "GET, HEAD")
    assert refused.json["detail"] == "This path on a dev origin accepts only GET and HEAD."
    assert visit(api, f"{origin}/", method="HEAD").status == 401
    assert refused.headers["Server"] == api.dns().headers["Server"]


@pytest.mark.parametrize("host", ["dev-no-such-site.dev.localhost", "localhost", "evil.example"])
def test_a_ticket_is_refused_at_every_other_host(api: CheckedWorld, host: str) -> None:
    ticket = issue(api)

    response = visit(api, ticket["redeem_url"], host=host)

    expect_problem(response, 404, "resource_not_found")
    assert redeem(api, ticket).status == 303


def test_redeeming_a_ticket_in_a_fork_does_not_use_the_original(api: CheckedWorld) -> None:
    # given a world that knows the very same ticket
    ticket = issue(api)
    fork = api.emulator.copy().name
    theirs = ticket["redeem_url"].replace(f".{api.emulator.name}.", f".{fork}.")
    try:
        first = redeem(api, ticket)
        second = visit(api, theirs)
    finally:
        api.emulator.control.world(fork).delete()

    assert [first.status, second.status] == [303, 303]  # each world has and uses its own ticket
    expect_problem(redeem(api, ticket), 404, "resource_not_found")


def test_the_session_cookie_gives_no_access_to_the_api(api: CheckedWorld) -> None:
    ticket = issue(api)
    cookie = redeem(api, ticket).headers["Set-Cookie"].partition(";")[0]

    response = visit(api, ticket["origin"] + api.project_path("edge-dns"), cookie=cookie)

    assert check_problem(response)["code"] in ("unauthenticated", "resource_not_found")


def test_the_request_log_contains_no_secret(api: CheckedWorld) -> None:
    ticket = issue(api)
    redeem(api, ticket)
    api.call("GET", f"/v1/x?ticket={secret_of(ticket)}")

    log = json.dumps(to_builtins(api.emulator.requests.page().items))

    assert secret_of(ticket) not in log
    assert api.emulator.token() not in log


@pytest.mark.parametrize(("ends", "state"), [("expire", "has expired"), ("revoke", "is revoked")])
def test_the_trail_explains_why_a_ticket_is_refused(
    api: CheckedWorld, ends: str, state: str
) -> None:
    ticket = issue(api)
    api.intervene(f"{ends}_ticket", user="owner")
    redeem(api, ticket)

    trail = api.emulator.requests.page(limit=1).items[0].trail

    assert trail is not None
    assert trail[-1].text.endswith(f"Reason: the ticket {state}.")
