"""Tickets redeemed at the base URL, by clients that cannot reach a dev origin or send its Host."""

from __future__ import annotations

import urllib.error
import urllib.request
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support.calls import Response
from tests.support.checked_world import CheckedWorld
from tests.support.dev_origins import issue, redeem
from tests.support.response_checks import expect_problem


class Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Return no request to follow."""


def fetch(url: str, host: str | None = None) -> Response:
    """Send a request to the address in the URL, with the Host of the URL unless `host` is given."""
    request = urllib.request.Request(url, headers={} if host is None else {"Host": host})
    try:
        with urllib.request.build_opener(Stay).open(request) as response:
            return Response(response.status, response.headers, response.read())
    except urllib.error.HTTPError as error:
        with error:
            return Response(error.code, error.headers, error.read())


def test_a_ticket_can_be_redeemed_over_plain_http_at_the_base_url(api: CheckedWorld) -> None:
    ticket = issue(api)
    url = api.emulator.redeem_url(ticket["redeem_url"])
    assert url.startswith(f"{api.emulator.base_url}/.service/")

    opened = fetch(url)

    assert (opened.status, opened.headers["Location"]) == (303, f"{ticket['origin']}/")
    assert opened.headers["Set-Cookie"].startswith("dev_access=")
    expect_problem(fetch(url), 404, "resource_not_found")
    expect_problem(redeem(api, ticket), 404, "resource_not_found")


def test_the_log_explains_the_plain_redemption_without_its_secret(api: CheckedWorld) -> None:
    url = api.emulator.redeem_url(issue(api)["redeem_url"])
    fetch(url)

    redeemed, issued = api.emulator.requests.page(limit=2).items

    says = " ".join(step.text for step in issued.trail or ())
    assert "over plain HTTP at the same path and query under this world's base URL" in says
    assert redeemed.call == "redeem_ticket"
    assert url.rpartition("=")[2] not in str(api.emulator.requests.whole(redeemed.n))
    [entry] = api.emulator.requests.har(call="redeem_ticket")["log"]["entries"]
    assert entry["request"]["url"].startswith(f"{api.emulator.base_url}/.service/")


def test_a_ticket_opens_only_in_its_own_world(api: CheckedWorld) -> None:
    ticket = issue(api)
    url = api.emulator.redeem_url(ticket["redeem_url"])

    expect_problem(
        fetch(url.replace(f"/worlds/{api.emulator.name}", "")), 404, "resource_not_found"
    )

    assert fetch(url).status == 303


@pytest.mark.parametrize("path", ["dev-access/redeem?stage=dev&ticket=none", "dev-access", ""])
def test_an_unknown_path_below_service_names_the_path_of_redemption(
    api: CheckedWorld, path: str
) -> None:
    detail = expect_problem(
        fetch(f"{api.emulator.base_url}/.service/{path}"), 404, "resource_not_found"
    )["detail"]

    assert "GET /.service/dev-access/redeem?stage=dev&ticket=…" in detail


@pytest.mark.parametrize(
    "host",
    [
        "dev-no-such-site.dev.localhost",
        "x.dev.localhost:4620",
        "dev-no-such-site.WORLD.dev.localhost",
        "shop.prod.localhost",
        "shop.mail.localhost",
    ],
)
def test_a_ticket_is_refused_at_a_host_of_the_service_that_is_not_its_origin(
    api: CheckedWorld, host: str
) -> None:
    ticket = issue(api)

    response = fetch(
        api.emulator.redeem_url(ticket["redeem_url"]), host.replace("WORLD", api.emulator.name)
    )

    expect_problem(response, 404, "resource_not_found")
    assert redeem(api, ticket).status == 303


def test_a_ticket_is_refused_under_the_base_url_at_the_origin_of_another_project(
    api: CheckedWorld,
) -> None:
    origin = issue(api, project="blog")["origin"]
    ticket = issue(api)
    url = api.emulator.redeem_url(ticket["redeem_url"])

    expect_problem(fetch(url, urlsplit(origin).netloc), 404, "resource_not_found")

    assert fetch(url, urlsplit(ticket["origin"]).netloc).status == 303


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1:4620", "[::1]", "emulator", "api.localhost", "emulator.test"]
)
def test_a_ticket_can_be_redeemed_at_the_base_url_under_each_name_of_the_emulator(
    api: CheckedWorld, host: str
) -> None:
    url = api.emulator.redeem_url(issue(api)["redeem_url"])

    assert fetch(url, host).status == 303
