"""The check sends tokens that nobody issued, among them changed copies of its own token."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping

import pytest

from hosting_emulator_lab.contract_check.checks.authentication import (
    authenticate_in_other_ways,
    replay_as_others,
    send_invalid_tokens,
)
from hosting_emulator_lab.contract_check.response import ServerResponse
from tests.lab.contract_check.scripted_server import (
    Reply,
    make_check,
    new_run,
    operations_without_proof,
    problem,
    verdict_of,
)

_UNSIGNED = "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0"
_REFUSED = problem(401, "unauthenticated")


@pytest.mark.parametrize(
    ("token", "changed_tokens"),
    [
        ("opaque", []),
        ("one.dot", []),
        ("a.b.c.d", []),
        ("header.payload.x", []),
        ("header.payload.xy", ["header.payload.Ay", f"{_UNSIGNED}.payload."]),
        ("header.payload.Ay", ["header.payload.By", f"{_UNSIGNED}.payload."]),
    ],
)
def test_changed_copies_of_a_signed_token_are_sent(token: str, changed_tokens: list[str]) -> None:
    sent: list[tuple[str, str]] = []
    run = new_run(lambda _: _REFUSED, token=token)

    def send(purpose: str, *, token: str) -> ServerResponse:
        sent.append((purpose, token))
        return run.read(purpose, token=token)

    send_invalid_tokens(run, send)

    purposes = ("a changed signature", "an unsigned token")
    assert sent == [
        ("without a token", ""),
        ("an invented token", "hosting-emulator-check"),
        *zip(purposes, changed_tokens, strict=False),
    ]


@pytest.mark.parametrize(
    ("reply", "differing"),
    [
        (_REFUSED, []),
        (problem(401, "forbidden"), ["auth.unauthenticated"]),
        (Reply({}), ["auth.bearer", "bearer", "auth.kinds"]),
    ],
)
def test_a_token_that_nobody_issued_must_be_refused(reply: Reply, differing: list[str]) -> None:
    run = new_run(lambda _: reply)
    run.evidence.working_calls.add("dns.call")

    send_invalid_tokens(run, run.read)

    keys = ("auth.bearer", "bearer", "auth.kinds", "auth.unauthenticated")
    assert [key for key in keys if verdict_of(run, key).startswith("differs")] == differing
    if reply == _REFUSED:
        for key in ("auth.kinds", "auth.unauthenticated"):
            assert verdict_of(run, key).startswith("holds")
        for key in ("auth.bearer", "bearer"):
            assert operations_without_proof(run, key) == "1, 2, 3, 4, 6, 7, 8"


_TOKEN = "owner-token"
_AS_PASSWORD = f"Basic {b64encode(f'user:{_TOKEN}'.encode()).decode()}"


@pytest.mark.parametrize(
    ("is_accepted", "purposes"),
    [
        (
            lambda headers: headers.get("Authorization", "").startswith("Basic "),
            ["another scheme", "the token under the scheme Basic", "the token as a password"],
        ),
        (
            lambda headers: headers.get("Authorization") == _AS_PASSWORD,
            ["the token as a password"],
        ),
        (
            lambda headers: headers.get("Authorization") == f"Token {_TOKEN}",
            ["the token under the scheme Token"],
        ),
        (lambda headers: headers.get("Authorization") == _TOKEN, ["the token without a scheme"]),
        (lambda headers: _TOKEN in headers.get("Cookie", ""), ["the token in cookies"]),
        (
            lambda headers: "Authorization" not in headers,
            ["without a token", "the token in cookies"],
        ),
    ],
)
def test_a_token_in_the_wrong_place_must_be_refused(
    is_accepted: Callable[[Mapping[str, str]], bool], purposes: list[str]
) -> None:
    run = make_check(
        authenticate_in_other_ways,
        lambda request: Reply({}) if is_accepted(request.headers) else _REFUSED,
        token=_TOKEN,
    )

    accepted_purposes = {
        row.response.purpose: None
        for row in run.evidence.differences
        if row.response is not None and row.fault == "it should have been refused"
    }
    assert list(accepted_purposes) == purposes


@pytest.mark.parametrize("outsider_token", [None, "outsider"])
def test_a_request_is_repeated_without_a_token_and_as_an_outsider(
    outsider_token: str | None,
) -> None:
    judged: list[ServerResponse] = []
    run = new_run(lambda _: _REFUSED, outsider_token=outsider_token)
    run.evidence.working_calls.add("dns.call")

    replay_as_others(run, run.read, judged.append)

    assert operations_without_proof(run, "bearer") == "1, 2, 3, 4, 6, 7, 8"
    purposes = ["the same key, as an outsider"] if outsider_token else []
    assert [response.purpose for response in judged] == purposes
