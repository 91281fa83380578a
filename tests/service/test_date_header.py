"""The Date header of every response under `/v1` shows world time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import pytest

from hosting_emulator.sdk import ControlClient, HostingEmulator
from tests.support.calls import Response
from tests.support.emulator_process import emulator
from tests.support.http_world import HttpWorld
from tests.support.wire import wire

NOW = "2031-05-06T07:08:09Z"
#: The time of the frozen world.
WORLD_TIME = datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)
PAGE = "http://app.test:3000"


@pytest.fixture(scope="module")
def served() -> Iterator[HostingEmulator]:
    """The default world of an emulator of its own, whose clock is frozen in 2031."""
    options = ("--ephemeral", "--clock", "frozen", "--at", NOW, "--allow-origin", PAGE)
    with emulator(*options) as process, ControlClient(process.ready["control_url"]) as control:
        yield control.world("default")


@pytest.fixture
def dated(served: HostingEmulator) -> HttpWorld:
    """Calls of that world after a reset."""
    served.reset()
    return HttpWorld(served)


def raw(api: HttpWorld, data: bytes) -> Response:
    """Send bytes as they are."""
    with wire(api.emulator.base_url) as connection:
        connection.send(data)
        return connection.read_response()


def send_exactly(api: HttpWorld, method: str, path: str, *headers: tuple[str, str]) -> Response:
    """Send a request with exactly these headers beside Host."""
    with wire(api.emulator.base_url) as connection:
        connection.send_request(method, path, headers)
        return connection.read_response(method)


def replay(api: HttpWorld) -> Response:
    assert api.create_key(key="same").status == 201
    return api.create_key(key="same")


def redirect(api: HttpWorld) -> Response:
    parts = urlsplit(api.ticket().json["redeem_url"])
    return send_exactly(api, "GET", f"{parts.path}?{parts.query}")


def dev_page(api: HttpWorld, path: str = "/", method: str = "GET") -> Response:
    host = urlsplit(api.ticket().json["origin"]).netloc
    with wire(api.emulator.base_url) as connection:
        connection.host = host
        connection.send_request(method, path)
        return connection.read_response(method)


def faulty(api: HttpWorld, kind: str, **options: Any) -> Response:
    api.emulator.fault(kind, **options)
    return api.dns()


def rate_limited(api: HttpWorld) -> Response:
    api.emulator.set_assumptions({"rate_limit": "1/60s"})
    api.dns()
    return api.dns()


def wrong_host(api: HttpWorld) -> Response:
    with wire(api.emulator.base_url) as connection:
        connection.host = "evil.test"
        connection.send_request("GET", "/v1/projects")
        return connection.read_response()


PREFLIGHT = (("Origin", PAGE), ("Access-Control-Request-Method", "GET"))
#: Each kind of response, and its status.
RESPONSES: dict[str, tuple[Callable[[HttpWorld], Response], int]] = {
    "success": (lambda api: api.dns(), 200),
    "accepted": (lambda api: api.apply_domains(), 202),
    "created": (lambda api: api.ticket(), 201),
    "replay": (replay, 200),
    "invalid": (lambda api: api.set_flag("yes"), 400),
    "broken JSON": (
        lambda api: api.call("PUT", api.project_path("powered-by-flag"), key="k", raw=b"{"),
        400,
    ),
    "unauthenticated": (lambda api: api.dns(user=None), 401),
    "forbidden": (lambda api: api.set_flag(True, user="reader"), 403),
    "not found": (lambda api: api.call("GET", "/v1/projects/x/edge-dns"), 404),
    "unknown path": (lambda api: api.call("GET", "/v1/nothing"), 404),
    "outside /v1": (lambda api: api.call("GET", "/nothing"), 404),
    "wrong method": (lambda api: api.call("DELETE", api.project_path("edge-dns")), 405),
    "HEAD": (lambda api: send_exactly(api, "HEAD", "/v1/nothing"), 401),
    "too large": (
        lambda api: api.call("PUT", api.project_path("domains"), key="k", raw=b"x" * 2_000_000),
        413,
    ),
    "rate limited": (rate_limited, 429),
    "abort": (lambda api: faulty(api, "abort", code="service_unavailable"), 503),
    "gateway error": (lambda api: faulty(api, "gateway_error"), 502),
    "redirect by a fault": (lambda api: faulty(api, "redirect", location="http://a.test/"), 307),
    "slow": (lambda api: faulty(api, "slow_response", bytes_per_second=1_000_000), 200),
    "redirect of a ticket": (redirect, 303),
    "dev origin": (dev_page, 401),
    "dev origin, wrong method": (lambda api: dev_page(api, method="PUT"), 405),
    "another host": (wrong_host, 401),
    "another page": (
        lambda api: send_exactly(api, "GET", "/v1/x", ("Origin", "http://b.test")),
        401,
    ),
    "preflight": (lambda api: send_exactly(api, "OPTIONS", "/v1/x", *PREFLIGHT), 204),
    "no HTTP": (lambda api: raw(api, b"nonsense\r\n\r\n"), 400),
    "no length": (
        lambda api: raw(api, b"GET /v1/x HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n"),
        400,
    ),
    "long head": (
        lambda api: raw(api, b"GET /v1/x HTTP/1.1\r\nX: " + b"x" * 70_000 + b"\r\n\r\n"),
        400,
    ),
}


def date_of(response: Response) -> datetime:
    """Return the moment in the one Date header of a response."""
    (text,) = response.headers.get_all("Date")
    return parsedate_to_datetime(text)


@pytest.mark.parametrize("kind", RESPONSES)
def test_every_response_is_dated_in_world_time(dated: HttpWorld, kind: str) -> None:
    send, status = RESPONSES[kind]

    response = send(dated)

    assert response.status == status
    assert date_of(response) == WORLD_TIME


def test_the_date_moves_with_the_world(dated: HttpWorld) -> None:
    dated.emulator.clock.advance("36h")

    assert (date_of(dated.dns()) - WORLD_TIME).total_seconds() == 36 * 3600


def test_each_world_dates_its_own_responses(dated: HttpWorld) -> None:
    other = dated.emulator.fork()
    other.clock.advance("400d")

    dates = [date_of(HttpWorld(world).dns()) for world in (dated.emulator, other, dated.emulator)]

    assert [(date - WORLD_TIME).days for date in dates] == [0, 400, 0]


def test_a_date_agrees_with_the_body(dated: HttpWorld) -> None:
    response = dated.compute()

    assert parsedate_to_datetime(response.headers["Date"]) == datetime.fromisoformat(
        response.json["observed_at"]
    )
