"""Problem responses, and the waits that responses ask for."""

from __future__ import annotations

import pytest

from hosting_emulator.engine.machine_clock import machine_ms
from hosting_emulator.engine.problem_replies import retry_after_s
from tests.support.in_process import InProcess


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ([], None),
        ([("X-Wait", "7")], None),
        ([("X-Wait", "8"), ("RETRY-after", "7")], 7),
        ([("Retry-After", "0")], 0),
        ([("Retry-After", "999999999")], 999_999_999),
        ([("Retry-After", "1000000000")], None),
        ([("Retry-After", "-1")], None),
        ([("Retry-After", "1.5")], None),
        ([("Retry-After", "\u0667")], None),
        ([("Retry-After", "")], None),
        ([("Retry-After", "soon"), ("Retry-After", "7")], 7),
    ],
)
def test_a_wait_is_a_whole_number_of_seconds_below_a_billion(
    headers: list[tuple[str, str]], seconds: int | None
) -> None:
    assert retry_after_s(headers) == seconds


def test_a_wrong_method_gets_the_allowed_methods() -> None:
    api = InProcess()

    response = api.call("POST", api.project_path("edge-dns"))

    assert (response.status, response.headers["Allow"]) == (405, "GET")
    assert "Allow" not in api.dns(user="outsider").headers


def test_a_redeemed_ticket_gets_a_redirect_that_nothing_stores_or_forwards() -> None:
    api = InProcess()
    ticket = api.ticket().json

    response = api.redeem(ticket["redeem_url"])

    cookie = response.headers.pop("Set-Cookie")
    assert cookie.partition("=")[2].partition(";")[2] == (
        " Path=/; Max-Age=43200; HttpOnly; Secure; SameSite=Lax"
    )
    assert (response.status, response.body) == (303, b"")
    assert dict(response.headers) == {
        "Location": f"{ticket['origin']}/",
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
    }
    assert api.engine.log.newest(1)[0].content_type == ""


@pytest.mark.parametrize(("ns", "ms"), [(0, 0), (999_999, 0), (1_000_000, 1), (1_999_999, 1)])
def test_the_time_of_the_machine_is_in_whole_milliseconds(ns: int, ms: int) -> None:
    assert machine_ms(lambda: ns) == ms
