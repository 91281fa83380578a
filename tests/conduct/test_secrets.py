"""Rules about secrets and tickets: where they may be sent, and how often a ticket is redeemed."""

import json
from base64 import b64encode
from collections.abc import Callable
from urllib.parse import quote

import pytest
from msgspec import to_builtins

from tests.support.in_process import InProcess, fresh_world
from tests.support.judged_world import JudgedWorld


def secret(client: JudgedWorld, kind: str) -> str:
    if kind == "an access token":
        return client.token("reader")
    if kind == "an API key":
        return str(client.create_key().json["value"])
    return str(client.ticket().json["redeem_url"]).partition("ticket=")[2]


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
def test_a_secret_outside_authorization_is_a_finding_that_does_not_show_it(
    client: JudgedWorld, kind: str, rule: str, where: str
):
    value = secret(client, kind)
    path = f"/v1/projects/{client.project_id()}/edge-dns"
    if where == "query":
        client.call("GET", f"{path}?access_token={value}")
    elif where == "path":
        client.call("GET", f"{path}/{value}")
    else:
        text = f"https://app.example/?token={value}" if where == "Referer" else f"token={value}"
        client.call("GET", path, headers={where: text})

    findings = [finding for finding in client.findings() if finding.rule == rule]
    assert [kind in finding.message for finding in findings] == [True]
    assert value not in json.dumps(to_builtins(client.conduct_report()))


@pytest.mark.parametrize("kind", KINDS)
def test_a_secret_in_base64_is_a_finding(client: JudgedWorld, kind: str):
    packed = b64encode(f"user:{secret(client, kind)}".encode()).decode()
    client.dns(headers={"X-Auth": f"Basic {packed}"})
    client.dns(headers={"X-Auth": f"Basic {'A' * 61}"})

    (finding,) = client.findings()
    assert (finding.rule, kind in finding.message) == ("secret-in-header", True)
    assert finding.requests == [client.engine.log.count - 1]


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
def test_an_encoded_secret_in_a_header_is_a_finding(
    client: JudgedWorld, kind: str, header: str, spell: Callable[[str], str]
):
    client.dns(headers={header: f"next={spell(secret(client, kind))}"})

    (finding,) = client.findings()
    assert finding.rule == ("secret-in-referer" if header == "Referer" else "secret-in-header")
    assert kind in finding.message


def test_a_secret_in_either_of_two_equal_headers_is_a_finding(client: JudgedWorld):
    path = f"/v1/projects/{client.project_id()}/edge-dns"
    signed_in = ("Authorization", f"Bearer {client.token()}")
    client.send("GET", path, [signed_in, ("X-Debug", f"t={client.token()}"), ("X-Debug", "x")])

    assert client.broken_rules() == [("secret-in-header", [1])]


@pytest.mark.parametrize("kind", KINDS[:2])
def test_a_secret_in_authorization_is_no_finding(client: JudgedWorld, kind: str):
    token = secret(client, kind)
    assert client.deployments(token=token).status == 200

    assert client.broken_rules() == []


def test_text_that_only_looks_like_a_secret_is_no_finding(client: JudgedWorld):
    elsewhere = InProcess(fresh_world("other", "another seed")).token()
    digest = "0123456789abcdefghijABCDEFGHIJ0123456789_-x"
    client.dns(
        headers={"X-Proxy-Identity": elsewhere, "X-Trace": digest, "Referer": f"https://a/{digest}"}
    )
    client.set_flag(True, key=digest)

    assert client.broken_rules() == []


# --- Tickets --------------------------------------------------------------------------------------


def test_redeeming_a_ticket_at_its_address_is_no_finding(client: JudgedWorld):
    assert client.redeem(client.ticket().json["redeem_url"]).status == 303

    assert client.broken_rules() == []
    redeemed = client.engine.log.newest(1)[0]
    assert (redeemed.call, redeemed.project, redeemed.status) == (
        "redeem_ticket",
        client.project_id(),
        303,
    )


def test_redeeming_a_ticket_twice_is_a_finding(client: JudgedWorld):
    url = client.ticket().json["redeem_url"]
    for _ in range(3):
        client.redeem(url)

    assert client.broken_rules() == [("ticket-redeemed-twice", [3, 4])]


def test_redeeming_a_ticket_after_ten_minutes_is_a_finding(client: JudgedWorld):
    url = client.ticket().json["redeem_url"]
    client.engine.move_by(600_000)
    assert client.redeem(url).status == 404

    assert client.broken_rules() == [("ticket-redeemed-late", [2])]


def test_redeeming_a_ticket_that_an_intervention_expired_is_no_finding(client: JudgedWorld):
    url = client.ticket().json["redeem_url"]
    client.intervene("expire_ticket", all=True)

    assert client.redeem(url).status == 404
    assert client.broken_rules() == []


def test_redeeming_a_replaced_ticket_is_a_finding(client: JudgedWorld):
    old, new = (client.ticket().json["redeem_url"] for _ in range(2))
    assert [client.redeem(old).status, client.redeem(new).status] == [404, 303]

    assert client.broken_rules(final=True) == [("replaced-ticket-redeemed", [3])]


def test_a_ticket_that_is_replaced_unused_is_a_finding_once_the_client_has_finished(
    client: JudgedWorld,
):
    client.ticket()
    client.ticket()

    assert client.broken_rules() == []
    assert client.broken_rules(final=True) == [("ticket-wasted", [2])]


@pytest.mark.parametrize("meanwhile", ["redeemed", "expired", "lost"])
def test_a_ticket_that_a_new_one_does_not_waste_is_no_finding(client: JudgedWorld, meanwhile: str):
    if meanwhile == "lost":
        client.fault(
            connection_reset={}, after_commit=True, call="create_dev_access_ticket", times=1
        )
    first = client.ticket()
    if meanwhile == "redeemed":
        client.redeem(first.json["redeem_url"])
    if meanwhile == "expired":
        client.engine.move_by(600_000)
    client.ticket()

    assert client.broken_rules(final=True) == []


def test_redeeming_an_unknown_ticket_is_no_finding(client: JudgedWorld):
    url = client.ticket().json["redeem_url"]
    client.redeem(url[:-43] + "A" * 43)

    assert client.broken_rules() == []


ELSEWHERE = "token-sent-elsewhere"


def test_a_token_sent_to_a_dev_origin_is_a_finding(client: JudgedWorld):
    headers = {"Host": "dev-a-b-c.dev.localhost", "Authorization": f"Bearer {client.token()}"}
    client.redeem(client.ticket().json["redeem_url"], headers)

    (finding,) = client.findings()
    assert (finding.rule, finding.severity, finding.requests) == (ELSEWHERE, "error", [2])
    assert "to dev-a-b-c.dev.localhost (a dev origin) with an access token" in finding.message


@pytest.mark.parametrize(("sends_token", "broken"), [(True, 1), (False, 0)])
def test_a_token_sent_to_the_host_of_a_redirect_is_a_finding(
    client: JudgedWorld, sends_token: bool, broken: int
):
    client.fault(redirect={"location": "http://localhost:8080/v1/elsewhere"})
    assert client.dns(headers={"Host": "127.0.0.1:8080"}).status == 307
    user = "owner" if sends_token else None
    client.call("GET", "/v1/elsewhere", user=user, headers={"Host": "localhost:8080"})

    assert [rule for rule, _ in client.broken_rules()] == [ELSEWHERE] * broken


def test_the_other_headers_of_a_redirect_name_no_host(client: JudgedWorld):
    location = "http://localhost:8080/v1/elsewhere"
    headers = {"Content-Location": "http://example.com/", "Location": location}
    client.fault(respond={"status": 302, "headers": headers})
    assert client.dns(headers={"Host": "127.0.0.1:8080"}).status == 302
    client.dns(headers={"Host": "example.com"})
    client.deployments(headers={"Host": "localhost:8080"})

    assert client.broken_rules() == [(ELSEWHERE, [1, 3])]


def test_a_redirect_before_a_rewind_still_counts(client: JudgedWorld):
    state = client.save_state()
    client.fault(redirect={"location": "http://localhost:8080/v1/elsewhere"})
    client.dns(headers={"Host": "127.0.0.1:8080"})
    client.engine.restore(state)
    client.call("GET", "/v1/elsewhere", headers={"Host": "localhost:8080"})

    assert [rule for rule, _ in client.broken_rules()] == [ELSEWHERE]


def test_following_a_redirect_within_the_host_is_no_finding(client: JudgedWorld):
    client.fault(redirect={"location": "http://127.0.0.1:8080/v1/elsewhere"})
    for path in (f"/v1/projects/{client.project_id()}/edge-dns", "/v1/elsewhere"):
        client.call("GET", path, headers={"Host": "127.0.0.1:8080"})

    assert client.broken_rules() == []


def test_repeating_a_redemption_whose_response_was_lost_is_no_finding(client: JudgedWorld):
    url = client.ticket().json["redeem_url"]
    client.fault(connection_reset={}, after_commit=True, call="redeem_ticket")
    client.redeem(url)
    assert client.redeem(url).status == 404

    assert client.broken_rules() == []
