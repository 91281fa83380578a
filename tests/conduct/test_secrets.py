"""Secrets and tickets: where they may stand, and how often a ticket is good."""

import json
from base64 import b64encode
from collections.abc import Callable
from urllib.parse import quote

import pytest

from tests.support.in_process import InProcess, fresh_world
from tests.support.watched_client import Watched


@pytest.fixture
def api() -> Watched:
    return Watched()


def secret(api: Watched, kind: str) -> str:
    if kind == "an access token":
        return api.token("reader")
    if kind == "an API key":
        return str(api.create_key().json["value"])
    return str(api.ticket().json["redeem_url"]).partition("ticket=")[2]


KINDS = ("an access token", "an API key", "a ticket")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("rule", "where"),
    [
        ("secret-in-url", "query"),
        ("secret-in-url", "path"),
        ("secret-in-referer", "Referer"),
        ("secret-in-header", "X-Auth"),
        ("secret-in-header", "Cookie"),
        ("secret-in-header", "Idempotency-Key"),
    ],
)
def test_a_secret_is_told_and_not_shown(api: Watched, kind: str, rule: str, where: str):
    found = secret(api, kind)
    path = f"/v1/projects/{api.project()}/edge-dns"
    if where == "query":
        api.call("GET", f"{path}?access_token={found}")
    elif where == "path":
        api.call("GET", f"{path}/{found}")
    else:
        text = f"https://app.example/?token={found}" if where == "Referer" else f"token={found}"
        api.call("GET", path, headers={where: text})

    findings = [found for found in api.findings() if found.rule == rule]
    assert [kind in finding.says for finding in findings] == [True]
    assert found not in json.dumps(api.look())


@pytest.mark.parametrize("kind", KINDS)
def test_a_secret_may_be_packed(api: Watched, kind: str):
    packed = b64encode(f"user:{secret(api, kind)}".encode()).decode()
    api.dns(headers={"X-Auth": f"Basic {packed}"})
    api.dns(headers={"X-Auth": f"Basic {'A' * 61}"})

    (found,) = api.findings()
    assert (found.rule, kind in found.says) == ("secret-in-header", True)
    assert found.requests == [api.engine.log.count - 1]


def _percent(text: str) -> str:
    return "".join(f"%{byte:02x}" for byte in text.encode())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("header", ["X-Auth", "Cookie", "Referer"])
@pytest.mark.parametrize(
    "spell",
    [
        _percent,
        lambda text: _percent(text).upper(),
        lambda text: quote(_percent(text), safe=""),
        lambda text: quote(f"https://app.example/?token={text}", safe=""),
        lambda text: "".join(f"\\u{ord(character):04x}" for character in text),
        lambda text: quote(b64encode(f"user:{text}".encode()).decode(), safe=""),
    ],
)
def test_a_secret_in_a_header_may_be_encoded(
    api: Watched, kind: str, header: str, spell: Callable[[str], str]
):
    api.dns(headers={header: f"next={spell(secret(api, kind))}"})

    (found,) = api.findings()
    assert found.rule == ("secret-in-referer" if header == "Referer" else "secret-in-header")
    assert kind in found.says


def test_each_of_two_headers_is_read(api: Watched):
    path = f"/v1/projects/{api.project()}/edge-dns"
    signed_in = ("Authorization", f"Bearer {api.token()}")
    api.send("GET", path, [signed_in, ("X-Debug", f"t={api.token()}"), ("X-Debug", "x")])

    assert api.broken() == [("secret-in-header", [1])]


@pytest.mark.parametrize("kind", KINDS[:2])
def test_in_authorization_it_is_right(api: Watched, kind: str):
    token = secret(api, kind)
    assert api.deployments(token=token).status == 200

    assert api.broken() == []


def test_what_only_looks_like_one_is_none(api: Watched):
    elsewhere = InProcess(fresh_world("other", "another seed")).token()
    digest = "0123456789abcdefghijABCDEFGHIJ0123456789_-x"
    api.dns(
        headers={"X-Proxy-Identity": elsewhere, "X-Trace": digest, "Referer": f"https://a/{digest}"}
    )
    api.set_flag(True, key=digest)

    assert api.broken() == []


# --- Tickets --------------------------------------------------------------------------------------


def test_a_ticket_is_redeemed_at_its_address(api: Watched):
    assert api.redeem(api.ticket().json["redeem_url"]).status == 303

    assert api.broken() == []
    redeemed = api.engine.log.newest(1)[0]
    assert (redeemed.call, redeemed.project, redeemed.status) == (
        "redeem_ticket",
        api.project(),
        303,
    )


def test_a_ticket_is_good_once(api: Watched):
    url = api.ticket().json["redeem_url"]
    for _ in range(3):
        api.redeem(url)

    assert api.broken() == [("ticket-redeemed-twice", [3, 4])]


def test_a_ticket_is_good_for_ten_minutes(api: Watched):
    url = api.ticket().json["redeem_url"]
    api.engine.move_by(600_000)
    assert api.redeem(url).status == 404

    assert api.broken() == [("ticket-redeemed-late", [2])]


def test_a_ticket_that_somebody_ended_early_was_redeemed_in_time(api: Watched):
    url = api.ticket().json["redeem_url"]
    api.intervene("expire_ticket", all=True)

    assert api.redeem(url).status == 404
    assert api.broken() == []


def test_the_newest_ticket_is_good_alone(api: Watched):
    old, new = (api.ticket().json["redeem_url"] for _ in range(2))
    assert [api.redeem(old).status, api.redeem(new).status] == [404, 303]

    assert api.broken() == [("replaced-ticket-redeemed", [3])]


def test_a_ticket_that_is_none_proves_nothing(api: Watched):
    url = api.ticket().json["redeem_url"]
    api.redeem(url[:-43] + "A" * 43)

    assert api.broken() == []


ELSEWHERE = "token-sent-elsewhere"


def test_a_token_does_not_belong_to_a_dev_origin(api: Watched):
    sent = {"Host": "dev-a-b-c.dev.localhost", "Authorization": f"Bearer {api.token()}"}
    api.redeem(api.ticket().json["redeem_url"], sent)

    (found,) = api.findings()
    assert (found.rule, found.severity, found.requests) == (ELSEWHERE, "error", [2])
    assert "to a dev origin, to dev-a-b-c.dev.localhost, with an access token" in found.says


@pytest.mark.parametrize(("sends_token", "broken"), [(True, 1), (False, 0)])
def test_a_token_does_not_go_along_to_another_host(api: Watched, sends_token: bool, broken: int):
    api.fault(redirect={"location": "http://localhost:8080/v1/elsewhere"})
    assert api.dns(headers={"Host": "127.0.0.1:8080"}).status == 307
    who = "owner" if sends_token else None
    api.call("GET", "/v1/elsewhere", who=who, headers={"Host": "localhost:8080"})

    assert [rule for rule, _ in api.broken()] == [ELSEWHERE] * broken


def test_a_redirect_within_the_host_is_followed_as_it_was_asked(api: Watched):
    api.fault(redirect={"location": "http://127.0.0.1:8080/v1/elsewhere"})
    for path in (f"/v1/projects/{api.project()}/edge-dns", "/v1/elsewhere"):
        api.call("GET", path, headers={"Host": "127.0.0.1:8080"})

    assert api.broken() == []


def test_a_redemption_that_was_not_heard_of_may_be_tried_again(api: Watched):
    url = api.ticket().json["redeem_url"]
    api.fault(connection_reset={}, phase="after_commit", call="redeem_ticket")
    api.redeem(url)
    assert api.redeem(url).status == 404

    assert api.broken() == []
