"""Requests and responses are shown without secrets, in whatever place and encoding they are sent."""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass
from http.cookies import SimpleCookie
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hosting_emulator.engine.redaction import REDACTED, Redactor, keep_secret
from tests.support.in_process import InProcess


@dataclass(frozen=True)
class Secrets:
    """The live secrets of a world, and its redactor."""

    redactor: Redactor
    key: str
    ticket: str
    token: str
    session: str


@pytest.fixture(scope="module")
def secrets() -> Secrets:
    api = InProcess()
    key = api.create_key("ci").json["value"]
    redeem_url = api.ticket().json["redeem_url"]
    ticket = redeem_url.rpartition("=")[2]
    cookie = SimpleCookie(api.redeem(redeem_url).header("Set-Cookie"))
    (morsel,) = cookie.values()
    session = morsel.value.partition(".")[2]
    assert session
    return Secrets(Redactor(api.world), key, ticket, api.token(), session)


def percent(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())


SPELLINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "in a query": lambda secret: f"/a?b=1&t={secret}&c=2",
    "in a URL in a query": lambda secret: (
        "next=" + quote(f"https://dev.example/x?ticket={secret}&stage=dev", safe="")
    ),
    "every byte percent-encoded": percent,
    "percent-encoded twice": lambda secret: quote(percent(secret), safe=""),
    "JSON escapes": lambda secret: "".join(f"\\u{ord(c):04x}" for c in secret),
    "base64": lambda secret: b64encode(f"user:{secret}".encode()).decode(),
    "base64 without padding": lambda secret: (
        urlsafe_b64encode(secret.encode()).rstrip(b"=").decode()
    ),
    "base64 in a query": lambda secret: quote(b64encode(secret.encode()).decode(), safe=""),
    "base64 in a path": lambda secret: f"/v1/projects/{b64encode(secret.encode()).decode()}/x",
    "base64 behind a hyphen": lambda secret: f"X-{b64encode(secret.encode()).decode()}",
    "letters before it": lambda secret: f"x3D{secret}",
    "letters behind it": lambda secret: f"{secret}Bearer",
    "quoted": lambda secret: json.dumps({"a": [secret]}),
    "in a form": lambda secret: f"grant_type=x&refresh_token={secret}",
    "beside one that is plain": lambda secret: f"{secret}/{percent(secret)}",
    "a path's end": lambda secret: f"/hooks/{secret}/",
}


@pytest.mark.parametrize("kind", ["key", "ticket", "token", "session"])
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_secret_is_redacted_in_every_encoding(secrets: Secrets, kind: str, spelling: str):
    secret = getattr(secrets, kind)
    spelled = SPELLINGS[spelling](secret)

    redacted = secrets.redactor.text(f"before {spelled} after")

    assert REDACTED in redacted
    assert redacted.startswith("before ")
    assert redacted.endswith(" after")
    for part in {spelled, secret, secret[:30]}:
        assert part not in redacted


@pytest.mark.parametrize("escape", ["\\u003D", "\\u003d"])
@pytest.mark.parametrize("after", ["", "\\u0026stage\\u003Ddev"])
def test_a_json_body_with_escapes_around_a_ticket_stays_valid(
    secrets: Secrets, escape: str, after: str
) -> None:
    body = f'{{"redeem_url":"https:\\/\\/dev.example\\/x?ticket{escape}{secrets.ticket}{after}"}}'

    redacted = secrets.redactor.text(body)

    usual_end = json.loads(f'"{after}"')
    assert json.loads(redacted) == {
        "redeem_url": f"https://dev.example/x?ticket={REDACTED}{usual_end}"
    }


@pytest.mark.parametrize(
    "value",
    ["{} Bearer", "{}", "Bearer {}", "Basic {}", "{} {}", "Bearer  {}", "x{} y"],
)
def test_an_authorization_header_shows_only_a_known_scheme(secrets: Secrets, value: str):
    [(_, redacted)] = secrets.redactor.headers(
        [("Authorization", value.replace("{}", secrets.key))]
    )

    assert redacted in (REDACTED, f"Bearer {REDACTED}", f"Basic {REDACTED}")


@pytest.mark.parametrize("name", ["Referer", "X-Forwarded-Uri", "Idempotency-Key", "Location"])
def test_the_value_of_a_header_shows_no_secret(secrets: Secrets, name: str):
    value = quote(f"https://dev.example/?ticket={secrets.ticket}", safe="")

    [(_, redacted)] = secrets.redactor.headers([(name, value)])

    assert REDACTED in str(redacted)
    assert secrets.ticket not in str(redacted)


@pytest.mark.parametrize("beside", ["{}", "x3D{}", "{}Bearer"])
def test_an_api_key_is_redacted_after_the_key_prefix_changed(beside: str):
    api = InProcess()
    key = api.create_key("ci").json["value"]
    api.set_assumptions(key_prefix="sk_")

    assert key not in Redactor(api.world).text(beside.format(key))


def test_the_name_of_a_header_shows_no_secret(secrets: Secrets):
    [(redacted, _)] = secrets.redactor.headers([(f"X-{secrets.key}", "1")])

    assert secrets.key not in str(redacted)


@pytest.mark.parametrize(
    "text",
    [
        "GET /v1/projects/01KDVDNA000000004MQC4BY7TH/edge-dns?limit=5",
        "req_01KDVDNA000000004MQC4BY7TH 2026-01-01T00:00:00.000Z",
        '{"expected_source_generation": 12, "name": "a plain name with words"}',
        "https://dev-olive-otter-owl.dev.localhost/path/to/somewhere/else?a=b",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "application/json; charset=utf-8, text/html;q=0.9,*/*;q=0.8",
        "eyJ is how some words begin. So they do.",
    ],
)
def test_text_without_a_secret_is_not_redacted(secrets: Secrets, text: str):
    assert secrets.redactor.text(text) == text


@pytest.mark.parametrize(
    "text",
    ["eyJ" * 150_000, "eyJeyJ." * 70_000, "A" * 500_000, "%41" * 150_000, "a.b" * 150_000],
)
def test_redaction_takes_time_linear_in_the_length_of_the_text(secrets: Secrets, text: str):
    """Quadratic time would be ten minutes for half a million characters."""
    assert secrets.redactor.text(text)


@given(before=st.text(max_size=60), after=st.text(max_size=60))
@settings(max_examples=60)
def test_a_secret_is_redacted_between_any_other_text(secrets: Secrets, before: str, after: str):
    redacted = secrets.redactor.text(before + secrets.key + after)

    assert secrets.key not in redacted
    json.dumps(redacted).encode()


def test_a_secret_of_the_process_is_redacted_unless_it_is_too_short():
    keep_secret("q7")
    keep_secret("q7-q7-q7")

    text = Redactor(InProcess().world).text("q7 and q7-q7-q7")

    assert text == f"q7 and {REDACTED}"
