"""Sends requests without a token, with invalid tokens, and with the token in the wrong place."""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from functools import partial

from hosting_emulator_lab.contract_check.declared_check import declare_check
from hosting_emulator_lab.contract_check.response import ServerResponse
from hosting_emulator_lab.contract_check.run import CheckRun

_UNAUTHENTICATED = ("auth.unauthenticated", "unauthenticated")
_NO_TOKEN_KEYS = ("auth.bearer", "bearer")
_INVALID_TOKEN_KEYS = ("auth.bearer", "auth.kinds")
_OTHER_SCHEME_KEYS = ("auth.bearer", "bearer", "auth.kinds")
_UNSIGNED_HEADER = urlsafe_b64encode(b'{"alg":"none","typ":"JWT"}').decode().rstrip("=")


@declare_check()
def authenticate_in_other_ways(run: CheckRun) -> None:
    """Make each call without a token, with invalid tokens, and with the token in the wrong place."""
    for call_id in run.callable_ids():
        send_invalid_tokens(run, partial(run.call, call_id))
    token = run.options.token
    authorizations = {
        "another scheme": "Basic aG9zdGluZy1lbXVsYXRvcjpjaGVjaw==",
        "the token under the scheme Basic": f"Basic {token}",
        "the token as a password": f"Basic {b64encode(f'user:{token}'.encode()).decode()}",
        "the token under the scheme Token": f"Token {token}",
        "the token without a scheme": token,
    }
    cookies = {"Cookie": f"token={token}; access_token={token}; session={token}"}
    for call_id in run.callable_ids():
        for purpose, authorization in authorizations.items():
            headers = {"Authorization": authorization}
            response = run.call(call_id, purpose, token="", headers=headers)
            run.expect.refusal_with_code(_OTHER_SCHEME_KEYS, response, *_UNAUTHENTICATED)
        with_cookies = run.call(call_id, "the token in cookies", token="", headers=cookies)
        run.expect.refusal("auth.no-cookie", with_cookies)


def send_invalid_tokens(run: CheckRun, send: Callable[..., ServerResponse]) -> None:
    """Send a request without a token, and with tokens that nobody issued.

    `send` takes the purpose and the token.
    """
    without_token = send("without a token", token="")
    run.expect.refusal_with_code(_NO_TOKEN_KEYS, without_token, *_UNAUTHENTICATED)
    for purpose, token in _invalid_tokens(run.options.token).items():
        response = send(purpose, token=token)
        run.expect.refusal_with_code(_INVALID_TOKEN_KEYS, response, *_UNAUTHENTICATED)


def _invalid_tokens(token: str) -> dict[str, str]:
    """Return invalid tokens by purpose. If `token` is a signed JWT, some of them are changed copies of it."""
    tokens = {"an invented token": "hosting-emulator-check"}
    signed, dot, signature = token.rpartition(".")
    if signed.count(".") == 1 and len(signature) > 1:
        other_letter = "A" if signature[0] != "A" else "B"
        tokens["a changed signature"] = f"{signed}{dot}{other_letter}{signature[1:]}"
        tokens["an unsigned token"] = f"{_UNSIGNED_HEADER}.{signed.partition('.')[2]}."
    return tokens


def replay_as_others(
    run: CheckRun,
    repeat: Callable[..., ServerResponse],
    expect_refusal: Callable[[ServerResponse], object],
) -> None:
    """Repeat a request with the same Idempotency-Key, without a token and as an outsider.

    `expect_refusal` judges the response to the outsider.
    """
    without_token = repeat("the same key, without a token", token="")
    run.expect.refusal_with_code(_NO_TOKEN_KEYS, without_token, *_UNAUTHENTICATED)
    outsider_token = run.options.outsider_token
    if outsider_token is not None:
        expect_refusal(repeat("the same key, as an outsider", token=outsider_token))
